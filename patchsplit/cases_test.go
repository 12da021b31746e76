package patchsplit

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// judged is a real commit whose paths people have put into parts by hand.
type judged struct {
	ID, Repo, Base, Head string
	Test                 []string                   `json:"test_paths"`
	Production           []string                   `json:"prod_paths"`
	Other                []string                   `json:"other_paths"`
	Mixed                map[string]json.RawMessage `json:"mixed_paths"`
	Changes              [][3]string                // letter and score, old and new path
}

// TestCases classifies every path of the judged commits. TOUCHSTONE_CASES names
// the file of commits; TOUCHSTONE_MIRRORS a directory of clones (OWNER+NAME/repo),
// without which names alone have to do.
func TestCases(t *testing.T) {
	file := os.Getenv("TOUCHSTONE_CASES")
	if file == "" {
		t.Skip("TOUCHSTONE_CASES does not name a file of judged commits")
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var c judged
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.ID, func(t *testing.T) { c.check(t) })
	}
}

func (j judged) check(t *testing.T) {
	for _, blind := range []bool{false, true} {
		base, head := j.trees(t)
		if blind {
			base, head = nil, nil
		}
		began := time.Now()
		c := classifier(t, Rules{}, base, head)
		j.expect(t, c, Test, j.Test)
		j.expect(t, c, Production, j.Production)
		for _, path := range j.Other {
			t.Logf("%s: %+v", path, c.File(path))
		}
		if base != nil {
			j.expectMixed(t, c)
		}
		if spent := time.Since(began); spent > time.Second {
			t.Errorf("took %v", spent)
		}
	}
}

func (j judged) expect(t *testing.T, c *Classifier, part Part, paths []string) {
	for _, path := range paths {
		if d := c.File(path); d.Part != part && len(j.Mixed[path]) == 0 {
			t.Errorf("%s: %v (%s), judged %v", path, d.Part, d.Why, part)
		} else {
			t.Logf("%s: %v, %s %s", path, d.Part, d.Why, d.Class)
		}
	}
}

func (j judged) expectMixed(t *testing.T, c *Classifier) {
	statuses := map[byte]Status{'A': Added, 'M': Modified, 'D': Deleted, 'R': Renamed, 'C': Copied, 'T': TypeChanged}
	for _, change := range j.Changes {
		fc := FileChange{Path: change[2], Status: statuses[change[0][0]]}
		if fc.Status == Renamed || fc.Status == Copied {
			fc.OldPath = change[1]
		}
		for _, part := range Split([]FileChange{fc}, c) {
			if (part.Part == Mixed) != (len(j.Mixed[part.Path]) > 0) {
				t.Errorf("%s: %v (%s), judged mixed: %t", part.Path, part.Part, part.Why, len(j.Mixed[part.Path]) > 0)
			}
			if part.Part == Mixed {
				t.Logf("%s: %v, %s, %d hunks", part.Path, part.Part, part.Why, len(part.Hunks))
			}
		}
	}
}

func (j judged) trees(t *testing.T) (base, head Tree) {
	repo := filepath.Join(os.Getenv("TOUCHSTONE_MIRRORS"), strings.ReplaceAll(j.Repo, "/", "+"), "repo")
	if _, err := os.Stat(repo); err != nil {
		t.Logf("no clone of %s: names alone decide", j.Repo)
		return nil, nil
	}
	return openGitTree(t, repo, j.Base), openGitTree(t, repo, j.Head)
}
