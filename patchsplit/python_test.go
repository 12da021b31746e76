package patchsplit

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPythonAsPythonSays compares the scanner with Python's own parser on
// Python's own library: every name that it declares must be found.
func TestPythonAsPythonSays(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	where, err := exec.Command(python, "-c", "import os; print(os.path.dirname(os.__file__))").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(where)), "*.py"))
	if len(files) < 20 {
		t.Skipf("only %d files in Python's library", len(files))
	}
	out, err := exec.Command(python, append([]string{"testdata/declared.py"}, files...)...).Output()
	if err != nil {
		t.Fatalf("python: %v", err)
	}
	missed, total := 0, 0
	for line := range strings.Lines(string(out)) {
		var file struct {
			Path  string
			Names [][2]string
		}
		if err := json.Unmarshal([]byte(line), &file); err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile(file.Path)
		if err != nil {
			t.Fatal(err)
		}
		n := DeclaredNames("m.py", nil, source)
		for _, declared := range file.Names {
			total++
			if !declares(n, declared[0], declared[1]) {
				if missed++; missed < 20 {
					t.Errorf("%s: %s.%s is not found", filepath.Base(file.Path), declared[0], declared[1])
				}
			}
		}
	}
	t.Logf("%d of %d names of %d files missed", missed, total, len(files))
}

func declares(n Names, owner, name string) bool {
	if owner == "" {
		owner = "m"
	}
	if name == "_" {
		return true
	}
	for _, o := range n.Added[name] {
		if o == owner {
			return true
		}
	}
	return false
}
