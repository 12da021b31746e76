package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

func TestFileAppendsOnce(t *testing.T) {
	s := OpenFile(filepath.Join(t.TempDir(), "ledger.jsonl"))
	if list, seq := wrongs(t, s); len(list) > 0 || seq != 0 {
		t.Fatalf("an absent ledger: %v, %d", list, seq)
	}
	appendTo(t, s, 2, records(0, 2))
	appendTo(t, s, 2, records(1, 4))
	appendTo(t, s, 0, append(records(0, 4), record(2)))
	if list, seq := wrongs(t, s); len(list) > 0 || seq != 4 {
		t.Errorf("%v, %d records, want 4", list, seq)
	}
}

// TestFileCrashAtEveryByte cuts the file at every byte of its last record: what
// was there before stays, and the next append goes on from it.
func TestFileCrashAtEveryByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	s := OpenFile(path)
	appendTo(t, s, 2, records(0, 2))
	two, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, 1, records(2, 3))
	three, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := len(two); cut <= len(three); cut++ {
		if err := os.WriteFile(path, three[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		whole := int64(2)
		if cut == len(three) {
			whole = 3
		}
		if list, seq := wrongs(t, s); len(list) > 0 || seq != whole {
			t.Fatalf("cut at %d: %v, %d records", cut, list, seq)
		}
		appendTo(t, s, 4-int(whole), records(0, 4))
		if list, seq := wrongs(t, s); len(list) > 0 || seq != 4 {
			t.Fatalf("cut at %d, then appended: %v, %d records", cut, list, seq)
		}
	}
}

func TestVerifySeesLossAndEditing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	appendTo(t, OpenFile(path), 5, records(0, 5))
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(content, []byte("\n"))
	third := record(2)
	forged, err := audit.Seal(&third, 3, strings.Repeat("0", 64))
	if err != nil {
		t.Fatal(err)
	}
	for name, changed := range map[string][][]byte{
		"an edited record":        {lines[0], bytes.Replace(lines[1], []byte(`"cheap":"pass"`), []byte(`"cheap":"fail"`), 1), lines[2]},
		"a record left out":       {lines[0], lines[2], lines[3]},
		"the first left out":      {lines[1], lines[2]},
		"two swapped":             {lines[0], lines[2], lines[1]},
		"one twice":               {lines[0], lines[1], lines[1]},
		"one replaced and sealed": {lines[0], lines[1], append(forged, '\n'), lines[3]},
		"a line of rubbish":       {lines[0], []byte("rubbish\n"), lines[1]},
		"one spelt differently":   {lines[0], bytes.Replace(lines[1], []byte(`{"v":1`), []byte(`{ "v":1`), 1), lines[2]},
	} {
		if err := os.WriteFile(path, bytes.Join(changed, nil), 0o644); err != nil {
			t.Fatal(err)
		}
		if list, _ := wrongs(t, OpenFile(path)); len(list) == 0 {
			t.Errorf("%s: nothing seen", name)
		}
	}
}

func TestVerifyThrowsCoinsAgain(t *testing.T) {
	key, err := audit.NewKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	s := OpenFile(filepath.Join(t.TempDir(), "ledger.jsonl"))
	list := records(0, 50)
	drawn := 0
	for i := range list {
		r := &list[i]
		r.KeyID = key.ID()
		if r.Drawn = key.Draw(r.Coin(), r.Probability).Heads; r.Drawn {
			r.Why, r.Full = audit.ByCoin, audit.Clean
			drawn++
		}
	}
	if drawn == 0 || drawn == 50 {
		t.Fatalf("%d of 50 drawn", drawn)
	}
	appendTo(t, s, 50, list)
	if wrong, _ := wrongs(t, s, key); len(wrong) > 0 {
		t.Errorf("honest draws: %v", wrong)
	}
	lie := record(50)
	lie.KeyID, lie.Drawn = key.ID(), !key.Draw(lie.Coin(), lie.Probability).Heads
	if lie.Drawn {
		lie.Why, lie.Full = audit.ByCoin, audit.Clean
	}
	appendTo(t, s, 1, []audit.Record{lie})
	if wrong, _ := wrongs(t, s, key); len(wrong) != 1 || !strings.Contains(wrong[0], "drawn") {
		t.Errorf("a draw that the key does not give: %v", wrong)
	}
}

func TestFileWritersTakeTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	var all sync.WaitGroup
	for writer := range 16 {
		all.Go(func() {
			for n := range 20 {
				list := records(writer*10+n, writer*10+n+1) // neighbours write the same ids
				if _, err := OpenFile(path).Append(t.Context(), list); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if list, seq := wrongs(t, OpenFile(path)); len(list) > 0 || seq != 170 {
		t.Errorf("%v, %d records, want 170", list, seq)
	}
}
