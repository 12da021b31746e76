package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Other CI systems name the change in variables of their own; the report, the
// files and the exit code are the same, and nothing is posted.
func TestOtherCISystems(t *testing.T) {
	origin(t)
	for _, c := range []struct {
		name string
		env  map[string]string
		code int
		want string
	}{
		{"GitLab", map[string]string{"CI_MERGE_REQUEST_DIFF_BASE_SHA": shared.sha["base"], "CI_COMMIT_SHA": shared.sha["docs"]}, exitPass, "NOT APPLICABLE"},
		{"GitLab by branch", map[string]string{"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_COMMIT_SHA": shared.sha["docs"]}, exitPass, "NOT APPLICABLE"},
		{"Buildkite", map[string]string{"BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main", "BUILDKITE_COMMIT": shared.sha["docs"]}, exitPass, "NOT APPLICABLE"},
		{"plain", map[string]string{"TOUCHSTONE_BASE": shared.sha["base"], "TOUCHSTONE_HEAD": shared.sha["vacuous"]}, exitFail, "FAIL"},
		{"nothing", nil, exitUsage, "set TOUCHSTONE_BASE"},
		{"a branch that is not there", map[string]string{"BUILDKITE_PULL_REQUEST_BASE_BRANCH": "release"}, exitUsage, "git fetch origin release"},
	} {
		w := &world{t: t, origin: shared.dir, sha: shared.sha, env: c.env}
		w.ci()
		if w.code != c.code || !strings.Contains(w.stdout+w.stderr, c.want) {
			t.Errorf("%s: exit %d: %s%s", c.name, w.code, w.stdout, w.stderr)
		}
		junit, err := os.ReadFile(filepath.Join(w.clone, "..", "out", "junit.xml"))
		if (err == nil) != (c.code != exitUsage) || err == nil && !strings.Contains(string(junit), "<testsuite name=\"touchstone\"") {
			t.Errorf("%s: %v: %s", c.name, err, junit)
		}
	}
}
