// A reporter of node:test, in the process of the test file.
import { createRequire } from 'node:module';
import { Transform } from 'node:stream';

const require = createRequire(import.meta.url);
const channel = require('./channel.cjs');
const guard = require('./guard.cjs');
const shared = globalThis[Symbol.for('touchstone')] || {};
const unit = shared.unit;
const open = []; // names from the outermost down to the one being reported
const running = [];
const begun = new Set(); // paths, as text
let cut = false; // tests were never begun, since another one waits for ever

function failure(error) {
  const kind = error && error.failureType;
  const inner = error && error.cause !== undefined && typeof error.cause === 'object' && error.cause !== null ? error.cause : error;
  const out = channel.plain(inner);
  if (typeof (error && error.cause) === 'string') out.message = error.cause;
  out.timeout = kind === 'testTimeoutFailure';
  out.hook = kind === 'hookFailed' ? 'hook' : '';
  out.subtests = kind === 'subtestsFailed';
  out.cancelled = kind === 'cancelledByParent' || kind === 'testAborted' || kind === 'parentAlreadyFinished';
  return out;
}

// neverBegun holds for a test that is said to have failed since the process had
// nothing left to do: another one waited for what does not come, and this one had
// not had its turn.
function neverBegun(data) {
  const error = data.details && data.details.error;
  return begun.size > 0 && error && error.failureType === 'cancelledByParent' && /still pending/.test(`${error.message} ${error.cause}`) && !begun.has(JSON.stringify(pathOf(data)));
}

function pathOf(data) {
  return [...open.slice(0, data.nesting), String(data.name)];
}

function place(data) {
  return { unit, path: pathOf(data), line: channel.isCompiled(data.file) ? 0 : data.line || 0, file: data.file ? channel.unitOf(data.file) : '', suite: data.details ? data.details.type === 'suite' : false };
}

function take({ type, data }) {
  switch (type) {
    case 'test:dequeue':
      running.length = Math.min(running.length, data.nesting);
      running[data.nesting] = String(data.name);
      begun.add(JSON.stringify(running.slice(0, data.nesting + 1)));
      channel.send('begin', { unit, path: running.slice(0, data.nesting + 1) });
      break;
    case 'test:start':
      open.length = Math.min(open.length, data.nesting);
      open[data.nesting] = String(data.name);
      break;
    case 'test:pass':
    case 'test:fail': {
      guard.compare();
      if (type === 'test:fail' && neverBegun(data)) {
        cut = true;
        break;
      }
      const todo = data.todo !== undefined && data.todo !== false;
      const skip = data.skip !== undefined && data.skip !== false;
      const outcome = skip ? 'skipped' : todo ? 'todo' : type === 'test:pass' ? 'passed' : 'failed';
      const filtered = !channel.settings.list && /does not match pattern|only option not set|'only' option/.test(String(data.skip));
      const errors = type === 'test:fail' && !todo ? [failure(data.details && data.details.error)] : [];
      channel.send('result', { ...place(data), outcome, errors, filtered, ms: (data.details && data.details.duration_ms) || 0, words: typeof data.skip === 'string' ? data.skip : '' });
      break;
    }
  }
}

const taken = new WeakSet();

function once(event) {
  if (taken.has(event.data)) return;
  taken.add(event.data);
  take(event);
}

// The stream of events is asynchronous, and a test may end its process at any
// time: events are taken as they are emitted, and what came before is drained.
export default class Touchstone extends Transform {
  constructor() {
    super({ writableObjectMode: true });
    this.on('pipe', (source) => {
      if (typeof source.read === 'function') for (let event = source.read(); event !== null; event = source.read()) once(event);
      for (const type of ['test:dequeue', 'test:start', 'test:pass', 'test:fail']) source.on(type, (data) => once({ type, data }));
    });
  }

  _transform(event, encoding, done) {
    if (event && event.data && typeof event.data === 'object') once(event);
    done();
  }

  _flush(done) {
    if (!cut) channel.send('finish', { unit }); // else the rest is to be run again
    done();
  }
}
