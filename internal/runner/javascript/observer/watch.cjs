'use strict';
// Notes what the test files of this process open, list and start, and where
// paths lie. What a framework reads on its own account is left out, as far as its
// code is.
const fs = require('fs');
const path = require('path');
const { fileURLToPath } = require('url');
const { promisify } = require('util');
const channel = require('./channel.cjs');

const root = channel.root + path.sep;
const code = /\.(?:[cm]?[jt]sx?|vue|svelte)$/;

let opens = new Set();
let lists = new Set();
let open = ''; // why not all is known

const placed = new Map(); // what inTree says of absolute paths and URLs

// inTree names a path from the root of the tree, '' for what lies elsewhere or
// belongs to installed packages.
function inTree(name) {
  if (typeof name !== 'string' || (name[0] !== '/' && !name.startsWith('file:'))) return place(name);
  let rel = placed.get(name);
  if (rel === undefined) {
    rel = place(name);
    if (placed.size < 100000) placed.set(name, rel);
  }
  return rel;
}

function place(name) {
  let full = name;
  if (Buffer.isBuffer(full)) full = full.toString();
  try {
    if (full instanceof URL || (typeof full === 'string' && full.startsWith('file:'))) full = fileURLToPath(full);
  } catch {
    return '';
  }
  if (typeof full !== 'string') return '';
  full = path.resolve(full);
  if (full === channel.root) return '.';
  if (!full.startsWith(root)) return '';
  const rel = full.slice(root.length).split(path.sep).join('/');
  return /(?:^|\/)(?:node_modules|\.git)(?:\/|$)/.test(rel) ? '' : rel;
}

const frameworks = /\/node_modules\/(?:\.pnpm\/[^/]+\/node_modules\/)?(?:@(?:jest|babel|vitest|swc|esbuild|ava|jridgewell|cspotcode|rollup|tsconfig)\/|(?:jest|babel|vite|vitest|mocha|ava|tsx|ts-node|ts-jest|esbuild|typescript|tinypool|piscina|source-map|pirates|yargs|cosmiconfig|lilconfig|get-tsconfig|tsconfig-paths|import-local|rollup|expect|matcher-collection|supertap|cjs-module-lexer)[^/]*\/)/;
const passed = /\/node_modules\/(?:graceful-fs|fs-extra|universalify|pify)\//;

// caller says on whose behalf something is done: 'loader', 'framework' or 'test'.
function caller() {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.prepareStackTrace = undefined;
  Error.stackTraceLimit = 30;
  const { stack } = new Error();
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  let other = false; // a package that is no framework's
  for (const line of stack.split('\n').slice(2)) {
    if (line.includes('node:internal/modules/') || line.includes('node:internal/main/')) return 'loader';
    if (!line.includes('/') || line.includes('node:') || line.includes(__filename) || passed.test(line)) continue;
    if (frameworks.test(line) || line.includes(__dirname)) return 'framework';
    if (!line.includes('/node_modules/')) return 'test';
    other = true;
  }
  return other ? 'test' : 'framework';
}

function note(name, listing, looking) {
  const rel = inTree(name);
  if (rel === '' || (listing ? lists.has(rel) : opens.has(rel))) return;
  const by = caller();
  if (by !== 'test' && (listing || looking || code.test(rel) || rel.endsWith('package.json'))) return;
  if (!listing) opens.add(rel);
  if (listing || looking) lists.add(rel);
}

// watch puts a function of ours before one of Node's, with all that can be seen
// of it from outside.
function watch(holder, name, before) {
  const own = holder[name];
  if (typeof own === 'function') holder[name] = noting(own, before);
}

function noting(own, before) {
  const watched = function (...args) {
    try {
      before(...args);
    } catch {
      // what cannot be noted must not disturb
    }
    return Reflect.apply(own, this, args);
  };
  const all = Object.getOwnPropertyDescriptors(own);
  const promised = all[promisify.custom]; // what util.promisify makes of it
  if (promised && typeof promised.value === 'function') promised.value = promised.value === own ? watched : noting(promised.value, before);
  return Object.defineProperties(watched, all);
}

for (const holder of [fs, fs.promises]) {
  for (const name of ['open', 'openSync', 'readFile', 'readFileSync', 'createReadStream', 'copyFile', 'copyFileSync', 'cp', 'cpSync', 'readlink', 'readlinkSync', 'openAsBlob']) watch(holder, name, (file) => note(file, false, false));
  for (const name of ['access', 'accessSync', 'exists', 'existsSync', 'stat', 'statSync', 'lstat', 'lstatSync', 'watch', 'watchFile']) watch(holder, name, (file) => note(file, false, true));
  for (const name of ['readdir', 'readdirSync', 'opendir', 'opendirSync']) watch(holder, name, (file) => note(file, true, false));
  for (const name of ['glob', 'globSync']) watch(holder, name, (pattern, options) => note((options && options.cwd) || '.', true, false));
}

function starts(what) {
  if (open === '' && caller() === 'test') open = `starts ${path.basename(String(what)).slice(0, 60)}`;
}

const children = require('child_process');
for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork']) watch(children, name, (command) => starts(String(command).split(' ')[0]));
watch(require('cluster'), 'fork', () => starts('a worker'));
const threads = require('worker_threads');
threads.Worker = class Worker extends threads.Worker {
  constructor(...args) {
    starts(args[0]);
    super(...args);
  }
};
require('module').syncBuiltinESMExports();

// drain hands over what was noted since the last time.
function drain() {
  const noted = { opens: [...opens], lists: [...lists], open };
  [opens, lists, open] = [new Set(), new Set(), ''];
  return noted;
}

module.exports = { drain, inTree, root };
