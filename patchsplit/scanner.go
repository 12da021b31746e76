package patchsplit

import (
	"fmt"
	"strings"
)

// scanner walks over a diff line by line. Errors carry the line and, once it is
// known, the file.
type scanner struct {
	data string
	pos  int
	line int // of the current line, from 1

	name     string // of the file being read, for errors
	inflated int64  // bytes of binary content seen so far
	git      bool   // a "diff --git" line was seen
	unused   []File
}

// file makes a File. Large diffs have thousands, which are made some at a time.
func (s *scanner) file() *File {
	if len(s.unused) == 0 {
		s.unused = make([]File, 1+min(31, len(s.data)>>14))
	}
	file := &s.unused[0]
	s.unused = s.unused[1:]
	return file
}

func (s *scanner) done() bool { return s.pos >= len(s.data) }

// peek returns the current line with its newline; empty at the end.
func (s *scanner) peek() string { return lineAt(s.data, s.pos) }

// after returns the line after the current one.
func (s *scanner) after() string { return lineAt(s.data, s.pos+len(s.peek())) }

func (s *scanner) next() { s.pass(s.peek()) }

// pass goes over the current line, which the caller has peeked at.
func (s *scanner) pass(line string) {
	s.pos += len(line)
	s.line++
}

func (s *scanner) at(prefix string) bool { return strings.HasPrefix(s.data[s.pos:], prefix) }

// whole refuses a current line that the end of the diff cuts short.
func (s *scanner) whole() error {
	if line := s.peek(); len(line) > 0 && line[len(line)-1] != '\n' {
		return s.errorf("the diff ends in the middle of a line: %.60q", line)
	}
	return nil
}

func lineAt(data string, pos int) string {
	if pos >= len(data) {
		return ""
	}
	if i := strings.IndexByte(data[pos:], '\n'); i >= 0 {
		return data[pos : pos+i+1]
	}
	return data[pos:]
}

func (s *scanner) errorf(format string, args ...any) error {
	where := fmt.Sprintf("line %d", s.line)
	if s.name != "" {
		where += fmt.Sprintf(", file %q", s.name)
	}
	return fmt.Errorf("reading diff: %s: %w", where, fmt.Errorf(format, args...))
}
