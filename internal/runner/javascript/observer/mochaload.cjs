'use strict';
// Preloaded into mocha: a test file that cannot be loaded takes no other with it.
const path = require('path');
const channel = require('./channel.cjs');

channel.hide();
channel.hideWords(__filename);
const dir = process.env.TOUCHSTONE_FRAMEWORK;
delete process.env.TOUCHSTONE_FRAMEWORK;

function mochaClass() {
  if (dir) return require(path.join(dir, 'lib', 'mocha.js'));
  return require(require.resolve('mocha', { paths: [process.cwd()] }));
}

// marks and undo keep what a root suite held before a file was loaded.
const LISTS = ['suites', 'tests', '_beforeEach', '_beforeAll', '_afterEach', '_afterAll', '_onlyTests', '_onlySuites'];

function marks(suite) {
  return LISTS.map((name) => (Array.isArray(suite[name]) ? suite[name].length : -1));
}

function undo(suite, before) {
  LISTS.forEach((name, i) => {
    if (before[i] >= 0) suite[name].length = before[i];
  });
}

const Mocha = mochaClass();
require('./guard.cjs').mocha(Mocha);
const { loadFiles, loadFilesAsync } = Mocha.prototype;

function failed(file, err) {
  channel.send('file_error', { unit: channel.unitOf(file), errors: [channel.plain(err)] });
}

// asked leaves out test files that the configuration adds to those that this
// process is asked for.
const only = process.env.TOUCHSTONE_UNIT;
delete process.env.TOUCHSTONE_UNIT;
const others = new Set(channel.settings.others || []);
for (const unit of only ? channel.settings.units : (channel.settings.alone || []).map(channel.unitOf)) if (unit !== only) others.add(unit);
const asked = (files) => files.filter((file) => !others.has(channel.unitOf(file)));

function begin(unit) {
  channel.send('file', { unit });
  const trace = globalThis[Symbol.for('touchstone trace')];
  if (trace) trace.enter(unit);
}

Mocha.prototype.loadFiles = function (done) {
  const files = asked(this.files);
  for (const file of files) {
    const before = marks(this.suite);
    this.files = [file];
    begin(channel.unitOf(file));
    try {
      loadFiles.call(this);
    } catch (err) {
      undo(this.suite, before);
      failed(file, err);
    }
  }
  channel.send('file', { unit: '' });
  this.files = files;
  if (done) done();
};

if (loadFilesAsync) {
  Mocha.prototype.loadFilesAsync = async function (...args) {
    const files = asked(this.files);
    let result;
    for (const file of files) {
      const before = marks(this.suite);
      this.files = [file];
      begin(channel.unitOf(file));
      try {
        result = await loadFilesAsync.apply(this, args);
      } catch (err) {
        undo(this.suite, before);
        failed(file, err);
      }
    }
    channel.send('file', { unit: '' });
    this.files = files;
    return result;
  };
}
