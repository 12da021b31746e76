package patchsplit

import (
	"bytes"
	"path"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// sameCode tells whether two versions of a JavaScript, TypeScript or Rust source
// differ in comments and layout only. Comments that tools or tests read count as
// code.
func sameCode(file string, old, new []byte) bool {
	s, ok := braced(file)
	return ok && bytes.Equal(s.bare(file, old), s.bare(file, new))
}

// braced is the syntax of a language that this file knows.
func braced(file string) (syntax, bool) {
	switch ext := extOf(file); ext {
	case ".rs":
		return rustSyntax, true
	case ".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx":
		return scriptSyntax, true
	}
	return syntax{}, false
}

// telling are comments that something reads: type checkers, test frameworks, and
// examples that are run.
var telling = lazyregexp.New("@ts-|@jest|@vitest|@jsx|webpack|vite-ignore|__PURE__|```")

// bare is a source without comments, and with one blank or line feed where any
// stand between its words.
func (s syntax) bare(file string, source []byte) []byte {
	examples := path.Ext(file) == ".rs" && bytes.Contains(source, []byte("```"))
	var out bytes.Buffer
	gap := ""
	for i := 0; i < len(source); {
		if end := s.comment(source, i); end > i {
			text := source[i:end]
			documents := examples && (bytes.HasPrefix(text, []byte("///")) || bytes.HasPrefix(text, []byte("//!")) || bytes.HasPrefix(text, []byte("/**")))
			if documents || telling.Match(text) {
				out.WriteString(gap)
				out.Write(text)
				gap = ""
			} else if gap == "" {
				gap = " "
			}
			if bytes.ContainsRune(text, '\n') {
				gap = "\n"
			}
			i = end
			continue
		}
		end := max(s.literal(source, i), i+1)
		switch c := source[i]; {
		case end == i+1 && c == '\n':
			gap = "\n"
		case end == i+1 && (c == ' ' || c == '\t' || c == '\r'):
			if gap == "" {
				gap = " "
			}
		default:
			if out.Len() > 0 {
				out.WriteString(gap)
			}
			out.Write(source[i:end])
			gap = ""
		}
		i = end
	}
	return out.Bytes()
}

var (
	typeBlock  = lazyregexp.New(`(?m)^[ \t]*(?:export[ \t]+)?(?:declare[ \t]+)?interface\b[^{}\n]*\{`)
	typeImport = lazyregexp.New(`(?m)^[ \t]*(?:import|export)[ \t]+type\b[^;'"]*(?:from[ \t]*['"][^'"\n]*['"])?;?[ \t]*$`)
)

// sameTyped tells whether two versions of a TypeScript source differ in interfaces
// and imports of types only, of which nothing runs.
func sameTyped(file string, old, new []byte) bool {
	if strings.HasSuffix(file, ".d.ts") {
		return true
	}
	if ext := extOf(file); ext != ".ts" && ext != ".tsx" && ext != ".mts" && ext != ".cts" {
		return false
	}
	return bytes.Equal(scriptSyntax.bare(file, untyped(old)), scriptSyntax.bare(file, untyped(new)))
}

// untyped takes interfaces and imports of types out of a source.
func untyped(source []byte) []byte {
	source = typeImport.ReplaceAll(source, nil)
	masked := scriptSyntax.mask(source)
	var out []byte
	at := 0
	for _, found := range typeBlock.FindAllIndex(masked, -1) {
		if found[0] < at {
			continue
		}
		end := closing(masked, found[1]-1)
		if end <= found[1] || end > len(source) {
			continue
		}
		out = append(out, source[at:found[0]]...)
		at = end
	}
	return append(out, source[at:]...)
}
