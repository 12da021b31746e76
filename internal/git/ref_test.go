package git

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

func TestRefPublishesOnlyBehindItsTip(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.write("a", "1")
	f.commit("first")
	before := f.git("for-each-ref")
	ref, err := f.open().Ref("refs/touchstone/ledger", "", Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	if tip, err := ref.Tip(ctx); err != nil || tip != "" {
		t.Fatalf("tip of nothing: %q, %v", tip, err)
	}
	if ok, err := ref.Publish(ctx, "", map[string][]byte{"x/1": []byte("one\n"), "y": nil}, "say \"hello\"\n"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	first, err := ref.Tip(ctx)
	if err != nil || !isID(first) {
		t.Fatal(first, err)
	}
	if ok, err := ref.Publish(ctx, "", map[string][]byte{"z": nil}, "late"); ok || err != nil {
		t.Fatalf("a second first commit: %v, %v", ok, err)
	}
	if ok, err := ref.Publish(ctx, first, map[string][]byte{"x/1": []byte("two\n")}, "next"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := ref.Publish(ctx, first, map[string][]byte{"x/1": []byte("three\n")}, "late"); ok || err != nil {
		t.Fatalf("a commit behind an old tip: %v, %v", ok, err)
	}
	tip, _ := ref.Tip(ctx)
	files, err := ref.Files(ctx, tip)
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	if content, err := ref.Blob(files["x/1"]); err != nil || string(content) != "two\n" {
		t.Fatalf("%q, %v", content, err)
	}
	if parent := f.git("rev-parse", tip+"^"); parent != first {
		t.Errorf("parent %s, want %s", parent, first)
	}
	f.git("update-ref", "-d", "refs/touchstone/ledger")
	if after := f.git("for-each-ref"); after != before {
		t.Errorf("other refs changed: %s", after)
	}
}

func TestRefOutlivesAKilledWritersLock(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.commit("first")
	ref, err := f.open().Ref("refs/touchstone/ledger", "", Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := ref.Publish(ctx, "", map[string][]byte{"a": nil}, "m"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	tip, _ := ref.Tip(ctx)
	lock := f.path(".git/refs/touchstone/ledger.lock")
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if ok, err := ref.Publish(ctx, tip, map[string][]byte{"a": []byte("b")}, "m"); ok || err != nil {
		t.Fatalf("a fresh lock was not respected: %v, %v", ok, err)
	}
	old := time.Now().Add(-2 * staleAfter)
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	ref.Publish(ctx, tip, map[string][]byte{"a": []byte("b")}, "m") // finds it stale
	if ok, err := ref.Publish(ctx, tip, map[string][]byte{"a": []byte("b")}, "m"); !ok || err != nil {
		t.Fatalf("a stale lock keeps writers out: %v, %v", ok, err)
	}
}

func TestRefOnARemoteFromShallowClones(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.commit("first")
	f.commit("second")
	bare := f.at(t.TempDir())
	bare.git("clone", "-q", "--bare", f.dir, "bare.git")
	var refs []*Ref
	for _, name := range []string{"one", "two"} {
		bare.git("clone", "-q", "--depth=1", "file://"+bare.path("bare.git"), name)
		ref, err := bare.at(bare.path(name)).open().Ref("refs/touchstone/ledger", "origin", Credentials{})
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	parents := make([]string, 2)
	for round := range 3 {
		for i, ref := range refs {
			tip, err := ref.Tip(ctx)
			if err != nil {
				t.Fatal(round, i, err)
			}
			parents[i] = tip
		}
		if parents[0] != parents[1] {
			t.Fatalf("round %d: tips %v", round, parents)
		}
		if ok, err := refs[0].Publish(ctx, parents[0], map[string][]byte{"a": []byte{byte('0' + round)}}, "m"); !ok || err != nil {
			t.Fatal(round, ok, err)
		}
		if ok, err := refs[1].Publish(ctx, parents[1], map[string][]byte{"a": nil}, "m"); ok || err != nil {
			t.Fatalf("round %d: the slower writer: %v, %v", round, ok, err)
		}
	}
	if count := bare.at(bare.path("bare.git")).git("rev-list", "--count", "refs/touchstone/ledger"); count != "3" {
		t.Errorf("%s commits at the remote, want 3", count)
	}
	gone, err := bare.at(bare.path("one")).open().Ref("refs/touchstone/ledger", "file:///does/not/exist.git", Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	if tip, err := gone.Tip(ctx); err == nil || strings.Contains(err.Error(), "find remote ref") {
		t.Errorf("an unreachable remote reads as an empty ledger: %q, %v", tip, err)
	}
}

// TestRemoteRefLeavesTheLocalOneAlone publishes here, then at a remote, under one name.
func TestRemoteRefLeavesTheLocalOneAlone(t *testing.T) {
	f := newFixture(t)
	f.commit("c")
	remote := f.at(t.TempDir())
	remote.git("init", "-q", "--bare")
	publish := func(where, content string) {
		t.Helper()
		ref, err := f.open().Ref("refs/touchstone/ledger", where, Credentials{})
		if err != nil {
			t.Fatal(err)
		}
		tip, err := ref.Tip(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if done, err := ref.Publish(t.Context(), tip, map[string][]byte{"a": []byte(content)}, "m"); err != nil || !done {
			t.Fatalf("%v %v", done, err)
		}
	}
	publish("", "here")
	for _, content := range []string{"there", "there again"} {
		publish("file://"+remote.dir, content)
	}
	if got := f.git("show", "refs/touchstone/ledger:a"); got != "here" {
		t.Errorf("the local ref holds %q", got)
	}
	if got := remote.git("show", "refs/touchstone/ledger:a"); got != "there again" {
		t.Errorf("the remote's ref holds %q", got)
	}
}
