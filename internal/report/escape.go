package report

import (
	"fmt"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// blind is a zero-width space: it parts what GitHub would take for a mention, a
// link or a reference, and cannot be seen. Nothing else does: GitHub looks for
// these in the text after all escapes are undone.
const blind = "\u200b"

// linkers are what GitHub turns into links and pictures without any markup.
var linkers = []struct {
	find *lazyregexp.Regexp
	into string
}{
	{lazyregexp.New(`@`), "@" + blind},
	{lazyregexp.New(`#(\d)`), "#" + blind + "$1"},
	{lazyregexp.New(`(?i)\b(GH)-(\d)`), "$1-" + blind + "$2"},
	{lazyregexp.New(`(?i)(https?|ftp|mailto|xmpp):`), "$1:" + blind},
	{lazyregexp.New(`(?i)(www)\.`), "$1" + blind + "."},
	{lazyregexp.New(`:([a-zA-Z0-9_+-]+)(:|$)`), ":" + blind + "$1$2"},
}

// marks are the characters that mean something to GitHub flavoured Markdown.
const marks = "\\`*_{}[]<>()#+-=.!|~&$"

// Prose is text of any origin as plain Markdown: on one line, without effect, at
// most limit runes before escapes (0: no limit).
func Prose(text string, limit int) string { return prose(text, limit) }

// prose makes plain Markdown text of anything: at most limit runes before
// escapes, on one line, without effect.
func prose(text string, limit int) string {
	text = Sanitize(text, limit)
	for _, l := range linkers {
		text = l.find.ReplaceAllString(text, l.into)
	}
	var out strings.Builder
	for i, c := range text {
		if c == '$' {
			out.WriteString("<span>$</span>") // GitHub's own advice: a backslash does not always keep math away
			continue
		}
		if strings.ContainsRune(marks, c) && (i == 0 || !harmless(text, i)) {
			out.WriteByte('\\')
		}
		out.WriteRune(c)
	}
	return out.String()
}

// harmless holds for marks that mean something at a line's start only, or after
// a number there: they stand unescaped elsewhere, for the eyes of those who read
// the source.
func harmless(text string, i int) bool {
	switch text[i] {
	case '+', '-', '=', '.', '(', ')', '!':
		return strings.Trim(text[:i], "0123456789") != ""
	}
	return false
}

// code is text as a code span, in which no markup, mention or link takes
// effect. Text that could end the span, or a table's cell around it, goes into
// an HTML code element with every mark as an entity: a longer fence would keep
// backticks in, but not pipes behind backslashes.
func code(text string) string {
	text = Sanitize(text, 0)
	switch {
	case text == "":
		return ""
	case !strings.ContainsAny(text, "`|\\"):
		return "`" + text + "`"
	}
	var out strings.Builder
	for _, c := range text {
		if entity, special := entities[c]; special {
			out.WriteString(entity)
			continue
		}
		out.WriteRune(c)
	}
	return "<code>" + out.String() + "</code>"
}

// entities writes every mark as a character reference, which Markdown reads as
// text only.
var entities = func() map[rune]string {
	table := map[rune]string{
		'"': "&quot;", '\'': "&#39;", '@': "&#64;", ':': "&#58;", '^': "&#94;", '/': "&#47;",
		'&': "&amp;", '<': "&lt;", '>': "&gt;",
	}
	for _, c := range marks {
		if _, known := table[c]; !known {
			table[c] = fmt.Sprintf("&#%d;", c)
		}
	}
	return table
}()
