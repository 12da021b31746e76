package patchsplit

import (
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	rubyDef       = lazyregexp.New(`(?m)^\s*(?:(?:private|protected|public|module_function|private_class_method)\s+)?def\s+(?:self\.|\w+\.)?([\w]+[?!=]?|\[\]=?|[<>=+*/%-]+)[ \t]*(\([^)]*\)|[^\n;=]*)`)
	rubyAttribute = lazyregexp.New(`\b(?:attr_accessor|attr_reader|attr_writer|delegate|def_delegators?|alias_method|define_method|scope|class_attribute|mattr_accessor|cattr_accessor)\b[^\n]*`)
	rubySymbol    = lazyregexp.New(`:(\w+[?!]?)`)
)

// readRuby takes what methods are declared and how they are called: enough to
// tell that one was declared otherwise. Names may end in ?, ! or =.
func (d *declarations) readRuby(source []byte) {
	text := string(source)
	for _, m := range rubyDef.FindAllStringSubmatch(text, -1) {
		d.add("", "", m[1])
		d.signatures[m[1]] += strings.Join(strings.Fields(strings.Trim(m[2], "()")), "") + ";"
	}
	for _, line := range rubyAttribute.FindAllString(text, -1) {
		for _, m := range rubySymbol.FindAllStringSubmatch(line, -1) {
			d.add("", "", m[1])
			if strings.Contains(line, "accessor") || strings.Contains(line, "writer") {
				d.add("", "", m[1]+"=")
			}
		}
	}
}
