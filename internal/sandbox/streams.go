package sandbox

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// streams are the pipes between one command and the writers of a gate.Command.
// Each is read until no process holds its other end, whatever the writer does:
// a command never waits for us, and output beyond the cap costs no memory.
type streams struct {
	child  []*os.File // stdout, stderr and, when asked for, the report; ours until started
	parent []*os.File
	pumps  sync.WaitGroup

	mu     sync.Mutex
	capped bool
	errs   []error
}

func openStreams(cmd gate.Command, limit int64) (*streams, error) {
	s := &streams{}
	err := s.open(cmd.Stdout, limit)
	if err == nil && same(cmd.Stdout, cmd.Stderr) {
		s.child = append(s.child, s.child[0]) // one pipe keeps the order
	} else if err == nil {
		err = s.open(cmd.Stderr, limit)
	}
	if err == nil && cmd.Report != nil {
		err = s.open(cmd.Report, limit)
	}
	if err != nil {
		s.wait()
		return nil, fmt.Errorf("opening pipes: %w", err)
	}
	return s, nil
}

// same reports whether both streams go to one writer, which then must not be
// called from two sides at once.
func same(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.TypeOf(a).Comparable() && a == b
}

// tailOf is how much of a stream's limit is kept for its end: tools say last what
// went wrong.
func tailOf(limit int64) int { return int(min(limit/16, 64<<10)) }

func (s *streams) open(w io.Writer, limit int64) error {
	if w == nil {
		w = io.Discard
	}
	r, child, err := os.Pipe()
	if err != nil {
		return err
	}
	s.child = append(s.child, child)
	s.parent = append(s.parent, r)
	s.pumps.Go(func() { s.pump(w, r, limit) })
	return nil
}

func (s *streams) pump(w io.Writer, r *os.File, limit int64) {
	defer r.Close()
	end := &tail{limit: tailOf(limit)}
	_, err := io.CopyN(w, r, limit-int64(end.limit))
	if errors.Is(err, io.EOF) {
		return
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		s.note(func() { s.errs = append(s.errs, err) })
	}
	rest, _ := io.Copy(end, r)
	if err != nil {
		return
	}
	if left := rest - int64(len(end.buf)); left > 0 {
		s.note(func() { s.capped = true })
		_, err = fmt.Fprintf(w, "\n[touchstone left out %d bytes here]\n", left)
	}
	if _, err2 := w.Write(end.buf); err != nil || err2 != nil {
		s.note(func() { s.errs = append(s.errs, err, err2) })
	}
}

func (s *streams) note(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// started closes our copies of the command's ends.
func (s *streams) started() {
	for _, f := range s.child {
		f.Close()
	}
}

// abandon bounds how long wait waits for processes that may have escaped.
func (s *streams) abandon(grace time.Duration) {
	for _, f := range s.parent {
		f.SetReadDeadline(time.Now().Add(grace))
	}
}

// wait returns when everything written has been read. It reports whether output
// was dropped, and errors of the writers.
func (s *streams) wait() (capped bool, err error) {
	s.started()
	s.pumps.Wait()
	return s.capped, errors.Join(s.errs...)
}

// head is a writer that keeps only the beginning of what it gets.
type head struct{ buf []byte }

func (h *head) Write(p []byte) (int, error) {
	room := math.MaxInt16 - len(h.buf)
	h.buf = append(h.buf, p[:min(room, len(p))]...)
	return len(p), nil
}
