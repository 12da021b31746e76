package patchsplit

import (
	"bytes"
	"slices"
	"sort"
	"strings"
)

// inlineReaders know, by extension, the test code that stands in production
// files.
var inlineReaders = map[string]func(source []byte) regions{
	".rs": rustTests, ".d": dTests, ".zig": zigTests,
	".c": nativeTests, ".cc": nativeTests, ".cpp": nativeTests, ".cxx": nativeTests, ".h": nativeTests, ".hh": nativeTests, ".hpp": nativeTests,
	".js": vitestTests, ".jsx": vitestTests, ".ts": vitestTests, ".tsx": vitestTests, ".mjs": vitestTests, ".mts": vitestTests, ".cjs": vitestTests, ".cts": vitestTests,
	".vue": vitestTests, ".svelte": vitestTests,
}

// inlineMarks are words of which every version with inline tests has one. To
// look for them is far cheaper than to read the code.
var inlineMarks = map[string][]string{
	".py": {"__main__", ">>>"}, ".rs": {"test", "proptest", "quickcheck", "```", "~~~"}, ".d": {"unittest"}, ".zig": {"test"},
	".c": nativeMarks, ".cc": nativeMarks, ".cpp": nativeMarks, ".cxx": nativeMarks, ".h": nativeMarks, ".hh": nativeMarks, ".hpp": nativeMarks,
}

var nativeMarks = []string{"TEST_CASE", "TEST_SUITE", "SCENARIO", "DOCTEST", "UNIT_TEST", "UNITTEST", "ENABLE_TESTS", "TESTING"}

// mayHoldTests is false for a text that surely holds no inline tests.
func mayHoldTests(path, text string) bool {
	marks, known := inlineMarks[extOf(path)]
	if !known {
		marks = []string{"vitest"}
	}
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(text, mark) })
}

// holdsTests holds for files of languages whose tests may stand beside the code.
func holdsTests(path string) bool {
	return inlineReaders[extOf(path)] != nil || extOf(path) == ".py"
}

// inlineTests finds the test code in one version of a production file.
func (c *Classifier) inlineTests(path string, source []byte) regions {
	if !mayHoldTests(path, string(source)) {
		return nil
	}
	if extOf(path) == ".py" {
		return pythonTests(source, c.pytestFor(path).modules)
	}
	return readInline(path, source)
}

func readInline(path string, source []byte) regions {
	read := inlineReaders[extOf(path)]
	if read == nil || len(source) == 0 {
		return nil
	}
	return read(source)
}

// spans collects regions given by their first and last byte.
type spans struct {
	source []byte
	starts []int // of lines
	found  regions
}

func newSpans(source []byte) *spans {
	s := &spans{source: source, starts: []int{0}}
	for i, b := range source {
		if b == '\n' && i+1 < len(source) {
			s.starts = append(s.starts, i+1)
		}
	}
	return s
}

func (s *spans) line(offset int) int {
	return sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > offset }) - 1
}

func (s *spans) text(line int) []byte {
	if line+1 < len(s.starts) {
		return s.source[s.starts[line]:s.starts[line+1]]
	}
	return s.source[s.starts[line]:]
}

// add takes the lines of source[from:to], with the comments directly above
// that belong to them and the blank lines before.
func (s *spans) add(from, to int, kind string, comments ...string) {
	first, last := s.line(from), s.line(max(from, to-1))
	for first > 0 && startsWithAny(bytes.TrimSpace(s.text(first-1)), comments) {
		first--
	}
	for first > 0 && len(bytes.TrimSpace(s.text(first-1))) == 0 {
		first--
	}
	s.found = append(s.found, region{first, last + 1, kind, -1})
}

func startsWithAny(line []byte, marks []string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return bytes.HasPrefix(line, []byte(mark)) })
}

// regions returns what was found, in order and without overlaps.
func (s *spans) regions() regions {
	slices.SortStableFunc(s.found, func(a, b region) int { return a.from - b.from })
	var merged regions
	for _, r := range s.found {
		if n := len(merged); n > 0 && r.from < merged[n-1].to {
			if r.to > merged[n-1].to && r.subject < 0 {
				merged[n-1].to = r.to
			}
			continue
		}
		merged = append(merged, r)
	}
	return merged
}
