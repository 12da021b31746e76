const t = require('tap'); const lib={};
t.test('adds', (t) => { t.equal(2,2,'two'); t.equal(2,2); t.end(); });
t.test('asserts', (t) => { t.equal(1,2,'one'); t.test('inner', (t)=>{ t.ok(true); t.end() }); t.end(); });
t.test('boom', (t) => { lib.fresh(); t.end(); });
t.test('later', {todo: true}, (t)=>{t.end()});
t.equal(1,1,'top level');
