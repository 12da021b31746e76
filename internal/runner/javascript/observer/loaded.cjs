'use strict';
// Preloaded: notes which of the change's production files the process loads,
// with the digest of what it saw. It is loaded by path and leaves no trace in
// process.execArgv, which the code under test may hand on.
const crypto = require('crypto');
const fs = require('fs');
const Module = require('module');
const vm = require('vm');
const channel = require('./channel.cjs');

require('./guard.cjs');

const at = process.execArgv.indexOf(__filename);
// jest hands it on to its workers, where it has done its part
if (at > 0 && (channel.settings.framework !== 'jest' || process.env.JEST_WORKER_ID)) process.execArgv.splice(at - 1, 2);

// handOn gives the process that mocha starts where it has options of Node's (in
// its arguments, .mocharc or node-option) what its parent got: the way out and
// this file.
function handOn() {
  const processes = require('child_process');
  const target = /\/fd\/(\d+)$/.exec(process.env.TOUCHSTONE_REPORT || '');
  const spawn = processes.spawn;
  processes.spawn = function (program, argv, options) {
    if (program !== process.execPath || !options || options.stdio !== 'inherit') return spawn.apply(this, arguments);
    processes.spawn = spawn;
    const stdio = ['inherit', 'inherit', 'inherit'];
    if (target) {
      while (stdio.length < Number(target[1])) stdio.push('ignore');
      stdio[Number(target[1])] = Number(target[1]);
    }
    return spawn.call(this, program, ['--require', __filename, ...argv], { ...options, stdio });
  };
}

if (channel.settings.framework === 'mocha' && /[\\/]bin[\\/]mocha(\.[cm]?js)?$/.test(process.argv[1] || '')) handOn();

const subjects = new Set(channel.settings.subjects || []);
const compiled = Object.entries(channel.settings.sources || {}).filter(([, source]) => subjects.has(source)).map(([file]) => file);
const names = new Set([...subjects, ...compiled].map((s) => s.slice(s.lastIndexOf('/') + 1)));
const seen = new Set();
const dirs = new Set(channel.settings.dirs || []);
let built = dirs.size === 0; // said already, or not asked

// note keeps a file that is a subject, or that bears a subject's path inside
// another place: a copy in node_modules that stands in for it.
function note(file) {
  const name = String(file);
  if (seen.has(name)) return;
  seen.add(name);
  if (!built) noteBuilt(name);
  if (!names.has(name.slice(name.lastIndexOf('/') + 1))) return;
  const subject = channel.unitOf(name);
  if (!subjects.has(subject)) return;
  const real = channel.root + '/' + subject; // what was compiled stands for its source: this run has built it
  let sha256 = '';
  try {
    sha256 = crypto.createHash('sha256').update(fs.readFileSync(real)).digest('hex');
  } catch {
    // unreadable: no digest
  }
  try {
    fs.appendFileSync(channel.loadedFile(), JSON.stringify({ subject, file: real, sha256, in_tree: true }) + '\n');
  } catch {
    // nowhere to say it
  }
}

// noteBuilt says once that a file was loaded which lies in a directory that the
// tree does not have and is older than this run: something made it before, of
// whatever sources there were.
function noteBuilt(name) {
  try {
    const file = channel.realpath(name.startsWith('file:') ? require('url').fileURLToPath(name) : name);
    if (!file.startsWith(channel.root + '/')) return;
    const inside = file.slice(channel.root.length + 1);
    if (/(^|\/)(node_modules|\.[^/]*)\//.test(inside) || dirs.has(inside.split('/').slice(0, -1).join('/') || '.')) return;
    const ours = fs.statSync(__dirname + '/settings.json');
    const its = fs.statSync(file);
    // a test can set mtime to what it likes, and not ctime
    if (its.mtimeMs >= ours.mtimeMs || its.ctimeMs > ours.ctimeMs) return;
    built = true;
    fs.appendFileSync(channel.loadedFile(), JSON.stringify({ built: file }) + '\n');
  } catch {
    // gone, or nowhere to say it
  }
}

if (subjects.size > 0) {
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (content, filename, ...rest) {
    note(filename);
    return compile.call(this, content, filename, ...rest);
  };
  // jest compiles what it loads as scripts of its own.
  vm.Script = class Script extends vm.Script {
    constructor(code, options) {
      super(code, options);
      const filename = typeof options === 'string' ? options : options && options.filename;
      if (filename) note(filename);
    }
  };
  if (typeof Module.registerHooks === 'function') {
    Module.registerHooks({
      load(url, context, next) {
        if (url.startsWith('file:')) note(url);
        return next(url, context);
      },
    });
  }
}
