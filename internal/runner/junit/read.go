package junit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchstone-gate/touchstone/gate"
)

// Case is one <testcase> of a JUnit report.
type Case struct {
	Suite, Class, Name, File string
	Line                     int           // 0 when the report does not say
	Took                     time.Duration // 0 when the report does not say
	Problems                 []Problem     // in the order of the report
	Report                   string        // the path that the last Mark before it gave
}

// Problem is what a test case holds besides its output.
type Problem struct {
	Tag           string // failure, error, skipped, flakyFailure, ...
	Kind          string // the type attribute: an exception's class
	Message, Text string
}

// Mark is a shell command that writes, before a report, which file it is: the
// path in the variable f becomes Case.Report. A report that breaks off ends there.
const Mark = `printf '<touchstone-report path="%s"/>\n' "$f"`

// The limits of one report: what is longer is cut, never held.
const (
	maxTag      = 1 << 20
	maxText     = 4 << 10
	maxDepth    = 1000 // suites in suites
	maxProblems = 100  // of one case
)

// Read calls take for every test case of the documents in a stream. It is
// no XML parser: it reads tags, attributes, text and CDATA, takes entities for
// text and accepts characters that XML forbids, as real reports hold them.
func Read(from io.Reader, take func(Case)) error {
	p := &junit{in: bufio.NewReaderSize(from, 1<<18), take: take}
	for {
		if err := p.text(); err != nil {
			return p.end(err)
		}
		if err := p.tag(); err != nil {
			return p.end(err)
		}
	}
}

type junit struct {
	in     *bufio.Reader
	take   func(Case)
	buffer []byte
	suites []string
	deeper int    // suites inside the last of them that are not held
	class  string // of the case before
	report string // the last mark
	broke  bool   // a report before a mark was not whole
	now    *Case
	inside *Problem // whose text is being read
	said   bytes.Buffer
}

// end tells a stream that ended between tags from one that broke off.
func (p *junit) end(err error) error {
	switch {
	case errors.Is(err, io.EOF) && p.now == nil && len(p.suites) == 0 && !p.broke:
		return nil
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the report breaks off inside <testsuite>: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// text passes over text to the next tag, and keeps it inside a problem.
func (p *junit) text() error {
	for {
		piece, err := p.in.ReadSlice('<')
		if p.inside != nil {
			p.keep(unescape(bytes.TrimSuffix(piece, []byte("<"))))
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

func (p *junit) keep(text []byte) {
	if room := maxText - p.said.Len(); room > 0 {
		p.said.Write(text[:min(room, len(text))])
	}
}

// tag reads one tag, behind its "<".
func (p *junit) tag() error {
	first, err := p.in.Peek(8)
	switch {
	case bytes.HasPrefix(first, []byte("!--")):
		return p.skip("-->", false)
	case bytes.HasPrefix(first, []byte("![CDATA[")):
		if _, err := p.in.Discard(8); err != nil {
			return err
		}
		return p.skip("]]>", true)
	case bytes.HasPrefix(first, []byte("?")):
		return p.skip("?>", false)
	case len(first) == 0:
		return err
	}
	body, err := p.body()
	if err != nil {
		return err
	}
	switch {
	case body[0] == '!': // a document type: entities of its own are not resolved
	case body[0] == '/':
		p.close(string(bytes.TrimSpace(body[1:])))
	default:
		p.open(body)
	}
	return nil
}

// skip passes to a mark, and keeps what is before it when it is text.
func (p *junit) skip(mark string, text bool) error {
	last := mark[len(mark)-1]
	tail := make([]byte, 0, 2*len(mark))
	for {
		piece, err := p.in.ReadSlice(last)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if text && p.inside != nil {
			p.keep(piece)
		}
		tail = append(tail, piece[max(0, len(piece)-len(mark)):]...)
		tail = tail[max(0, len(tail)-len(mark)):]
		if string(tail) == mark {
			if text && p.inside != nil && p.said.Len() >= len(mark) && bytes.HasSuffix(p.said.Bytes(), []byte(mark)) {
				p.said.Truncate(p.said.Len() - len(mark))
			}
			return nil
		}
	}
}

// body reads a tag to its ">", which may stand inside quotes.
func (p *junit) body() ([]byte, error) {
	p.buffer = p.buffer[:0]
	var quote byte
	for {
		piece, err := p.in.ReadSlice('>')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		quote = quoteAfter(piece, quote)
		if len(p.buffer) < maxTag {
			p.buffer = append(p.buffer, piece...)
		}
		if err == nil && quote == 0 {
			body := bytes.TrimSuffix(p.buffer, []byte(">"))
			if len(body) == 0 {
				return []byte("!"), nil
			}
			return body, nil
		}
	}
}

// quoteAfter is the quote that is still open behind a piece of a tag.
func quoteAfter(piece []byte, quote byte) byte {
	for {
		if quote == 0 {
			at := bytes.IndexByte(piece, '"')
			if single := bytes.IndexByte(piece, '\''); single >= 0 && (at < 0 || single < at) {
				at = single
			}
			if at < 0 {
				return 0
			}
			quote, piece = piece[at], piece[at+1:]
		}
		end := bytes.IndexByte(piece, quote)
		if end < 0 {
			return quote
		}
		quote, piece = 0, piece[end+1:]
	}
}

func (p *junit) open(body []byte) {
	closed := body[len(body)-1] == '/'
	if closed {
		body = body[:len(body)-1]
	}
	end := bytes.IndexAny(body, " \t\r\n")
	if end < 0 {
		end = len(body)
	}
	name, rest := string(body[:end]), body[end:]
	switch name {
	case "testsuite":
		suite := ""
		attributes(rest, func(key string, value []byte) {
			if key == "name" {
				suite = string(unescape(value))
			}
		})
		if p.deeper++; len(p.suites) < maxDepth {
			p.suites = append(p.suites, suite)
			p.deeper = 0
		}
	case "testcase":
		p.now = p.testCase(rest)
		p.now.Report = p.report
	case "touchstone-report":
		p.broke = p.broke || p.now != nil || len(p.suites) > 0
		p.now, p.inside, p.suites, p.deeper = nil, nil, nil, 0
		attributes(rest, func(_ string, value []byte) { p.report = string(unescape(value)) })
	case "system-out":
		if n := p.failures(); n > 0 && p.now.Problems[n-1].Text == "" { // ctest has a failure's words there
			p.inside = &p.now.Problems[n-1]
			p.said.Reset()
		}
	case "failure", "error", "skipped", "warning", "flakyFailure", "flakyError", "rerunFailure", "rerunError":
		if p.now != nil && len(p.now.Problems) < maxProblems {
			p.now.Problems = append(p.now.Problems, problemOf(name, rest))
			p.inside = &p.now.Problems[len(p.now.Problems)-1]
			p.said.Reset()
		}
	}
	if closed {
		p.close(name)
	}
}

func (p *junit) close(name string) {
	switch name {
	case "testsuite":
		if p.deeper > 0 {
			p.deeper--
		} else if len(p.suites) > 0 {
			p.suites = p.suites[:len(p.suites)-1]
		}
	case "testcase":
		if p.now != nil {
			p.take(*p.now)
		}
		p.now, p.inside = nil, nil
	case "failure", "error", "skipped", "warning", "flakyFailure", "flakyError", "rerunFailure", "rerunError", "system-out":
		if p.inside != nil {
			p.inside.Text = strings.TrimSpace(p.said.String())
		}
		p.inside = nil
	}
}

// failures is the number of problems of the current case when the last of them
// is a failure, else 0.
func (p *junit) failures() int {
	if p.now == nil || len(p.now.Problems) == 0 || p.inside != nil {
		return 0
	}
	if tag := p.now.Problems[len(p.now.Problems)-1].Tag; tag != "failure" && tag != "error" {
		return 0
	}
	return len(p.now.Problems)
}

func (p *junit) testCase(text []byte) *Case {
	c := &Case{}
	if len(p.suites) > 0 {
		c.Suite = p.suites[len(p.suites)-1]
	}
	attributes(text, func(key string, value []byte) {
		switch key {
		case "classname":
			if c.Class = p.class; string(value) != p.class { // most cases share it with the one before
				p.class = string(unescape(value))
				c.Class = p.class
			}
		case "name":
			c.Name = string(unescape(value))
		case "file":
			c.File = string(unescape(value))
		case "line":
			c.Line, _ = strconv.Atoi(string(value))
		case "time":
			c.Took = seconds(string(value))
		case "status", "result":
			if left := string(value); left == "notrun" || left == "disabled" || left == "suppressed" {
				c.Problems = append(c.Problems, Problem{Tag: "skipped"})
			}
		}
	})
	return c
}

func problemOf(tag string, text []byte) Problem {
	found := Problem{Tag: tag}
	attributes(text, func(key string, value []byte) {
		switch key {
		case "type":
			found.Kind = string(unescape(value))
		case "message":
			found.Message = string(unescape(value[:min(len(value), maxText)]))
		}
	})
	return found
}

// attributes calls take for each attribute in the text behind a tag's name.
func attributes(text []byte, take func(key string, value []byte)) {
	for {
		equals := bytes.IndexByte(text, '=')
		if equals < 0 {
			return
		}
		key := bytes.TrimSpace(text[:equals])
		text = bytes.TrimLeft(text[equals+1:], " \t\r\n")
		if len(text) == 0 || text[0] != '"' && text[0] != '\'' {
			return
		}
		end := bytes.IndexByte(text[1:], text[0])
		if end < 0 {
			return
		}
		take(string(key), text[1:end+1])
		text = text[end+2:]
	}
}

var entities = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`, "apos": "'"}

// unescape resolves XML's own entities and numbers; others stay as they are.
func unescape(text []byte) []byte {
	if bytes.IndexByte(text, '&') < 0 {
		return text
	}
	var out []byte
	for len(text) > 0 {
		at := bytes.IndexByte(text, '&')
		if at < 0 {
			return append(out, text...)
		}
		out = append(out, text[:at]...)
		text = text[at:]
		end := bytes.IndexByte(text[:min(len(text), 12)], ';')
		if end < 0 {
			out, text = append(out, '&'), text[1:]
			continue
		}
		out = append(out, entity(string(text[1:end]))...)
		text = text[end+1:]
	}
	return out
}

func entity(name string) string {
	if value, known := entities[name]; known {
		return value
	}
	if digits, number := strings.CutPrefix(name, "#"); number {
		base := 10
		if hex, ok := strings.CutPrefix(strings.ToLower(digits), "x"); ok {
			digits, base = hex, 16
		}
		if r, err := strconv.ParseUint(digits, base, 32); err == nil && r <= utf8.MaxRune {
			return string(rune(r))
		}
	}
	return "&" + name + ";"
}

func seconds(text string) time.Duration {
	value, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || value < 0 || value > 1e6 {
		return 0
	}
	return time.Duration(value * float64(time.Second))
}

// Attempts are a case's observations, oldest first: Surefire writes the runs
// that failed before the one that counts. A test that is still to be done may fail.
func (c Case) Attempts() []gate.Observation {
	last := gate.Observation{Outcome: gate.Passed}
	var before []gate.Observation
	for _, p := range c.Problems {
		switch p.Tag {
		case "skipped":
			last = gate.Observation{Outcome: gate.Skipped, Message: gate.Message(p.Words())}
			if p.Kind == "todo" {
				last.Duration = c.Took
				return append(before, last)
			}
		case "failure", "error", "warning":
			if last.Outcome == gate.Passed || last.Outcome == gate.Skipped {
				last = p.Observation()
			}
		default:
			before = append(before, p.Observation())
		}
	}
	last.Duration = c.Took
	return append(before, last)
}

// Words are what it says for people.
func (p Problem) Words() string {
	if p.Message != "" {
		return p.Message
	}
	return p.Text
}

// kind is the exception's class: the type that the report gives, the cause inside
// what node:test makes of it, or what the message of a tool without types begins with.
func (p Problem) kind() string {
	if m := cause.FindStringSubmatch(p.Text); m != nil && nodeKind.MatchString(p.Kind) {
		return m[1]
	}
	if m := spoken.FindStringSubmatch(p.Message); m != nil && p.Kind == "" {
		return m[1]
	}
	return p.Kind
}

// Observation is what a failure or an error comes to.
func (p Problem) Observation() gate.Observation {
	o := gate.Observation{Outcome: gate.Failed, Reason: gate.Exception, Message: gate.Message(p.Words())}
	all, kind := p.Kind+"\n"+p.Message+"\n"+p.Text, p.kind()
	switch {
	case timedOut.MatchString(p.Kind + "\n" + p.Message):
		o.Outcome, o.Reason = gate.TimedOut, gate.Timeout
	case inSetUp.MatchString(p.Kind) || p.Kind == "" && inSetUp.MatchString(p.Message):
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	case p.Tag == "error" && p.Message == "collection failure": // pytest's
		o.Outcome, o.Reason = gate.Errored, gate.Import
		if strings.Contains(p.Text, "SyntaxError") {
			o.Reason = gate.Compile
		}
	case notLoaded.MatchString(kind) || strings.Contains(p.Text, "code: 'MODULE_NOT_FOUND'"):
		o.Outcome, o.Reason = gate.Errored, gate.Import
	case assertion.MatchString(kind) || assertion.MatchString(firstLine(p.Text)), p.Tag == "failure" && !exception.MatchString(kind):
		o.Reason = gate.Assertion
	}
	if o.Reason == gate.Exception || o.Reason == gate.Import {
		o.Missing = Missing(all)
	}
	return o
}
