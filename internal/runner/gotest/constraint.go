package gotest

import (
	"bytes"
	"fmt"
	"go/build"
	"io"
	"path"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// builds tells whether the build takes a file, by its name and constraints. A
// file whose head cannot be read counts: it is the compiler's to complain about.
func (s settings) builds(file string, source []byte) bool {
	context := build.Default
	context.BuildTags, context.GOOS, context.GOARCH, context.CgoEnabled = s.tags, s.goos, s.goarch, s.cgo
	context.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(source)), nil }
	ok, err := context.MatchFile(".", path.Base(file))
	return ok || err != nil
}

// Unheard says why the tests that stand in a file of the tree do not run under
// this runner's settings, "" when they do or when it holds none.
func (r *Runner) Unheard(tree gate.Tree, file string) string {
	l := newLayout(tree, r.Dir)
	if !isTest(file) || !l.owns(path.Dir(file)) {
		return ""
	}
	source, err := tree.ReadFile(file)
	if err != nil || r.settings.builds(file, source) || len(parseFile(file, source).tests) == 0 {
		return ""
	}
	if line := constraintLine.Find(source); line != nil {
		return fmt.Sprintf("the build leaves it out (%s): where its tests should run, add a runner with that tag (command: [go, test, -tags=…])", line)
	}
	return "the build leaves it out on " + r.settings.goos + "/" + r.settings.goarch + " by its name: run where it belongs too"
}

var constraintLine = lazyregexp.New(`(?m)^//go:build .*$|^// \+build .*$`)
