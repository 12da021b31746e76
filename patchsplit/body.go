package patchsplit

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// body passes over a section's content and checks that it is whole.
func (s *scanner) body(file *File, h header) error {
	switch {
	case s.at("@@ -"):
		return s.hunks(h)
	case s.at("GIT binary patch"):
		file.Binary = true
		return s.binary()
	case s.at("Binary files "), s.at("Files "):
		if !absent(s.peek()) {
			return s.errorf("%.80q is not a binary difference", s.peek())
		}
		if err := s.whole(); err != nil {
			return err
		}
		file.Binary, file.NoData = true, true
		s.next()
		return nil
	}
	return s.bodiless(h)
}

const (
	emptySHA1   = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	emptySHA256 = "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
)

// bodiless accepts a section without content only where git writes none: modes,
// whole renames and copies, empty files.
func (s *scanner) bodiless(h header) error {
	whole := false
	switch {
	case h.minus != "":
	case h.created:
		whole = emptyBlob(h.indexNew)
	case h.deleted:
		whole = emptyBlob(h.indexOld)
	case h.indexOld == h.indexNew && h.from != "":
		whole = h.score == "" || h.score == "100%"
	case h.indexOld == h.indexNew:
		whole = h.oldMode != h.newMode
	}
	if !whole {
		return s.errorf("the header has no content after it: the diff was cut short")
	}
	return nil
}

// emptyBlob holds for the id of no content. Without an id there is no telling
// whether content should follow; git always writes one.
func emptyBlob(id string) bool {
	return id != "" && (strings.HasPrefix(emptySHA1, id) || strings.HasPrefix(emptySHA256, id))
}

// hunks passes over the hunks of a text change by the counts in their headers.
func (s *scanner) hunks(h header) error {
	if h.plus == "" {
		return s.errorf("hunk without --- and +++ above it")
	}
	oldEnd, newEnd := 0, 0
	for s.at("@@ -") {
		line := s.peek()
		old, new, ok := hunkHeader(line)
		if !ok {
			return s.errorf("%.60q is not a hunk header", line)
		}
		if old.from < oldEnd || new.from < newEnd {
			return s.errorf("hunks overlap or stand in the wrong order")
		}
		if old.from == 0 && old.lines > 0 || new.from == 0 && new.lines > 0 {
			return s.errorf("%.60q counts lines from 0: they are numbered from 1", line)
		}
		if h.created && old.lines > 0 || h.deleted && new.lines > 0 {
			return s.errorf("a new file has old lines, or a deleted one new lines")
		}
		oldEnd, newEnd = old.from+old.lines, new.from+new.lines
		s.pass(line)
		if err := s.hunk(old.lines, new.lines); err != nil {
			return err
		}
	}
	return nil
}

// span is a run of lines as a hunk's header gives it.
type span struct{ from, lines int }

// hunkHeader reads "@@ -1,2 +3,4 @@ …".
func hunkHeader(line string) (old, new span, ok bool) {
	line, old, ok = cutSpan(line, "@@ -")
	if ok {
		line, new, ok = cutSpan(line, " +")
	}
	return old, new, ok && strings.HasPrefix(line, " @@")
}

// cutSpan reads "3,4" or "3" (one line) behind a mark.
func cutSpan(line, mark string) (rest string, s span, ok bool) {
	line, ok = strings.CutPrefix(line, mark)
	if !ok {
		return line, s, false
	}
	line, s.from, ok = cutNumber(line)
	s.lines = 1
	if ok && len(line) > 0 && line[0] == ',' {
		line, s.lines, ok = cutNumber(line[1:])
	}
	return line, s, ok
}

// cutNumber reads a number of one to nine digits.
func cutNumber(line string) (rest string, n int, ok bool) {
	i := 0
	for ; i < len(line) && i < 10 && '0' <= line[i] && line[i] <= '9'; i++ {
		n = 10*n + int(line[i]-'0')
	}
	return line[i:], n, 0 < i && i < 10
}

// hunk passes over one hunk's lines.
func (s *scanner) hunk(oldLines, newLines int) error {
	changed := false
	for oldLines > 0 || newLines > 0 {
		line := s.peek()
		if len(line) == 0 {
			return s.errorf("the diff ends inside a hunk: %d old and %d new lines are missing", oldLines, newLines)
		}
		if line[len(line)-1] != '\n' {
			return s.whole()
		}
		switch line[0] {
		case ' ', '\n':
			oldLines--
			newLines--
		case '-':
			oldLines--
			changed = true
		case '+':
			newLines--
			changed = true
		default:
			if !unended(line) {
				return s.errorf("%.60q stands inside a hunk that lacks %d old and %d new lines", line, oldLines, newLines)
			}
		}
		if oldLines < 0 || newLines < 0 {
			return s.errorf("the hunk has more lines than its header says")
		}
		s.pass(line)
	}
	if !changed {
		return s.errorf("the hunk that ends here changes nothing")
	}
	if line := s.peek(); unended(line) {
		if err := s.whole(); err != nil {
			return err
		}
		s.pass(line)
	}
	return nil
}

// unended holds for git's "\ No newline at end of file", in any language.
func unended(line string) bool { return len(line) >= 12 && line[0] == '\\' && line[1] == ' ' }

// binary passes over the data of a binary change: one chunk or two, each a
// method line, lines of base 85, and a blank line.
func (s *scanner) binary() error {
	s.next()
	chunks := 0
	for s.at("literal ") || s.at("delta ") {
		s.next()
		for !s.done() && len(strings.TrimSpace(s.peek())) > 0 {
			s.next()
		}
		if s.done() {
			return s.errorf("the diff ends inside binary data")
		}
		s.next()
		chunks++
	}
	if chunks == 0 {
		return s.errorf("binary change without data: the diff was cut short")
	}
	return nil
}

// read keeps the section's content. Binary data is read at once, so that it is
// known to be whole and within the limits.
func (s *scanner) read(file *File, h header, body string) error {
	if len(body) == 0 || file.NoData {
		return nil
	}
	file.content = content{plainGitHeader(file, h), body}
	if !file.Binary {
		return nil
	}
	data, err := file.content.parse()
	if err != nil {
		return fmt.Errorf("reading diff: file %q, whose section begins on line %d: %w", file.Path, file.Line, err)
	}
	if !data.IsBinary {
		return fmt.Errorf("reading diff: file %q on line %d: its binary data reads as text", file.Path, file.Line)
	}
	return s.inflate(file, data)
}

// content is the body of a section, under a header of our own making: names
// decide the part, and are read here.
type content struct {
	header, body string
}

// parse has go-gitdiff read it.
func (c content) parse() (*gitdiff.File, error) {
	var section bytes.Buffer
	section.Grow(len(c.header) + len(c.body))
	section.WriteString(c.header)
	section.WriteString(c.body)
	files, _, err := gitdiff.Parse(&section)
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("its content reads as %d files", len(files))
	}
	if err != nil {
		return nil, err
	}
	for _, fragment := range files[0].TextFragments {
		if err := fragment.Validate(); err != nil {
			return nil, fmt.Errorf("hunk %s: %w", fragment.Header(), err)
		}
	}
	return files[0], nil
}

// Fragments are the hunks of a text change, in order; none for any other. They
// are read when they are first asked for: most files of a large diff are placed
// by their names. [Parse] refuses what go-gitdiff refuses (FuzzParse holds the
// two against each other); should they ever disagree, the file has no hunks, which
// every reader takes for a change that cannot be looked into.
//
// Not safe for concurrent use.
func (f *File) Fragments() []*gitdiff.TextFragment {
	if f.fragments == nil && f.content.body != "" && !f.Binary {
		if data, err := f.content.parse(); err == nil {
			f.fragments = data.TextFragments
		}
	}
	return f.fragments
}

func plainGitHeader(file *File, h header) string {
	switch {
	case h.plus == "":
		return "diff --git a/x b/x\n"
	case file.Status == Added:
		return "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n"
	case file.Status == Deleted:
		return "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n"
	}
	return "diff --git a/x b/x\n--- a/x\n+++ b/x\n"
}

// inflate checks that binary data is whole and is what it claims to be.
func (s *scanner) inflate(file *File, content *gitdiff.File) error {
	for _, fragment := range []*gitdiff.BinaryFragment{content.BinaryFragment, content.ReverseBinaryFragment} {
		if fragment == nil {
			continue
		}
		if s.inflated += fragment.Size; fragment.Size > maxInflated || s.inflated > maxInflated {
			return fmt.Errorf("reading diff: file %q: binary data inflates to more than the limit of %d bytes", file.Path, maxInflated)
		}
		if _, err := io.Copy(io.Discard, fragment.Data()); err != nil {
			return fmt.Errorf("reading diff: file %q: binary data: %w", file.Path, err)
		}
	}
	return nil
}
