package patchsplit

import (
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	rustFn     = lazyregexp.New(`\bfn\s+(?:r#)?(\w+)`)
	rustShaped = lazyregexp.New(`\b(?:struct|enum|union)\s+(?:r#)?(\w+)`)
	rustImpl   = lazyregexp.New(`\b(?:impl|trait)\b[^;{]*?\b(\w+)\s*(?:<[^;{]*>)?\s*(?:where[^{]*|:[^{]*)?\{`)
	rustParam  = lazyregexp.New(`([(,]\s*)(?:mut\s+)?_?[a-z]\w*\s*:\s*`)
)

// readRust takes how functions are called and what types are made of, as far as
// the text shows it: enough to tell that one was declared otherwise.
func (d *declarations) readRust(source []byte) {
	masked := rustSyntax.mask(source)
	type block struct {
		from, to int
		name     string
	}
	var blocks []block
	for _, m := range rustImpl.FindAllSubmatchIndex(masked, -1) {
		blocks = append(blocks, block{m[1], closing(masked, m[1]-1), string(masked[m[2]:m[3]])})
	}
	for _, m := range rustFn.FindAllSubmatchIndex(masked, -1) {
		name := string(masked[m[2]:m[3]])
		for _, b := range blocks {
			if b.from <= m[0] && m[0] < b.to {
				name = b.name + "." + name
				break
			}
		}
		d.signatures[name] += rustSignature(masked[m[3]:])
	}
	for _, m := range rustShaped.FindAllSubmatchIndex(masked, -1) {
		end := rustItemEnd(masked, m[0])
		d.signatures[string(masked[m[2]:m[3]])] += strings.Join(strings.Fields(string(masked[m[3]:end])), "")
	}
}

// rustSignature is a function's type without the names in it, which callers do
// not see.
func rustSignature(masked []byte) string {
	end := 0
	for end < len(masked) && masked[end] != '{' && masked[end] != ';' {
		if masked[end] == '(' || masked[end] == '[' {
			end = closing(masked, end)
			continue
		}
		end++
	}
	text := rustParam.ReplaceAllString(string(masked[:end]), "$1")
	return strings.TrimSuffix(strings.ReplaceAll(strings.Join(strings.Fields(text), ""), ",)", ")"), ",") + ";"
}
