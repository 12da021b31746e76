package cargo

import (
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	quotedName = lazyregexp.New("`([^`]+)`")
	pathName   = lazyregexp.New(`^(?:r#)?[\w:]+!?$`)
	ownerName  = lazyregexp.New("\\b(?:for|in|on|of) (?:\\w+ )*`([^`]+)`")
)

// notFound are the errors that say that a name does not exist: the first quoted
// name is the one.
var notFound = []string{"E0405", "E0407", "E0408", "E0412", "E0422", "E0423", "E0424", "E0425", "E0426", "E0432", "E0433", "E0437", "E0438", "E0463", "E0531", "E0532", "E0573", "E0574",
	"E0576", "E0583", "E0599", "E0609", "E0610", "E0220", "E0603", "E0616", "E0624", "E0451", "E0046", "E0635"}

// otherShape are the errors that say that a function or a type is there and was
// used otherwise than its declaration has it.
var otherShape = []string{"E0023", "E0027", "E0050", "E0053", "E0057", "E0060", "E0061", "E0063", "E0106", "E0107", "E0308", "E0618", "E0639", "E0600", "E0608", "E0614", "E0277", "E0369"}

// missing are the names that an error is about.
func (e compileError) missing(s *source) []gate.Missing {
	words := quotedWords(e.text)
	switch {
	case e.code == "E0560" || e.code == "E0026" || e.code == "E0559" || e.code == "E0569":
		// struct `T` has no field named `x`
		if len(words) > 1 {
			return []gate.Missing{{Name: lastPart(words[len(words)-1]), Owner: bare(words[0])}}
		}
	case e.code == "E0432" || e.code == "E0433":
		var found []gate.Missing
		for _, word := range words {
			if name := lastPart(word); pathName.MatchString(word) && name != "" {
				found = append(found, gate.Missing{Name: name})
			}
			if e.code == "E0433" {
				break
			}
		}
		return append(found, e.labelled()...)
	case slices.Contains(notFound, e.code) || e.code == "" && strings.HasPrefix(e.text, "cannot find "):
		return e.absent(s, words)
	case slices.Contains(otherShape, e.code):
		return e.shapes(s, words)
	}
	return nil
}

// absent is the name that an error says is not there; where the sentence is about
// something else (an iterator's method of that name), it is the marked one.
func (e compileError) absent(s *source, words []string) []gate.Missing {
	var found []gate.Missing
	if len(words) > 0 && !strings.HasPrefix(e.text, "`") {
		m := gate.Missing{Name: lastPart(words[0])}
		if owner := ownerName.FindStringSubmatch(e.text); owner != nil && owner[1] != words[0] {
			m.Owner = bare(owner[1])
		}
		found = append(found, m)
	}
	if s == nil || len(e.spans) == 0 || len(found) > 0 && found[0].Name != "" {
		return found
	}
	at := e.spans[0].root()
	if from, to := s.offset(at.Line, at.Column), s.offset(at.EndLine, at.EndColumn); from >= 0 && from < to {
		if name := nameOnly.FindString(string(s.text[from:to])); name != "" {
			found = append(found, gate.Missing{Name: name})
		}
	}
	return found
}

var unresolved = lazyregexp.New("(?:no|could not find|unresolved import|maybe a missing crate|use of (?:undeclared|unresolved)[^`]*) `([^`]+)`")

// labelled are the names that the marks of an error tell: "no `x` in `y`".
func (e compileError) labelled() []gate.Missing {
	var found []gate.Missing
	for _, span := range e.spans {
		if m := unresolved.FindStringSubmatch(span.Label); m != nil {
			found = append(found, gate.Missing{Name: lastPart(m[1])})
		}
	}
	return found
}

var (
	calledWord = lazyregexp.New(`(?:r#)?(\w+)\s*(?:::\s*<[^>]*>\s*)?!?\s*[({]`)
	nameOnly   = lazyregexp.New(`^[A-Za-z_]\w*$`)
	anyWord    = lazyregexp.New(`[A-Za-z_]\w+`)
)

// shapes are the names whose declarations an error sees used otherwise: those
// that are quoted, and those that the marked code calls.
func (e compileError) shapes(s *source, words []string) []gate.Missing {
	var found []gate.Missing
	add := func(name string) {
		m := gate.Missing{Name: name, Signature: true}
		if name != "" && !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	if e.code == "E0277" || e.code == "E0369" {
		for _, word := range words {
			for _, name := range anyWord.FindAllString(word, -1) {
				found = append(found, gate.Missing{Name: name}) // a trait that is newly implemented
			}
		}
		return found
	}
	for _, span := range e.spans {
		at := span.root()
		if s == nil || at.File != "" && !strings.HasSuffix(s.file, at.File) && !strings.HasSuffix(at.File, s.file) {
			continue
		}
		from, to := s.offset(at.Line, at.Column), s.offset(at.EndLine, at.EndColumn)
		if from < 0 || to < from {
			continue
		}
		for to < len(s.masked) && to < from+2000 && (wordByte(s.masked[to]) || s.masked[to] == '(') {
			to++
		}
		for _, m := range calledWord.FindAllSubmatch(s.masked[from:to], -1) {
			add(string(m[1]))
		}
		add(lastPart(strings.TrimRight(string(s.masked[from:to]), "( \n")))
	}
	for _, child := range e.children {
		for _, word := range quotedWords(child) {
			add(lastPart(word))
		}
	}
	for _, word := range words {
		add(lastPart(word))
	}
	return found
}

func quotedWords(text string) []string {
	var words []string
	for _, m := range quotedName.FindAllStringSubmatch(text, -1) {
		words = append(words, m[1])
	}
	return words
}

// lastPart is the last name of a path, without arguments; "" when there is none.
func lastPart(text string) string {
	text = bare(text)
	name := strings.TrimSuffix(strings.TrimPrefix(text[strings.LastIndex(text, ":")+1:], "r#"), "!")
	name = name[strings.LastIndexByte(name, '.')+1:]
	return nameOnly.FindString(name)
}

// bare drops references and type arguments.
func bare(text string) string {
	text = strings.TrimLeft(text, "&*' ")
	text = strings.TrimPrefix(text, "mut ")
	if i := strings.IndexAny(text, "<({["); i > 0 {
		text = text[:i]
	}
	return text
}
