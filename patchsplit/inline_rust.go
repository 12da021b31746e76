package patchsplit

import (
	"bytes"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var rustSyntax = syntax{
	line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, nested: true,
	literal: func(source []byte, i int) int {
		switch source[i] {
		case '"':
			return quoted(source, i, true)
		case 'r':
			if m := rustRaw.FindSubmatch(source[i:min(len(source), i+260)]); m != nil && (i == 0 || !isNameByte(source[i-1]) || source[i-1] == 'b' || source[i-1] == 'c') {
				return until(source, i+len(m[0]), `"`+string(m[1]))
			}
		case '\'': // a character; else a lifetime
			if m := rustChar.Find(source[i:min(len(source), i+16)]); m != nil {
				return i + len(m)
			}
		}
		return i
	},
}

var (
	rustRaw  = lazyregexp.New(`^r(#*)"`)
	rustChar = lazyregexp.New(`^'(?:\\(?:u\{[0-9a-fA-F_]+\}|x..|.)|[^\\'\n])'`)

	// rustTestAttr knows the attributes of test functions: #[test], #[tokio::test].
	// A #[bench] alone is none: cargo test neither builds nor runs benchmarks.
	rustTestAttr = lazyregexp.New(`^#\s*\[\s*(?:[\w:]+::)?(?:test|rstest|proptest|quickcheck|test_case|wasm_bindgen_test)\s*[\](]`)
	rustCfg      = lazyregexp.New(`^#!?\s*\[\s*cfg\s*\(`)
	rustEndsOpen = lazyregexp.New(`^(?:pub(?:\s*\([^)]*\))?\s+)?(?:use|const|static|type|let|extern\s+crate)\b`)
	rustItem     = lazyregexp.New(`^(?:pub(?:\s*\([^)]*\))?\s+)?(?:use|const|static|type|let|extern|fn|mod|impl|struct|enum|union|trait|unsafe|async|macro_rules|default|auto)\b`)
)

// rustTests finds what only cargo test compiles (items under #[cfg(test)],
// #[test] functions) and documentation tests.
func rustTests(source []byte) regions {
	masked := rustSyntax.mask(source)
	s := newSpans(source)
	for i := 0; i < len(masked); {
		from := i
		kind, end := rustAttributes(source, masked, i)
		if i = max(end, i+1); kind == "" {
			continue
		}
		if strings.HasPrefix(kind, "#!") {
			if len(bytes.TrimSpace(masked[:from])) == 0 {
				return regions{{0, len(s.starts), kind, -1}}
			}
			continue
		}
		i = rustItemEnd(masked, end)
		s.add(from, i, kind+" "+rustNoun(masked[end:i]), "///")
	}
	s.found = append(s.found, rustDocTests(s)...)
	return s.regions()
}

// rustAttributes reads the attributes that begin at i: the one that makes their
// item a test, "" for none, and where the item begins.
func rustAttributes(source, masked []byte, i int) (kind string, end int) {
	for i < len(masked) && masked[i] == '#' {
		open := i + 1
		for open < len(masked) && (masked[open] == '!' || masked[open] == ' ') {
			open++
		}
		if open == len(masked) || masked[open] != '[' {
			break
		}
		end = closing(masked, open)
		attribute := masked[i:end]
		cfg := rustCfg.FindIndex(attribute)
		if kind == "" && (rustTestAttr.Match(attribute) || cfg != nil && rustTestOnly(string(attribute[cfg[1]:closing(attribute, cfg[1]-1)-1]))) {
			kind = strings.Join(strings.Fields(string(source[i:end])), " ")
			if attribute[1] == '!' {
				return kind, end
			}
		}
		i = blanks(masked, end)
	}
	return kind, i
}

// rustTestOnly evaluates a cfg predicate: does it hold in test builds only?
func rustTestOnly(predicate string) bool {
	predicate = strings.TrimSpace(predicate)
	name, list, call := strings.Cut(predicate, "(")
	if !call {
		return predicate == "test"
	}
	some, all := false, true
	for _, member := range topLevel(strings.TrimSuffix(list, ")"), ',') {
		if strings.TrimSpace(member) == "" {
			continue
		}
		holds := rustTestOnly(member)
		some, all = some || holds, all && holds
	}
	switch strings.TrimSpace(name) {
	case "all":
		return some
	case "any":
		return some && all
	}
	return false
}

// rustNoun is the word that says what an item is.
func rustNoun(item []byte) string {
	for word := range strings.FieldsFuncSeq(string(item[:min(len(item), 200)]), func(r rune) bool { return !isNameByte(byte(r)) }) {
		switch word {
		case "mod", "fn", "use", "impl", "struct", "enum", "const", "static", "type", "trait", "macro_rules", "extern":
			return word
		}
	}
	return "code"
}

// rustItemEnd returns the place behind the item, statement or field that
// begins at i.
func rustItemEnd(masked []byte, i int) int {
	from := masked[i:min(len(masked), i+200)]
	open, item := rustEndsOpen.Match(from) && !rustFunction.Match(from), rustItem.Match(from)
	for i < len(masked) {
		switch masked[i] {
		case ';':
			return i + 1
		case ',':
			if !item {
				return i + 1
			}
		case '{':
			i = closing(masked, i)
			if !open {
				return i
			}
			continue
		case '(', '[':
			i = closing(masked, i)
			continue
		case ')', ']', '}':
			return i // the end of what holds it
		}
		i++
	}
	return len(masked)
}

var (
	rustFunction = lazyregexp.New(`^(?:pub(?:\s*\([^)]*\))?\s+)?const\s+(?:unsafe\s+|async\s+|extern\s+)*fn\b`)
	rustFence    = lazyregexp.New("^\\s*//[/!]\\s*(```+|~~~+)\\s*([\\w,\\s]*)")
	rustDocLine  = lazyregexp.New(`^\s*//[/!]`)
)

// rustDocTests finds the examples that rustdoc runs: fenced blocks without
// another language's name. They hang on the item that they document.
func rustDocTests(s *spans) regions {
	var found regions
	for i := 0; i < len(s.starts); i++ {
		if !rustDocLine.Match(s.text(i)) {
			continue
		}
		last := i
		for last+1 < len(s.starts) && rustDocLine.Match(s.text(last+1)) {
			last++
		}
		subject := last + 1
		for subject < len(s.starts) && startsWithAny(bytes.TrimSpace(s.text(subject)), []string{"#[", "//"}) {
			subject++
		}
		if bytes.HasPrefix(bytes.TrimSpace(s.text(i)), []byte("//!")) {
			subject = i // the module's own; its first line stands for it
		}
		if subject < len(s.starts) {
			found = append(found, rustExamples(s, i, last, subject)...)
		}
		i = last
	}
	return found
}

func rustExamples(s *spans, first, last, subject int) regions {
	var found regions
	for i := first; i <= last; i++ {
		open := rustFence.FindSubmatch(s.text(i))
		if open == nil {
			continue
		}
		from := i
		for i++; i <= last; i++ {
			if shut := rustFence.FindSubmatch(s.text(i)); shut != nil && bytes.HasPrefix(shut[1], open[1]) {
				break
			}
		}
		if rustRuns(string(open[2])) && i <= last {
			found = append(found, region{from, i + 1, "documentation test", subject})
		}
	}
	return found
}

// rustRuns holds for fences whose words all leave the block a Rust test.
func rustRuns(words string) bool {
	for word := range strings.FieldsFuncSeq(words, func(r rune) bool { return r == ',' || r == ' ' }) {
		switch {
		case word == "rust", word == "should_panic", word == "compile_fail", word == "no_run", strings.HasPrefix(word, "edition"):
		default:
			return false
		}
	}
	return true
}
