package gotest

import (
	"bufio"
	"bytes"
	"io"
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

// maxLine bounds a line of the stream, in bytes; the rest of a longer one is
// dropped.
const maxLine = 4 << 20

// stream is a test run as told by its events.
//
// Invariant: output is held only of tests that have not ended. What is kept of
// one that has is its name, its action and, unless it passed, a short account;
// so a million events take little more room than their names.
type stream struct {
	packages map[string]*packageRun
	builds   map[string]*capture // compiler output by import path
	noise    capture             // lines of standard output that are no events
	stderr   capture             // written by another goroutine: read it after the end
	marks    capture             // what stand-ins left: "PID NAME" a line
	ended    func(id, action string)
	events   decoder
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
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	e, ok := s.events.decode(line)
	if line[0] != '{' || !ok {
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
		s.pkg(e.Package).test(e, s.ended)
	}
}

// words is all that was said outside the events.
func (s *stream) words() string { return s.noise.String() + s.stderr.String() }

func (s *stream) pkg(name string) *packageRun {
	p := s.packages[name]
	if p == nil {
		p = &packageRun{name: name, open: make(map[string]*openTest), times: make(map[string]int)}
		s.packages[name] = p
	}
	return p
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
