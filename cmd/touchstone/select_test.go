package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// selectIn runs select and reads its JSON.
func selectIn(t *testing.T, args ...string) selectionJSON {
	t.Helper()
	code, stdout, stderr := run(append([]string{"select", "--format", "json"}, args...)...)
	if code != exitPass {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var out selectionJSON
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	return out
}

func names(out selectionJSON) string {
	var list []string
	for _, row := range out.Rows {
		list = append(list, row.ID[strings.LastIndexByte(row.ID, '.')+1:])
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

const selectTests = "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif A() != 1 {\n\t\tt.Fatal()\n\t}\n}\n\nfunc TestB(t *testing.T) {\n\tif B() != 1 {\n\t\tt.Fatal()\n\t}\n}\n"

// TestSelectFromIndexToArguments follows one map: made, used, carried forward
// over a commit, refreshed, and refused when it is damaged.
func TestSelectFromIndexToArguments(t *testing.T) {
	need(t, "go")
	dir := repository(t, "", map[string]string{
		"go.mod": goMod, "m.go": "package m\n\nfunc A() int { return 1 }\n\nfunc B() int { return 1 }\n\nfunc C() int { return 1 }\n", "m_test.go": selectTests,
		"other/o.go": "package other\n\nfunc O() int { return 1 }\n", "other/o_test.go": "package other\n\nimport \"testing\"\n\nfunc TestO(t *testing.T) { O() }\n", "README.md": "words\n",
	})
	file := filepath.Join(t.TempDir(), "map")
	args := []string{"--repo", dir, "--map", file, "--base", "HEAD"}

	write(t, dir, map[string]string{"m.go": "package m\n\nfunc A() int { return 2 }\n\nfunc B() int { return 1 }\n\nfunc C() int { return 1 }\n"})
	if out := selectIn(t, args...); len(out.Rows) != 1 || out.Rows[0].ID != "." || !out.Rows[0].Whole || !strings.Contains(out.Fallback, "no coverage map") {
		t.Errorf("without a map: %+v", out)
	}
	if code, _, stderr := run(append([]string{"select", "--index", "build"}, args...)...); code != exitPass || !strings.Contains(stderr, "holds 3 tests") {
		t.Fatalf("index: exit %d: %s", code, stderr)
	}
	out := selectIn(t, args...)
	if names(out) != "TestA" || out.Of != 3 || out.Fallback != "" || out.Rows[0].Reasons[0] != "coverage:m.go#A" {
		t.Errorf("with a map: %+v", out)
	}
	if _, stdout, _ := run(append([]string{"select", "--format", "args"}, args...)...); stdout != "-run\n^(TestA)$\n./.\n" {
		t.Errorf("arguments: %q", stdout)
	}

	gitIn(t, dir, "commit", "-qam", "A")
	write(t, dir, map[string]string{"m.go": "package m\n\nfunc A() int { return 2 }\n\nfunc B() int { return 2 }\n\nfunc C() int { return 1 }\n"})
	if out := selectIn(t, args...); names(out) != "TestA TestB" {
		t.Errorf("a map that is one commit old: %+v", out)
	}
	if code, _, stderr := run(append([]string{"select", "--index", "refresh"}, args...)...); code != exitPass || !strings.Contains(stderr, "holds 3 tests, 1 of them from the map before") {
		t.Fatalf("refresh: exit %d: %s", code, stderr)
	}
	if out := selectIn(t, args...); !strings.Contains(names(out), "TestB") || strings.Contains(names(out), "TestO") {
		t.Errorf("a refreshed map: %+v", out)
	}

	write(t, dir, map[string]string{"m.go": "package m\n\nfunc A() int { return 2 }\n\nfunc B() int { return 1 }\n\nfunc C() int { return 1 }\n", "README.md": "other words\n"})
	if out := selectIn(t, args...); len(out.Rows) != 0 || out.Fallback != "" {
		t.Errorf("only documentation: %+v", out)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, whole[:len(whole)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"go.mod": goMod + "\n// tidy\n"})
	if out := selectIn(t, args...); len(out.Rows) != out.Of || !strings.Contains(out.Fallback, "go.mod") {
		t.Errorf("a trigger and a damaged map: %+v", out)
	}
}

func TestSelectRefusesBadFlags(t *testing.T) {
	for _, c := range [][2]string{{"--strategy", "guess"}, {"--format", "xml"}, {"--index", "maybe"}, {"--budget", "-1s"}} {
		if code, _, stderr := run("select", c[0], c[1]); code != exitUsage || !strings.Contains(stderr, c[1]) && c[0] != "--budget" {
			t.Errorf("%v: exit %d: %s", c, code, stderr)
		}
	}
}
