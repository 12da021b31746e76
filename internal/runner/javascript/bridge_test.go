package javascript

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// bridgeState is a directory that holds base with head's names standing in.
type bridgeState struct {
	*plainstate.State
	mark          string
	values, blind []string
}

func (b *bridgeState) Name() gate.StateName { return gate.Bridge }
func (b *bridgeState) Ahead() gate.Tree     { return nil }
func (b *bridgeState) Mark() string         { return b.mark }
func (b *bridgeState) Values() []string     { return b.values }
func (b *bridgeState) Gaps() []string       { return nil }
func (b *bridgeState) Blind() []string      { return b.blind }

var _ gate.Bridged = (*bridgeState)(nil)

// TestBridge runs checks on base behind head's names, in every framework that
// the archive names and that is at hand.
func TestBridge(t *testing.T) {
	archives, err := filepath.Glob("testdata/bridge/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var frameworks, needs, want []string
		for _, line := range strings.Split(strings.TrimSpace(string(archive.Comment)), "\n") {
			if list, ok := strings.CutPrefix(line, "frameworks: "); ok {
				frameworks = strings.Fields(list)
			} else if list, ok := strings.CutPrefix(line, "needs: "); ok {
				needs = strings.Fields(list)
			} else {
				want = append(want, line)
			}
		}
		for _, framework := range frameworks {
			t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar")+"/"+framework, func(t *testing.T) {
				state := behindBridge(t, archive)
				if framework != Node {
					modules := packages(t, framework)
					for _, need := range needs {
						if _, err := os.Stat(filepath.Join(modules, "node_modules", need)); err != nil {
							t.Skipf("%s is not in %s", need, modules)
						}
					}
					link(t, modules, state.Dir())
				}
				runner := New(Config{Framework: framework, Timeout: 2 * time.Minute})
				var units []string
				for _, path := range state.Tree().Paths() {
					if strings.HasPrefix(path, "lib.test.") {
						units = append(units, path)
					}
				}
				result, err := runner.Run(context.Background(), state, gate.Batch{Units: units})
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range result.Rows {
					for _, o := range row.Observations {
						t.Logf("%s: %s %s", row.Row.ID, o.Outcome, o.Message)
					}
				}
				for _, failure := range result.Units {
					t.Logf("%s: %s", failure.Unit, failure.Observation.Message)
				}
				got := lines(result)
				for i := range got { // which name a check did not find is not asked here
					got[i], _, _ = strings.Cut(got[i], " [")
				}
				slices.Sort(want)
				compare(t, got, want)
			})
		}
	}
}

// behindBridge writes an archive's base, with what head declares behind it, and
// its checks.
func behindBridge(t *testing.T, archive *txtar.Archive) *bridgeState {
	t.Helper()
	state := &bridgeState{mark: filepath.Join(t.TempDir(), "mark")}
	sides := make(map[string]*Source)
	at := func(path string) *Source {
		if sides[path] == nil {
			sides[path] = &Source{Path: path}
		}
		return sides[path]
	}
	var files []txtar.File
	for _, file := range archive.Files {
		side, path, _ := strings.Cut(file.Name, "/")
		switch side {
		case "base":
			at(path).Base = file.Data
		case "head":
			at(path).Head = file.Data
		default:
			files = append(files, txtar.File{Name: path, Data: file.Data})
		}
	}
	for path, source := range sides {
		standing := StandIn(*source, state.mark)
		content := standing.Content
		if content == nil {
			content = source.Base
		}
		if !strings.HasPrefix(string(content), string(source.Base)) {
			t.Errorf("%s: base's own text is not what the bridge begins with", path)
		}
		state.values = append(state.values, standing.Values...)
		state.blind = append(state.blind, standing.Blind...)
		files = append(files, txtar.File{Name: path, Data: content})
		if t.Failed() || testing.Verbose() {
			t.Logf("%s:\n%s\n%q", path, content, standing.Gaps)
		}
	}
	state.State = plainstate.At(t, plainstate.Write(t, files))
	return state
}
