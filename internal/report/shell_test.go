package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestShell(t *testing.T) {
	for _, c := range []struct {
		in   []string
		want string
	}{
		{[]string{"go", "test", "-run", "^TestA$", "./..."}, "go test -run '^TestA$' ./..."},
		{[]string{"python", "-m", "pytest", "a.py::test_x[it's]"}, `python -m pytest 'a.py::test_x[it'\''s]'`},
		{[]string{"a", ""}, "a ''"},
		{[]string{"x\ny'\\"}, `$'x\x0ay\'\\'`},
		{[]string{"\u202ex"}, `$'\xe2\x80\xaex'`},
		{[]string{"\xff"}, `$'\xff'`},
		{[]string{"##[error]x"}, `$'\x23\x23[error]x'`},
		{nil, ""},
	} {
		if got := Shell(c.in); got != c.want {
			t.Errorf("Shell(%q) = %s, want %s", c.in, got, c.want)
		}
	}
}

// TestShellByBash has bash read back what Shell wrote.
func TestShellByBash(t *testing.T) {
	bash := ""
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, "bash")); err == nil && info.Mode().IsRegular() {
			bash = filepath.Join(dir, "bash")
			break
		}
	}
	if bash == "" {
		t.Skip("bash is not on the PATH")
	}
	var words []string
	for _, text := range nasty {
		words = append(words, strings.ReplaceAll(text, "\x00", "")) // no argument holds a NUL
	}
	words = append(words, "'", `\`, "$HOME", "~", "a b", "*", "!x", "", "-n", "\x7f\u0085é")
	script := "printf '%s\\0' " + Shell(words)
	for _, line := range strings.Split(script, "\n") {
		if problem := acts(line); problem != "" {
			t.Errorf("%s: %q", problem, line)
		}
	}
	out := readBack(t, bash, script)
	if got := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"); strings.Join(got, "\n--\n") != strings.Join(words, "\n--\n") {
		t.Errorf("bash reads\n%q\nwant\n%q", got, words)
	}
}

// readBack runs a script without os/exec, which only internal/git and
// internal/sandbox may import.
func readBack(t *testing.T, bash, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	process, err := os.StartProcess(bash, []string{"bash", "--norc", "-c", script}, &os.ProcAttr{Files: []*os.File{nil, out, os.Stderr}})
	if err != nil {
		t.Fatal(err)
	}
	if state, err := process.Wait(); err != nil || !state.Success() {
		t.Fatalf("bash: %v %v", state, err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
