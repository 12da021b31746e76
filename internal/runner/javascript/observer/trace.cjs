'use strict';
// Preloaded: notes what the test files of this process do. What they execute V8
// counts itself, by function.
const fs = require('fs');
const path = require('path');
const threads = require('worker_threads');
const { readFileSync, writeFileSync, statSync, mkdirSync } = fs; // a test may put others in their place
const channel = require('./channel.cjs');
const { drain, inTree, root } = require('./watch.cjs');

const at = process.execArgv.indexOf(__filename);
// jest hands it on to its workers, ava to its threads
if (at > 0 && ((channel.settings.framework !== 'jest' && channel.settings.framework !== 'ava') || process.env.JEST_WORKER_ID)) process.execArgv.splice(at - 1, 2);

const units = new Set(channel.settings.units);
let number = 0;

const session = new (require('inspector').Session)();

// post asks V8, which answers at once.
function post(method, params) {
  let answer = null;
  session.post(method, params, (err, result) => {
    if (!err) answer = result;
  });
  return answer;
}

session.connect();
post('Profiler.enable');
post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

function alive() {
  return number;
}

// sources are the scripts' own texts, for those that a framework rewrote.
function sources(ids) {
  const texts = new Map();
  if (ids.length === 0) return texts;
  post('Debugger.enable');
  for (const id of ids) {
    const answer = post('Debugger.getScriptSource', { scriptId: id });
    if (answer) texts.set(id, answer.scriptSource);
  }
  post('Debugger.disable');
  return texts;
}

function starting(text) {
  const starts = [0];
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) starts.push(i + 1);
  return starts;
}

function lineOf(starts, offset) {
  let low = 0;
  for (let high = starts.length; high - low > 1; ) {
    const mid = (low + high) >> 1;
    if (starts[mid] <= offset) low = mid;
    else high = mid;
  }
  return low;
}

const known = new Map(); // script and file -> what finds the lines of its functions

// finder returns a function from offsets of a script to lines of its file, null
// where nobody tells.
function finder(file, length, text) {
  let content;
  try {
    content = readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  const shift = length === content.length && text === undefined ? 0 : text === undefined ? -1 : content === '' ? -1 : text.indexOf(content);
  if (shift >= 0) {
    const begin = starting(content);
    return (offset) => lineOf(begin, Math.min(Math.max(offset - shift, 0), content.length)) + 1;
  }
  if (text === undefined) return null;
  const maps = [...text.matchAll(/\/\/[#@] sourceMappingURL=data:application\/json;(?:charset=[\w-]+;)?base64,([\w+/=]+)/g)];
  if (maps.length === 0) return null;
  try {
    const payload = JSON.parse(Buffer.from(maps[maps.length - 1][1], 'base64').toString());
    if (payload.sources.length !== 1 || (payload.sources[0] && path.basename(payload.sources[0].split('?')[0]) !== path.basename(file))) return null;
    const { SourceMap } = require('module');
    const map = new SourceMap(payload);
    const begin = starting(text);
    return (offset) => {
      const line = lineOf(begin, offset);
      const entry = map.findEntry(line, offset - begin[line]);
      return entry && typeof entry.originalLine === 'number' ? entry.originalLine + 1 : 0;
    };
  } catch {
    return null;
  }
}

// wrapper holds for the function that a framework puts around a whole module.
function wrapper(f, i, length) {
  const { startOffset, endOffset } = f.ranges[0];
  return i === 1 && startOffset <= 600 && endOffset >= length - 4 && (channel.settings.framework === 'jest' || channel.settings.framework === 'vitest');
}

function linesOf(script, file, find, length) {
  const spans = [];
  let last = '';
  script.functions.forEach((f, i) => {
    if (f.ranges[0].count === 0 || (i === 0 && f.ranges[0].startOffset === 0) || wrapper(f, i, length)) return;
    const ends = [find(f.ranges[0].startOffset), find(Math.max(f.ranges[0].endOffset - 1, 0))].filter((n) => n > 0);
    if (ends.length === 0) return; // made by the framework
    const span = [Math.min(...ends), Math.max(...ends)];
    if (String(span) !== last) spans.push(...span);
    last = String(span);
  });
  return spans;
}

function scripts(result) {
  const found = [];
  for (const script of result) {
    if (!script.url.startsWith('file:') && !path.isAbsolute(script.url)) continue;
    const rel = inTree(script.url.replace(/[?#].*$/, ''));
    if (rel === '' || rel === '.' || !script.functions.some((f) => f.ranges[0].count > 0)) continue;
    const file = root + rel;
    const length = script.functions[0].ranges[0].endOffset;
    const key = `${script.scriptId} ${file}`;
    found.push({ script, rel, file, length, key });
  }
  const fresh = found.filter((f) => !known.has(f.key));
  for (const f of fresh) known.set(f.key, finder(f.file, f.length));
  const rewritten = fresh.filter((f) => known.get(f.key) === null);
  const texts = sources(rewritten.map((f) => f.script.scriptId));
  for (const f of rewritten) known.set(f.key, finder(f.file, f.length, texts.get(f.script.scriptId)));
  return found;
}

// take hands over what happened since the last time, for the test files that
// ran meanwhile. What is shared or not all of it does not end their report.
function take(given, { shared = false, part = false } = {}) {
  alive();
  const answer = post('Profiler.takePreciseCoverage');
  const all = (answer && answer.result) || [];
  const own = all.find((s) => s.url.endsWith(__filename));
  const noted = drain();
  if (noted.open === '' && !(own && own.functions.some((f) => f.functionName === 'alive' && f.ranges[0].count > 0))) noted.open = 'took the coverage away';
  const found = scripts(all);
  const ran = given || [...new Set(found.map((f) => f.rel))].filter((rel) => units.has(rel));
  if (!given && ran.length > 1) noted.open = 'shares its process with other test files';
  const files = new Map();
  for (const { script, rel, file, length, key } of found) {
    const find = known.get(key);
    const before = files.get(rel) || { file: rel, known: true, spans: [], written: writtenAt(file) };
    before.known = before.known && find !== null && !shared;
    if (find !== null) before.spans.push(...linesOf(script, file, find, length));
    files.set(rel, before);
  }
  if (ran.length > 0) leave({ ...noted, units: ran, part, files: [...files.values()] });
}

function leave(told) {
  const dir = channel.traceDir();
  mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(dir, `${process.pid}-${threads.threadId}-${number++}.json`), JSON.stringify(told));
}

function writtenAt(file) {
  if ((channel.settings.steps || []).length === 0) return 0;
  try {
    return statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

// jest runs many test files in one process, each with modules of its own.
function aroundJest(run) {
  return async function (globalConfig, config, environment, runtime, testPath, ...rest) {
    try {
      return await run.call(this, globalConfig, config, environment, runtime, testPath, ...rest);
    } finally {
      take([channel.unitOf(testPath)]);
    }
  };
}

// mocha loads all files into one process. Each gets modules of its own, as it
// would have when it ran alone; what was there before the first is everybody's.
const first = new Set();
const registries = new Map();
let current = '';
let over = false;

const modules = () => Object.keys(require.cache).filter((file) => inTree(file) !== '');

// enter begins what a test file does: its loading, one of its tests, a hook.
function enter(unit) {
  if (unit === current || !units.has(unit)) return;
  if (current === '') {
    modules().forEach((file) => first.add(file));
    take([...units], { shared: true, part: true });
  } else {
    registries.set(current, modules().filter((file) => !first.has(file)).map((file) => [file, require.cache[file]]));
    take([current], { part: true });
  }
  for (const file of modules()) if (!first.has(file)) delete require.cache[file];
  for (const [file, module] of registries.get(unit) || []) require.cache[file] = module;
  current = unit;
}

// finish says that all tests came to their end.
function finish() {
  over = true;
}

function leaveMocha() {
  if (current === '') return;
  take([current], { part: true });
  registries.set(current, []);
  if (over) leave({ units: [...registries.keys()], part: false, open: '', opens: [], lists: [], files: [] });
}

if (channel.settings.framework === 'jest') {
  const Module = require('module');
  const load = Module._load;
  const around = new Map();
  Module._load = function (request, ...rest) {
    const out = load.call(this, request, ...rest);
    if (typeof request !== 'string' || !/jest-(?:circus|jasmine2)[\\/](?:build[\\/])?(?:runner|index)(?:\.js)?$/.test(request)) return out;
    if (!around.has(out)) {
      const run = typeof out === 'function' ? out : out && out.default;
      if (typeof run !== 'function') return out;
      const wrapped = aroundJest(run);
      around.set(out, typeof out === 'function' ? wrapped : { ...out, __esModule: true, default: wrapped });
    }
    return around.get(out);
  };
} else if (channel.settings.framework === 'mocha') {
  process.on('exit', leaveMocha);
} else if (channel.settings.framework !== 'vitest') {
  process.on('exit', () => take());
}

globalThis[Symbol.for('touchstone trace')] = { enter, finish };
module.exports = { take };
