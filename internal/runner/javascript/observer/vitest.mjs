// A vitest reporter: what becomes of each module and of each test in it. It
// speaks to the reporter interfaces of vitest 0.34 to 4.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const channel = createRequire(import.meta.url)('./channel.cjs');
channel.hide();
const { send, settings } = channel;

function pathOf(task) {
  const names = [];
  for (let at = task; at && at.type !== undefined && at.filepath === undefined; at = at.suite) {
    if (at.name !== '' || at === task) names.unshift(String(at.name));
  }
  return names;
}

function place(file) {
  return { unit: channel.unitOf(file.filepath), project: String(file.projectName || '') };
}

// failure reads an error as vitest hands it over: plain data, with places in the
// sources.
function failure(err) {
  const out = channel.plain(err);
  const parsed = Array.isArray(err && err.stacks) ? err.stacks : [];
  if (parsed.length > 0) out.stack = parsed.slice(0, 12).map((f) => `at ${f.method || ''} (${f.file}:${f.line}:${f.column})`).join('\n');
  // vitest adds what was expected to errors of any kind: only the name tells.
  out.assertion = /Assertion/.test(out.name) || out.code === 'ERR_ASSERTION' || /^Snapshot `/.test(out.message);
  out.timeout = /^(?:Test|Hook) timed out in \d+ms/.test(out.message);
  if (/^Hook timed out/.test(out.message)) out.hook = 'hook';
  return out;
}

function outcomeOf(task) {
  if (task.mode === 'todo') return 'todo';
  const state = task.result && task.result.state;
  if (state === 'pass') return 'passed';
  if (state === 'fail') return 'failed';
  if (task.mode === 'skip' || state === 'skip') return 'skipped';
  return '';
}

const told = new Set();

function test(file, task) {
  const result = task.result || {};
  const errors = result.errors || (result.error ? [result.error] : []);
  const where = { ...place(file), path: pathOf(task), line: task.location ? task.location.line : 0, expected: task.fails === true };
  if (outcomeOf(task) === '') {
    if (result.state === 'run') send('begin', where);
    return false;
  }
  const retried = result.state === 'pass' ? errors : errors.slice(0, -1);
  if (result.retryCount > 0) for (const err of retried) send('result', { ...where, outcome: 'failed', errors: [failure(err)], again: true });
  send('result', { ...where, outcome: outcomeOf(task), errors: result.state === 'fail' ? errors.slice(-1).map(failure) : [], ms: result.duration || 0 });
  return true;
}

// walk tells whether every test came to an end.
function walk(file, tasks) {
  let whole = true;
  for (const task of tasks) {
    if (task.type === 'suite') {
      const errors = (task.result && task.result.errors) || [];
      whole = walk(file, task.tasks) && whole;
      if (errors.length > 0) hooked(file, task, errors);
    } else if (!inFailedSuite(task)) {
      whole = test(file, task) && whole;
    }
  }
  return whole;
}

function inFailedSuite(task) {
  if (task.result && task.result.state !== 'skip' && task.result.state !== undefined) return false;
  for (let at = task.suite; at; at = at.suite) {
    if (at.result && at.result.errors && at.result.errors.length > 0 && task.mode === 'run') return true;
  }
  return false;
}

function hooked(file, suite, errors) {
  for (const task of suite.tasks) {
    if (task.type === 'suite') hooked(file, task, errors);
    else if (inFailedSuite(task)) {
      send('result', { ...place(file), path: pathOf(task), outcome: 'failed', errors: errors.map((e) => ({ ...failure(e), hook: 'hook' })) });
    }
  }
}

function moduleEnd(file) {
  if (!file || told.has(file.id)) return;
  told.add(file.id);
  send('file', place(file));
  const errors = (file.result && (file.result.errors || (file.result.error ? [file.result.error] : []))) || [];
  const tests = (file.tasks || []).length > 0;
  if (errors.length > 0 && !tests) send('file_error', { ...place(file), errors: errors.map(failure) });
  const whole = walk(file, file.tasks || []);
  if (errors.length > 0 && tests) hooked(file, file, errors);
  else if (!whole) send('file_error', { ...place(file), errors: [{ name: '', message: 'the worker process ended', stack: '' }], died: true });
  send('file_end', place(file));
}

let server = null;

// loaded says which of the change's files the tests' server gave out.
function loaded() {
  const subjects = settings.subjects || [];
  const graphs = [];
  const add = (vite) => {
    if (!vite) return;
    if (vite.moduleGraph) graphs.push(vite.moduleGraph);
    for (const env of Object.values(vite.environments || {})) if (env.moduleGraph) graphs.push(env.moduleGraph);
  };
  add(server && server.server);
  add(server && server.vite);
  for (const project of (server && server.projects) || []) add(project.server || project.vite);
  for (const subject of subjects) {
    const file = `${channel.root}/${subject}`;
    const served = graphs.some((graph) => {
      try {
        return [...(graph.getModulesByFile(file) || [])].some((m) => m.ssrTransformResult || m.transformResult);
      } catch {
        return false;
      }
    });
    if (!served) continue;
    try {
      const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
      send('loaded', { subject, file, sha256, in_tree: true });
    } catch {
      // gone meanwhile
    }
  }
}

// trace puts a setup file of ours before those of every project.
function trace(ctx) {
  const file = new URL('./tracevitest.mjs', import.meta.url).pathname;
  const configs = new Set([ctx.config, ...((ctx.projects || []).map((p) => p.config))].filter(Boolean));
  for (const config of configs) config.setupFiles = [file, ...(config.setupFiles || [])];
}

let finished = false;

function finish(files, unhandled) {
  if (finished) return;
  finished = true;
  for (const file of files) moduleEnd(file);
  for (const err of unhandled || []) {
    const died = /Worker (?:exited|forks emitted error|terminated)|ERR_WORKER|Channel closed/i.test(String(err && err.message));
    send('unhandled', { errors: [failure(err)], died });
  }
  loaded();
  send('finish', {});
  channel.leave();
}

export default class TouchstoneReporter {
  onInit(ctx) {
    server = ctx;
    if (settings.trace) trace(ctx);
  }

  onTestModuleStart(module) {
    send('file', { unit: channel.unitOf(module.moduleId) });
  }

  onTestCaseReady(testCase) {
    const task = testCase.task || {};
    if (task.file) send('begin', { ...place(task.file), path: pathOf(task), line: task.location ? task.location.line : 0 });
  }

  onTestModuleEnd(module) {
    if (module.task) moduleEnd(module.task);
  }

  onTestRunEnd(modules, errors) {
    finish(modules.map((m) => m.task).filter(Boolean), errors);
  }

  onFinished(files, errors) {
    finish(files || [], errors);
  }
}
