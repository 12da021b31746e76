'use strict';
// Tells when code of the repository takes the place of the test framework's own:
// what decides an outcome is noted before anything of the repository is loaded,
// and compared at the end of tests and of the process.
const fs = require('fs');
const channel = require('./channel.cjs');

const append = fs.appendFileSync;
const parts = []; // [label, holder, name, value]
const told = new Set();

function note(label, holder) {
  for (const name of Object.getOwnPropertyNames(holder)) {
    const own = Object.getOwnPropertyDescriptor(holder, name);
    if (typeof own.value === 'function' && name !== 'constructor') parts.push([`${label}.${name}`, holder, name, own.value]);
  }
}

function compare() {
  for (const [label, holder, name, value] of parts) {
    const now = Object.getOwnPropertyDescriptor(holder, name);
    if ((now && now.value === value) || told.has(label)) continue;
    told.add(label);
    if (channel.open() !== null) channel.send('replaced', { message: label });
    else {
      try {
        append(channel.loadedFile(), JSON.stringify({ replaced: label }) + '\n');
      } catch {
        // nowhere to say it
      }
    }
  }
}

note('node:assert', require('assert'));
note('node:assert.strict', require('assert').strict);
if (channel.settings.framework === 'node') note('node:test', require('node:test'));
process.on('exit', compare);

// mocha notes the classes that decide.
function mocha(Mocha) {
  for (const name of ['Runner', 'Runnable', 'Test', 'Suite', 'Hook']) {
    if (Mocha[name] && Mocha[name].prototype) note(`mocha.${name}`, Mocha[name].prototype);
  }
}

module.exports = { compare, mocha };
