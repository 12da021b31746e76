package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the tests see to testdata")

func TestGolden(t *testing.T) {
	for _, g := range golden {
		extensions := map[string]string{"text": ".txt", "markdown": ".md"}
		if g.json {
			extensions["json"] = ".json"
		}
		for format, extension := range extensions {
			t.Run(g.name+extension, func(t *testing.T) {
				var out bytes.Buffer
				if err := Write(&out, format, g.build(), g.opts); err != nil {
					t.Fatal(err)
				}
				compare(t, filepath.Join("testdata", g.name+extension), out.String())
			})
		}
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: write it with -update", err)
	}
	wanted, lines := strings.Split(string(content), "\n"), strings.Split(got, "\n")
	for i := range max(len(wanted), len(lines)) {
		want, line := "(end)", "(end)"
		if i < len(wanted) {
			want = wanted[i]
		}
		if i < len(lines) {
			line = lines[i]
		}
		if want != line {
			t.Fatalf("%s:%d\n got %q\nwant %q\nif that is meant, write it with -update", path, i+1, line, want)
		}
	}
}

// TestGoldenIsComplete fails for a golden file that no report makes any more.
func TestGoldenIsComplete(t *testing.T) {
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file.Name(), filepath.Ext(file.Name()))
		known := name == "README"
		for _, g := range golden {
			known = known || g.name == name
		}
		if !known {
			t.Errorf("testdata/%s: no report has this name: remove it", file.Name())
		}
	}
}
