package ledger

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// record is a valid one with the given number.
func record(n int) audit.Record {
	return audit.Record{
		Version: audit.RecordVersion, ID: fmt.Sprintf("acme/api issue/%d <h%d> é", n/3, n), Time: time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC),
		Repository: "acme/api", Group: fmt.Sprintf("issue/%d", n/3), Member: "pr/1", Window: n, Design: audit.MemberCoins, KeyID: "k", Probability: 200_000, Floor: 200_000, Largest: 1,
		Cheap: "pass", Strategy: "lines", SelectedSeconds: 1.5, SuiteSeconds: 20, Agent: "claude", Tool: "touchstone 0.1.0",
	}
}

func records(from, to int) []audit.Record {
	var list []audit.Record
	for n := from; n < to; n++ {
		list = append(list, record(n))
	}
	return list
}

func appendTo(t *testing.T, s Store, want int, list []audit.Record) {
	t.Helper()
	if added, err := s.Append(context.Background(), list); err != nil || added != want {
		t.Fatalf("added %d of %d, want %d: %v", added, len(list), want, err)
	}
}

// wrongs are what Verify finds, and the number of records.
func wrongs(t *testing.T, s Store, keys ...audit.Key) (list []string, seq int64) {
	t.Helper()
	seq, _, _, err := Verify(context.Background(), s, keys, func(*audit.Record) {}, func(err error) { list = append(list, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	return list, seq
}
