package template

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

// testCase is one <testcase> of a JUnit report.
type testCase struct {
	suite, class, name, file string
	line                     int
	took                     time.Duration
	problems                 []problem // in the order of the report
}

// problem is what a test case holds besides its output.
type problem struct {
	tag, kind, message, text string
}

// The limits of one report: what is longer is cut, never held.
const (
	maxTag  = 1 << 20
	maxText = 4 << 10
)

// readJUnit calls take for every test case of the documents in a stream. It is
// no XML parser: it reads tags, attributes, text and CDATA, takes entities for
// text and accepts characters that XML forbids, as real reports hold them.
func readJUnit(from io.Reader, take func(testCase)) error {
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
	take   func(testCase)
	buffer []byte
	suites []string
	class  string // of the case before
	now    *testCase
	inside *problem // whose text is being read
	said   bytes.Buffer
}

// end tells a stream that ended between tags from one that broke off.
func (p *junit) end(err error) error {
	switch {
	case errors.Is(err, io.EOF) && p.now == nil && len(p.suites) == 0:
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
		p.suites = append(p.suites, suite)
	case "testcase":
		p.now = p.testCase(rest)
	case "failure", "error", "skipped", "flakyFailure", "flakyError", "rerunFailure", "rerunError":
		if p.now != nil {
			p.now.problems = append(p.now.problems, problemOf(name, rest))
			p.inside = &p.now.problems[len(p.now.problems)-1]
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
		if len(p.suites) > 0 {
			p.suites = p.suites[:len(p.suites)-1]
		}
	case "testcase":
		if p.now != nil {
			p.take(*p.now)
		}
		p.now, p.inside = nil, nil
	case "failure", "error", "skipped", "flakyFailure", "flakyError", "rerunFailure", "rerunError":
		if p.inside != nil {
			p.inside.text = strings.TrimSpace(p.said.String())
		}
		p.inside = nil
	}
}

func (p *junit) testCase(text []byte) *testCase {
	c := &testCase{}
	if len(p.suites) > 0 {
		c.suite = p.suites[len(p.suites)-1]
	}
	attributes(text, func(key string, value []byte) {
		switch key {
		case "classname":
			if c.class = p.class; string(value) != p.class { // most cases share it with the one before
				p.class = string(unescape(value))
				c.class = p.class
			}
		case "name":
			c.name = string(unescape(value))
		case "file":
			c.file = string(unescape(value))
		case "line":
			c.line, _ = strconv.Atoi(string(value))
		case "time":
			c.took = seconds(string(value))
		case "status", "result":
			if left := string(value); left == "notrun" || left == "disabled" || left == "suppressed" {
				c.problems = append(c.problems, problem{tag: "skipped"})
			}
		}
	})
	return c
}

func problemOf(tag string, text []byte) problem {
	found := problem{tag: tag}
	attributes(text, func(key string, value []byte) {
		switch key {
		case "type":
			found.kind = string(unescape(value))
		case "message":
			found.message = string(unescape(value[:min(len(value), maxText)]))
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

// attempts are a case's observations, oldest first: Surefire writes the runs
// that failed before the one that counts.
func (c testCase) attempts() []gate.Observation {
	last := gate.Observation{Outcome: gate.Passed}
	var before []gate.Observation
	for _, p := range c.problems {
		switch p.tag {
		case "skipped":
			last = gate.Observation{Outcome: gate.Skipped, Message: gate.Message(p.words())}
		case "failure", "error":
			if last.Outcome == gate.Passed || last.Outcome == gate.Skipped {
				last = p.observation()
			}
		default:
			before = append(before, p.observation())
		}
	}
	last.Duration = c.took
	return append(before, last)
}

func (p problem) words() string {
	if p.message != "" {
		return p.message
	}
	return p.text
}

func (p problem) observation() gate.Observation {
	o := gate.Observation{Outcome: gate.Failed, Reason: gate.Exception, Message: gate.Message(p.words())}
	all := p.kind + "\n" + p.message + "\n" + p.text
	switch {
	case timedOut.MatchString(p.kind + "\n" + p.message):
		o.Outcome, o.Reason = gate.TimedOut, gate.Timeout
	case assertion.MatchString(p.kind) || assertion.MatchString(firstLine(p.text)), p.tag == "failure" && !exception.MatchString(p.kind):
		o.Reason = gate.Assertion
	}
	if o.Reason == gate.Exception {
		o.Missing = missing(all)
	}
	return o
}
