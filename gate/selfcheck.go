package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
)

// selfCheckID names the row that proves that a state is what it claims to be.
// It is filled like any other and reported with the rest.
const selfCheckID = "self-check"

// checkedPaths bounds how many changed files the self-check reads.
const checkedPaths = 500

// selfCheck asks every state, from inside, for the content of the changed
// files, and every runner for the files that its tests loaded in their place.
// Base is base only when both are base's: an editable install or a module
// replacement that leads elsewhere would otherwise give base's cells to head's
// code. Cells of a state that fails are worth nothing.
func (r *replay) selfCheck(ctx context.Context) {
	changed := r.changed()
	var states sync.WaitGroup
	for _, name := range []StateName{Base, BaseTests, Head, GoldTests} {
		if !r.heard(name) {
			continue // nothing ran there
		}
		states.Go(func() { r.checkState(ctx, name, changed) })
	}
	states.Wait()
}

// changed are the paths that a self-check reads.
func (r *replay) changed() []string {
	all := slices.Concat(r.production, r.tests)
	return all[:min(len(all), checkedPaths)]
}

func (r *replay) checkState(ctx context.Context, name StateName, changed []string) {
	state, err := r.open(ctx, name)
	if err != nil {
		return // a doubt already
	}
	wrong := differs(ctx, state, changed)
	for _, runner := range r.in.Runners {
		r.mu.Lock()
		loaded, ran := r.loaded[runner.Name()][name]
		if ran {
			problem := wrong
			if problem == "" {
				problem = strayed(state.Tree(), loaded)
			}
			if built := r.built[runner.Name()][name]; problem == "" && len(loaded) == 0 && built != "" {
				problem = fmt.Sprintf("the tests load none of the changed files, but %s, which is no part of the repository and was built before: let what runs the tests build it first (pretest or test in package.json), so that each state has its own", built)
			}
			r.judgeState(runner.Name(), name, problem, len(changed), len(loaded))
		}
		r.mu.Unlock()
	}
}

func (r *replay) judgeState(runner string, name StateName, problem string, changed, loaded int) {
	row := Row{ID: selfCheckID, Runner: runner, Name: selfCheckID, Unit: selfCheckID}
	if problem == "" {
		r.m.Add(name, row, Observation{Outcome: Passed, Message: fmt.Sprintf("%d changed files read inside %s are %s's; %d of them loaded by the tests", changed, name, name, loaded)})
		return
	}
	r.m.Distrust(runner, name, problem)
	r.m.Add(name, row, Observation{Outcome: Failed, Reason: Inconsistent, Message: problem})
	words := fmt.Sprintf("%s is not %s for %s: %s", name, name, runner, problem)
	if isFurther(name) {
		r.notes = append(r.notes, words)
	} else {
		r.doubts = append(r.doubts, words)
	}
}

// differs compares the changed files as a process inside the state reads them
// with the state's tree, and says what is wrong, "" for nothing.
func differs(ctx context.Context, state State, changed []string) string {
	inside, err := state.Digest(ctx, changed)
	if err != nil {
		return fmt.Sprintf("its files could not be read back: %v", err)
	}
	for _, path := range changed {
		content, err := state.Tree().ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if inside[path] != "" {
				return fmt.Sprintf("%q is there and should not be", path)
			}
		case err != nil:
			continue // a symbolic link or a submodule: not a file to compare
		case inside[path] != digest(content):
			return fmt.Sprintf("%q does not have the commit's content", path)
		}
	}
	return ""
}

// strayed says which changed file the tests loaded from somewhere else, "" for
// none.
func strayed(tree Tree, loaded []Loaded) string {
	for _, l := range loaded {
		if !l.InTree {
			return fmt.Sprintf("the tests load %s in place of %s: install the repository in editable mode (pip install -e .), or put it first on the path (runners: env: in .github/touchstone.yml)", l.File, l.Subject)
		}
		content, err := tree.ReadFile(l.Subject)
		if err == nil && l.SHA256 != "" && l.SHA256 != digest(content) {
			return fmt.Sprintf("the tests loaded other content for %s than the commit has", l.Subject)
		}
	}
	return ""
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
