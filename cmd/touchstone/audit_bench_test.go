package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// BenchmarkMillionRecords is a report of a ledger of a million records.
func BenchmarkMillionRecords(b *testing.B) {
	path := filepath.Join(b.TempDir(), "ledger.jsonl")
	if err := writeLongLedger(path, 1_000_000); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if code, _, stderr := run("audit", "--ledger", path, "report", "--format", "json"); code != exitPass {
			b.Fatal(stderr)
		}
	}
}

// TestWriteLongLedger writes such a ledger to a named file, for measuring.
func TestWriteLongLedger(t *testing.T) {
	path := os.Getenv("TOUCHSTONE_TEST_LONG_LEDGER")
	if path == "" {
		t.Skip("TOUCHSTONE_TEST_LONG_LEDGER names no file to write")
	}
	if err := writeLongLedger(path, 1_000_000); err != nil {
		t.Fatal(err)
	}
}

func writeLongLedger(path string, records int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	random := rand.New(rand.NewPCG(1, 1))
	hash := ""
	for n := range records {
		r := audit.Record{
			Version: audit.RecordVersion, ID: fmt.Sprintf("acme/api issue/%d %040x", n/3, n), Time: time.Unix(1_700_000_000+int64(n)*60, 0), Repository: "acme/api", PullRequest: n,
			Base: fmt.Sprintf("%040x", n), Head: fmt.Sprintf("%040x", n), Group: fmt.Sprintf("issue/%d", n/3), Member: fmt.Sprintf("pr/%d", n), Design: audit.MemberCoins, KeyID: "0123456789abcdef",
			Probability: 200_000, Floor: 200_000, Largest: 1, Drawn: random.Float64() < 0.2, Cheap: "pass", Strategy: "coverage+names", SelectedSeconds: 12.5, SuiteSeconds: 321.25, Agent: "claude", Tool: "touchstone 0.1.0",
		}
		if r.Drawn {
			r.Why, r.Full, r.SpentSeconds = audit.ByCoin, audit.Clean, 300
			if random.Float64() < 0.0445 {
				r.Full, r.Flips = audit.Flipped, []audit.RecordedFlip{{ID: "a/b_test.py::test_x", Kind: "regression", Dir: fmt.Sprintf("pkg/%d", n%50), MissedBy: "lines"}}
			}
		}
		line, err := audit.Seal(&r, int64(n+1), hash)
		if err != nil {
			return err
		}
		hash = r.Hash
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}
