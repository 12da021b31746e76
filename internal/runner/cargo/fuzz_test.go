package cargo

import (
	"bytes"
	"maps"
	"os"
	"strings"
	"testing"
)

// FuzzStream holds that only listed tests get an outcome, at most one each, and
// that it is the same however the text is cut on its way.
func FuzzStream(f *testing.F) {
	text, err := os.ReadFile("testdata/libtest.txt")
	if err != nil {
		f.Fatal(err)
	}
	names := strings.Fields("a b c d d2 e f g ok z")
	f.Add(text, 100)
	f.Add([]byte("test a ... noise\nok\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"), 3)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		whole := newStream(names)
		w := &lineWriter{take: whole.take}
		w.Write(text)
		w.end()
		for name, r := range whole.results {
			if !whole.known[name] || r.outcome != "ok" && r.outcome != "FAILED" && r.outcome != "ignored" {
				t.Errorf("%q came out %q", name, r.outcome)
			}
		}
		if len(whole.order) != len(whole.results) {
			t.Errorf("%d in order, %d results", len(whole.order), len(whole.results))
		}
		if whole.ended() {
			whole.contradiction(0)
		}
		if cut <= 0 || cut >= len(text) {
			return
		}
		parts := newStream(names)
		w = &lineWriter{take: parts.take}
		w.Write(bytes.Clone(text[:cut]))
		w.Write(bytes.Clone(text[cut:]))
		w.end()
		same := func(a, b *result) bool { return a.outcome == b.outcome && a.said.String() == b.said.String() }
		if !maps.EqualFunc(whole.results, parts.results, same) {
			t.Errorf("cut at %d it reads differently", cut)
		}
	})
}
