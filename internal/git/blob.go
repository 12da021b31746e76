package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// batch is one long-lived git cat-file.
type batch struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (r *Repo) startBatch() (*batch, error) {
	cmd := r.command(context.Background(), "cat-file", "--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting git cat-file: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting git cat-file: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting git cat-file: %w", err)
	}
	return &batch{cmd, in, bufio.NewReaderSize(out, 1<<16)}, nil
}

func (b *batch) close() {
	b.in.Close()
	b.cmd.Wait()
}

// open asks for a blob and returns its size; exactly size bytes and a line feed
// are then to be read from b.out.
func (b *batch) open(id string) (int64, error) {
	if _, err := io.WriteString(b.in, id+"\n"); err != nil {
		return 0, fmt.Errorf("asking git for %s: %w", short(id), err)
	}
	header, err := b.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("git ended before it gave %s: %w", short(id), err)
	}
	fields := strings.Fields(header)
	if len(fields) != 3 || fields[1] != "blob" {
		return 0, fmt.Errorf("the object %s cannot be read as a file (%s): the clone may be partial or damaged", short(id), strings.TrimSpace(header))
	}
	return strconv.ParseInt(fields[2], 10, 64)
}

// withBlob calls f with a blob's content. f need not read all of it.
func (r *Repo) withBlob(id string, f func(size int64, content io.Reader) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errors.New("the repository is closed")
	}
	if r.blobs == nil {
		var err error
		if r.blobs, err = r.startBatch(); err != nil {
			return err
		}
	}
	size, err := r.blobs.open(id)
	if err != nil {
		return err
	}
	content := io.LimitReader(r.blobs.out, size)
	failed := f(size, content)
	if _, err := io.Copy(io.Discard, content); err != nil {
		return fmt.Errorf("reading %s: %w", short(id), err)
	}
	if _, err := r.blobs.out.Discard(1); err != nil {
		return fmt.Errorf("reading %s: %w", short(id), err)
	}
	return failed
}

// Blob returns a blob's content.
func (r *Repo) Blob(id string) (content []byte, err error) {
	err = r.withBlob(id, func(size int64, from io.Reader) error {
		if size > MaxBlob {
			return fmt.Errorf("the file %s has %d bytes, more than the %d that are read", short(id), size, MaxBlob)
		}
		content, err = io.ReadAll(from)
		return err
	})
	return content, err
}

// Materialize writes blobs as files named by their id into dir. Files that are
// there already are left alone.
func (r *Repo) Materialize(ctx context.Context, ids []string, dir string) error {
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := filepath.Join(dir, id)
		if _, err := os.Lstat(name); err == nil {
			continue
		}
		err := r.withBlob(id, func(_ int64, content io.Reader) error {
			file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if err != nil {
				return err
			}
			if _, err := io.Copy(file, content); err != nil {
				file.Close()
				return err
			}
			return file.Close()
		})
		if err != nil {
			return fmt.Errorf("writing a file of the state: %w", err)
		}
	}
	return nil
}
