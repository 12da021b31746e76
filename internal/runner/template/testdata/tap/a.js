const test = require('node:test'); const assert=require('assert'); const lib={};
test('adds', () => {});
test('outer', async (t) => { await t.test('inner', () => { assert.equal(1,2); }); await t.test('twice',()=>{}); await t.test('twice',()=>{}); });
test('boom', () => { lib.fresh(); });
test('later # maybe', {todo:true}, () => { throw new Error('x') });
test('not here', {skip:'no reason'}, () => {});
