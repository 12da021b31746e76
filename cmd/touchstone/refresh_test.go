package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A push to the default branch leaves a map that a selection then goes by; one
// to another branch leaves nothing. Neither asks GitHub anything.
func TestPushRefreshesTheMap(t *testing.T) {
	for _, c := range []struct {
		ref  string
		made bool
	}{{"refs/heads/main", true}, {"refs/heads/topic", false}} {
		w := newWorld(t, 0)
		cache := t.TempDir()
		t.Setenv("XDG_CACHE_HOME", cache)
		w.event("push", map[string]any{"ref": c.ref, "repository": map[string]any{"default_branch": "main"}})
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
