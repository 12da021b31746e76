package gotest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"
)

// event is one line of `go test -json`, as cmd/test2json documents it, with the
// build events that go 1.24 added.
type event struct {
	Action      string
	Package     string
	Test        string
	Elapsed     float64
	Output      string
	ImportPath  string
	FailedBuild string
}

// Limits on what is kept of a stream.
const (
	maxLine   = 4 << 20  // bytes; the rest of a longer line is dropped
	maxOutput = 16 << 10 // bytes of one test's or package's output, head and tail
)

// stream is a test run as told by its events. Output is kept only of what has
// not passed, so that a million events take no more room than their names.
type stream struct {
	packages map[string]*packageRun
	order    []string
	builds   map[string]*capture // compiler output by import path
	noise    capture             // lines of standard output that are no events
	stderr   capture             // written by another goroutine: read it after the end
	ended    func(pkg, test, action string)
}

// packageRun is what one test binary said.
type packageRun struct {
	tests       map[string]*testRun
	order       []string
	action      string // pass, fail, skip; "" while it runs or when it died
	failedBuild string
	out         capture
	elapsed     time.Duration
}

// testRun is one test or subtest.
type testRun struct {
	action  string // pass, fail, skip; "" when it did not end
	paused  bool
	elapsed time.Duration
	out     *capture
}

func newStream() *stream {
	return &stream{packages: make(map[string]*packageRun), builds: make(map[string]*capture)}
}

// read takes in a whole stream. It fails only when reading does.
func (s *stream) read(from io.Reader) error {
	lines := bufio.NewReaderSize(from, 1<<16)
	var line []byte
	for {
		piece, more, err := lines.ReadLine()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if len(line)+len(piece) <= maxLine {
			line = append(line, piece...)
		}
		if !more {
			s.take(line)
			line = line[:0]
		}
	}
}

func (s *stream) take(line []byte) {
	var e event
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	if line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Action == "" {
		s.noise.add(string(line) + "\n")
		return
	}
	switch {
	case e.Action == "build-output":
		if s.builds[e.ImportPath] == nil {
			s.builds[e.ImportPath] = &capture{}
		}
		s.builds[e.ImportPath].add(e.Output)
	case e.Action == "build-fail":
	case e.Package == "":
		s.noise.add(e.Output)
	case e.Test == "":
		s.pkg(e.Package).take(e)
	default:
		s.test(e)
	}
}

// words is all that was said outside the events.
func (s *stream) words() string { return s.noise.String() + s.stderr.String() }

func (s *stream) pkg(name string) *packageRun {
	p := s.packages[name]
	if p == nil {
		p = &packageRun{tests: make(map[string]*testRun)}
		s.packages[name] = p
		s.order = append(s.order, name)
	}
	return p
}

func (p *packageRun) take(e event) {
	switch e.Action {
	case "output":
		p.out.add(e.Output)
	case "pass", "fail", "skip":
		p.action = e.Action
		p.failedBuild = e.FailedBuild
		p.elapsed = seconds(e.Elapsed)
	}
}

func (s *stream) test(e event) {
	p := s.pkg(e.Package)
	t := p.tests[e.Test]
	if t == nil {
		t = &testRun{}
		p.tests[e.Test] = t
		p.order = append(p.order, e.Test)
	}
	switch e.Action {
	case "pause":
		t.paused = true
	case "cont":
		t.paused = false
	case "output":
		if t.out == nil {
			t.out = &capture{}
		}
		t.out.add(e.Output)
	case "pass", "fail", "skip":
		t.action, t.elapsed = e.Action, seconds(e.Elapsed)
		if e.Action == "pass" {
			t.out = nil
		}
		if s.ended != nil {
			s.ended(e.Package, e.Test, e.Action)
		}
	}
}

func (t *testRun) output() string {
	if t.out == nil {
		return ""
	}
	return t.out.String()
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// capture keeps the head and the tail of a text.
type capture struct {
	head, tail []byte
	dropped    bool
}

func (c *capture) add(text string) {
	if room := maxOutput/2 - len(c.head); room > 0 {
		n := min(room, len(text))
		c.head = append(c.head, text[:n]...)
		text = text[n:]
	}
	c.tail = append(c.tail, text...)
	if len(c.tail) > maxOutput { // halve, so that the work stays linear
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-maxOutput/2:]...)
		c.dropped = true
	}
}

func (c *capture) String() string {
	if c.dropped {
		return string(c.head) + "\n…\n" + string(c.tail)
	}
	return string(c.head) + string(c.tail)
}

// parentOf is the test that a subtest is a part of, "" for a test.
func parentOf(test string) string {
	i := strings.LastIndexByte(test, '/')
	if i < 0 {
		return ""
	}
	return test[:i]
}

// topOf is the test that a subtest belongs to.
func topOf(test string) string {
	top, _, _ := strings.Cut(test, "/")
	return top
}
