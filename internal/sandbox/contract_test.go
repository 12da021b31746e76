//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// fixture is a work tree, a sandbox of it and a place for blobs.
type fixture struct {
	t    *testing.T
	root string
	self string // this test binary, where commands find it
	opts Options
	box  *Sandbox
}

// tree is the fixture's content. A value that begins with "->" is a link.
var tree = map[string]string{
	"main.txt":           "head\n",
	"gone.txt":           "only in the work tree\n",
	"only/here.txt":      "x\n",
	"pkg/a.txt":          "a\n",
	"pkg/sub/b.txt":      "b\n",
	"ignored/build.o":    "object\n",
	"outside":            "-> /etc",
	"inside":             "-> pkg",
	".git/HEAD":          "ref: refs/heads/main\n",
	".git/config":        "[core]\n",
	"dir with, a:b\\c/f": "odd\n",
}

func newFixture(t *testing.T, kind string) *fixture {
	t.Helper()
	return fixtureAt(t, kind, filepath.Join(t.TempDir(), "work, tree:1"), func(*Options) {})
}

func fixtureAt(t *testing.T, kind, root string, change func(*Options)) *fixture {
	t.Helper()
	for name, content := range tree {
		writeAt(t, filepath.Join(root, name), content)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, root: root, self: self, opts: Options{Kind: kind, Root: root, Visible: []string{filepath.Dir(self)}}}
	if kind == "docker" {
		f.opts.Image, f.self = testImage(t), imageSelf
	}
	change(&f.opts)
	f.box, err = newBox(t, f.opts)
	if err != nil {
		if kind == "overlay" && !errors.Is(err, fs.ErrNotExist) {
			t.Skipf("skipped: %v", err)
		}
		t.Fatal(err)
	}
	return f
}

// newBox makes a sandbox that is closed after the test's states.
func newBox(t *testing.T, opts Options) (*Sandbox, error) {
	t.Helper()
	box, err := New(t.Context(), opts)
	if err == nil {
		t.Cleanup(func() {
			if err := box.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return box, err
}

// again makes the fixture's sandbox anew, with other options.
func (f *fixture) again(change func(*Options)) {
	f.t.Helper()
	change(&f.opts)
	var err error
	if f.box, err = newBox(f.t, f.opts); err != nil {
		f.t.Fatal(err)
	}
}

func writeAt(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if target, ok := strings.CutPrefix(content, "-> "); ok {
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// file stages content; mode 0 is an absent file.
func (f *fixture) file(path string, mode uint32, content string) File {
	f.t.Helper()
	blob := filepath.Join(f.t.TempDir(), "blob")
	if err := os.WriteFile(blob, []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return File{Path: path, Mode: mode, Blob: blob}
}

func (f *fixture) state(files ...File) *State {
	f.t.Helper()
	st, err := f.box.State(f.t.Context(), files)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := st.Close(); err != nil {
			f.t.Error(err)
		}
	})
	return st
}

// sh runs a script, which must exit with 0, and returns its output.
func (f *fixture) sh(st *State, script string) string {
	f.t.Helper()
	out, exit := f.run(st, gate.Command{Argv: []string{"sh", "-c", script}})
	if exit.Code != 0 {
		f.t.Fatalf("%s: %+v\n%s", script, exit, out)
	}
	return strings.TrimSpace(out)
}

func (f *fixture) run(st *State, cmd gate.Command) (string, gate.Exit) {
	f.t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	exit, err := st.Run(f.t.Context(), cmd)
	if err != nil {
		f.t.Fatal(err)
	}
	return out.String(), exit
}

// helper is a command that is this test binary as a helper.
func (f *fixture) helper(name string, args ...string) gate.Command {
	return gate.Command{Argv: append([]string{f.self}, args...), Env: map[string]string{helperVariable: name}}
}

// snapshot hashes names, modes, times and contents of everything below root.
func snapshot(t *testing.T, root string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, path, info.Mode(), info.ModTime().UnixNano(), info.Size())
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			sum.Write(content)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func TestContractOverlay(t *testing.T) { testContract(t, "overlay") }
func TestContractCopy(t *testing.T)    { testContract(t, "copy") }
func TestContractDocker(t *testing.T)  { testContract(t, "docker") }

// testContract is what every kind keeps.
func testContract(t *testing.T, kind string) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *fixture)
	}{
		{"content", testContent},
		{"states are isolated and the tree is unwritten", testIsolated},
		{"links are not written through", testLinks},
		{"directories and files replace each other", testReplace},
		{"equal times", testTimes},
		{"fresh for each run", testFresh},
		{"environment", testEnvironment},
		{"auxiliary files", testAuxiliary},
		{"report", testReport},
		{"exit", testExit},
		{"cannot start", testCannotStart},
		{"timeout", testTimeout},
		{"cancel", testCancel},
		{"memory", testMemory},
		{"processes", testProcesses},
		{"detached processes", testDetached},
		{"output", testOutput},
		{"nothing left", testNothingLeft},
		{"digest", testDigest},
		{"bad files", testBadFiles},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, newFixture(t, kind)) })
	}
}

func testContent(t *testing.T, f *fixture) {
	st := f.state(
		f.file("main.txt", modeFile, "base\n"),
		f.file("gone.txt", modeAbsent, ""),
		f.file("only/here.txt", modeAbsent, ""),
		f.file("not/there.txt", modeAbsent, ""),
		f.file("new/deep/run.sh", modeExec, "#!/bin/sh\necho ran\n"),
		f.file("link", modeSymlink, "pkg/a.txt"),
		f.file("module", modeGitlink, ""),
	)
	for script, want := range map[string]string{
		"cat main.txt":                     "base",
		"cat pkg/a.txt":                    "a",
		"cat ignored/build.o":              "object",
		"cat 'dir with, a:b\\c/f'":         "odd",
		"./new/deep/run.sh":                "ran",
		"readlink link; cat link":          "pkg/a.txt\na",
		"ls -A module; ls -d module":       "module",
		"ls -A | grep -c '^.git$' || :":    "0",
		"test -e gone.txt || echo gone":    "gone",
		"test -e only || echo no dir":      "no dir",
		"test -e not || echo no dir":       "no dir",
		"stat -c %a main.txt new/deep":     "644\n755",
		"cd pkg/sub && cat ../../main.txt": "base",
	} {
		if got := f.sh(st, script); got != want {
			t.Errorf("%s: got %q, want %q", script, got, want)
		}
	}
}

func testIsolated(t *testing.T, f *fixture) {
	before := snapshot(t, f.root)
	base := f.state(f.file("main.txt", modeFile, "base\n"))
	head := f.state(f.file("main.txt", modeFile, "head 2\n"))
	f.sh(base, "cat main.txt; echo mine > pkg/a.txt; rm -r ignored; mkdir more; touch more/x; chmod 600 pkg/sub/b.txt")
	if got := f.sh(head, "cat main.txt pkg/a.txt ignored/build.o; ls -d more 2>&1 || :"); !strings.HasPrefix(got, "head 2\na\nobject\nls: ") {
		t.Errorf("head sees %q", got)
	}
	if got := f.sh(head, `touch "$HOME/.touchstone-test" "$TMPDIR/x"; rm -f "$HOME/.touchstone-test"; ls "$TMPDIR/x"`); !strings.HasSuffix(got, "x") {
		t.Errorf("TMPDIR holds %q", got)
	}
	if snapshot(t, f.root) != before {
		t.Error("the work tree changed")
	}
}

func testLinks(t *testing.T, f *fixture) {
	outside := t.TempDir()
	writeAt(t, filepath.Join(outside, "f"), "untouched\n")
	if err := os.Symlink(outside, filepath.Join(f.root, "away")); err != nil {
		t.Fatal(err)
	}
	writeAt(t, filepath.Join(f.root, "l"), "-> main.txt")
	st := f.state(
		f.file("away/f", modeFile, "state\n"), // through a link that leads out
		f.file("inside/a.txt", modeFile, "new\n"),
		f.file("outside/hostname", modeAbsent, ""), // nothing of the state's to remove
		f.file("l", modeFile, "plain\n"),
	)
	if got := f.sh(st, "cat away/f inside/a.txt pkg/a.txt l main.txt; readlink outside"); got != "state\nnew\na\nplain\nhead\n/etc" {
		t.Errorf("state sees %q", got)
	}
	if content, _ := os.ReadFile(filepath.Join(outside, "f")); string(content) != "untouched\n" {
		t.Errorf("file outside of the tree is now %q", content)
	}
	if content, _ := os.ReadFile(filepath.Join(f.root, "main.txt")); string(content) != "head\n" {
		t.Errorf("file of the tree is now %q", content)
	}
}

func testReplace(t *testing.T, f *fixture) {
	writeAt(t, filepath.Join(f.root, "vendored/.git"), "gitdir: ../.git/modules/vendored\n")
	writeAt(t, filepath.Join(f.root, "vendored/code"), "submodule\n")
	st := f.state(
		f.file("pkg", modeFile, "now a file\n"),
		f.file("pkg/a.txt", modeAbsent, ""),
		f.file("pkg/sub/b.txt", modeAbsent, ""),
		f.file("main.txt", modeAbsent, ""),
		f.file("main.txt/inner", modeFile, "now a directory\n"),
		f.file("vendored", modeGitlink, ""),
		f.file("vendored/code", modeAbsent, ""),
		f.file("vendored/deep/code", modeAbsent, ""),
	)
	if got := f.sh(st, "cat pkg main.txt/inner; ls -A vendored"); got != "now a file\nnow a directory" {
		t.Errorf("state sees %q", got)
	}
	st = f.state(
		f.file("vendored", modeAbsent, ""),
		f.file("vendored/deep/code", modeFile, "own\n"),
		f.file("vendored/code", modeAbsent, ""),
	)
	if got := f.sh(st, "cat vendored/deep/code; ls -A vendored"); got != "own\ndeep" {
		t.Errorf("state sees %q", got)
	}
}

func testTimes(t *testing.T, f *fixture) {
	const times = "stat -c %Y main.txt new/x new pkg/sub . | sort -u"
	a := f.sh(f.state(f.file("main.txt", modeFile, "1"), f.file("new/x", modeFile, "1"), f.file("pkg/sub/b.txt", modeAbsent, ""),
		f.file("pkg/sub/c.txt", modeFile, "")), times)
	b := f.sh(f.state(f.file("main.txt", modeExec, "22"), f.file("new/x", modeSymlink, "../main.txt"), f.file("pkg/sub/b.txt", modeFile, ""),
		f.file("pkg/sub/c.txt", modeAbsent, "")), times)
	if f.box.Kind() == "copy" {
		return // the root's own time is that of the clone
	}
	if a != b || strings.Contains(a, "\n") {
		t.Errorf("times differ: %q and %q", a, b)
	}
}

func testFresh(t *testing.T, f *fixture) {
	st := f.state(f.file("main.txt", modeFile, "base\n"))
	f.sh(st, `echo x > main.txt; touch -d @1 main.txt; rm -r pkg; ln -s /etc pkg; mkdir -p a/b; echo y > a/b/c; chmod 0 a; touch "$TMPDIR/t"`)
	if got := f.sh(st, `cat main.txt pkg/a.txt; ls -d a 2>/dev/null; ls "$TMPDIR/t" 2>/dev/null; :`); got != "base\na" {
		t.Errorf("second run sees %q", got)
	}
}

func testEnvironment(t *testing.T, f *fixture) {
	t.Setenv("GITHUB_TOKEN", "canary-secret")
	t.Setenv("LC_TEST", "kept")
	t.Setenv("WANTED", "wanted")
	f.again(func(o *Options) {
		o.EnvAllow = []string{"WANTED"}
		o.Env = map[string]string{"CONFIGURED": "at {aux}", "TZ": "UTC"}
	})
	st := f.state()
	out, exit := f.run(st, gate.Command{Argv: []string{"env"}, Env: map[string]string{"OWN": "1", "TZ": "CET"}, Dir: "pkg"})
	if exit.Code != 0 || strings.Contains(out, "canary") || strings.Contains(out, reportVariable) {
		t.Errorf("%+v: %s", exit, out)
	}
	p := st.engine.places()
	for _, want := range []string{"LC_TEST=kept", "WANTED=wanted", "CONFIGURED=at " + p.aux, "OWN=1", "TZ=CET", "TERM=dumb",
		"TMPDIR=" + p.temp, "PWD=" + filepath.Join(p.root, "pkg"), pathOf(f), "HOME=" + p.home} {
		if !strings.Contains("\n"+out, "\n"+want+"\n") {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// pathOf is the PATH that a fixture's commands get.
func pathOf(f *fixture) string {
	if f.box.Kind() == "docker" {
		return enginePath
	}
	return "PATH=" + os.Getenv("PATH")
}

func testAuxiliary(t *testing.T, f *fixture) {
	cmd := gate.Command{
		Argv:  []string{"sh", "-c", `cat "$X" {aux}/lib/p.py; echo z 2>/dev/null > {aux}/new && echo written; :`},
		Env:   map[string]string{"X": "{aux}/plugin.py"},
		Files: map[string]string{"plugin.py": "one\n", "lib/p.py": "two\n"},
	}
	st := f.state()
	for range 2 {
		want := "one\ntwo\n"
		if f.box.Kind() == "copy" {
			want += "written\n" // a directory of the same user
		}
		if out, _ := f.run(st, cmd); out != want {
			t.Errorf("got %q, want %q", out, want)
		}
	}
	cmd.Files = map[string]string{"../x": ""}
	if _, err := st.Run(t.Context(), cmd); err == nil {
		t.Error("an auxiliary file outside of its directory was accepted")
	}
}

func testReport(t *testing.T, f *fixture) {
	var report, out bytes.Buffer
	exit, err := f.state().Run(t.Context(), gate.Command{
		Argv:   []string{"sh", "-c", `echo out; exec sh -c 'echo first > "$TOUCHSTONE_REPORT"; echo second >> "$TOUCHSTONE_REPORT"'`},
		Stdout: &out, Report: &report,
	})
	if err != nil || exit.Code != 0 || report.String() != "first\nsecond\n" || out.String() != "out\n" {
		t.Errorf("%v, %+v, report %q, output %q", err, exit, report.String(), out.String())
	}
}

func testExit(t *testing.T, f *fixture) {
	st := f.state()
	if _, exit := f.run(st, f.helper("exit", "7")); exit.Code != 7 || exit.Signal != "" || exit.Limit != "" || exit.TimedOut {
		t.Errorf("exit 7: %+v", exit)
	}
	if _, exit := f.run(st, gate.Command{Argv: []string{"sh", "-c", "kill -SEGV $$"}}); exit.Code != -1 || exit.Signal != "SIGSEGV" {
		t.Errorf("segmentation fault: %+v", exit)
	}
	_, exit := f.run(st, gate.Command{Argv: []string{"sh", "-c", "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done; kill -TERM $$"}})
	if exit.Signal != "SIGTERM" || exit.CPU <= 0 || exit.Wall < exit.CPU/4 || exit.MaxRSS < 100<<10 || exit.MaxRSS > gib {
		t.Errorf("SIGTERM: %+v", exit)
	}
}

func testCannotStart(t *testing.T, f *fixture) {
	st := f.state()
	for _, c := range []struct {
		cmd  gate.Command
		want string
	}{
		{gate.Command{Argv: []string{"no-such-program"}}, "no-such-program"},
		{gate.Command{Argv: []string{"./main.txt"}}, "permission denied"},
		{gate.Command{Argv: []string{"true"}, Dir: "nowhere"}, "working directory"},
		{gate.Command{Argv: []string{"true"}, Dir: "../.."}, "outside the work tree"},
		{gate.Command{}, "no command"},
		{gate.Command{Argv: []string{"echo", "a\x00b"}}, "NUL"},
	} {
		_, err := st.Run(t.Context(), c.cmd)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in %q: error %v, want one with %q", c.cmd.Argv, c.cmd.Dir, err, c.want)
		}
	}
	if got := f.sh(st, "echo still here"); got != "still here" {
		t.Errorf("after failures: %q", got)
	}
}

func testTimeout(t *testing.T, f *fixture) {
	cmd := gate.Command{Argv: []string{"sh", "-c", "echo begun; sleep 60 & sleep 60"}, Timeout: 300 * time.Millisecond}
	begin := time.Now()
	out, exit := f.run(f.state(), cmd)
	if !exit.TimedOut || exit.Code != -1 || exit.Limit != "" || out != "begun\n" || time.Since(begin) > 5*time.Second {
		t.Errorf("%+v after %v, output %q", exit, time.Since(begin), out)
	}
}

func testCancel(t *testing.T, f *fixture) {
	st := f.state(f.file("main.txt", modeFile, "base\n"))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	begin := time.Now()
	_, err := st.Run(ctx, gate.Command{Argv: []string{"sleep", "60"}})
	if !errors.Is(err, context.Canceled) || time.Since(begin) > 5*time.Second {
		t.Errorf("error %v after %v", err, time.Since(begin))
	}
	if got := f.sh(st, "cat main.txt"); got != "base" {
		t.Errorf("after a cancelled run: %q", got)
	}
}

func testMemory(t *testing.T, f *fixture) {
	f.again(func(o *Options) { o.Memory = 400 << 20 }) // the race detector doubles what a helper needs
	st := f.state()
	if _, exit := f.run(st, f.helper("allocate", fmt.Sprint(800<<20))); exit.Limit != "memory" || exit.Signal != "SIGKILL" {
		t.Errorf("800 MB under a limit of 400: %+v", exit)
	}
	under := f.helper("allocate", fmt.Sprint(100<<20))
	under.Timeout = time.Second
	if _, exit := f.run(st, under); exit.Limit != "" || !exit.TimedOut {
		t.Errorf("100 MB under a limit of 400: %+v", exit)
	}
}

func testProcesses(t *testing.T, f *fixture) {
	f.again(func(o *Options) { o.Pids = 20 })
	if _, exit := f.run(f.state(), f.helper("fork", "40")); exit.Limit != "processes" {
		t.Errorf("41 processes under a limit of 20: %+v", exit)
	}
}

func testDetached(t *testing.T, f *fixture) {
	st := f.state()
	cmd := f.helper("detach", "{aux}/../alive")
	cmd.Argv[1] = filepath.Join(st.engine.places().temp, "alive")
	if out, exit := f.run(st, cmd); exit.Code != 0 {
		t.Fatalf("%+v: %s", exit, out)
	}
	time.Sleep(200 * time.Millisecond)
	if left := processesWith(t, cmd.Argv[1]); len(left) > 0 {
		t.Errorf("processes %v outlived the run", left)
	}
}

func testOutput(t *testing.T, f *fixture) {
	f.again(func(o *Options) { o.OutputCap = 1 << 20 })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := &tail{limit: 100 << 10}
	cmd := f.helper("output", fmt.Sprint(1<<30))
	var total counter
	cmd.Stdout = io.MultiWriter(&total, got)
	exit, err := f.state().Run(t.Context(), cmd)
	runtime.ReadMemStats(&after)
	if err != nil || exit.Code != 0 || exit.Limit != "output" || total < 1<<20 || total > 1<<20+100 {
		t.Errorf("%v, %+v, %d bytes", err, exit, total)
	}
	if end := got.String(); !strings.HasSuffix(end, "xxx the end") || !strings.Contains(end, "\n[touchstone left out ") {
		t.Errorf("the end of the output is %q...", end[max(0, len(end)-50):])
	}
	if grown := int64(after.TotalAlloc) - int64(before.TotalAlloc); grown > 400<<20 { // what looking at processes takes on a busy machine included
		t.Errorf("1 GB of output cost %d bytes of memory", grown)
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)

func testNothingLeft(t *testing.T, f *fixture) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	mounts := mountsNow(t)
	st, err := f.box.State(t.Context(), []File{f.file("main.txt", modeFile, "x")})
	if err != nil {
		t.Fatal(err)
	}
	f.sh(st, `mkdir -p a/b; touch a/b/c; chmod 0 a/b; touch "$TMPDIR/x"`)
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left in the temporary directory: %v", left)
	}
	if now := mountsNow(t); now != mounts {
		t.Errorf("mounts changed from\n%s\nto\n%s", mounts, now)
	}
	if _, err := st.Run(t.Context(), gate.Command{Argv: []string{"true"}}); err == nil {
		t.Error("a closed state ran a command")
	}
}

func testDigest(t *testing.T, f *fixture) {
	st := f.state(f.file("main.txt", modeFile, "base\n"), f.file("link", modeSymlink, "main.txt"), f.file("gone.txt", modeAbsent, ""))
	f.sh(st, "echo changed > main.txt")
	got, err := st.Digest(t.Context(), []string{"main.txt", "link", "gone.txt", "main.txt/x", "pkg", "pkg/a.txt"})
	if err != nil {
		t.Fatal(err)
	}
	sum := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	for path, want := range map[string]string{
		"main.txt": sum("base\n"), "link": "link:main.txt", "gone.txt": "", "main.txt/x": "", "pkg": "", "pkg/a.txt": sum("a\n"),
	} {
		if got[path] != want {
			t.Errorf("digest of %s: %q, want %q", path, got[path], want)
		}
	}
}

func testBadFiles(t *testing.T, f *fixture) {
	for _, bad := range []File{
		{Path: "../x", Mode: modeFile}, {Path: "/x", Mode: modeFile}, {Path: "", Mode: modeFile}, {Path: "a//b", Mode: modeFile},
		{Path: ".git/hooks/x", Mode: modeFile}, {Path: "a/.GIT/x", Mode: modeFile}, {Path: "a", Mode: 0o777}, {Path: "a\x00", Mode: modeFile},
	} {
		if st, err := f.box.State(t.Context(), []File{bad}); err == nil {
			st.Close()
			t.Errorf("%+v was accepted", bad)
		}
	}
	for _, both := range [][]File{
		{f.file("a", modeFile, ""), f.file("a/b", modeFile, "")},
		{f.file("a", modeFile, ""), f.file("a", modeExec, "")},
		{{Path: "a", Mode: modeFile, Blob: "/no/such/blob"}},
	} {
		if st, err := f.box.State(t.Context(), both); err == nil {
			st.Close()
			t.Errorf("%+v was accepted", both)
		}
	}
}
