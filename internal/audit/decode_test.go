package audit

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func sealed(t testing.TB, change func(*Record)) []byte {
	t.Helper()
	r := Record{Version: 1, ID: "acme/api issue/1 <h> é", Time: time.Date(2026, 1, 2, 3, 4, 5, 60, time.UTC), Repository: "acme/api", PullRequest: 7, Base: "b", Head: "h", Group: "issue/1", Member: "pr/7", Window: 2,
		Design: MemberCoins, Sealed: true, KeyID: "k", Probability: 200_000, Floor: 50_000, Largest: 1, Drawn: true, Why: ByCoin, Cheap: "pass", Strategy: "lines",
		SelectedSeconds: 1e-9, SpentSeconds: 1.5e21, SuiteSeconds: 3, Full: Flipped, Flips: []RecordedFlip{{"a::b", "regression", "a", "lines"}, {ID: "c"}}, Agent: "claude", Tool: "t"}
	change(&r)
	line, err := Seal(&r, 9, digest(nil))
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// TestDecodersAgree compares the scanner with encoding/json on lines as Seal spells
// them and on every line that lacks a byte of one.
func TestDecodersAgree(t *testing.T) {
	for name, change := range map[string]func(*Record){
		"full":     func(*Record) {},
		"escapes":  func(r *Record) { r.Flips[0].ID = "a\"b\\\n\u2028<>&"; r.Agent = "\x00" },
		"no flips": func(r *Record) { r.Full, r.Flips = Clean, nil },
		"amends":   func(r *Record) { r.Drawn, r.Why, r.Amends = false, ByEscalation, "another" },
		"sparse": func(r *Record) {
			*r = Record{Version: 1, ID: "i", Time: time.Unix(1, 0), Repository: "r", Group: "g", Design: GroupCoins, Cheap: "fail"}
		},
	} {
		line := sealed(t, change)
		for cut := 0; cut <= len(line); cut++ {
			text := line
			if cut < len(line) {
				text = append(append([]byte(nil), line[:cut]...), line[cut+1:]...)
			}
			var fast, slow Record
			fastErr, slowErr := decodeRecord(text, &fast), json.Unmarshal(text, &slow)
			if (fastErr == nil) != (slowErr == nil) {
				t.Fatalf("%s without byte %d: %v, encoding/json %v", name, cut, fastErr, slowErr)
			}
			if slowErr == nil && !reflect.DeepEqual(fast, slow) {
				t.Fatalf("%s without byte %d:\n%+v, encoding/json\n%+v", name, cut, fast, slow)
			}
		}
	}
	if s := (scanner{rest: sealed(t, func(r *Record) { r.ID = "acme/api issue/1 é" })}); !s.record(&Record{}) {
		t.Error("the scanner does not read what Seal writes")
	}
}

func BenchmarkParseLine(b *testing.B) {
	line := sealed(b, func(r *Record) { r.ID = "acme/api issue/1 h" })
	for b.Loop() {
		if _, err := ParseLine(line); err != nil {
			b.Fatal(err)
		}
	}
}
