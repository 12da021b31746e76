package patchsplit

import (
	"bytes"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	dSyntax = syntax{
		line: []string{"//"}, block: [][2]string{{"/+", "+/"}, {"/*", "*/"}}, nested: true,
		literal: func(source []byte, i int) int {
			switch source[i] {
			case '"':
				if i > 0 && source[i-1] == 'r' && (i < 2 || !isNameByte(source[i-2])) {
					return until(source, i+1, `"`)
				}
				return quoted(source, i, true)
			case '`':
				return until(source, i+1, "`")
			case '\'':
				return quoted(source, i, false)
			}
			return i
		},
	}
	dUnittest = lazyregexp.New(`(?m)(?:^|[;}])[ \t]*(?:(?:@\w+(?:\([^)]*\))?|pure|nothrow|private|public|package|static|@?safe|@?system|@?trusted|@nogc)\s+)*(?:unittest\s*\{|version\s*\(\s*unittest\s*\))`)
)

// dTests finds D's unittest blocks and what version(unittest) holds.
func dTests(source []byte) regions {
	masked := dSyntax.mask(source)
	s := newSpans(source)
	for i := 0; i < len(masked); {
		match := dUnittest.FindIndex(masked[i:])
		if match == nil {
			break
		}
		from, at := i+match[0], i+match[1]
		if masked[from] == ';' || masked[from] == '}' {
			from++
		}
		from = blanks(masked, from)
		end := 0
		if masked[at-1] == '{' {
			end = closing(masked, at-1)
		} else if at = blanks(masked, at); at < len(masked) && masked[at] == '{' {
			end = closing(masked, at)
		} else {
			end = until(masked, at, ";")
		}
		s.add(from, end, "unittest", "///")
		i = max(end, i+match[1])
	}
	return s.regions()
}

var (
	zigSyntax = syntax{
		line: []string{"//"},
		literal: func(source []byte, i int) int {
			switch source[i] {
			case '"', '\'':
				return quoted(source, i, false)
			case '\\': // a line of a multi-line string
				if i+1 < len(source) && source[i+1] == '\\' {
					return until(source, i, "\n") - 1
				}
			}
			return i
		},
	}
	zigTest = lazyregexp.New(`(?m)^[ \t]*test[ \t]*(?:[A-Za-z_]\w*[ \t]*)?\{`)
)

// zigTests finds Zig's test declarations.
func zigTests(source []byte) regions {
	masked := zigSyntax.mask(source)
	s := newSpans(source)
	for _, match := range zigTest.FindAllIndex(masked, -1) {
		s.add(blanks(masked, match[0]), closing(masked, match[1]-1), "test declaration", "///")
	}
	return s.regions()
}

var (
	scriptSyntax = syntax{
		line: []string{"//"}, block: [][2]string{{"/*", "*/"}},
		literal: func(source []byte, i int) int {
			switch source[i] {
			case '"', '\'':
				return quoted(source, i, false)
			case '`':
				return quoted(source, i, true)
			case '/':
				return scriptRegexp(source, i)
			}
			return i
		},
	}
	vitestBlock = lazyregexp.New(`\bif\s*\(\s*import\s*\.\s*meta\s*\.\s*vitest\b[^{;]*\{`)
	beforeRegex = lazyregexp.New(`(?:^|[=(,:;!&|?{}\[+~^%<>-]|\b(?:return|typeof|case|in|of|void|delete|throw|new|do|else))\s*$`)
)

// scriptRegexp returns the end of a regular expression, i where the slash is a
// division.
func scriptRegexp(source []byte, i int) int {
	if !beforeRegex.Match(source[max(0, i-24):i]) {
		return i
	}
	class := false
	for j := i + 1; j < len(source) && source[j] != '\n'; j++ {
		switch source[j] {
		case '\\':
			j++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return j + 1
			}
		}
	}
	return i
}

// vitestTests finds vitest's in-source tests, which bundlers leave out.
func vitestTests(source []byte) regions {
	if !bytes.Contains(source, []byte("vitest")) {
		return nil
	}
	masked := scriptSyntax.mask(source)
	s := newSpans(source)
	for _, match := range vitestBlock.FindAllIndex(masked, -1) {
		s.add(match[0], closing(masked, match[1]-1), "import.meta.vitest", "//")
	}
	return s.regions()
}

var (
	nativeSyntax = syntax{
		line: []string{"//"}, block: [][2]string{{"/*", "*/"}},
		literal: func(source []byte, i int) int {
			switch source[i] {
			case '"':
				if i > 0 && source[i-1] == 'R' {
					if m := nativeRaw.FindSubmatch(source[i:min(len(source), i+24)]); m != nil {
						return until(source, i+len(m[0]), ")"+string(m[1])+`"`)
					}
				}
				return quoted(source, i, false)
			case '\'':
				if i > 0 && isNameByte(source[i-1]) && i+1 < len(source) && isNameByte(source[i+1]) {
					return i // a digit separator
				}
				return quoted(source, i, false)
			}
			return i
		},
	}
	nativeRaw   = lazyregexp.New(`^"([^()\\ \n]{0,16})\(`)
	inSource    = lazyregexp.New(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"](?:\w+/)*(?:doctest(?:_fwd)?|catch|catch2/[\w/]+|catch_all|catch_test_macros)\.h(?:pp)?[>"]`)
	nativeCase  = lazyregexp.New(`(?m)^[ \t]*(?:DOCTEST_)?(?:TEST_CASE|TEST_SUITE|TEST_CASE_FIXTURE|TEST_CASE_METHOD|TEST_CASE_CLASS|TEST_CASE_TEMPLATE|SCENARIO)[ \t]*\(`)
	nativeGuard = lazyregexp.New(`(?m)^[ \t]*#[ \t]*(?:ifndef[ \t]+DOCTEST_CONFIG_DISABLE|ifdef[ \t]+(?:UNIT_TESTS?|UNITTESTS?|ENABLE_TESTS|TESTING))\b`)
	nativeIf    = lazyregexp.New(`(?m)^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b`)
)

// nativeTests finds C++ test cases that stand beside the code (doctest, Catch),
// and what a guard for tests holds.
func nativeTests(source []byte) regions {
	masked := nativeSyntax.mask(source)
	s := newSpans(source)
	for _, match := range nativeGuard.FindAllIndex(masked, -1) {
		if end := guardEnd(masked, match[1]); end > 0 {
			s.add(match[0], end, "block for tests", "//")
		}
	}
	if inSource.Match(source) {
		for _, match := range nativeCase.FindAllIndex(masked, -1) {
			at := blanks(masked, closing(masked, match[1]-1))
			if at < len(masked) && masked[at] == '{' {
				s.add(blanks(masked, match[0]), closing(masked, at), "in-source test case", "//")
			}
		}
		for _, match := range inSource.FindAllIndex(source, -1) {
			s.add(match[0], match[1], "in-source test case")
		}
	}
	return s.regions()
}

// guardEnd returns the end of the conditional that begins before i, 0 when it
// has another branch: that one is production code.
func guardEnd(masked []byte, i int) int {
	depth := 1
	for _, match := range nativeIf.FindAllSubmatchIndex(masked[i:], -1) {
		switch string(masked[i+match[2] : i+match[3]]) {
		case "endif":
			if depth--; depth == 0 {
				return i + match[1]
			}
		case "elif", "else":
			if depth == 1 {
				return 0
			}
		default:
			depth++
		}
	}
	return 0
}
