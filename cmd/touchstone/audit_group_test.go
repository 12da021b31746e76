package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// pyGroup is a task: shop.add is wrong for negative numbers, and total, which has a
// test elsewhere, uses it.
var pyGroup = map[string]string{
	"shop.py":       "import os\n\n\ndef add(a, b):\n    return abs(a) + b\n\n\ndef total(list):\n    sum = 0\n    for x in list:\n        sum = add(sum, x)\n    return sum\n",
	"test_add.py":   "import shop\n\n\ndef test_add():\n    assert shop.add(1, 2) == 3\n",
	"test_total.py": "import shop\n\n\ndef test_total():\n    assert shop.total([1, 2, 3]) == 6\n",
}

func attemptFiles(add string) map[string]string {
	return map[string]string{
		"shop.py":     strings.Replace(pyGroup["shop.py"], "return abs(a) + b", add, 1),
		"test_add.py": pyGroup["test_add.py"] + "\n\ndef test_negative():\n    assert shop.add(-1, 2) == 1\n",
	}
}

// sometimesRed breaks total on every other process of a state: red, green, red.
const sometimesRed = "n = os.path.expanduser('~/.seen')\n    if b == 3 and a == 3:\n        open(n, 'a').write('x')\n        return a + b - os.path.getsize(n) % 2\n    return a + b"

// TestSealedGroupFromCheckToRewards plays a sealed group of five attempts on a real
// repository: each is checked with its coin and recorded; the flip that a coin found
// escalates to the siblings; report, rewards and the recheck under the revealed key.
func TestSealedGroupFromCheckToRewards(t *testing.T) {
	need(t, "pytest")
	broken := "return a + b if a < 3 else 0" // passes its own tests
	dir := queueRepository(t, pyGroup, map[string]map[string]string{
		"drawn":     attemptFiles(broken),
		"twin":      attemptFiles(broken + "  # too"),
		"honest":    attemptFiles("return a + b"),
		"sometimes": attemptFiles(sometimesRed),
		"wrong":     attemptFiles("return abs(a) - b"),
	})
	ledger, key := filepath.Join(t.TempDir(), "ledger.jsonl"), strings.Repeat("5e", 32)
	k, err := audit.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"drawn", "twin", "honest", "sometimes", "wrong"} {
		member := name
		for n := 0; k.Draw(audit.Coin{Repository: "acme/api", Group: "step/7", Member: member}, 300_000).Heads != (i == 0); n++ {
			member = name + string(rune('a'+n))
		}
		d := draw{Draw: k.Draw(audit.Coin{Repository: "acme/api", Group: "step/7", Member: member}, 300_000), Design: audit.MemberCoins, Floor: 300_000, Why: audit.ByCoin}
		line, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "report.json")
		t.Setenv(auditDrawVariable, string(line))
		code, _, stderr := run("check", "--repo", dir, "--base", "main", "--head", name, "--full", "coin", "--budget", "-1s", "--quiet", "--output", "json="+file)
		if want := map[string]int{"drawn": exitFail, "wrong": exitFail}[name]; code != want && name != "twin" && name != "sometimes" { // whose suites are cheap, and run
			t.Errorf("%s: exit %d, want %d: %s", name, code, want, stderr)
		}
		unfull(t, file, i == 0)
		code, stdout, stderr := run("audit", "--ledger", ledger, "record", "--report", file, "--repository", "acme/api", "--group", "step/7", "--member", member, "--sealed")
		if code != exitPass || !strings.Contains(stdout, ": recorded") {
			t.Fatalf("%s: exit %d: %s%s", name, code, stdout, stderr)
		}
	}
	escalation := filepath.Join(t.TempDir(), "escalation.json")
	code, stdout, stderr := run("audit", "--repo", dir, "--ledger", ledger, "escalate", "--group", "step/7", "--failing-tests", "--output", escalation)
	for _, want := range []string{"test_total.py::test_total (regression)", "test_total.py::test_total (sometimes)", "3 attempts, 2 flips, 0 missing"} {
		if code != exitFail || !strings.Contains(stdout, want) {
			t.Errorf("escalate: exit %d, no %q: %s%s", code, want, stdout, stderr)
		}
	}
	for range 2 { // the second time changes nothing
		if code, stdout, stderr := run("audit", "--ledger", ledger, "record", "--outcomes", escalation); code != exitPass {
			t.Fatalf("exit %d: %s%s", code, stdout, stderr)
		}
	}
	if code, stdout, _ := run("audit", "--repo", dir, "--ledger", ledger, "escalate", "--group", "step/7"); code != exitPass || !strings.Contains(stdout, "nothing left to run") {
		t.Errorf("escalated twice: exit %d: %s", code, stdout)
	}
	code, stdout, stderr = run("audit", "--ledger", ledger, "report", "--format", "json")
	var sum audit.Summary
	if err := json.Unmarshal([]byte(stdout), &sum); err != nil || code != exitPass {
		t.Fatalf("exit %d: %v%s", code, err, stderr)
	}
	// three flips found together with probability 1-(1-0.3)^3
	if want := 3 / (1 - math.Pow(0.7, 3)); math.Abs(*sum.Estimate.Flips-want) > 1e-9 || sum.Counts.Records != 8 || sum.Counts.Passing != 4 || sum.Counts.Escalated != 3 {
		t.Errorf("%v flips estimated, want %v: %+v", *sum.Estimate.Flips, want, sum.Counts)
	}
	code, stdout, _ = run("audit", "--ledger", ledger, "rewards", "--group", "step/7")
	if code != exitPass || strings.Count(stdout, `"flip":true`) != 3 || strings.Count(stdout, "\n") != 5 {
		t.Errorf("rewards: exit %d:\n%s", code, stdout)
	}
	code, stdout, stderr = run("audit", "--ledger", ledger, "verify", "--reveal", key)
	if code != exitPass || !strings.Contains(stdout, "8 draws rechecked, 0 wrong") {
		t.Errorf("verify: exit %d: %s%s", code, stdout, stderr)
	}
}

// unfull takes out of a report that the suite ran because it was cheap: those of this
// test all are, and a sealed group is about those that are not.
func unfull(t *testing.T, file string, drawn bool) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if drawn {
		return
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(content), `"ran_full": true`, `"ran_full": false`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}
