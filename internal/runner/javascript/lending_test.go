package javascript

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// TestFilesThatLend runs mocha over files that lie among its tests and hold none:
// those that are there for others are no failure, what should have held tests is.
func TestFilesThatLend(t *testing.T) {
	modules := packages(t, Mocha)
	state := plainstate.New(t, `
-- package.json --
{"scripts":{"test":"mocha"},"mocha":{"require":["./test/loaded.js"]}}
-- lib.js --
exports.cases = []
-- test/a.js --
const helper = require('./helper');
it('one', () => { if (helper.one !== 1) throw new Error('no'); });
-- test/helper.js --
const path = require('path');
exports.one = 1;
-- test/loaded.js --
require('path');
-- test/setup.js --
process.env.TZ = 'UTC';
before(() => {});
-- test/made.js --
for (const c of require('../lib').cases) c.register();
-- test/none.js --
for (const name of []) it(name, () => {});
`)
	link(t, modules, state.Dir())
	units := []string{"test/a.js", "test/helper.js", "test/loaded.js", "test/made.js", "test/none.js", "test/setup.js"}
	result, err := New(Config{Framework: Mocha, Timeout: time.Minute}).Run(context.Background(), state, gate.Batch{Units: units})
	if err != nil {
		t.Fatal(err)
	}
	var failed []string
	for _, failure := range result.Units {
		failed = append(failed, failure.Unit)
	}
	slices.Sort(failed)
	if want := []string{"test/made.js", "test/none.js"}; !slices.Equal(failed, want) || len(result.Rows) != 1 {
		t.Errorf("without tests: %q, want %q; rows %+v", failed, want, result.Rows)
	}
}
