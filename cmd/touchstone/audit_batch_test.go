package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// queueRepository has one branch for each change, all off main's first commit.
func queueRepository(t *testing.T, base map[string]string, changes map[string]map[string]string) string {
	t.Helper()
	dir := repository(t, "", base)
	gitIn(t, dir, "config", "user.name", "t")
	for name, files := range changes {
		gitIn(t, dir, "checkout", "-q", "-b", name, "main")
		write(t, dir, files)
		gitIn(t, dir, "add", "-A")
		gitIn(t, dir, "commit", "-q", "-m", "feat: "+name)
	}
	gitIn(t, dir, "checkout", "-q", "main")
	return dir
}

func batchJSON(t *testing.T, dir string, args ...string) (int, outcomes) {
	t.Helper()
	code, stdout, stderr := run(append([]string{"audit", "batch", "--repo", dir, "--repository", "acme/api", "--format", "json"}, args...)...)
	var o outcomes
	if err := json.Unmarshal([]byte(stdout), &o); err != nil {
		t.Fatalf("exit %d: %v\n%s%s", code, err, stdout, stderr)
	}
	return code, o
}

// said is what came out, one attempt a word.
func (o outcomes) said() string {
	var words []string
	for _, a := range o.Attempts {
		word := fmt.Sprintf("%d:%s", a.PullRequest, a.Full)
		for _, f := range a.Flips {
			word += fmt.Sprintf("[%s %s]", f.ID, f.Kind)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

var pyQueue = map[string]string{
	"shop.py":               "PRICES = {}\n\n\ndef total(n):\n    return 2 * n\n\n\ndef old(n):\n    return n\n",
	"test_m_total.py":       "import shop\n\n\ndef test_total():\n    assert shop.total(3) == 6\n",
	"test_n_prices.py":      "import shop\n\n\ndef test_prices_are_empty():\n    assert shop.PRICES == {}\n",
	"test_o_base_is_red.py": "def test_long_red():\n    assert False\n",
	"notes.txt":             "one\ntwo\n",
}

// longAudits skips what takes long: it makes dozens of runs of real suites.
func longAudits(t *testing.T) {
	t.Helper()
	if os.Getenv("TOUCHSTONE_TEST_AUDITS") == "" {
		t.Skip("TOUCHSTONE_TEST_AUDITS is not set: this audit of real suites takes long")
	}
}

// TestBatchOfPythonChanges audits a queue of eight changes on a real repository: clean
// ones, one that breaks a test, one that breaks a test in the full run only, two that
// conflict, two that break a test together, and one that conflicts with base.
func TestBatchOfPythonChanges(t *testing.T) {
	longAudits(t)
	need(t, "pytest")
	shop := pyQueue["shop.py"]
	dir := queueRepository(t, pyQueue, map[string]map[string]string{
		"clean":    {"more.py": "X = 1\n"},
		"breaks":   {"shop.py": strings.Replace(shop, "2 * n", "3 * n", 1)},
		"pollutes": {"test_a_fill.py": "import shop\n\n\ndef test_fill():\n    shop.PRICES['x'] = 1\n"},
		"notes1":   {"notes.txt": "one\n2\n"},
		"notes2":   {"notes.txt": "one\nzwei\n"},
		"renames":  {"shop.py": strings.Replace(shop, "def old", "def new", 1)},
		"uses":     {"test_z_old.py": "import shop\n\n\ndef test_old():\n    assert shop.old(1) == 1\n"},
		"removes":  {"notes.txt": "", "README": "x\n"},
	})
	write(t, dir, map[string]string{"README": "y\n"})
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-q", "-m", "docs: readme")
	ledgerPath := filepath.Join(t.TempDir(), "ledger.jsonl")
	file := filepath.Join(t.TempDir(), "batch.json")
	code, o := batchJSON(t, dir, "--base", "main", "--output", file, "1=clean", "2=breaks", "3=pollutes", "4=notes1", "5=notes2", "6=renames", "7=uses", "8=removes")
	want := "1:pass 2:flip[test_m_total.py::test_total regression] 3:flip[test_n_prices.py::test_prices_are_empty full_run_only] 4:pass 5:pass 6:pass 7:pass 8:missing"
	if o.said() != want || code != exitFail {
		t.Errorf("exit %d: %s\nwant %s", code, o.said(), want)
	}
	if len(o.Together) != 1 || !slices.Equal(o.Together[0].Tests, []string{"test_z_old.py::test_old"}) {
		t.Errorf("together: %+v", o.Together)
	}
	if !strings.Contains(o.Attempts[7].Why, "README") {
		t.Errorf("why 8 is missing: %q", o.Attempts[7].Why)
	}
	for range 2 {
		if code, stdout, stderr := run("audit", "--ledger", ledgerPath, "record", "--outcomes", file); code != exitPass {
			t.Fatalf("exit %d: %s%s", code, stdout, stderr)
		}
	}
	code, stdout, stderr := run("audit", "--ledger", ledgerPath, "report", "--format", "json")
	var sum audit.Summary
	if err := json.Unmarshal([]byte(stdout), &sum); err != nil || code != exitPass {
		t.Fatalf("exit %d: %v%s", code, err, stderr)
	}
	// a stratum of probability 1: what was found is all there is
	if c := sum.Counts; c.Records != 8 || c.Always != 8 || c.FlipsFound != 2 || c.Missing != 1 || *sum.Estimate.Flips != 2 {
		t.Errorf("%+v, %v flips", c, *sum.Estimate.Flips)
	}
	if code, stdout, stderr := run("audit", "--ledger", ledgerPath, "verify"); code != exitPass {
		t.Errorf("verify: exit %d: %s%s", code, stdout, stderr)
	}
}

// TestBatchOfGoChanges has one change break the build of a package that it does not
// touch, and audits only what the coins drew.
func TestBatchOfGoChanges(t *testing.T) {
	base := map[string]string{"go.mod": goMod, "m.go": goFixed, "m_test.go": goTest, "other/other.go": goOther, "other/other_test.go": strings.Replace(goOtherTest, "!= -2", "!= 2", 1)}
	dir := queueRepository(t, base, map[string]map[string]string{
		"clean":  {"more.go": "package m\n\nvar More = 1\n"},
		"breaks": {"m.go": strings.Replace(goFixed, "Abs(x int)", "Abs(x, _ int)", 1), "m_test.go": strings.Replace(goTest, "Abs(2)", "Abs(2, 0)", 1)},
		"tails":  {"m.go": strings.Replace(goFixed, "-x", "x", 1)},
	})
	draws, key := filepath.Join(t.TempDir(), "draws.jsonl"), strings.Repeat("5a", 32)
	k, err := audit.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	heads := map[int]bool{1: true, 2: true, 3: false}
	for number, want := range heads {
		d := draw{Design: audit.MemberCoins, Floor: 500_000, Why: audit.ByCoin}
		for window := 0; ; window++ { // the key and the window decide: look for one that shows what the test needs
			d.Draw = k.Draw(audit.Coin{Repository: "acme/api", Group: fmt.Sprint("issue/", number), Member: fmt.Sprint("pr/", number), Window: window}, 500_000)
			if d.Heads == want {
				break
			}
		}
		line, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	if err := os.WriteFile(draws, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	ledgerPath := filepath.Join(t.TempDir(), "ledger.jsonl")
	code, stdout, stderr := run("audit", "--repo", dir, "--ledger", ledgerPath, "batch", "--repository", "acme/api", "--base", "main", "--draws", draws, "--record", "1=clean", "2=breaks", "3=tails")
	if code != exitFail || !strings.Contains(stdout, "other (regression)") || !strings.Contains(stdout, "3 recorded") || !strings.Contains(stdout, "not audited: its coin shows tails") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = run("audit", "--ledger", ledgerPath, "verify", "--reveal", key)
	if code != exitPass || !strings.Contains(stdout, "3 records") || !strings.Contains(stdout, "3 draws rechecked, 0 wrong") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	code, stdout, _ = run("audit", "--ledger", ledgerPath, "report")
	if code != exitPass || !strings.Contains(stdout, "2 of 3 passing attempts") || !strings.Contains(stdout, "About 2.0 flips") {
		t.Errorf("exit %d: %s", code, stdout)
	}
}

// TestBatchSaysWhatIsWrong is what a user gets wrong.
func TestBatchSaysWhatIsWrong(t *testing.T) {
	dir := queueRepository(t, map[string]string{"go.mod": goMod, "m.go": goFixed, "m_test.go": goTest}, map[string]map[string]string{"one": {"a.go": "package m\n"}})
	bare := queueRepository(t, map[string]string{"a.txt": "a\n"}, map[string]map[string]string{"one": {"b.txt": "b\n"}})
	broken := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(broken, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir, args, want string
		code            int
	}{
		{dir, "", "name the changes", exitUsage},
		{dir, "one", `"one" is neither NUMBER=REV, as 12=feature, nor the report.json`, exitUsage},
		{dir, "x=one", `"x" is no pull request's number`, exitUsage},
		{dir, "1=nothing", `"1=nothing":`, exitUsage},
		{dir, "1=one 1=main", "is there twice", exitUsage},
		{dir, "1=main", "brings nothing that base", exitUsage},
		{dir, "--base nowhere 1=one", "--base:", exitUsage},
		{dir, "--size 0 1=one", "--size: 0 is less than 1", exitUsage},
		{dir, "--format xml 1=one", `"xml" is not text or json`, exitUsage},
		{dir, broken, "has schema 0", exitUsage},
		{dir, "--draws " + broken + " 1=one", "is not one that audit coin prints", exitUsage},
		{dir, "--draws /dev/null 1=one", "--draws has no coin of pr/1 pr/1", exitUsage},
		{bare, "1=one", "no test runner was found", exitUsage + 1},
	} {
		args := append([]string{"audit", "--repo", c.dir, "batch", "--repository", "acme/api"}, strings.Fields(c.args)...)
		if code, _, stderr := run(args...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, want %d and %q: %s", c.args, code, c.code, c.want, stderr)
		}
	}
	for args, want := range map[string]string{
		"--outcomes " + broken:  "is not what audit batch or audit escalate writes",
		"--outcomes /nowhere/x": "no such file",
	} {
		if code, _, stderr := run(append([]string{"audit", "--ledger", filepath.Join(t.TempDir(), "l"), "record"}, strings.Fields(args)...)...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
		}
	}
}

// TestCoinFindsWhatFailsInTheFullRunOnly checks a drawn change whose new test leaves
// something behind for another one.
func TestCoinFindsWhatFailsInTheFullRunOnly(t *testing.T) {
	longAudits(t)
	need(t, "pytest")
	shop := "import prices\n\n\ndef fill():\n    return {'x': 1}\n"
	dir := queueRepository(t, map[string]string{
		"prices.py": "PRICES = {}\n", "shop.py": shop,
		"test_a_fill.py":   "import shop\n\n\ndef test_fill():\n    assert shop.fill() == {'x': 1}\n",
		"test_n_prices.py": "import prices\n\n\ndef test_prices_are_empty():\n    assert prices.PRICES == {}\n",
	}, map[string]map[string]string{"keeps": {
		"shop.py":        strings.Replace(shop, "return {'x': 1}", "prices.PRICES['x'] = 1\n    return prices.PRICES", 1),
		"test_z_keep.py": "import prices\nimport shop\n\n\ndef test_keeps():\n    shop.fill()\n    assert prices.PRICES == {'x': 1}\n",
	}})
	key, _ := keyFor(t, "acme/api", 200_000, map[int]bool{12: true})
	ledger, file := filepath.Join(t.TempDir(), "ledger.jsonl"), filepath.Join(t.TempDir(), "report.json")
	t.Setenv(auditKeyVariable, key)
	code, drawn, stderr := run("audit", "--ledger", ledger, "coin", "--repository", "acme/api", "--pr", "12", "--format", "json")
	if code != exitPass {
		t.Fatal(stderr)
	}
	t.Setenv(auditKeyVariable, "")
	t.Setenv(auditDrawVariable, drawn)
	if code, stdout, stderr := run("check", "--repo", dir, "--base", "main", "--head", "keeps", "--full", "coin", "--budget", "-1s", "--output", "json="+file); code != exitFail {
		t.Errorf("check: exit %d: %s%s", code, stdout, stderr)
	}
	if code, _, stderr := run("audit", "--ledger", ledger, "record", "--report", file, "--repository", "acme/api", "--pr", "12"); code != exitPass {
		t.Fatal(stderr)
	}
	code, lines, stderr := run("audit", "--ledger", ledger, "export")
	if code != exitPass || !strings.Contains(lines, `"flips":[{"id":"test_n_prices.py::test_prices_are_empty","kind":"full_run_only"`) || !strings.Contains(lines, `"cheap":"pass"`) {
		t.Errorf("exit %d: %s%s", code, lines, stderr)
	}
}
