package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// chunk is how much of a ledger is read at a time, in bytes. A line is shorter.
const chunk = 1 << 20

// File is a ledger in a file of JSON lines. Writers take turns by a lock on it.
type File struct{ path string }

// OpenFile takes a ledger's path. The file is made by the first append.
func OpenFile(path string) *File { return &File{path} }

// Close does nothing: between calls nothing is held.
func (*File) Close() error { return nil }

// Append implements Store. It reads the whole file for ids that are there already.
// What a killed writer left unfinished at the end is cut off first.
func (s *File) Append(ctx context.Context, records []audit.Record) (added int, err error) {
	file, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return 0, fmt.Errorf("opening the ledger: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := lock(file); err != nil {
		return 0, fmt.Errorf("locking the ledger %s: %w", s.path, err)
	}
	last, end, known, err := s.survey(ctx, file, records)
	if err != nil {
		return 0, err
	}
	at, err := tipOf(last)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", s.path, err)
	}
	lines, err := at.seal(records, known)
	if err != nil || len(lines) == 0 {
		return 0, err
	}
	if err := file.Truncate(end); err != nil {
		return 0, fmt.Errorf("cutting an unfinished record off the ledger %s: %w", s.path, err)
	}
	if _, err = file.WriteAt(bytes.Join(lines, nil), end); err == nil {
		err = file.Sync()
	}
	if err != nil {
		err = errors.Join(err, file.Truncate(end))
		return 0, fmt.Errorf("writing to the ledger %s: %w", s.path, err)
	}
	return len(lines), nil
}

// survey finds the last whole line, where it ends, and which of the records are
// there already.
func (s *File) survey(ctx context.Context, file *os.File, records []audit.Record) (last []byte, end int64, known map[string]bool, err error) {
	known = make(map[string]bool)
	err = chunks(ctx, file, func(lines []byte) error {
		end += int64(len(lines))
		for _, r := range records {
			if !known[r.ID] && bytes.Contains(lines, idNeedle(r.ID)) {
				known[r.ID] = true
			}
		}
		body := lines[:len(lines)-1]
		last = append(last[:0], body[bytes.LastIndexByte(body, '\n')+1:]...)
		return nil
	})
	if err != nil {
		err = fmt.Errorf("reading the ledger %s: %w", s.path, err)
	}
	return last, end, known, err
}

// Lines implements Store. A ledger that does not exist yet has none; an
// unfinished record at the end is no line.
func (s *File) Lines(ctx context.Context, f func(line []byte) error) error {
	return s.Chunks(ctx, func(lines []byte) error {
		_, err := eachLine(lines, f)
		return err
	})
}

// Chunks calls f with runs of whole lines, in order, each ending in a line end.
func (s *File) Chunks(ctx context.Context, f func(lines []byte) error) error {
	file, err := os.Open(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening the ledger: %w", err)
	}
	defer file.Close()
	return chunks(ctx, file, f)
}

// chunks reads whole lines, about a chunk at a time, into a buffer that f must
// not keep.
func chunks(ctx context.Context, from io.Reader, f func(lines []byte) error) error {
	buffer := make([]byte, 0, 2*chunk)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if cap(buffer)-len(buffer) < chunk/2 {
			return fmt.Errorf("a line of more than %d bytes is no record", chunk)
		}
		n, err := from.Read(buffer[len(buffer):min(cap(buffer), len(buffer)+chunk)])
		buffer = buffer[:len(buffer)+n]
		if cut := bytes.LastIndexByte(buffer, '\n') + 1; cut > 0 {
			if err := f(buffer[:cut]); err != nil {
				return err
			}
			buffer = append(buffer[:0], buffer[cut:]...)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
