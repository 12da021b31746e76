'use strict';
// A jest reporter: what becomes of each test file and of each test in it.
const channel = require('./channel.cjs');

channel.hide();
channel.hideWords(__filename);
const { send } = channel;

function projectOf(test) {
  const name = test && test.context && test.context.config && test.context.config.displayName;
  return name ? String(name.name || name) : '';
}

function place(test, path) {
  return { unit: channel.unitOf(path || test.path), project: projectOf(test) };
}

const OUTCOMES = { passed: 'passed', failed: 'failed', pending: 'skipped', skipped: 'skipped', disabled: 'skipped', todo: 'todo', focused: 'passed' };

function pathOf(result) {
  return [...(result.ancestorTitles || []), result.title].map(String);
}

function errorsOf(result) {
  const messages = result.failureMessages || [];
  return messages.map((message, i) => fromMessage(message, (result.failureDetails || [])[i]));
}

// fromMessage reads a failure: jest's own text holds the stack that leads into
// the sources, the details what kind of error it was.
function fromMessage(text, detail) {
  const message = String(text).replace(/\x1b\[[0-9;]*m/g, '');
  const inner = detail && typeof detail === 'object' ? detail.error || detail : null;
  const out = channel.plain(inner && typeof inner === 'object' && (inner.message || inner.stack) ? inner : { message: '', stack: '' });
  const lines = message.split('\n');
  const first = lines.findIndex((l) => /^\s+at /.test(l));
  const head = lines.slice(0, first < 0 ? lines.length : first).join('\n').trim();
  const named = /^([A-Za-z]*(?:Error|Exception))(?: \[\w+\])?: /.exec(head);
  if (out.name === '' || out.name === 'Object') out.name = named ? named[1] : '';
  if (out.message === '') out.message = head.slice(0, 1200);
  const stack = channel.plain({ message: 'x', stack: message }).stack;
  if (stack) out.stack = stack;
  out.message = out.message.split(/\n\s+at /)[0];
  out.assertion = out.assertion || /^assert(?:\.\w+)*\(received/.test(head) || /^(?:Error: )?expect\b/.test(head) || /AssertionError|JestAssertionError/.test(named ? named[1] : '') || /^expect\b/.test(out.message);
  out.timeout = /Exceeded timeout of \d+ ?ms|Async callback was not invoked within/.test(head);
  return out;
}

module.exports = class TouchstoneReporter {
  onTestFileStart(test) {
    send('file', place(test));
  }

  onTestStart(test) {
    send('file', place(test)); // before jest 27
  }

  onTestCaseStart(test, info) {
    send('begin', { ...place(test), path: pathOf(info) });
  }

  constructor() {
    this.attempts = new Map(); // of rows that did not pass: what each attempt said
  }

  onTestCaseResult(test, result) {
    if (result.status === 'failed') {
      const key = JSON.stringify([test.path, pathOf(result)]);
      this.attempts.set(key, [...(this.attempts.get(key) || []), errorsOf(result)]);
    }
    send('case', { ...place(test), path: pathOf(result), outcome: OUTCOMES[result.status] || '', errors: errorsOf(result), ms: result.duration || 0 });
  }

  onTestResult(test, result) {
    const where = place(test, result.testFilePath);
    if (result.testExecError || (result.failureMessage && (result.testResults || []).length === 0)) {
      const err = result.testExecError || {};
      const told = fromMessage(err.stack || result.failureMessage || err.message || '', err.message ? err : null);
      const died = /jest worker process|Call retries were exceeded|signal=/.test(result.failureMessage || '') || /worker process/.test(told.message);
      send('file_error', { ...where, errors: [told], died });
    }
    for (const one of result.testResults || []) {
      let attempts = (one.retryReasons || []).map((reason) => fromMessage(reason, null));
      if (attempts.length === 0 && one.invocations > 1) {
        attempts = (this.attempts.get(JSON.stringify([result.testFilePath, pathOf(one)])) || []).slice(0, one.invocations - 1).flat();
      }
      const at = one.location ? { line: one.location.line } : {};
      for (const err of attempts) send('result', { ...where, ...at, path: pathOf(one), outcome: 'failed', errors: [err], again: true });
      send('result', { ...where, ...at, path: pathOf(one), outcome: OUTCOMES[one.status] || '', errors: errorsOf(one), ms: one.duration || 0 });
    }
    send('file_end', where);
  }

  onRunComplete() {
    send('finish', {});
    channel.leave();
  }
};
