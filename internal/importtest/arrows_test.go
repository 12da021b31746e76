package importtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/touchstone-gate/touchstone"

// forbidden lists what no file outside its owner may import: the outside world
// enters through one door each.
var doors = map[string][]string{
	"os/exec":                               {"internal/git", "internal/sandbox", "cmd/touchstone", "internal/runner/plainstate"}, // the last: tests of runners only
	"github.com/spf13/cobra":                {"cmd/touchstone"},
	"github.com/goccy/go-yaml":              {"internal/config"},
	"github.com/bluekeyes/go-gitdiff":       {"patchsplit"},
	"github.com/docker/docker":              {"internal/sandbox"},
	"github.com/landlock-lsm":               {"internal/sandbox"},
	"github.com/google/go-github":           {"internal/github"},
	"go.etcd.io/bbolt":                      {"internal/coverage"},
	"github.com/RoaringBitmap":              {"internal/coverage"},
	"gonum.org/v1/gonum":                    {"internal/audit"},
	"github.com/evanw/esbuild":              {"internal/runner/jsimports"},
	"github.com/jackc/pgx":                  {"internal/audit/postgres"},
	"github.com/sethvargo/go-githubactions": {"internal/actions"},
}

// badNames are package names that say nothing.
var badNames = []string{"util", "utils", "common", "helper", "helpers", "types", "service", "manager", "misc", "base"}

type pkg struct {
	ImportPath string
	Name       string
	Imports    []string
	Doc        string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,Imports,Doc", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 8 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}

func TestArrows(t *testing.T) {
	for _, p := range packages(t) {
		from := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, path := range p.Imports {
			if to, own := strings.CutPrefix(path, module+"/"); own && !allowed(from, to) {
				t.Errorf("%s imports %s", from, to)
			}
			for door, owners := range doors {
				if path == door || strings.HasPrefix(path, door+"/") {
					if !slices.ContainsFunc(owners, func(owner string) bool { return from == owner || strings.HasPrefix(from, owner+"/") }) {
						t.Errorf("%s imports %s, which belongs to %v", from, path, owners)
					}
				}
			}
		}
	}
}

// allowed is the drawing: commands know everything; the gate knows the pure
// packages; everything internal knows the gate for its types only.
func allowed(from, to string) bool {
	switch {
	case strings.HasPrefix(from, "cmd/"), to == "internal/lazyregexp":
		return true
	case from == "internal/audit": // pure: the gate imports it
		return false
	case from == "gate":
		return to == "patchsplit" || to == "rts" || to == "internal/audit"
	case strings.HasPrefix(from, "internal/runner/") && to == "rts", from == "internal/coverage" && to == "rts":
		return true // for its types: they gather and keep what it selects by
	case strings.HasPrefix(from, "internal/runner/") && slices.Contains(readers, to):
		return true
	case from == "internal/runner/conformance" && to == "internal/runner/plainstate":
		return true // both for tests only
	case strings.HasPrefix(from, "internal/"):
		return to == "gate" || sameRoof(from, to)
	}
	return false
}

// readers are what runners share: each knows one form of text or of paths, and no
// framework.
var readers = []string{"internal/runner/junit", "internal/runner/braces", "internal/runner/console", "internal/runner/jsimports", "internal/runner/treepath"}

// sameRoof holds for parts of one internal package.
func sameRoof(from, to string) bool {
	roof := func(path string) string { return strings.Join(strings.SplitN(path, "/", 3)[:2], "/") }
	return strings.HasPrefix(to, "internal/") && roof(from) == roof(to) && roof(from) != "internal/runner"
}

func TestPackagesAreNamedAndDocumented(t *testing.T) {
	for _, p := range packages(t) {
		if slices.Contains(badNames, p.Name) {
			t.Errorf("%s: the name %q says nothing", p.ImportPath, p.Name)
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}
