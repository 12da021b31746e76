package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBlobsAnswerTheirOwnQuestion asks wrong questions between right ones.
func TestBlobsAnswerTheirOwnQuestion(t *testing.T) {
	f := newFixture(t)
	f.write("file", "content\n")
	f.write("empty", "")
	f.write("no line end", "x\ny")
	commit := f.commit("one")
	id := func(rev string) string { return f.git("rev-parse", rev) }
	repo := f.open()
	for _, c := range []struct{ id, want, fault string }{
		{id("HEAD:file"), "content\n", ""},
		{commit, "", "is a commit, not a file"},
		{id("HEAD:empty"), "", ""},
		{id("HEAD^{tree}"), "", "is a tree, not a file"},
		{strings.Repeat("0", 40), "", "missing"},
		{id("HEAD:no line end"), "x\ny", ""},
		{"HEAD:file", "", "no object id"},
		{id("HEAD:file") + "\n" + commit, "", "no object id"},
		{id("HEAD:file"), "content\n", ""},
	} {
		content, err := repo.Blob(c.id)
		if string(content) != c.want || (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%q: %q, %v", c.id, content, err)
		}
	}
}

// TestBlobsGoOnAfterGitDied kills the batch process.
func TestBlobsGoOnAfterGitDied(t *testing.T) {
	f := newFixture(t)
	f.write("file", "content\n")
	f.commit("one")
	blob := f.git("rev-parse", "HEAD:file")
	repo := f.open()
	if _, err := repo.Blob(blob); err != nil {
		t.Fatal(err)
	}
	repo.blobs.Process.Kill()
	repo.blobs.Process.Wait()
	if _, err := repo.Blob(blob); err == nil {
		t.Error("a dead process answered")
	}
	if content, err := repo.Blob(blob); string(content) != "content\n" || err != nil {
		t.Errorf("%q, %v", content, err)
	}
}

func TestBlobLimit(t *testing.T) {
	f := newFixture(t)
	large, err := os.Create(f.path("large"))
	if err != nil {
		t.Fatal(err)
	}
	if err := large.Truncate(MaxBlob + 1); err != nil {
		t.Fatal(err)
	}
	large.Close()
	f.write("small", "1")
	f.git("-c", "core.compression=1", "add", "-A")
	f.git("commit", "-q", "-m", "one")
	repo := f.open()
	if _, err := repo.Blob(f.git("rev-parse", "HEAD:large")); err == nil || !strings.Contains(err.Error(), "67108865 bytes") {
		t.Errorf("got %v", err)
	}
	if content, err := repo.Blob(f.git("rev-parse", "HEAD:small")); string(content) != "1" || err != nil {
		t.Errorf("after it: %q, %v", content, err)
	}
}

func TestMaterialize(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.write("a", "1")
	f.write("b", "22")
	f.commit("one")
	a, b := f.git("rev-parse", "HEAD:a"), f.git("rev-parse", "HEAD:b")
	repo := f.open()
	dir := t.TempDir()
	if err := repo.Materialize(ctx, []string{a, b, a}, dir); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{a: "1", b: "22"} {
		if content, err := os.ReadFile(filepath.Join(dir, id)); string(content) != want || err != nil {
			t.Errorf("%q, %v", content, err)
		}
	}
	if err := repo.Materialize(ctx, []string{strings.Repeat("0", 40)}, dir); err == nil {
		t.Error("a missing object was not noticed")
	}
	if err := repo.Materialize(ctx, []string{"../" + a}, dir); err == nil {
		t.Error("a path was taken for an id")
	}
	if list, _ := os.ReadDir(dir); len(list) != 2 {
		t.Errorf("left: %v", list)
	}
}
