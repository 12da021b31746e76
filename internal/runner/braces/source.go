package braces

import (
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// Kind is what a member is.
type Kind uint8

// The kinds of members.
const (
	Other  Kind = iota
	Field       // a field or a statement
	Method      // a function, or a macro with a body
	Type        // a class, a namespace: its members are read
	Import      // an import, a package clause, a line of the preprocessor
)

// Source is one file. Offsets are bytes from 0; lines count from 1.
type Source struct {
	File    string
	Text    []byte
	Masked  []byte // comments and literals blanked
	Members []*Member
	dialect Dialect
	lines   []int // offsets at which lines begin
}

// Member is one declaration.
type Member struct {
	Kind     Kind
	Name     string
	Notes    string // its annotations, as text
	Before   int    // where the member before it ends: its comments stand from here to From
	From, To int    // with its annotations
	Head     int    // of what follows the annotations
	Args     [2]int // what stands in its first parentheses; 0, 0 for none
	Open     int    // of the body, braces left out; 0 for none
	End      int
	Inside   []*Member
}

// Parse reads a source.
func Parse(file string, text []byte, d Dialect) *Source {
	s := &Source{File: file, Text: text, Masked: Mask(text, d), dialect: d, lines: []int{0}}
	for i, c := range text {
		if c == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	s.Members = s.read(0, len(text))
	return s
}

// read lists the members between two places.
func (s *Source) read(from, to int) []*Member {
	var found []*Member
	for i, before := from, from; ; before = i {
		for i < to && (isBlank(s.Masked[i]) || s.Masked[i] == ';' || s.Masked[i] == '}') {
			i++
		}
		if i >= to {
			return found
		}
		m := &Member{Before: before, From: i, Head: -1}
		s.extent(m, to)
		if m.Head < 0 {
			m.Head = m.From
		}
		m.To = max(m.To, i+1)
		s.classify(m)
		found = append(found, m)
		i = m.To
	}
}

// extent finds where a member ends and its body.
func (s *Source) extent(m *Member, to int) {
	assigned := false
	for i := m.From; i < to; {
		c := s.Masked[i]
		switch {
		case s.dialect == CPP && c == '#' && s.lineStart(i):
			if m.Head >= 0 { // in the midst of a declaration
				i = s.directive(i, to)
				continue
			}
			m.Head, m.To = i, s.directive(i, to)
			return
		case s.annotation(i) && (s.dialect != CSharp || m.Head < 0): // else the brackets of an array
			i = s.passNote(m, i, to)
			continue
		case !isBlank(c) && m.Head < 0:
			m.Head = i
		}
		switch c {
		case '(', '[':
			end := min(Closing(s.Masked, i), to)
			if c == '(' && m.Args[1] == 0 && !assigned {
				m.Args = [2]int{i + 1, max(i+1, end-1)}
			}
			i = end
			continue
		case '{':
			end := min(Closing(s.Masked, i), to)
			if !assigned {
				m.Open, m.End, m.To = i+1, max(i+1, end-1), end
				return
			}
			i = end
			continue
		case '=':
			assigned = assigned || !s.operator(m, i)
		case ';':
			m.To = i + 1
			return
		case '}':
			m.To = i
			return
		case ':':
			if s.dialect == CPP && label.Match(s.Masked[m.Head:i+1]) {
				m.To = i + 1
				return
			}
		case '\n':
			if s.dialect == Kotlin && s.endsLine(m, i, to) {
				m.To = i
				return
			}
		}
		i++
	}
	m.To = to
}

var (
	label    = lazyregexp.New(`^(?:public|private|protected|signals|slots)\s*:$`)
	operator = lazyregexp.New(`\boperator\s*[=!<>+\-*/%&|^]*$`)
)

func (s *Source) operator(m *Member, i int) bool {
	return s.dialect == CPP && operator.Match(s.Masked[m.From:i])
}

func (s *Source) lineStart(i int) bool {
	return len(strings.TrimSpace(string(s.Masked[s.lines[s.LineAt(i)-1]:i]))) == 0
}

// directive is the end of a line of the preprocessor.
func (s *Source) directive(i, to int) int {
	for ; i < to; i++ {
		if s.Masked[i] == '\n' && s.Text[i-1] != '\\' {
			return i
		}
	}
	return to
}

// annotation holds where one begins: @Name, [[name]], #[Name], [Name].
func (s *Source) annotation(i int) bool {
	rest := string(s.Masked[i:min(len(s.Masked), i+12)])
	switch s.dialect {
	case CPP:
		return strings.HasPrefix(rest, "[[")
	case PHP:
		return strings.HasPrefix(rest, "#[")
	case CSharp:
		return rest[0] == '['
	}
	return rest[0] == '@' && !strings.HasPrefix(rest, "@interface")
}

// passNote takes an annotation into the member and returns the place behind it.
func (s *Source) passNote(m *Member, i, to int) int {
	end := i + 1
	if s.dialect == CPP || s.dialect == PHP || s.dialect == CSharp {
		end = Closing(s.Masked, i+strings.IndexByte(string(s.Masked[i:]), '['))
	} else {
		for end < to && (wordByte(s.Masked[end]) || s.Masked[end] == '.' || s.Masked[end] == ':') {
			end++
		}
		if next := s.passBlanks(end, to); next < to && s.Masked[next] == '(' {
			end = Closing(s.Masked, next)
		}
	}
	end = min(end, to)
	m.Notes += string(s.Text[i:end]) + "\n"
	return end
}

func (s *Source) passBlanks(i, to int) int {
	for i < to && isBlank(s.Masked[i]) {
		i++
	}
	return i
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

var (
	kotlinOpens = lazyregexp.New(`^(?:@|\}|(?:fun|val|var|class|object|interface|private|internal|public|protected|override|abstract|open|companion|data|import|typealias|lateinit|suspend|inline|enum|sealed|init|const|tailrec|operator|infix|annotation|external|value)\b)`)
	kotlinWhole = lazyregexp.New(`\b(?:fun|val|var|import|package|typealias|class|interface|object)\b`)
)

// endsLine holds where a Kotlin declaration without a body ends at a newline.
func (s *Source) endsLine(m *Member, i, to int) bool {
	if m.Head < 0 || !kotlinWhole.Match(s.Masked[m.Head:i]) {
		return false
	}
	next := s.passBlanks(i, to)
	return next >= to || kotlinOpens.Match(s.Masked[next:to])
}

var (
	typeHead = lazyregexp.New(`(?:^|[\s>])(?:@?interface|class|enum|record|object|struct|union|trait|namespace)\b\s*(?:final\s+)?([\w.:]*)`)
	linkage  = lazyregexp.New(`^(?:extern|inline\s+namespace)\s*$`)
	imports  = lazyregexp.New(`^(?:#|(?:import|package|using|use|namespace)\b[^{]*$)`)
	lastWord = lazyregexp.New("([\\pL\\pN_$]+|`[^`]+`)\\s*[=<>!+*/&|^-]*\\s*$")
	fieldIs  = lazyregexp.New(`([\pL\pN_$]+)\s*(?:\[[^\]]*\]\s*)*(?:=|;|:|$)`)
)

func (s *Source) classify(m *Member) {
	head := m.To
	if m.Open > 0 {
		head = m.Open - 1
	}
	upTo := head
	if m.Args[1] > 0 {
		upTo = m.Args[0] - 1
	}
	text := s.Masked[m.Head:max(m.Head, upTo)]
	word := lastWord.FindSubmatch(text)
	isType := typeHead.FindSubmatch(text)
	switch {
	case imports.Match(s.Masked[m.Head:head]) && m.Open == 0:
		m.Kind = Import
	case isType != nil && (s.dialect != CPP || m.Open > 0 && m.Args[1] == 0):
		m.Kind, m.Name = Type, string(isType[1])
	case m.Open > 0 && linkage.Match(text):
		m.Kind = Type
	case m.Args[1] > 0 && word != nil:
		m.Kind, m.Name = Method, strings.Trim(string(word[1]), "`")
	default:
		m.Kind = Field
		if name := fieldIs.FindSubmatch(s.Masked[m.Head:m.To]); name != nil {
			m.Name = string(name[1])
		}
	}
	if m.Kind == Type && m.Open > 0 {
		m.Inside = s.read(m.Open, m.End)
	}
}
