package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/report"
)

// keyFor looks for a key under which pull requests' first coins fall as wanted.
func keyFor(t *testing.T, repository string, p audit.Probability, heads map[int]bool) (text string, key audit.Key) {
	t.Helper()
	for n := range 10_000 {
		text = strings.Repeat("00", 30) + string("0123456789abcdef"[n>>12&15]) + string("0123456789abcdef"[n>>8&15]) + string("0123456789abcdef"[n>>4&15]) + string("0123456789abcdef"[n&15])
		key, err := audit.ParseKey(text)
		if err != nil {
			t.Fatal(err)
		}
		fits := true
		for pull, want := range heads {
			coin := audit.Coin{Repository: repository, Group: audit.GroupOf(repository, pull, ""), Member: audit.MemberOf(pull)}
			fits = fits && key.Draw(coin, p).Heads == want
		}
		if fits {
			return text, key
		}
	}
	t.Fatal("no key fits")
	return "", audit.Key{}
}

// throwCoin plays the job that throws the coin, and returns its output.
func (w *world) throwCoin(key, store string) string {
	w.t.Helper()
	w.env[auditKeyVariable], w.env[auditLedgerVariable] = key, store
	w.run("audit", "coin", "--event")
	delete(w.env, auditKeyVariable)
	delete(w.env, auditLedgerVariable)
	output, err := os.ReadFile(w.env["GITHUB_OUTPUT"])
	if err != nil || w.code != exitPass {
		w.t.Fatalf("audit coin: exit %d: %v%s", w.code, err, w.stderr)
	}
	found := regexp.MustCompile(`(?m)^draw<<(\S+)\n(.*)\n`).FindAllStringSubmatch(string(output), -1)
	if len(found) == 0 {
		w.t.Fatalf("no output draw: %s", output)
	}
	return found[len(found)-1][2]
}

// audited plays the other two jobs, and returns the report between them.
func (w *world) audited(draw, store string) *gate.Report {
	w.t.Helper()
	w.env[auditDrawVariable] = draw
	w.ci("--no-publish", "--full", "coin")
	w.report = filepath.Join(w.clone, "..", "out", "report.json")
	file, err := os.Open(w.report)
	if err != nil {
		w.t.Fatalf("ci: exit %d: %v%s", w.code, err, w.stderr)
	}
	defer file.Close()
	r, err := report.Read(file)
	if err != nil {
		w.t.Fatal(err)
	}
	w.env[auditLedgerVariable] = store
	w.publish()
	delete(w.env, auditLedgerVariable)
	return r
}

// TestAuditThroughAWorkflow plays three jobs on GitHub's events, with a real
// repository and each kind of ledger: the coin, the check with it, and the job that
// posts and records; then the report, and the recheck once the key is revealed.
func TestAuditThroughAWorkflow(t *testing.T) {
	stores := map[string]func(t *testing.T) string{
		"file": func(t *testing.T) string { return filepath.Join(t.TempDir(), "ledger.jsonl") },
		"git ref": func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "remote.git")
			gitIn(t, filepath.Dir(dir), "init", "-q", "--bare", dir)
			return "git:file://" + dir
		},
		"postgresql": startPostgres,
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			if name != "git ref" { // the default
				longAudits(t)
			}
			playAudits(t, open(t))
		})
	}
}

func playAudits(t *testing.T, store string) {
	w := newWorld(t, flipPull)
	key, _ := keyFor(t, w.hub.Repository, 200_000, map[int]bool{flipPull: true, proofPull: false})

	r := w.audited(w.throwCoin(key, store), store)
	if w.code != exitFail || !r.Audit.Drawn || !r.Audit.RanFull || r.Audit.Cheap != gate.Pass || r.Audit.Probability != 0.2 || len(r.Flips) != 1 {
		t.Fatalf("drawn: exit %d: %+v, %d flips, %s%s", w.code, r.Audit, len(r.Flips), w.stdout, w.stderr)
	}
	w.safe()
	again := w.throwCoin(key, store)
	if !strings.Contains(again, `"window":0`) {
		t.Errorf("the same head again has another coin: %s", again)
	}
	w.env[auditLedgerVariable] = store
	if w.publish(); !strings.Contains(w.stdout, "has this head already") {
		t.Errorf("published twice: %s%s", w.stdout, w.stderr)
	}
	w.pull.HeadSHA = w.sha["main"] // a new push, after the outcome was seen
	w.resend()
	if next := w.throwCoin(key, store); !strings.Contains(next, `"window":1`) {
		t.Errorf("a new head has the old coin: %s", next)
	}

	tails := newWorld(t, proofPull)
	r = tails.audited(tails.throwCoin(key, store), store)
	if tails.code != exitPass || r.Audit.Drawn {
		t.Errorf("not drawn: exit %d: %+v%s", tails.code, r.Audit, tails.stderr)
	}

	code, stdout, stderr := run("audit", "--ledger", store, "report", "--format", "json")
	var sum audit.Summary
	if err := json.Unmarshal([]byte(stdout), &sum); err != nil || code != exitPass {
		t.Fatalf("exit %d: %v%s", code, err, stderr)
	}
	if c := sum.Counts; c.Records != 2 || c.Passing != 2 || c.Audited != 1 || c.FlipsFound != 1 || math.Abs(*sum.Estimate.Flips-5) > 1e-9 || sum.Layers[0].Name == "all" {
		t.Errorf("%+v, %v flips estimated, missed by %+v", c, *sum.Estimate.Flips, sum.Layers)
	}
	code, stdout, stderr = run("audit", "--ledger", store, "verify", "--reveal", key)
	if code != exitPass || !strings.Contains(stdout, "2 records") || !strings.Contains(stdout, "2 draws rechecked, 0 wrong") {
		t.Errorf("verify: exit %d: %s%s", code, stdout, stderr)
	}
}

// TestCoinOnlyInATrustedJob is what a workflow gets wrong.
func TestCoinOnlyInATrustedJob(t *testing.T) {
	key := strings.Repeat("ab", 32)
	other := `{"repository":"acme/other","group":"pr/7","member":"pr/7","window":0,"key":"k","u64":"0","micro":0,"ppm":200000,"heads":true,"coin":"member","floor_ppm":200000,"why":"coin","why_ppm":""}`
	for name, c := range map[string]struct {
		play func(w *world)
		want string
	}{
		"no draw":       {func(w *world) { w.ci("--no-publish", "--full", "coin") }, "is empty: set it to"},
		"the key there": {func(w *world) { w.env[auditKeyVariable] = key; w.ci("--no-publish", "--full", "coin") }, "is set in the job that runs the change's code"},
		"another's":     {func(w *world) { w.env[auditDrawVariable] = other; w.ci("--no-publish", "--full", "coin") }, "the draw is of acme/other"},
		"rubbish":       {func(w *world) { w.env[auditDrawVariable] = "heads"; w.ci("--no-publish", "--full", "coin") }, "reading the draw"},
		"check": {func(w *world) {
			w.env[auditKeyVariable] = key
			w.checkout()
			w.run("check", "--repo", w.clone, "--full", "coin")
		}, "the coin is thrown in one before it"},
		"a wrong mode": {func(w *world) { w.ci("--no-publish", "--full", "sometimes") }, `"sometimes" is not`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, proofPull)
			c.play(w)
			if w.code != exitUsage || !strings.Contains(w.stdout+w.stderr, c.want) {
				t.Errorf("exit %d: %s%s", w.code, w.stdout, w.stderr)
			}
			if strings.Contains(w.stdout+w.stderr, key) {
				t.Error("the key was printed")
			}
		})
	}
	t.Run("a ledger that cannot be written", func(t *testing.T) {
		w := newWorld(t, proofPull)
		w.env[auditDrawVariable], w.env[auditLedgerVariable] = strings.Replace(other, "acme/other", w.hub.Repository, 1), "/nowhere/ledger.jsonl"
		if w.publish(); w.code != exitUndecided || !strings.Contains(w.stdout, "the audit ledger was not written") {
			t.Errorf("exit %d: %s%s", w.code, w.stdout, w.stderr)
		}
	})
}
