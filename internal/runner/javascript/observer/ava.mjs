// Runs ava's own command line with an ear on what its reporter is told: ava has
// no interface for reporters of others.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const channel = require('./channel.cjs');
channel.hide();
const { send } = channel;
const dir = process.env.TOUCHSTONE_FRAMEWORK;
delete process.env.TOUCHSTONE_FRAMEWORK;

function pick(...names) {
  return names.map((name) => path.join(dir, name)).find((file) => fs.existsSync(file));
}

async function load(file) {
  return import(pathToFileURL(file).href);
}

function failure(err) {
  if (!err) return { name: '', message: '', stack: '' };
  const wrapped = /^(?:Error thrown in test|Rejected promise returned by test)/.test(String(err.message));
  if (wrapped) return thrown(err);
  const own = err.originalError || err.rawError || err;
  const out = channel.plain({ name: err.name || own.name, message: err.message || own.message || err.summary || '', stack: err.stack || own.stack || '', code: own.code });
  if (!out.message && Array.isArray(err.formattedDetails || err.values)) out.message = (err.formattedDetails || err.values).map((v) => v.label || '').join(' ');
  out.assertion = Boolean(err.avaAssertionError || err.isAvaAssertionError || err.type === 'ava' || err.name === 'AssertionError' || err.assertion);
  if (out.message === 'Test timeout exceeded' && !out.assertion) out.timeout = true; // of t.timeout()
  if (err.source && err.source.file && out.stack === '') out.stack = `at (${String(err.source.file)}:${err.source.line}:1)`;
  return out;
}

// thrown is an error of the test's own inside the one that ava makes of it.
function thrown(err) {
  const cause = err.originalError && err.originalError.cause;
  if (cause && typeof cause === 'object') return channel.plain(cause);
  const first = /^([\w$.]*(?:Error|Exception)\w*)?(?: \[\w+\])?:? ?([^\n]*)/.exec(String(err.stack || err.formattedCause || ''));
  return channel.plain({ name: first[1] || '', message: first[2] || String(err.formattedCause || err.message), stack: err.stack || '' });
}

const begun = new Map(); // file -> titles that were selected and have no result
const started = new Set();
const ended = new Set();

function take(evt) {
  const unit = evt.testFile ? channel.unitOf(evt.testFile) : '';
  const row = { unit, path: [String(evt.title)] };
  switch (evt.type) {
    case 'starting':
      started.add(unit);
      send('file', { unit });
      break;
    case 'declared-test':
      send('row', { ...row, expected: evt.knownFailing === true });
      break;
    case 'selected-test':
      if (evt.skip || evt.todo) send('result', { ...row, outcome: evt.todo ? 'todo' : 'skipped' });
      else {
        begun.set(unit, (begun.get(unit) || new Set()).add(String(evt.title)));
        send('begin', row);
      }
      break;
    case 'test-passed':
      begun.get(unit)?.delete(String(evt.title));
      send('result', { ...row, outcome: 'passed', expected: evt.knownFailing === true, ms: evt.duration || 0 });
      break;
    case 'test-failed':
      begun.get(unit)?.delete(String(evt.title));
      send('result', { ...row, outcome: 'failed', errors: [failure(evt.err)], ms: evt.duration || 0 });
      break;
    case 'hook-failed':
      hook(evt, unit);
      break;
    case 'uncaught-exception':
    case 'unhandled-rejection':
      send('uncaught', { unit, errors: [failure(evt.err)] });
      if ((begun.get(unit) || new Set()).size === 0) send('file_error', { unit, errors: [failure(evt.err)] });
      break;
    case 'timeout':
    case 'timed-out':
      for (const [file, titles] of evt.pendingTests || []) timeout(channel.unitOf(file), titles);
      for (const file of started) {
        if (!ended.has(file)) send('file_error', { unit: file, errors: [{ name: '', message: 'timed out: no test ended in the time that ava allows', stack: '', timeout: true }] });
      }
      break;
    case 'missing-ava-import':
    case 'no-tests':
      break;
    case 'worker-failed':
      if (!ended.has(unit)) send('file_error', { unit, errors: [failure(evt.err || { name: '', message: `the process ended ${evt.signal ? 'by ' + evt.signal : 'with exit status ' + evt.nonZeroExitCode}` })], died: !evt.err });
      ended.add(unit);
      break;
    case 'worker-finished':
      ended.add(unit);
      send('file_end', { unit });
      break;
  }
}

function hook(evt, unit) {
  const errors = [{ ...failure(evt.err), hook: String(evt.title) }];
  const of = /^(?:before|after)Each(?:\.always)? hook for (.*)$/s.exec(String(evt.title));
  const titles = of ? [of[1]] : [...(begun.get(unit) || [])];
  for (const title of titles) {
    begun.get(unit)?.delete(title);
    send('result', { unit, path: [title], outcome: 'failed', errors });
  }
}

function timeout(unit, titles) {
  for (const title of titles) {
    begun.get(unit)?.delete(String(title));
    send('result', { unit, path: [String(title)], outcome: 'failed', errors: [{ name: '', message: 'timed out: no test ended in the time that ava allows', stack: '', timeout: true }] });
  }
}

const reporter = await load(pick('lib/reporters/tap.js'));
const Tap = reporter.default.default || reporter.default;
const consume = Tap.prototype.consumeStateChange;
Tap.prototype.consumeStateChange = function (evt) {
  try {
    take(evt);
  } catch {
    // what is not told is missing, and never passes
  }
  return consume.call(this, evt);
};
const endRun = Tap.prototype.endRun;
Tap.prototype.endRun = function (...args) {
  send('finish', {});
  return endRun.apply(this, args);
};

const cli = await load(pick('lib/cli.js'));
const run = cli.default.run || cli.default;
await run();
