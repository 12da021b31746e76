package gotest

import (
	"bytes"
	"go/build"
	"io"
	"path"

	"github.com/touchstone-gate/touchstone/gate"
)

// builds tells whether the build takes a file, by its name and constraints. A
// file that cannot be read counts: it is the compiler's to complain about.
func (s settings) builds(tree gate.Tree, file string) bool {
	context := build.Default
	context.BuildTags, context.GOOS, context.GOARCH, context.CgoEnabled = s.tags, s.goos, s.goarch, s.cgo
	context.OpenFile = func(string) (io.ReadCloser, error) {
		content, err := tree.ReadFile(file)
		return io.NopCloser(bytes.NewReader(content)), err
	}
	ok, err := context.MatchFile(".", path.Base(file))
	return ok || err != nil
}
