package cargo

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// built is what one build of a target said.
type built struct {
	unit   string
	code   int
	ended  bool
	errors []compileError
	words  strings.Builder  // what cargo said outside its messages
	cut    gate.Observation // why it did not come to its end
}

// compileError is one error of the compiler.
type compileError struct {
	code, text string
	spans      []span // the primary ones first
	children   []string
}

// span is a marked piece of code; lines and columns count from 1.
type span struct {
	File      string `json:"file_name"`
	Line      int    `json:"line_start"`
	EndLine   int    `json:"line_end"`
	Column    int    `json:"column_start"`
	EndColumn int    `json:"column_end"`
	Primary   bool   `json:"is_primary"`
	Label     string `json:"label"`
	Expansion *struct {
		Span span `json:"span"`
	} `json:"expansion"`
}

// root is where a macro's code was asked for.
func (s span) root() span {
	for s.Expansion != nil {
		s = s.Expansion.Span
	}
	return s
}

// cargoMessage is one line of cargo's JSON, or of ours.
type cargoMessage struct {
	Reason  string `json:"reason"`
	Unit    int    `json:"unit"` // ours
	Code    int    `json:"code"`
	Message *struct {
		Level string `json:"level"`
		Text  string `json:"message"`
		Code  *struct {
			Code string `json:"code"`
		} `json:"code"`
		Spans    []span `json:"spans"`
		Children []struct {
			Text  string `json:"message"`
			Spans []span `json:"spans"`
		} `json:"children"`
	} `json:"message"`
}

// take reads a line of the report of builds.
func (b *built) take(line []byte) {
	var m cargoMessage
	if json.Unmarshal(line, &m) != nil || m.Reason != "compiler-message" || m.Message == nil || !strings.HasPrefix(m.Message.Level, "error") {
		return
	}
	if len(m.Message.Spans) == 0 && strings.HasPrefix(m.Message.Text, "aborting due to") {
		return
	}
	e := compileError{text: m.Message.Text}
	if m.Message.Code != nil {
		e.code = m.Message.Code.Code
	}
	for _, primary := range []bool{true, false} {
		for _, s := range m.Message.Spans {
			if s.Primary == primary {
				e.spans = append(e.spans, s)
			}
		}
	}
	for _, child := range m.Message.Children {
		e.children = append(e.children, child.Text)
	}
	b.errors = append(b.errors, e)
}

// sourceOf is the target's source that a compiler's path names: it is relative
// to the workspace, which may lie above the package.
func (c *crate) sourceOf(file string) *module {
	for dir := c.dir; ; dir = path.Dir(dir) {
		if m := c.byFile[path.Join(dir, file)]; m != nil {
			return m
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	for known, m := range c.byFile {
		if path.IsAbs(file) && strings.HasSuffix(file, "/"+known) {
			return m
		}
	}
	return nil
}

// place is where an error stands in the target's sources.
func (c *crate) place(e compileError) (m *module, at span, ok bool) {
	for _, s := range e.spans {
		root := s.root()
		if m := c.sourceOf(root.File); m != nil {
			return m, root, true
		}
	}
	return nil, span{}, false
}

// observation is what errors come to for the code that holds them.
func (c *crate) observation(errors []compileError) gate.Observation {
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Compile}
	for i, e := range errors {
		m, at, found := c.place(e)
		var s *source
		if found {
			s = m.source
		}
		missing := e.missing(s)
		if i == 0 || len(o.Missing) == 0 && len(missing) > 0 {
			o.Message = gate.Message(e.text)
			if e.code != "" {
				o.Message = gate.Message("error[" + e.code + "]: " + e.text)
			}
			o.Place = gate.Place{}
			if found {
				o.Place = gate.Place{File: m.file, Line: at.Line}
			}
		}
		for _, name := range missing {
			if !containsName(o.Missing, name) && len(o.Missing) < maxMissing {
				o.Missing = append(o.Missing, name)
			}
		}
	}
	return o
}

// maxMissing bounds the names of one observation.
const maxMissing = 50

func containsName(list []gate.Missing, name gate.Missing) bool {
	for _, known := range list {
		if known == name {
			return true
		}
	}
	return false
}
