package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// remembering runs check with a cache and returns the report.
func remembering(t *testing.T, cache, dir string, args ...string) *gate.Report {
	t.Helper()
	var out, errs strings.Builder
	app := App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: os.Getenv, Cache: cache}
	app.Main(append([]string{"check", "--repo", dir, "--base", "HEAD~1", "--full", "never", "--budget", "-1s", "--format", "json"}, args...))
	var r gate.Report
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	return &r
}

// A change whose production part is worked on asks base's side once: the report
// says so and is the same else. Whatever an answer hangs on makes base be asked
// anew.
func TestBaseIsRecalled(t *testing.T) {
	need(t, "pytest")
	cache, dir := t.TempDir(), t.TempDir()
	num := func(body string) string { return "def absolute(x):\n    " + body + "\n" }
	files := map[string]string{"num.py": num("return x"), "test_num.py": "from num import absolute\n\n\ndef test_positive():\n    assert absolute(1) == 1\n", ".gitignore": "local.txt\n"}
	benchRepository(t, dir, files, map[string]string{"num.py": num("return -x"), "test_num.py": files["test_num.py"] + "\n\ndef test_negative():\n    assert absolute(-2) == 2\n"})
	recalled := func(r *gate.Report) bool {
		return r.States[gate.BaseTests].Recalled > 0
	}
	first := remembering(t, cache, dir)
	if box := first.States[gate.Base].Sandbox; box != "overlay" {
		t.Skipf("nothing is kept with the sandbox %s", box)
	}
	if r := first; recalled(r) || r.Verdict.Conclusion != gate.Fail {
		t.Fatalf("the first run: recalled %v, %s", recalled(r), r.Verdict.Conclusion)
	}
	listen(t) // what other programs of the machine do is no matter
	write(t, dir, map[string]string{"num.py": num("return -x if x < 0 else x")})
	second := remembering(t, cache, dir)
	if !recalled(second) || second.Verdict.Conclusion != gate.Pass || second.Summary.Discriminating != 1 {
		t.Errorf("after an edit of the production code: recalled %v, %s %v", recalled(second), second.Verdict.Conclusion, second.Verdict.Reasons)
	}
	if !strings.Contains(strings.Join(second.Notes, "\n"), "recalled from an earlier run") {
		t.Errorf("the report does not say it: %q", second.Notes)
	}
	if fresh := remembering(t, cache, dir, "--fresh"); recalled(fresh) || fresh.Verdict.Conclusion != gate.Pass {
		t.Errorf("--fresh: recalled %v, %s", recalled(fresh), fresh.Verdict.Conclusion)
	}
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"a test", func() {
			write(t, dir, map[string]string{"test_num.py": files["test_num.py"] + "\n\ndef test_minus():\n    assert absolute(-3) == 3\n"})
		}},
		{"an ignored file", func() { write(t, dir, map[string]string{"local.txt": "x"}) }},
		{"the environment", func() { t.Setenv("TZ", "Asia/Tokyo") }},
		{"a day and a week", func() { age(t, cache) }},
	} {
		if r := remembering(t, cache, dir); !recalled(r) {
			t.Errorf("before %s changed: nothing was recalled", c.name)
		}
		c.do()
		if r := remembering(t, cache, dir); recalled(r) {
			t.Errorf("after %s changed: recalled", c.name)
		}
	}
}

// listen opens a socket as any program of the machine may, until the test ends.
func listen(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "socket")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}

// What was true of base some time ago proves nothing about a change of today: a
// test that fails until a moment and passes from then on is no evidence, though
// base's failure was kept.
func TestRecalledFailureIsNoProofAlone(t *testing.T) {
	need(t, "pytest")
	cache, dir := t.TempDir(), t.TempDir()
	late := filepath.Join(".hypothesis", "late") // what no key holds, here such a file in place of the date
	files := map[string]string{"num.py": "def absolute(x):\n    return x\n", "test_num.py": "from num import absolute\n\n\ndef test_positive():\n    assert absolute(1) == 1\n", ".gitignore": ".hypothesis\n"}
	benchRepository(t, dir, files, map[string]string{"num.py": "def absolute(x):\n    y = x\n    return y\n",
		"test_num.py": files["test_num.py"] + "\n\ndef test_two():\n    import os\n    assert os.path.exists(" + strconv.Quote(late) + ") and absolute(2) == 2\n"})
	first := remembering(t, cache, dir)
	if box := first.States[gate.Base].Sandbox; box != "overlay" {
		t.Skipf("nothing is kept with the sandbox %s", box)
	}
	if first.Verdict.Conclusion != gate.Fail {
		t.Fatalf("before: %s %v", first.Verdict.Conclusion, first.Verdict.Reasons)
	}
	write(t, dir, map[string]string{late: "x"})
	second := remembering(t, cache, dir)
	if second.States[gate.BaseTests].Recalled == 0 || second.Verdict.Conclusion == gate.Pass || second.Summary.Discriminating != 0 {
		t.Errorf("after: recalled %d, %s %v", second.States[gate.BaseTests].Recalled, second.Verdict.Conclusion, second.Verdict.Reasons)
	}
}

// age makes all that is kept older than it may be.
func age(t *testing.T, cache string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cache, "touchstone", "observations", "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing is kept: %v", err)
	}
	for _, file := range files {
		old := time.Now().Add(-memoryAge - 24*time.Hour)
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

// A damaged answer is no answer.
func TestDamagedMemoryIsAskedAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.json.gz")
	want := answer{Result: gate.Result{Units: []gate.UnitFailure{{Unit: "u", Observation: gate.Observation{Outcome: gate.Failed, Reason: gate.Assertion}}}}}
	if err := writeAnswer(file, want); err != nil {
		t.Fatal(err)
	}
	var got answer
	if err := readAnswer(file, &got); err != nil || len(got.Result.Units) != 1 || got.Result.Units[0].Observation.Reason != gate.Assertion {
		t.Fatalf("%+v, %v", got, err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 5, len(content) / 2, len(content) - 1} {
		if err := os.WriteFile(file, content[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := readAnswer(file, &got); err == nil {
			t.Errorf("the first %d of %d bytes were read as an answer", cut, len(content))
		}
	}
}
