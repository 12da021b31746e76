package patchsplit

import (
	"bytes"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	pyMain      = lazyregexp.New(`^if\s+(?:__name__\s*==\s*""|""\s*==\s*__name__)\s*:`)
	testRunner  = lazyregexp.New(`\bunittest\s*\.\s*main\b|\bdoctest\s*\.\s*test(?:mod|file)\b|\bpytest\s*\.\s*main\b`)
	selfTest    = lazyregexp.New(`^assert\b|(?:^|[^\w])(?:\w*_)?tests?(?:_\w*)?\s*\(`)
	program     = lazyregexp.New(`(?:^|[^\w])_?main\s*\(|\bsys\s*\.\s*exit\b|\bargparse\b|\bsys\s*\.\s*argv\b`)
	runsDoctest = lazyregexp.New(`\bdoctest\s*\.\s*(?:testmod|run_docstring_examples|DocTestSuite)\b|\bfrom\s+doctest\s+import\b.*\btestmod\b`)
)

// pythonTests finds the tests in a Python module: the self-test that it runs
// when it is the main program, and the examples in its documentation strings,
// when pytest (modules) or the module itself runs those.
func pythonTests(source []byte, modules bool) regions {
	if len(source) == 0 {
		return nil
	}
	s := newSpans(source)
	s.pythonMain()
	if modules || runsDoctest.Match(source) {
		s.found = append(s.found, doctests(s)...)
	}
	return s.regions()
}

// pythonMain finds an `if __name__ == "__main__":` whose body is a self-test. Any
// other one is a program.
func (s *spans) pythonMain() {
	lines := pyLines(s.source)
	for i, line := range lines {
		if line.indent != 0 || !pyMain.MatchString(line.text) || !quotesMain(line) {
			continue
		}
		last := i
		for last+1 < len(lines) && (lines[last+1].indent > 0 || lines[last+1].first == line.first) {
			last++
		}
		if !isSelfTest(lines[i : last+1]) {
			continue
		}
		end := len(s.starts)
		if last+1 < len(lines) {
			end = lines[last+1].first
		}
		for end > 0 && (len(bytes.TrimSpace(s.text(end-1))) == 0 || s.text(end - 1)[0] == '#' && end-1 > line.first) {
			end--
		}
		s.add(s.starts[line.first], s.starts[end-1]+1, `self-test (if __name__ == "__main__")`, "#")
	}
}

// isSelfTest holds for a main block that starts a test runner, or that asserts or
// calls tests and is no program beside that.
func isSelfTest(block []pyLine) bool {
	tests, runs := false, false
	for i, line := range block {
		text := line.text
		if i == 0 {
			_, text, _ = cutTopLevel(text, ':')
		}
		if testRunner.MatchString(text) {
			return true
		}
		tests = tests || selfTest.MatchString(strings.TrimSpace(text))
		runs = runs || program.MatchString(text)
	}
	return tests && !runs
}

func quotesMain(line pyLine) bool {
	return len(line.strings) > 0 && line.strings[0] == "__main__"
}

// doctests finds the examples in a module's strings: from a prompt to the blank
// line, or the string's end, after its output. They hang on the line that
// opens the string.
func doctests(s *spans) regions {
	var found regions
	for _, line := range pyLines(s.source) {
		for _, held := range line.quoted {
			if !strings.Contains(s.sourceOf(held.first, held.last), ">>>") {
				continue
			}
			found = append(found, s.examples(held.first, held.last)...)
		}
	}
	return found
}

func (s *spans) sourceOf(first, last int) string {
	from, to := s.starts[first], len(s.source)
	if last+1 < len(s.starts) {
		to = s.starts[last+1]
	}
	return string(s.source[from:to])
}

func (s *spans) examples(first, last int) regions {
	var found regions
	for i := first + 1; i < last; i++ {
		if !bytes.HasPrefix(bytes.TrimSpace(s.text(i)), []byte(">>>")) {
			continue
		}
		from := i
		for i < last && len(bytes.TrimSpace(s.text(i))) > 0 {
			i++
		}
		found = append(found, region{from, i, "doctest", first})
	}
	return found
}
