package gotest

import (
	"bytes"
	"go/build"
	"io"
	"path"
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
