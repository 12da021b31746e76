package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// splitRepository has a change of every part, the last commit.
func splitRepository(t *testing.T) string {
	lib := "pub fn one() -> u8 {\n    2\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn some() {\n        assert!(one() > 0);\n    }\n}\n"
	return repository(t, "", map[string]string{
		"Cargo.toml": "[package]\nname = \"x\"\n", "src/lib.rs": lib, "tests/it.rs": "fn a() {}\n", "README.md": "a\n", "nextest.toml": "a\n",
	}, map[string]string{
		"src/lib.rs":  strings.Replace(strings.Replace(lib, "    2\n", "    1\n", 1), "    }\n}\n", "        assert_eq!(one(), 1);\n    }\n}\n", 1),
		"tests/it.rs": "fn b() {}\n", "README.md": "b\n", "nextest.toml": "b\n", "src/new.rs": "pub fn f() {}\n",
	})
}

const splitText = `production (2)
  nextest.toml        configures which tests run and how [test-config]
  src/new.rs (added)  source code that no rule makes a test
mixed (1)
  src/lib.rs  production code and test code of its own: #[cfg(test)] mod
    line 2    production
    line 12   test
test (1)
  tests/it.rs  in test directory tests
neutral (1)
  README.md  documentation (README.md) [docs]
can change which tests run, and how: nextest.toml
`

// TestSplitForms compares the ways to ask: revisions, a diff with and without
// its repository, text and JSON.
func TestSplitForms(t *testing.T) {
	dir := splitRepository(t)
	diff := gitIn(t, dir, "diff", "HEAD~1", "HEAD") + "\n"
	file := filepath.Join(t.TempDir(), "x.diff")
	if err := os.WriteFile(file, []byte(diff), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := run("split", "--repo", dir, "--base", "HEAD~1", "--head", "HEAD")
	if want := splitText + "kind: fix (conventional commit type \"fix\")\n"; code != 0 || stdout != want {
		t.Errorf("exit %d: %s\ngot:\n%s\nwant:\n%s", code, stderr, stdout, want)
	}
	code, stdout, stderr = run("split", "--repo", dir, "--base", "HEAD~1", file)
	if want := splitText + "kind: unknown (neither the subject nor the changed files say)\n"; code != 0 || stdout != want {
		t.Errorf("diff: exit %d: %s\ngot:\n%s\nwant:\n%s", code, stderr, stdout, want)
	}
	t.Chdir(t.TempDir())
	var out, errs strings.Builder
	app := App{Stdin: strings.NewReader(diff), Stdout: &out, Stderr: &errs, Getenv: os.Getenv}
	if code := app.Main([]string{"split", "-", "--format", "json"}); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	var read splitJSON
	if err := json.Unmarshal([]byte(out.String()), &read); err != nil {
		t.Fatal(err)
	}
	if read.Counts["mixed"] != 1 || read.Counts["production"] != 2 || len(read.TestConfig) != 1 || len(read.Split) != 5 {
		t.Errorf("read %+v", read)
	}
}

// TestSplitPatches applies the patches that split writes, in either order.
func TestSplitPatches(t *testing.T) {
	dir, parts := splitRepository(t), t.TempDir()
	if code, _, stderr := run("split", "--repo", dir, "--base", "HEAD~1", "--head", "HEAD", "--output-dir", parts); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, part := range partNames {
		want, err := os.ReadFile(filepath.Join(parts, part+".patch"))
		if err != nil {
			t.Fatal(err)
		}
		if code, stdout, stderr := run("split", "--repo", dir, "--base", "HEAD~1", "--head", "HEAD", "--part", part); code != 0 || len(want) == 0 || stdout != string(want) {
			t.Errorf("--part %s: exit %d: %s\ngot:\n%s\nwant:\n%s", part, code, stderr, stdout, want)
		}
	}
	head := gitIn(t, dir, "rev-parse", "HEAD^{tree}")
	for _, order := range [][]string{{"production", "test", "neutral"}, {"neutral", "test", "production"}} {
		gitIn(t, dir, "read-tree", "HEAD~1")
		for _, part := range order {
			gitIn(t, dir, "apply", "--cached", "--unidiff-zero", filepath.Join(parts, part+".patch"))
		}
		if got := gitIn(t, dir, "write-tree"); got != head {
			t.Errorf("%v gives %s, head is %s", order, got, head)
		}
	}
	test, err := os.ReadFile(filepath.Join(parts, "test.patch"))
	if err != nil || strings.Contains(string(test), "-    2") || !strings.Contains(string(test), "+        assert_eq!(one(), 1);") {
		t.Errorf("%v: test.patch is:\n%s", err, test)
	}
}

func TestSplitExplain(t *testing.T) {
	code, stdout, stderr := run("split", "--repo", splitRepository(t), "--base", "HEAD~1", "--explain", "tests/it.rs", "--explain", "src/lib.rs")
	for _, want := range []string{"tests/it.rs: test, in test directory tests\n  1. ", "src/lib.rs: mixed, production code and test code of its own"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit %d: %s: no %q in\n%s", code, stderr, want, stdout)
		}
	}
}

// A path can be asked about before anything is changed, a change cannot be split.
func TestSplitExplainsWithoutAChange(t *testing.T) {
	dir := splitRepository(t)
	if code, stdout, stderr := run("split", "--repo", dir, "--explain", "tests/it.rs"); code != exitPass || !strings.Contains(stdout, "tests/it.rs: test, in test directory tests\n") {
		t.Errorf("exit %d: %s\n%s", code, stderr, stdout)
	}
	if code, _, stderr := run("split", "--repo", dir); code != exitUsage || !strings.Contains(stderr, "nothing to check") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestSplitRefuses gives bad input and wants the code and the word that helps.
func TestSplitRefuses(t *testing.T) {
	dir := splitRepository(t)
	bad := func(text string) string {
		file := filepath.Join(t.TempDir(), "bad.diff")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, test := range []struct {
		code int
		word string
		args []string
	}{
		{exitUsage, "not one of text, json", []string{"--format", "xml"}},
		{exitUsage, "not one of production, test, neutral", []string{"--part", "mixed"}},
		{exitUsage, "no such file", []string{"nothing.diff"}},
		{exitUsage, "already says what head is", []string{"-", "--head", "HEAD"}},
		{exitUsage, "--base", []string{"-", "--base", "nonsense"}},
		{exitUndecided, "the diff ends inside a hunk", []string{bad("diff --git a/x b/x\nindex 1234567..1234568 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n")}},
		{exitUndecided, "leaves or repeats a directory", []string{bad("diff --git a/../x b/../x\nindex 1234567..1234568 100644\n--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n")}},
		{exitUndecided, ".git", []string{bad("--- a/.GIT/config\n+++ b/.GIT/config\n@@ -1 +1 @@\n-a\n+b\n")}},
		{exitUndecided, "combined diff", []string{bad("diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,2 @@@\n  a\n++b\n")}},
		{exitUndecided, "no file change", []string{bad("hello\n")}},
	} {
		code, _, stderr := run(append([]string{"split", "--repo", dir}, test.args...)...)
		if code != test.code || !strings.Contains(stderr, test.word) {
			t.Errorf("%v: exit %d, want %d with %q: %s", test.args, code, test.code, test.word, stderr)
		}
	}
}
