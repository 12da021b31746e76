const test = require('tape'); const lib={};
test('adds', (t) => { t.equal(2,2,'two'); t.equal(2,2); t.end(); });
test('asserts', (t) => { t.equal(1,2,'one'); t.ok(true); t.end(); });
test('boom', (t) => { t.throws(()=>{throw new Error('x')}); lib.fresh(); t.end(); });
