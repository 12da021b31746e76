package javascript

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// canary is a test file of ours whose one test must fail.
type canary struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// What makes code able to have a test process report something else than what
// happened: in a test file, a hand in the process, in globals or in what is
// loaded; anywhere else, to name a framework is enough.
var (
	meddling = lazyregexp.New(`\bprocess\.(?:exit|on|once|emit|prepend|reallyExit|kill|abort|binding)|\bglobal(?:This)?\s*[.\[]|\.prototype\b|\brequire\.cache\b|\bModule\._|\b_load\b|\bdefineProperty\b`)
	naming   = lazyregexp.New(`\bassert\b|\bnode:test\b|\b(?:mocha|jest|vitest|ava|chai|expect|sinon)\b|\bprocess\.exitCode\b|\b(?:beforeEach|afterEach|before|after|it|test|describe)\s*=`)
)

// Canary runs rows once more beside a test that must fail, one in each of their
// directories. Where that comes out passed, or the process says that all went
// well, something else is reported than what happened: the units of the directory
// are in Result.Forged. Nothing is run when none of the changed files holds code
// that could do so.
func (r *Runner) Canary(ctx context.Context, state gate.State, batch gate.Batch, changed []string) (gate.Result, error) {
	c := r.newCall(state, batch)
	if !c.meddles(changed) {
		return gate.Result{}, nil
	}
	q := question{rows: make(map[string][]string), canaries: make(map[string]string)}
	for _, id := range batch.Rows {
		unit := r.known(id).unit
		q.rows[unit] = append(q.rows[unit], id)
	}
	q.units = c.present()
	beside := make(map[string]string) // unit of a canary -> one that it stands beside
	name := "t" + rand.Text()         // the code that is tested cannot know it before it runs
	titles := titlesOf(batch.Rows)
	for _, unit := range slices.Clone(q.units) {
		file := path.Join(path.Dir(unit), besideName(path.Base(unit), name))
		if _, has := beside[file]; !has {
			beside[file], q.canaries[file] = unit, canaryText(c.Config.Framework, unit, c.reader.source(unit), name, titles)
			q.units = append(q.units, file)
		}
	}
	h, err := c.invoke(ctx, q)
	if err != nil {
		return gate.Result{}, err
	}
	for _, file := range sorted(beside) {
		switch outcome := h.sung(file, name); {
		case outcome == "passed", outcome == "failed" && h.contradiction(file) != "":
			c.result.Forged = append(c.result.Forged, beside[file])
		}
	}
	c.result.Rows, c.result.Units = nil, nil
	return c.result, nil
}

func (c *call) meddles(changed []string) bool {
	for _, file := range changed {
		switch path.Ext(file) {
		case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		default:
			continue
		}
		source := c.reader.source(file)
		if meddling.MatchString(source) || !slices.Contains(c.reader.suite.files, file) && naming.MatchString(source) {
			return true
		}
	}
	return false
}

// sung is what became of a file's canaries: "passed" when one did, "" when none
// ran. One that is skipped, as by .only on a test beside it, says nothing.
func (h heard) sung(file, name string) (outcome string) {
	for _, row := range h.rows {
		if row.unit != file || !row.over || row.suite || !slices.Contains(row.path, name) && !slices.Contains(row.path, suiteOf(name)) {
			continue
		}
		if last := row.results[len(row.results)-1].Outcome; last == "passed" || outcome == "" {
			outcome = last
		}
	}
	return outcome
}

func suiteOf(name string) string { return name + "s" }

// maxTitles bounds how many tests lend their titles to canaries of a file.
const maxTitles = 20

// titlesOf are the tests' own titles, without their suites: code that picks tests
// by name takes a canary of that title for one of them.
func titlesOf(ids []string) []string {
	var titles []string
	for _, id := range ids {
		parts := strings.Split(id, between)
		if title := parts[len(parts)-1]; len(parts) > 1 && !slices.Contains(titles, title) && len(titles) < maxTitles {
			titles = append(titles, title)
		}
	}
	return titles
}

var (
	wordTest = lazyregexp.New(`^(?:tests?|spec)[-_]`)
	testEnd  = lazyregexp.New(`[-_](?:tests?|spec)$`)
)

// besideName is a file name that the framework's patterns take for a test like
// the one beside it.
func besideName(base, name string) string {
	stem, rest, _ := strings.Cut(base, ".")
	if i := strings.LastIndexAny(stem, "-_"); i >= 0 && !strings.Contains(rest, ".") && testEnd.MatchString(stem) {
		name += stem[i:]
	}
	return wordTest.FindString(stem) + name + "." + rest
}

var esm = lazyregexp.New(`(?m)^\s*(?:import\b|export\b)`)

// canaryText is a copy of a test file with one more test, which must fail: it
// loads what the file loads, since most frameworks give each file a process or a
// world of its own. It asks the assertions that are at hand to fail first: where
// one does not, it passes, and that is told.
func canaryText(framework, unit, beside, name string, titles []string) string {
	var b strings.Builder
	module := esm.MatchString(beside) || strings.HasSuffix(unit, ".mjs") || framework == Vitest
	load := func(what, from string) {
		if module {
			fmt.Fprintf(&b, "import %s from %q;\n", what, from)
		} else {
			fmt.Fprintf(&b, "const %s = require(%q);\n", strings.ReplaceAll(what, " as ", ": "), from)
		}
	}
	b.WriteString("// @ts-nocheck\n")
	if framework == Mocha && !module { // one process for all files: what the copy loads acts again
		b.WriteString("for (const file of Object.keys(require.cache)) if (file.startsWith(process.cwd()) && !/[\\\\/]node_modules[\\\\/]/.test(file)) delete require.cache[file];\n")
	}
	fmt.Fprintf(&b, "%s\n;\n", beside)
	load("assert_"+name, "assert")
	declare, expect := "(globalThis.it || globalThis.test || globalThis.specify)", "globalThis.expect"
	group := "(globalThis.describe || globalThis.suite || globalThis.context)"
	switch framework {
	case Node:
		load("test_"+name, "node:test")
		declare, group = "test_"+name, "test_"+name+".describe"
	case Ava:
		load("test_"+name, "ava")
		declare = "test_" + name
	case Vitest:
		load(fmt.Sprintf("{ test as test_%[1]s, describe as describe_%[1]s, expect as expect_%[1]s }", name), "vitest")
		declare, group, expect = "test_"+name, "describe_"+name, "expect_"+name
	}
	context, over := "", "" // ava fails a test that asserts nothing by its own means
	if framework == Ava {
		context, over = "t", "\n  t.pass();"
	}
	fmt.Fprintf(&b, `const fails_%[1]s = (%[3]s) => {
  const assert = assert_%[1]s, expect = %[2]s;
  const fails = [() => assert.equal(1, 2), () => assert.strictEqual(1, 2), () => assert.deepEqual([1], [2]), () => assert(false)];
  if (typeof expect === "function" && expect(1) && expect(1).toBe) fails.push(() => expect(1).toBe(2), () => expect([1]).toEqual([2]));
  const held = fails.filter((f) => { try { f(); return true; } catch (e) { return false; } });
  if (held.length === 0) throw new Error("this test of the gate's must fail");%[4]s
};
`, name, expect, context, over)
	fmt.Fprintf(&b, "%s(%q, fails_%s);\n", declare, name, name)
	if framework == Ava || len(titles) == 0 { // ava has no suites, and refuses a title that is there already
		return b.String()
	}
	quoted, _ := json.Marshal(titles) // strings only: cannot fail
	fmt.Fprintf(&b, "%s && %s(%q, () => %s.forEach((title) => %s(title, fails_%s)));\n", group, group, suiteOf(name), quoted, declare, name)
	return b.String()
}
