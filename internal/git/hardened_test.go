package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// program writes a script that leaves a trace when it runs.
func program(t *testing.T) (script, trace string) {
	t.Helper()
	dir := t.TempDir()
	script, trace = filepath.Join(dir, "program"), filepath.Join(dir, "ran")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntr '\\0' ' ' </proc/$PPID/cmdline >>'"+trace+"'; echo \"$0 $*\" >>'"+trace+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return script, trace
}

func TestProgramsOfTheRepositoryDoNotRun(t *testing.T) {
	f := newFixture(t)
	f.write("file", "1\n")
	f.commit("one")
	base := f.git("rev-parse", "HEAD")
	f.git("branch", "side")
	script, trace := program(t)
	for _, key := range []string{"core.fsmonitor", "diff.external", "core.pager", "pager.log", "pager.grep", "diff.evil.textconv", "diff.evil.command", "core.sshCommand",
		"core.alternateRefsCommand", "gpg.program", "core.editor", "filter.evil.clean", "filter.evil.smudge", "filter.a=b.clean", "filter.lfs.process", "credential.helper"} {
		f.git("config", key, script)
	}
	f.git("config", "filter.evil.required", "true")
	f.git("config", "log.showSignature", "true")
	f.git("config", "core.attributesFile", f.path(".gitattributes"))
	for _, hook := range []string{"post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"} {
		f.write(".git/hooks/"+hook, "#!/bin/sh\nexec '"+script+"' "+hook+"\n")
		if err := os.Chmod(f.path(".git/hooks/"+hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f.write(".gitattributes", "* diff=evil filter=evil\nother filter=a=b\nthird filter=lfs\n")
	f.write("file", "2\n")
	f.write("other", "3\n")
	f.write("third", "4\n")
	os.Remove(trace)
	ctx := context.Background()
	repo := f.open()
	id, err := repo.Snapshot(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"Patch":         second(repo.Patch(ctx, base, id)),
		"Changes":       second(repo.Changes(ctx, base, id)),
		"WordFiles":     second(repo.WordFiles(ctx, id, "2")),
		"Subjects":      second(repo.Subjects(ctx, base, "HEAD")),
		"MergeBase":     second(repo.MergeBase(ctx, base, "side")),
		"Blob":          second(repo.Blob(f.git("rev-parse", "HEAD:file"))),
		"DefaultBranch": func() error { _, _, err := repo.DefaultBranch(ctx); return err }(),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if ran, err := os.ReadFile(trace); err == nil {
		t.Errorf("programs that the repository's configuration names were run:\n%s", ran)
	}
}

// TestFiltersOfTheUserRun is the other side: what the user's own configuration
// names runs, as it did at checkout.
func TestFiltersOfTheUserRun(t *testing.T) {
	f := newFixture(t)
	global := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(global, []byte("[filter \"upper\"]\n\tclean = tr a-z A-Z\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	f.write(".gitattributes", "*.up filter=upper\n")
	f.write("a.up", "text")
	if got := f.snapshot(); !slices.Contains(got, "100644 a.up=TEXT") {
		t.Errorf("%q", got)
	}
	f.git("config", "filter.upper.clean", "tr a-z 0-9")
	if got := f.snapshot(); !slices.Contains(got, "100644 a.up=text") {
		t.Errorf("with the repository's own program in its place: %q", got)
	}
}

// TestCallerVariablesAreDropped sets what a hook or a careless script would.
func TestCallerVariablesAreDropped(t *testing.T) {
	f := newFixture(t)
	f.write("file", "1")
	f.commit("one")
	other := newFixture(t)
	other.write("wrong", "1")
	other.commit("other")
	for name, value := range map[string]string{
		"GIT_DIR": other.path(".git"), "GIT_WORK_TREE": other.dir, "GIT_INDEX_FILE": other.path(".git/index"), "GIT_OBJECT_DIRECTORY": other.path(".git/objects"),
		"GIT_COMMON_DIR": other.path(".git"), "GIT_NAMESPACE": "x", "GIT_CONFIG_PARAMETERS": "'core.bare=true'", "GIT_EXTERNAL_DIFF": "false", "GIT_PAGER": "false",
		"GIT_DIFF_OPTS": "--unified=0", "GIT_GLOB_PATHSPECS": "1", "GIT_ATTR_SOURCE": "HEAD", "GIT_DEFAULT_HASH": "sha256",
	} {
		t.Setenv(name, value)
	}
	root, _ := filepath.EvalSymlinks(f.dir)
	if repo := f.open(); repo.Root() != root {
		t.Errorf("opened %q", repo.Root())
	}
	if got := f.snapshot(); !slices.Equal(got, []string{"100644 file=1"}) {
		t.Errorf("%q", got)
	}
}

func TestPatchIsTheSameWhateverIsConfigured(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.write("dir/code.py", "def f():\n    pass\n"+strings.Repeat("line\n", 20)+"end\n")
	f.write("blob", "\x00\x01")
	base := f.commit("base")
	f.write("dir/code.py", "def f():\n    pass\n"+strings.Repeat("line\n", 20)+"END\n")
	f.write("blob", "\x00\x02")
	head := f.commit("head")
	want, err := f.open().Patch(ctx, base, head)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"diff --git a/dir/code.py b/dir/code.py\n", "-end\n+END\n", "GIT binary patch\n", "@@ -20,4 +20,4 @@ line\n"} {
		if !strings.Contains(string(want), part) {
			t.Errorf("%q is not in\n%s", part, want)
		}
	}
	for key, value := range map[string]string{"diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.algorithm": "patience", "diff.context": "0", "diff.interHunkContext": "9",
		"color.ui": "always", "color.diff": "always", "diff.renames": "copies", "diff.relative": "true", "core.abbrev": "4", "diff.wordRegex": ".", "diff.submodule": "log", "diff.indentHeuristic": "false",
		"diff.colorMoved": "zebra", "core.quotePath": "false", "diff.srcPrefix": "x/", "diff.orderFile": f.path("dir/code.py")} {
		f.git("config", key, value)
	}
	// The change's own attributes could hide its lines, or cut them at other functions.
	f.write(".gitattributes", "*.py -diff\n* whitespace=trail diff=java\n")
	got, err := f.open().Patch(ctx, base, head)
	if err != nil || string(got) != string(want) {
		t.Errorf("%v: got\n%s\nwant\n%s", err, got, want)
	}
	if files, err := f.open().WordFiles(ctx, head, "END"); err != nil || !slices.Equal(files, []string{"dir/code.py"}) {
		t.Errorf("attributes hid a word: %q, %v", files, err)
	}
}

// TestPartialCloneDoesNotFetch holds that a missing object is an error that says
// what to do, that reading goes on after it, and that the advice is right.
func TestPartialCloneDoesNotFetch(t *testing.T) {
	f := newFixture(t)
	f.write("file", "old\n")
	f.commit("one")
	old := f.git("rev-parse", "HEAD:file")
	f.write("file", "new\n")
	f.commit("two")
	f.git("config", "uploadpack.allowFilter", "true")
	f.git("config", "uploadpack.allowAnySHA1InWant", "true")
	clone := f.at(filepath.Join(t.TempDir(), "clone"))
	f.git("clone", "-q", "--filter=blob:none", "file://"+f.dir, clone.dir)
	before := fingerprint(t, clone.path(".git"))
	repo := clone.open()
	if _, err := repo.Blob(old); err == nil || !strings.Contains(err.Error(), "partial clone") {
		t.Errorf("got %v", err)
	}
	if content, err := repo.Blob(clone.git("rev-parse", "HEAD:file")); string(content) != "new\n" || err != nil {
		t.Errorf("after it: %q, %v", content, err)
	}
	if fingerprint(t, clone.path(".git")) != before {
		t.Error("something was fetched")
	}
	clone.git("fetch", "-q", "--refetch", "--no-filter")
	if content, err := clone.open().Blob(old); string(content) != "old\n" || err != nil {
		t.Errorf("after the advice: %q, %v", content, err)
	}
}
