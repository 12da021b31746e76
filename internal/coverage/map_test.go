package coverage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/touchstone-gate/touchstone/rts"
)

var sample = rts.Traces{
	Rows: []rts.Trace{
		{Row: rts.Row{ID: "a", Unit: "u", Seen: true, Green: true, Seconds: 0.5}, Loads: []string{"x.py", "y.py"}, Executes: []string{"x.py#f"}, Opens: []string{"d.json"}, Lists: []string{"."}},
		{Row: rts.Row{ID: "b", Unit: "u", Seen: true, Open: "starts make"}, Loads: []string{"x.py"}},
	},
	Traced: []string{"x.py", "z.py"}, Imports: []string{"y.py#g"}, Failed: map[string]string{"v": "no"},
}

func write(t *testing.T, traces ...rts.Traces) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deep", "map")
	if err := Write(path, Header{Commit: "c", Tree: "t", Environments: map[string]string{"pytest": "3.12"}}, traces); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) *Map {
	t.Helper()
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestMapGivesBackWhatWasWritten(t *testing.T) {
	m := open(t, write(t, sample))
	for _, c := range []struct {
		relation rts.Relation
		key      string
		rows     []int
		known    bool
	}{
		{rts.Loads, "x.py", []int{0, 1}, true}, {rts.Loads, "y.py", []int{0}, true}, {rts.Executes, "x.py#f", []int{0}, true},
		{rts.Opens, "d.json", []int{0}, true}, {rts.Lists, ".", []int{0}, true}, {rts.Traced, "z.py", []int{}, true},
		{rts.Imports, "y.py#g", []int{}, true}, {rts.Imports, "x.py#f", nil, false}, {rts.Loads, "none", nil, false},
	} {
		rows, known := m.Rows(c.relation, c.key)
		if !slices.Equal(rows, c.rows) || known != c.known {
			t.Errorf("%d %s: %v, %v", c.relation, c.key, rows, known)
		}
	}
	if m.Commit != "c" || m.Environments["pytest"] != "3.12" || m.Err() != nil {
		t.Errorf("header %+v, error %v", m.Header, m.Err())
	}
	traces, err := m.Traces(func(rts.Row) bool { return true })
	if err != nil || !reflect.DeepEqual(traces, sample) {
		t.Errorf("traces %+v, %v", traces, err)
	}
	one, err := m.Traces(func(r rts.Row) bool { return r.ID == "b" })
	if err != nil || len(one.Rows) != 1 || !slices.Equal(one.Rows[0].Loads, []string{"x.py"}) {
		t.Errorf("traces of b: %+v, %v", one, err)
	}
}

func TestNoMapIsToldApartFromADamagedOne(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, ErrNone) {
		t.Errorf("no file: %v", err)
	}
	path := write(t, sample)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty": {}, "text": []byte("what is this"), "cut": whole[:len(whole)/2], "zeroes": make([]byte, len(whole)),
	} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := Open(path)
		if err == nil {
			m.Close()
			t.Errorf("%s: no error", name)
		}
		if errors.Is(err, ErrNone) {
			t.Errorf("%s: taken for no map", name)
		}
	}
}

// BenchmarkLargeMap is 100,000 tests of 50,000 files. It prints the size.
func BenchmarkLargeMap(b *testing.B) {
	traces := rts.Traces{}
	for i := range 100_000 {
		row := rts.Trace{Row: rts.Row{ID: fmt.Sprintf("tests/unit/package_%d/test_module_%d.py::TestClass::test_case_%d", i%50, i%2000, i), Unit: fmt.Sprintf("tests/unit/package_%d/test_module_%d.py", i%50, i%2000), Seen: true, Green: true}}
		for j := range 60 {
			file := fmt.Sprintf("src/package_%d/module_%d.py", (i+j)%50, (i%2000*25+j*j)%50_000)
			row.Loads = append(row.Loads, file)
			row.Executes = append(row.Executes, rts.Key(file, fmt.Sprintf("Class.method_%d", (i+j)%7)))
		}
		traces.Rows = append(traces.Rows, row)
	}
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "map")
		if err := Write(path, Header{}, []rts.Traces{traces}); err != nil {
			b.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/1e6, "MB")
	}
}

// BenchmarkSelect is a selection for ten changed files from a map of 5,000
// tests and 2,000 files, opened anew each time.
func BenchmarkSelect(b *testing.B) {
	var traces rts.Traces
	for i := range 5000 {
		row := rts.Trace{Row: rts.Row{ID: fmt.Sprintf("tests/test_%d.py::test_%d", i%250, i), Unit: fmt.Sprintf("tests/test_%d.py", i%250), Seen: true, Green: true, Seconds: 0.1}}
		for j := range 80 {
			file := fmt.Sprintf("src/m%d.py", (i%250*8+j*j)%2000)
			row.Loads, row.Executes = append(row.Loads, file), append(row.Executes, rts.Key(file, fmt.Sprintf("f%d", (i+j)%9)))
		}
		traces.Rows = append(traces.Rows, row)
	}
	for i := range 2000 {
		traces.Traced = append(traces.Traced, fmt.Sprintf("src/m%d.py", i))
	}
	path := filepath.Join(b.TempDir(), "map")
	if err := Write(path, Header{}, []rts.Traces{traces}); err != nil {
		b.Fatal(err)
	}
	var files []rts.FileChange
	for i := range 10 {
		files = append(files, rts.FileChange{Path: fmt.Sprintf("src/m%d.py", i*150), Compared: true, Shape: i == 0, Bodies: []string{"f3"}})
	}
	for b.Loop() {
		m, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		chosen := rts.Select(rts.NewChange(files...), rts.Facts{Rows: m.Header.Rows, Map: m, Graph: &rts.Graph{}}, rts.Options{})
		if len(chosen.Rows) == 0 || len(chosen.Rows) == chosen.Of || m.Err() != nil {
			b.Fatalf("%d of %d, %v", len(chosen.Rows), chosen.Of, m.Err())
		}
		m.Close()
	}
}
