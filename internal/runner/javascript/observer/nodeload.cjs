'use strict';
// Preloaded into a file of node:test: says what ended it before its tests.
const channel = require('./channel.cjs');

channel.hide();
const unit = process.env.TOUCHSTONE_UNIT;
delete process.env.TOUCHSTONE_UNIT;
const at = process.execArgv.indexOf(__filename);
if (at > 0) process.execArgv.splice(at - 1, 2);
for (let i = process.execArgv.length - 1; i >= 0; i--) {
  if (/^--test-(?:reporter|name-pattern)/.test(process.execArgv[i])) process.execArgv.splice(i, 2);
}

globalThis[Symbol.for('touchstone')] = { unit, channel };
process.on('uncaughtExceptionMonitor', (err) => {
  channel.send('uncaught', { unit, errors: [channel.plain(err)] });
});
require('./loaded.cjs');
