package junit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

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
