package git

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MaxBlob bounds a file that is read into memory, in bytes.
const MaxBlob = 64 << 20

// Blob returns a blob's content.
func (r *Repo) Blob(id string) (content []byte, err error) {
	err = r.withBlob(id, func(size int64, from io.Reader) error {
		if size > MaxBlob {
			return fmt.Errorf("the file %s has %d bytes, more than the %d that are read", short(id), size, MaxBlob)
		}
		content = make([]byte, size)
		_, err := io.ReadFull(from, content)
		return err
	})
	if err != nil {
		return nil, err
	}
	return content, nil
}

// withBlob calls f with a blob's content. f need not read all of it.
func (r *Repo) withBlob(id string, f func(size int64, content io.Reader) error) error {
	if !isID(id) {
		return fmt.Errorf("%q is no object id", id)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life.Err() != nil {
		return fmt.Errorf("reading the object %s: the repository is closed: %w", short(id), r.life.Err())
	}
	if r.blobs == nil {
		var err error
		if r.blobs, err = r.startBatch(); err != nil {
			return err
		}
	}
	err := r.blobs.ask(id, f)
	var broken *brokenBatch
	if errors.As(err, &broken) {
		said := r.dropBatch()
		return r.explainBatch(id, broken, said)
	}
	return err
}

// explainBatch says why git ended under a question.
func (r *Repo) explainBatch(id string, broken *brokenBatch, said string) error {
	switch {
	case r.life.Err() != nil:
		return r.life.Err()
	case strings.Contains(said, "promisor remote"):
		return fmt.Errorf("the object %s is not in this partial clone (git clone --filter): run git fetch --refetch --no-filter, or clone without a filter", short(id))
	case said != "":
		return fmt.Errorf("reading the object %s: %w: %s", short(id), broken.err, said)
	}
	return fmt.Errorf("reading the object %s: %w", short(id), broken.err)
}

// batch is one long-lived git cat-file. Between questions its output is empty.
type batch struct {
	*call
	in  io.WriteCloser
	out *bufio.Reader
}

// brokenBatch says that the next question would not get its own answer.
type brokenBatch struct{ err error }

func (e *brokenBatch) Error() string { return e.err.Error() }
func (e *brokenBatch) Unwrap() error { return e.err }

func (r *Repo) startBatch() (*batch, error) {
	c := r.command(r.life, "cat-file", "--batch")
	c.Stderr = &c.said
	in, err := c.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting git cat-file: %w", err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting git cat-file: %w", err)
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("starting git cat-file: %w", err)
	}
	return &batch{c, in, bufio.NewReaderSize(out, 1<<16)}, nil
}

// dropBatch ends the process and returns what it said. The caller holds mu.
func (r *Repo) dropBatch() string {
	b := r.blobs
	if b == nil {
		return ""
	}
	r.blobs = nil
	b.in.Close()
	b.Process.Kill() // what it had to say is in the pipe by now
	b.Wait()
	return b.said.String()
}

// ask puts one question and has f read the answer. A *brokenBatch leaves the
// batch useless, any other error does not.
func (b *batch) ask(id string, f func(size int64, content io.Reader) error) error {
	if _, err := io.WriteString(b.in, id+"\n"); err != nil {
		return &brokenBatch{err}
	}
	header, err := b.out.ReadString('\n')
	if err != nil {
		return &brokenBatch{err}
	}
	fields := strings.Fields(header)
	if len(fields) != 3 {
		return fmt.Errorf("the object %s cannot be read (%s): the clone may be partial or damaged", short(id), strings.TrimSpace(header))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return &brokenBatch{err}
	}
	content := io.LimitReader(b.out, size)
	refused := fmt.Errorf("the object %s is a %s, not a file", short(id), fields[1])
	if fields[1] == "blob" {
		refused = f(size, content)
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return &brokenBatch{err}
	}
	if end, err := b.out.ReadByte(); err != nil || end != '\n' {
		return &brokenBatch{errors.Join(errors.New("the content ended early"), err)}
	}
	return refused
}
