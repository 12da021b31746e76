package rts

import (
	"bytes"
	"slices"
)

// Span is one function in a source file: a top-level function or a method,
// with all that is nested in it.
type Span struct {
	Symbol      string // name, or Type.name
	First, Last int    // lines, from 1; with decorators
}

// source is one version of a file as the comparison needs it.
type source struct {
	shape  []string          // everything that is not the body of a function, in pieces
	bodies map[string]string // function -> its body's tokens
	heads  map[string]string // function -> its signature's tokens
	lasts  map[string]bool   // functions that set variables of their module
	quiet  map[string]quiet  // pieces that change nothing by being added
	types  map[string]bool   // Go types that are declared here
	loose  bool              // the order of the pieces means nothing
	spans  []Span
}

func newSource() *source {
	return &source{bodies: make(map[string]string), heads: make(map[string]string), lasts: make(map[string]bool), quiet: make(map[string]quiet), types: make(map[string]bool)}
}

// quiet is a declaration that only code which names it can notice.
type quiet struct {
	names []string
	// receiver is set for a method: it is quiet only where its type is new too,
	// since a method more may be found by interface.
	receiver string
}

// isQuiet tells whether a piece of after is quiet beside before.
func (s *source) isQuiet(piece string, before *source) bool {
	q, ok := s.quiet[piece]
	return ok && (q.receiver == "" || !before.types[q.receiver])
}

// Diff compares two versions of a file. nil is a file that does not exist.
// Go, Python, JavaScript and TypeScript are read as source; of everything else
// only that it differs is known.
func Diff(path string, old, new []byte) FileChange {
	c := FileChange{Path: path}
	switch {
	case old == nil:
		c.Status = Added
	case new == nil:
		c.Status = Deleted
	}
	read := reader(path)
	if read == nil {
		if !bytes.Equal(old, new) {
			c.Names = wordsThatDiffer(old, new)
		}
		return c
	}
	before, errBefore := read(old)
	after, errAfter := read(new)
	if errBefore != nil || errAfter != nil {
		c.Names = wordsThatDiffer(old, new)
		return c
	}
	c.Compared = true
	c.compare(before, after)
	if extOf(path) != ".go" && c.Status != Modified {
		c.Shape = true // a module that comes or goes is an event of its own
	}
	return c
}

// reader reads a language, nil for those that are not read.
func reader(path string) func([]byte) (*source, error) {
	switch extOf(path) {
	case ".go":
		return readGo
	case ".py", ".pyi":
		return readPython
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return readJavaScript(path)
	}
	return nil
}

// Outline lists the functions of a source file, in order; none for a language
// that is not read, and for a file that does not parse.
func Outline(path string, content []byte) []Span {
	read := reader(path)
	if read == nil {
		return nil
	}
	s, err := read(content)
	if err != nil {
		return nil
	}
	return s.spans
}

// At is the function that a line belongs to, "" for none.
func At(spans []Span, line int) string {
	i, _ := slices.BinarySearchFunc(spans, line, func(s Span, line int) int { return s.First - line })
	for ; i >= 0; i-- {
		if i < len(spans) && spans[i].First <= line && line <= spans[i].Last {
			return spans[i].Symbol
		}
		if i < len(spans) && spans[i].Last < line {
			return ""
		}
	}
	return ""
}

// Sharing lists the functions that share a line with first..last, for a language
// in which several may stand on one line.
func Sharing(spans []Span, first, last int) []string {
	var found []string
	for _, s := range spans {
		if s.First <= last && first <= s.Last {
			found = append(found, s.Symbol)
		}
	}
	return found
}

// compare fills in what differs.
func (c *FileChange) compare(before, after *source) {
	gone, came := missing(before.shape, after.shape), missing(after.shape, before.shape)
	var words []string
	came = slices.DeleteFunc(came, func(piece string) bool {
		isQuiet := after.isQuiet(piece, before)
		if isQuiet {
			words = append(words, after.quiet[piece].names...)
		}
		return isQuiet
	})
	if len(gone) > 0 || len(came) > 0 || !before.loose && !slices.Equal(before.shape, after.shape) {
		c.Shape = true
	}
	c.Names = sortedSet(c.Names, wordsIn(gone), wordsIn(came), words)
	for symbol, body := range before.bodies {
		now, stays := after.bodies[symbol]
		switch {
		case !stays: // who called it does so no more
			c.Bodies = append(c.Bodies, symbol)
			c.Names = append(c.Names, lastName(symbol))
		case now != body:
			c.Bodies = append(c.Bodies, symbol)
			c.Shape = c.Shape || before.lasts[symbol] || after.lasts[symbol]
		}
		if stays && before.heads[symbol] != after.heads[symbol] {
			c.Bodies = append(c.Bodies, symbol)
			c.Names = append(c.Names, lastName(symbol))
		}
	}
	for symbol := range after.bodies {
		if _, was := before.bodies[symbol]; !was {
			c.Names = append(c.Names, lastName(symbol))
		}
	}
	c.Bodies, c.Names = sortedSet(c.Bodies), sortedSet(c.Names)
}

// missing are the pieces of a that b has fewer of.
func missing(a, b []string) []string {
	count := make(map[string]int)
	for _, piece := range b {
		count[piece]++
	}
	var found []string
	for _, piece := range a {
		if count[piece]--; count[piece] < 0 {
			found = append(found, piece)
		}
	}
	return found
}

func lastName(symbol string) string {
	for i := len(symbol) - 1; i >= 0; i-- {
		if symbol[i] == '.' {
			return symbol[i+1:]
		}
	}
	return symbol
}
