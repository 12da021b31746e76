package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
)

// failedBefore is a ledger in which one earlier change, which touched the same
// file, broke a test.
func failedBefore(t *testing.T, test, base, head string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ledger.jsonl")
	r := audit.Record{
		Version: audit.RecordVersion, ID: "acme/api pr/1 " + head, Time: time.Unix(1_800_000_000, 0), Repository: "acme/api", PullRequest: 1, Base: base, Head: head,
		Group: "pr/1", Member: "pr/1", Design: audit.MemberCoins, Probability: 200_000, Floor: 200_000, Largest: 1, Drawn: true, Why: audit.ByCoin,
		Cheap: "pass", Full: audit.Flipped, Flips: []audit.RecordedFlip{{ID: test, Kind: "regression", Dir: ".", MissedBy: "auto"}}, Tool: "touchstone test",
	}
	if _, err := ledger.OpenFile(file).Append(context.Background(), []audit.Record{r}); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestLedgerOrdersWhatTheBudgetTakes checks that past failures decide which of
// several alike tests fit a budget, and nothing where there is no budget.
func TestLedgerOrdersWhatTheBudgetTakes(t *testing.T) {
	need(t, "go")
	code := func(n int) string { return fmt.Sprintf("package m\n\nfunc A() int { return %d }\n", n) }
	test := "package m\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n"
	for _, name := range []string{"One", "Two", "Three"} {
		test += fmt.Sprintf("\nfunc Test%s(t *testing.T) {\n\ttime.Sleep(50 * time.Millisecond)\n\tA()\n}\n", name)
	}
	dir := repository(t, "", map[string]string{"go.mod": goMod, "m.go": code(1), "m_test.go": test}, map[string]string{"m.go": code(2)}, map[string]string{"m.go": code(3)})
	file := filepath.Join(t.TempDir(), "map")
	args := []string{"--repo", dir, "--map", file, "--base", "HEAD"}
	if code, _, stderr := run(append([]string{"select", "--index", "build"}, args...)...); code != exitPass {
		t.Fatal(stderr)
	}
	write(t, dir, map[string]string{"m.go": code(4)})
	past := failedBefore(t, "example.com/m.TestTwo", gitIn(t, dir, "rev-parse", "HEAD~1"), gitIn(t, dir, "rev-parse", "HEAD~0"))
	budget := append(args, "--budget", "60ms")
	if out := selectIn(t, budget...); names(out) == "TestTwo" || len(out.Rows) != 1 || len(out.LeftOut) != 2 {
		t.Errorf("without a ledger: %+v", out)
	}
	if out := selectIn(t, append(budget, "--ledger", past)...); names(out) == "TestTwo" {
		t.Errorf("the change that is judged is its own past: %+v", out)
	}
	gitIn(t, dir, "commit", "-qam", "more")
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "and more")
	write(t, dir, map[string]string{"m.go": code(5)})
	if out := selectIn(t, append(budget, "--ledger", past)...); names(out) != "TestTwo" || len(out.LeftOut) != 2 {
		t.Errorf("with a ledger: %+v", out)
	}
	t.Setenv(auditLedgerVariable, past)
	if out := selectIn(t, budget...); names(out) != "TestTwo" {
		t.Errorf("with the environment's ledger: %+v", out)
	}
	if out := selectIn(t, args...); names(out) != "TestOne TestThree TestTwo" {
		t.Errorf("without a budget: %+v", out)
	}
	if code, _, stderr := run(append([]string{"select", "--ledger", dir}, budget...)...); code == exitPass || !strings.Contains(stderr, "reading the ledger") {
		t.Errorf("a ledger that is none: exit %d: %s", code, stderr)
	}
}
