'use strict';
// A mocha reporter: which tests there are, and what becomes of each.
const channel = require('./channel.cjs');
const guard = require('./guard.cjs');

const { settings, send } = channel;

function pathOf(test) {
  const titles = [];
  for (let at = test; at && !at.root; at = at.parent) titles.unshift(String(at.title));
  return titles;
}

module.exports = class TouchstoneReporter {
  constructor(runner) {
    this.numbers = new Map(); // test -> its number among those of one name
    this.unresolved = new Set();
    this.collect(runner.suite);
    unbail(runner.suite);
    send('collected', { focused: focused(runner.suite) });
    this.select(runner.suite);
    if (typeof runner.grep === 'function' && runner._grep) runner.grep(runner._grep, runner._invert);
    this.listen(runner);
  }

  // collect numbers tests of one name in the order in which they were written.
  collect(root) {
    const count = new Map();
    const walk = (suite) => {
      for (const test of suite.tests) {
        const unit = test.file ? channel.unitOf(test.file) : '';
        const key = JSON.stringify([unit, pathOf(test)]);
        const number = (count.get(key) || 0) + 1;
        count.set(key, number);
        this.numbers.set(test, number);
        this.unresolved.add(test);
        send('row', this.row(test));
      }
      suite.suites.forEach(walk);
    };
    walk(root);
  }

  row(test) {
    let origin = test;
    while (!this.numbers.has(origin) && origin.retriedTest && origin.retriedTest()) origin = origin.retriedTest();
    return { unit: test.file ? channel.unitOf(test.file) : '', path: pathOf(test), number: this.numbers.get(origin) || 1 };
  }

  // select leaves only the tests that were asked for.
  select(suite) {
    const wanted = new Set(settings.list ? [] : settings.rows.map((r) => JSON.stringify(r)));
    const named = new Set(settings.rows.map((r) => r[0]));
    const asked = (test) => {
      const r = this.row(test);
      if (settings.list || !settings.units.includes(r.unit)) return false;
      return !named.has(r.unit) || wanted.has(JSON.stringify([r.unit, r.path, r.number]));
    };
    const walk = (s) => {
      for (const test of s.tests) if (!asked(test)) this.unresolved.delete(test);
      s.tests = s.tests.filter(asked);
      if (s._onlyTests) s._onlyTests = s._onlyTests.filter(asked);
      s.suites.forEach(walk);
      const holds = (inner) => inner.tests.length > 0 || inner.suites.some(holds);
      s.suites = s.suites.filter(holds);
      if (s._onlySuites) s._onlySuites = s._onlySuites.filter(holds);
    };
    walk(suite);
  }

  // follow says whose code runs next. A hook around each test runs for the
  // test's file, whoever declared it.
  follow(runner, trace) {
    const enter = (what) => {
      if (what.file) trace.enter(channel.unitOf(what.file));
    };
    runner.on('suite', enter);
    runner.on('test', enter);
    runner.on('hook', (hook) => {
      if (!/ each/.test(hook.title)) enter(hook.file ? hook : hook.parent || {});
    });
    runner.on('end', () => trace.finish());
  }

  listen(runner) {
    const trace = globalThis[Symbol.for('touchstone trace')];
    if (trace) this.follow(runner, trace);
    runner.on('test', (test) => send('begin', this.row(test)));
    runner.on('pass', (test) => this.result(test, 'passed', []));
    runner.on('pending', (test) => this.result(test, test.fn || test.isPending === undefined ? 'skipped' : 'todo', []));
    runner.on('retry', (test, err) => this.result(test, 'failed', [channel.plain(err)], true));
    runner.on('fail', (test, err) => {
      if (test.type === 'hook') this.hook(test, err);
      else this.result(test, 'failed', [{ ...channel.plain(err), timeout: err && err.code === 'ERR_MOCHA_TIMEOUT' }]);
    });
    runner.on('end', () => {
      send('finish', {});
      channel.leave();
    });
  }

  result(test, outcome, errors, again) {
    guard.compare();
    if (!again) this.unresolved.delete(test);
    send('result', { ...this.row(test), outcome, errors, ms: test.duration || 0, again: Boolean(again) });
  }

  // hook speaks for the tests that a failed hook kept from running, and for the
  // one that it followed.
  hook(hook, err) {
    const errors = [{ ...channel.plain(err), hook: String(hook.title) }];
    const current = hook.ctx && hook.ctx.currentTest;
    const each = / each/.test(hook.title);
    if (each && current) this.result(current, 'failed', errors);
    const below = (test) => {
      for (let at = test.parent; at; at = at.parent) if (at === hook.parent) return true;
      return false;
    };
    for (const test of [...this.unresolved]) {
      if (test !== current && below(test) && (/before|each/.test(hook.title))) this.result(test, 'failed', errors);
    }
  }
};

function focused(suite) {
  return typeof suite.hasOnly === 'function' ? suite.hasOnly() : Boolean(suite._onlyTests && (suite._onlyTests.length || suite._onlySuites.length));
}

// unbail keeps one failure from hiding what comes after it.
function unbail(suite) {
  if (typeof suite.bail === 'function') suite.bail(false);
  suite.suites.forEach(unbail);
}
