package gotest

import (
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// mentions is what the strings of test files say about files, each with the
// directories of those tests.
type mentions struct {
	last  map[string][]string // a string's last path element
	parts map[string][]string // any element of it
	leads map[string][]string // where it leads as a path from the test's directory
}

// mentioning lists the directories whose tests have a string that stands for a
// file: it ends in the file's name, holds the name of its directory, or is a
// path that leads to a directory above it. The bare name testdata, which every
// package has for itself, does not count.
func (m *packageMap) mentioning(file string) []string {
	if m.strings == nil {
		m.strings = m.readStrings()
	}
	found := slices.Clone(m.strings.last[path.Base(file)])
	if parent := path.Base(path.Dir(file)); parent != "testdata" && parent != "." {
		found = append(found, m.strings.parts[parent]...)
	}
	for at := file; at != "."; at = path.Dir(at) {
		found = append(found, m.strings.leads[at]...)
	}
	return found
}

func (m *packageMap) readStrings() *mentions {
	s := &mentions{make(map[string][]string), make(map[string][]string), make(map[string][]string)}
	for _, dir := range m.withTests {
		for _, file := range m.tests(dir) {
			for _, text := range stringsOf(m.read(file)) {
				s.add(dir, path.Clean(strings.ReplaceAll(text, `\`, "/")))
			}
		}
	}
	return s
}

func (s *mentions) add(dir, text string) {
	parts := strings.Split(text, "/")
	note(s.last, parts[len(parts)-1], dir)
	for _, part := range parts {
		note(s.parts, part, dir)
	}
	if at := path.Join(dir, text); len(parts) > 1 && !inside(at, dir) {
		note(s.leads, at, dir)
	}
}

// note adds a directory once; directories come in order.
func note(to map[string][]string, key, dir string) {
	if list := to[key]; len(list) == 0 || list[len(list)-1] != dir {
		to[key] = append(list, dir)
	}
}

// stringsOf lists the string literals of a source that may be paths, imports
// left out.
func stringsOf(source []byte) []string {
	var found []string
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(source)), source, func(token.Position, string) {}, 0)
	imported := importsOf(source)
	for {
		_, tok, literal := s.Scan()
		if tok == token.EOF {
			return found
		}
		if tok != token.STRING || len(literal) > 512 {
			continue
		}
		text, err := strconv.Unquote(literal)
		if err == nil && text != "" && !strings.ContainsAny(text, "\n\x00") && !slices.Contains(imported, text) {
			found = append(found, text)
		}
	}
}
