package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// maxReportMemory is what a report of a million records may take, in bytes.
const maxReportMemory = 300 << 20

// BenchmarkMillionRecords is a report of a ledger of a million records, each in a
// process of its own, whose peak memory is measured and held to its limit.
func BenchmarkMillionRecords(b *testing.B) {
	path := filepath.Join(b.TempDir(), "ledger.jsonl")
	if err := writeLongLedger(path, 1_000_000); err != nil {
		b.Fatal(err)
	}
	peak := int64(0)
	for b.Loop() {
		cmd := exec.Command(os.Args[0], "audit", "--ledger", path, "report", "--format", "json")
		cmd.Env = append(os.Environ(), "TOUCHSTONE_TEST_COMMAND=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		peak = max(peak, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss<<10)
	}
	b.ReportMetric(float64(peak)/(1<<20), "MiB-peak")
	if peak > maxReportMemory {
		b.Errorf("%d MiB at the peak, more than %d", peak>>20, maxReportMemory>>20)
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
