package patchsplit

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
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

var hunkHeader = lazyregexp.New(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@`)

// hunks passes over the hunks of a text change by the counts in their headers.
func (s *scanner) hunks(h header) error {
	if h.plus == "" {
		return s.errorf("hunk without --- and +++ above it")
	}
	oldEnd, newEnd := 0, 0
	for s.at("@@ -") {
		match := hunkHeader.FindSubmatch(s.peek())
		if match == nil {
			return s.errorf("%.60q is not a hunk header", s.peek())
		}
		oldStart, oldLines := span(match[1], match[2])
		newStart, newLines := span(match[3], match[4])
		if oldStart < oldEnd || newStart < newEnd {
			return s.errorf("hunks overlap or stand in the wrong order")
		}
		if h.created && oldLines > 0 || h.deleted && newLines > 0 {
			return s.errorf("a new file has old lines, or a deleted one new lines")
		}
		oldEnd, newEnd = oldStart+oldLines, newStart+newLines
		s.next()
		if err := s.hunk(oldLines, newLines); err != nil {
			return err
		}
	}
	return nil
}

func span(start, lines []byte) (int, int) {
	from, _ := strconv.Atoi(string(start)) // at most nine digits
	if lines == nil {
		return from, 1
	}
	n, _ := strconv.Atoi(string(lines))
	return from, n
}

// hunk passes over one hunk's lines.
func (s *scanner) hunk(oldLines, newLines int) error {
	for oldLines > 0 || newLines > 0 {
		line := s.peek()
		if len(line) == 0 {
			return s.errorf("the diff ends inside a hunk: %d old and %d new lines are missing", oldLines, newLines)
		}
		if err := s.whole(); err != nil {
			return err
		}
		switch line[0] {
		case ' ', '\n':
			oldLines--
			newLines--
		case '-':
			oldLines--
		case '+':
			newLines--
		case '\\':
		default:
			return s.errorf("%.60q stands inside a hunk that lacks %d old and %d new lines", line, oldLines, newLines)
		}
		if oldLines < 0 || newLines < 0 {
			return s.errorf("the hunk has more lines than its header says")
		}
		s.next()
	}
	if s.at("\\ ") { // no newline at the end of the file
		if err := s.whole(); err != nil {
			return err
		}
		s.next()
	}
	return nil
}

// binary passes over the data of a binary change: one chunk or two, each a
// method line, lines of base 85, and a blank line.
func (s *scanner) binary() error {
	s.next()
	chunks := 0
	for s.at("literal ") || s.at("delta ") {
		s.next()
		for !s.done() && len(bytes.TrimSpace(s.peek())) > 0 {
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

// read has go-gitdiff read the section's content under a header of our own
// making (names decide the part, and are read here) and takes its answer.
func (s *scanner) read(file *File, h header, body []byte) error {
	if len(body) == 0 || file.NoData {
		return nil
	}
	var section bytes.Buffer
	section.WriteString(plainGitHeader(file, h))
	section.Write(body)
	files, _, err := gitdiff.Parse(&section)
	if err != nil {
		return fmt.Errorf("reading diff: file %q, whose section begins on line %d: %w", file.Path, file.Line, err)
	}
	if len(files) != 1 || files[0].IsBinary != file.Binary {
		return fmt.Errorf("reading diff: file %q on line %d: its content reads as %d files", file.Path, file.Line, len(files))
	}
	file.Fragments = files[0].TextFragments
	for _, fragment := range file.Fragments {
		if err := fragment.Validate(); err != nil {
			return fmt.Errorf("reading diff: file %q on line %d: hunk %s: %w", file.Path, file.Line, fragment.Header(), err)
		}
	}
	return s.inflate(file, files[0])
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
