package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A push to the default branch leaves a map that a selection then goes by; one
// to another branch leaves nothing. Neither asks GitHub anything.
func TestPushRefreshesTheMap(t *testing.T) {
	for _, c := range []struct {
		event, ref string
		made       bool
	}{{"push", "refs/heads/main", true}, {"push", "refs/heads/topic", false}, {"schedule", "", true}} {
		w := newWorld(t, 0)
		cache := ownCache(t)
		w.event(c.event, map[string]any{"ref": c.ref, "repository": map[string]any{"default_branch": "main"}})
		w.ci()
		if w.code != exitPass || len(w.hub.Requests()) > 0 {
			t.Errorf("%s: exit %d, %d requests: %s", c.ref, w.code, len(w.hub.Requests()), w.stderr)
		}
		maps, err := filepath.Glob(filepath.Join(cache, "touchstone", "*.map"))
		if err != nil {
			t.Fatal(err)
		}
		if made := len(maps) == 1; made != c.made || c.made != strings.Contains(w.stdout, "the coverage map of") {
			t.Errorf("%s: a map was made: %t, said: %s", c.ref, made, w.stdout)
		}
		if c.made {
			if code, stdout, stderr := run("select", "--repo", w.clone, "--base", "HEAD", "--head", "HEAD"); code != exitPass {
				t.Errorf("select by it: exit %d: %s%s", code, stdout, stderr)
			}
		}
	}
}

// ownCache is a cache directory of the test's own, in which only maps lie: what
// go has built stays where it is.
func ownCache(t *testing.T) string {
	built, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(built)))
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	return dir
}
