package gotest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzStream holds that a stream that is damaged anywhere is read to its end,
// that no test ends that no event names, and that lines which are no events are
// no outcomes.
func FuzzStream(f *testing.F) {
	f.Add([]byte(`{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: no\n"}
{"Action":"run","Package":"p","Test":"TestA/b"}
{"Action":"pause","Package":"p","Test":"TestA/b"}
{"Action":"cont","Package":"p","Test":"TestA/b"}
{"Action":"skip","Package":"p","Test":"TestA/b","Elapsed":0.1}
{"Action":"fail","Package":"p","Test":"TestA","Elapsed":0.2}
{"Action":"output","Package":"p","Output":"panic: no\n"}
{"ImportPath":"q","Action":"build-output","Output":"# q\n"}
{"ImportPath":"q","Action":"build-fail"}
noise
{"Action":"fail","Package":"p","Elapsed":1,"FailedBuild":"q"}
`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := newStream()
		if err := s.read(bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		_ = s.words()
		tests := 0
		for _, p := range s.packages {
			tests += len(p.ended)
		}
		if most := bytes.Count(text, []byte("{")); tests > most || len(s.packages) > most {
			t.Errorf("%d tests of %d packages out of %d events", tests, len(s.packages), most)
		}
		if !strings.Contains(string(text), "{") && len(s.packages) > 0 {
			t.Error("a package out of no event")
		}
	})
}

// FuzzDecode holds that an event reads as the general decoder reads it.
func FuzzDecode(f *testing.F) {
	for _, line := range []string{
		`{"Time":"2026-01-01T00:00:00Z","Action":"run","Package":"p","Test":"TestA/b#01"}`,
		`{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: \\u003cnil\\u003e \\ud83d\\ude00 ü\\n"}`,
		`{"Action":"pass","Package":"p","Elapsed":0.01}`, `{"Action":"fail","Elapsed":1e3,"FailedBuild":"q"}`, `{"action":"x"}`, `{"Action":"a","Action":"b"}`, `{ "Action" : "a" }`, `{}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var want event
		ok := json.Unmarshal(line, &want) == nil && want.Action != ""
		var d decoder
		if got, gotOK := d.decode(line); gotOK != ok || ok && got != want {
			t.Errorf("read as %+v %v, want %+v %v", got, gotOK, want, ok)
		}
	})
}
