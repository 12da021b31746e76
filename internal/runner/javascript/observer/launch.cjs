'use strict';
// Starts the test framework that the work tree has, with the observer for it,
// and says how each process ended. What the repository builds before its tests
// is built first, since every state needs its own build.
const { spawn, spawnSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { pathToFileURL } = require('url');
const channel = require('./channel.cjs');

const { settings, send } = channel;
const aux = (name) => path.join(__dirname, name);

// packageDir finds a package the way Node does: in node_modules of the
// directory and of those above it.
function packageDir(name) {
  for (let dir = process.cwd(); ; dir = path.dirname(dir)) {
    const found = path.join(dir, 'node_modules', name);
    if (fs.existsSync(path.join(found, 'package.json'))) return channel.realpath(found);
    if (dir === path.dirname(dir)) return null;
  }
}

function binOf(name, preferred) {
  const dir = packageDir(name);
  if (dir === null) return null;
  const manifest = JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'));
  const bin = typeof manifest.bin === 'string' ? manifest.bin : (manifest.bin || {})[preferred || name];
  return { dir, version: manifest.version, file: bin && path.join(dir, bin) };
}

function missing(name) {
  process.stderr.write(`no ${name} in node_modules of ${process.cwd()} or above\n`);
  process.exit(126);
}

function environment(extra) {
  const env = { ...process.env, ...settings.env, ...extra };
  const bins = [];
  for (let dir = process.cwd(); ; dir = path.dirname(dir)) {
    bins.push(path.join(dir, 'node_modules', '.bin'));
    if (dir === path.dirname(dir)) break;
  }
  env.PATH = [...bins, env.PATH].join(path.delimiter);
  return env;
}

// build runs what the repository's own script runs before its tests.
function build() {
  for (const step of settings.steps || []) {
    const env = environment();
    delete env.TOUCHSTONE_REPORT;
    const run = spawnSync('sh', ['-c', step], { env, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });
    process.stdout.write(run.stdout || '');
    process.stderr.write(run.stderr || '');
    if (run.status !== 0) {
      const words = String(run.stdout || '') + '\n' + String(run.stderr || '');
      for (const line of words.split('\n').filter((l) => /error/i.test(l)).slice(0, 40)) send('step_line', { message: line.slice(0, 1000) });
      send('step_failed', { message: step, code: run.status === null ? -1 : run.status });
      return false;
    }
  }
  return true;
}

function stdio() {
  const list = ['ignore', 'inherit', 'inherit'];
  const target = /\/fd\/(\d+)$/.exec(process.env.TOUCHSTONE_REPORT || '');
  if (target) {
    while (list.length < Number(target[1])) list.push('ignore');
    list[Number(target[1])] = Number(target[1]);
  }
  return list;
}

function run(argv, extra) {
  return new Promise((done) => {
    const child = spawn(argv[0], argv.slice(1), { env: environment(extra), stdio: stdio() });
    child.on('error', (err) => {
      process.stderr.write(`${argv[0]}: ${err.message}\n`);
      done({ code: 127, signal: null });
    });
    child.on('exit', (code, signal) => done({ code, signal }));
  });
}

// program is how the framework is started: the configured command, or Node with
// the framework's own entry.
function program(name, bin, preload) {
  if (settings.command.length > 0) return [...settings.command];
  return [process.execPath, ...settings.node, ...(preload ? ['--require', aux('loaded.cjs'), ...tracing()] : []), bin.file];
}

// besidePackages copies the observer to where an installed package could lie:
// vite leaves nothing else outside of the work tree to Node.
function besidePackages(bin) {
  const home = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'touchstone-')), 'node_modules', 'touchstone');
  fs.mkdirSync(home, { recursive: true });
  for (const name of fs.readdirSync(__dirname)) fs.copyFileSync(aux(name), path.join(home, name));
  fs.writeFileSync(path.join(home, 'settings.json'), JSON.stringify({ ...settings, home: __dirname, vitest: bin && bin.dir ? pathToFileURL(path.join(bin.dir, 'dist', 'index.js')).href : '' }));
  process.on('exit', () => fs.rmSync(path.dirname(path.dirname(home)), { recursive: true, force: true }));
  return home;
}

function tracing() {
  return settings.trace ? ['--require', aux('trace.cjs')] : [];
}

// Of what is ours on a command line the observer comes first: it takes itself
// and the rest out of process.argv, which the code under test may read.
const frameworks = {
  mocha(bin, targets) {
    return [...program('mocha', bin, true), ...settings.options, '--require', aux('mochaload.cjs'), '--full-trace', '--reporter', aux('mocha.cjs'), ...targets];
  },
  jest(bin) {
    return [...program('jest', bin, true), ...settings.options, '--reporters', aux('jest.cjs'), '--ci', '--coverage=false', '--watchAll=false', '--watchman=false', '--bail=0',
      '--testLocationInResults', '--passWithNoTests', ...(settings.pattern ? ['--testNamePattern', settings.pattern] : []),
      '--runTestsByPath', ...settings.targets];
  },
  vitest(bin) {
    const home = besidePackages(bin);
    return [...program('vitest', bin, false), 'run', ...settings.options, '--coverage.enabled=false', '--allowOnly', '--bail=0', '--passWithNoTests',
      '--reporter', path.join(home, 'vitest.mjs'), ...(settings.pattern ? ['--testNamePattern', settings.pattern] : []), ...settings.targets];
  },
  ava(bin) {
    const entry = settings.command.length > 0 ? settings.command : [process.execPath, ...settings.node, '--require', aux('loaded.cjs'), ...tracing(), aux('ava.mjs')];
    return [...entry, ...settings.options, '--tap', ...(settings.matches || []).flatMap((m) => ['--match', m]), ...settings.targets];
  },
};

// nodeFile runs one file of node:test: its process is the file's own.
async function nodeFile(target) {
  const start = settings.command.length > 0 ? settings.command : [process.execPath, ...settings.node];
  const argv = [...start, ...settings.options, '--require', aux('nodeload.cjs'), ...tracing(), '--test-reporter', pathToFileURL(aux('node.mjs')).href, '--test-reporter-destination', 'stdout'];
  for (const p of settings.patterns || []) argv.push('--test-name-pattern', p);
  const unit = channel.unitOf(target);
  send('file', { unit });
  const end = await run([...argv, target], { TOUCHSTONE_UNIT: unit });
  send('file_end', { unit, code: end.code === null ? -1 : end.code, signal: end.signal || '' });
  return end.code === 0 ? 0 : 1;
}

async function nodeFiles() {
  const status = await eachFile(settings.targets, nodeFile);
  send('finish', {});
  return status;
}

// eachFile runs files, as many at once as there are processors.
async function eachFile(files, one) {
  const queue = [...files];
  const width = settings.serial ? 1 : Math.max(1, (os.availableParallelism ? os.availableParallelism() : os.cpus().length));
  let status = 0;
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) status |= await one(next);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return status;
}

// framework runs mocha, jest, vitest or ava on all files. Under mocha those whose
// modules cannot be told apart from others' in one process get their own when it
// is to be seen what each does.
async function framework(name, bin, extra) {
  const alone = name === 'mocha' && settings.trace ? settings.alone : [];
  const together = settings.targets.filter((target) => !alone.includes(target));
  const ends = [];
  if (together.length > 0 || alone.length === 0) ends.push(await run(frameworks[name](bin, together), extra));
  await eachFile(alone, async (target) => {
    ends.push(await run(frameworks.mocha(bin, [target]), { ...extra, TOUCHSTONE_UNIT: channel.unitOf(target) }));
    return 0;
  });
  const end = ends.find((e) => e.code === null) || ends.find((e) => e.code !== 0) || ends[0];
  send('exit', { code: end.code === null ? -1 : end.code, signal: end.signal || '' });
  return end.code === null ? 1 : end.code;
}

function hand(entry) {
  if (entry.replaced) send('replaced', { message: String(entry.replaced) });
  else if (entry.built) send('built', { file: entry.built });
  else send('loaded', entry);
}

// canaries puts tests that must fail beside those of the work tree.
function canaries() {
  for (const { path: name, text } of settings.canaries || []) fs.writeFileSync(path.join(channel.root, name), text);
}

// handLoaded passes on what the tests' processes said they loaded.
function handLoaded() {
  if (typeof require('module').registerHooks !== 'function') send('unseen', {}); // which ES modules are loaded
  const file = channel.loadedFile();
  try {
    for (const line of new Set(fs.readFileSync(file, 'utf8').split('\n'))) if (line) hand(JSON.parse(line));
    fs.unlinkSync(file);
  } catch {
    // none did
  }
}

// handTraces passes on what each test file did. Files that were written since the
// build began are made from others.
function handTraces(began) {
  if (!settings.trace) return;
  let names = [];
  try {
    names = fs.readdirSync(channel.traceDir());
  } catch {
    // none was left
  }
  for (const name of names) {
    let trace;
    try {
      trace = JSON.parse(fs.readFileSync(path.join(channel.traceDir(), name), 'utf8'));
    } catch {
      continue; // its process died over it: nothing is known of what it ran
    }
    const made = settings.steps.length > 0 && trace.files.find((f) => f.written >= began);
    for (const unit of trace.units) handTrace(unit, trace, trace.open || (made ? `loads ${made.file}, which is built` : ''));
  }
  fs.rmSync(channel.traceDir(), { recursive: true, force: true });
}

function handTrace(unit, trace, open) {
  for (const kind of ['opens', 'lists']) for (const files of chunks(trace[kind])) send(`trace_${kind}`, { unit, files });
  for (const { file, known, spans } of trace.files) {
    send('trace_file', { unit, file, whole: known });
    for (let i = 0; i < spans.length; i += 400) send('trace_spans', { unit, file, spans: spans.slice(i, i + 400) });
  }
  if (trace.part && open) send('trace_open', { unit, message: open });
  if (!trace.part) send('traced', { unit, message: open });
}

// chunks parts names so that each part fits a line.
function chunks(names) {
  const parts = [];
  let size = 0;
  for (const name of names) {
    if (parts.length === 0 || size + Buffer.byteLength(name) > 2500) {
      parts.push([]);
      size = 0;
    }
    parts[parts.length - 1].push(name);
    size += Buffer.byteLength(name) + 8;
  }
  return parts;
}

// handReached passes on which stand-ins were used.
function handReached() {
  if (!settings.mark) return;
  try {
    for (const line of fs.readFileSync(settings.mark, 'utf8').split('\n')) {
      const at = line.indexOf(' ');
      if (at > 0) send('reached', { id: line.slice(0, at), message: line.slice(at + 1, 1000) });
    }
    fs.unlinkSync(settings.mark);
  } catch {
    // none was
  }
}

async function main() {
  const name = settings.framework;
  let bin = { version: process.version };
  if (settings.command.length === 0 && name !== 'node') {
    bin = binOf(name);
    if (bin === null || !bin.file) return missing(name);
  }
  send('start', { version: bin.version || '', node: process.version, root: channel.root });
  const began = Date.now();
  if (!build()) return 1;
  canaries();
  const extra = { ...(bin.dir ? { TOUCHSTONE_FRAMEWORK: bin.dir } : {}), ...(settings.serialEnv || {}) };
  let status;
  if (name === 'node') {
    status = await nodeFiles();
  } else {
    status = await framework(name, bin, extra);
  }
  handLoaded();
  handTraces(began);
  handReached();
  return status;
}

main().then((status) => process.exit(status), (err) => {
  process.stderr.write(`${err.stack}\n`);
  process.exit(125);
});
