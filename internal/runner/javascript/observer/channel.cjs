'use strict';
// The way out: one JSON object a line to the file that TOUCHSTONE_REPORT names.
// Several processes may write at once, so a line is kept below what a pipe
// takes in one piece.
const fs = require('fs');
const path = require('path');

const settings = JSON.parse(fs.readFileSync(path.join(__dirname, 'settings.json'), 'utf8'));
const sources = settings.sources || {};
const MAX_LINE = 4000;
const MAX_TEXT = 1200;
const MAX_STACK = 1600;

let fd = null;

function open() {
  const target = process.env.TOUCHSTONE_REPORT;
  if (fd !== null || target === undefined) return fd;
  const inherited = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(target);
  fd = inherited ? Number(inherited[1]) : fs.openSync(target, 'a');
  return fd;
}

// hide hides the channel from what this process starts.
function hide() {
  open();
  delete process.env.TOUCHSTONE_REPORT;
}

// hideWords takes the option whose value is file, and all after it, out of
// process.argv: the framework has read it, and a program under test that reads it
// by default must find what the repository's own script gives it.
function hideWords(file) {
  const at = process.argv.indexOf(file);
  if (at > 0) process.argv.splice(at - 1);
}

function send(kind, fields) {
  if (open() === null) return;
  let line = JSON.stringify({ ...fields, kind });
  if (Buffer.byteLength(line) > MAX_LINE) line = JSON.stringify({ ...shorter(fields), kind });
  const data = Buffer.from(line + '\n');
  for (let at = 0; at < data.length; ) {
    try {
      at += fs.writeSync(fd, data, at);
    } catch (err) {
      if (err.code !== 'EAGAIN') return; // a test closed it: the missing finish record tells
    }
  }
}

function shorter(fields) {
  const errors = (fields.errors || []).slice(0, 1).map((e) => ({ ...e, message: cut(e.message, 700), stack: cut(e.stack, 700) }));
  return { ...fields, errors };
}

function cut(text, most) {
  return text.length > most ? text.slice(0, most) : text;
}

const root = realpath(path.resolve(process.cwd(), settings.up || '.'));

function realpath(name) {
  try {
    return fs.realpathSync(name);
  } catch {
    return name;
  }
}

// inside names a file from the repository's root, with forward slashes.
function inside(file) {
  const name = String(file).startsWith('file:') ? require('url').fileURLToPath(file) : path.resolve(String(file));
  return path.relative(root, realpath(name)).split(path.sep).join('/');
}

// unitOf is inside, for what was compiled the name of what it was compiled from.
function unitOf(file) {
  const name = inside(file);
  return sources[name] || name;
}

// isCompiled holds for a file whose lines are not those of a source.
function isCompiled(file) {
  return Boolean(file) && sources[inside(file)] !== undefined;
}

// plain makes data of whatever a test threw. It never throws itself.
function plain(err, depth = 0) {
  try {
    if (err === null || (typeof err !== 'object' && typeof err !== 'function')) {
      return { name: '', message: cut(String(err), MAX_TEXT), stack: '' };
    }
    const message = typeof err.message === 'string' ? err.message : '';
    const out = {
      name: String(err.name || (err.constructor && err.constructor.name) || ''),
      message: cut(message || firstLine(err), MAX_TEXT),
      stack: frames(err.stack || err.stackTrace),
      code: typeof err.code === 'string' ? err.code : '',
      assertion: isAssertion(err),
    };
    if (err.cause && depth < 3 && typeof err.cause === 'object') out.cause = plain(err.cause, depth + 1);
    return out;
  } catch {
    return { name: 'Error', message: '(its text could not be made)', stack: '' };
  }
}

function firstLine(err) {
  return typeof err.stack === 'string' && err.stack ? err.stack.split('\n')[0] : '';
}

// frames keeps the lines of a stack that say where, the tests' own first: those
// of packages and of the runtime only fill it.
function frames(stack) {
  const lines = String(stack || '').split('\n').filter((l) => /^\s+at |^\s*(?:file:\/\/)?\/.*:\d+/.test(l));
  const own = lines.filter((l) => !/node_modules|node:internal|\(internal\//.test(l));
  return cut(own.slice(0, 12).map((l) => l.trim()).join('\n'), MAX_STACK);
}

function isAssertion(err) {
  return err.code === 'ERR_ASSERTION' || /Assertion(?:Error|Failed)/.test(String(err.name)) || err.matcherResult !== undefined ||
    (own(err, 'actual') && own(err, 'expected')) || err.name === 'ExpectationFailed';
}

function own(object, key) {
  return Object.prototype.hasOwnProperty.call(object, key);
}

// leave ends a process that finished its report and is held by something that
// a test left open.
function leave() {
  setTimeout(() => process.exit(), 2000).unref();
}

// loadedFile is where this run's processes leave what they loaded: the report
// itself does not reach a framework's workers.
function loadedFile() {
  const key = require('crypto').createHash('sha256').update(settings.home || __dirname).digest('hex').slice(0, 16);
  return path.join(require('os').tmpdir(), `touchstone-loaded-${key}`);
}

// traceDir is where they leave what they did.
function traceDir() {
  return loadedFile().replace('-loaded-', '-trace-');
}

module.exports = { loadedFile, traceDir, settings, send, hide, hideWords, open, unitOf, isCompiled, plain, leave, root, realpath };
