package patchsplit

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	"unsafe"
)

// minRead is how many bytes of a file are worth a goroutine to read them.
const minRead = 256 << 10

// readAll reads a diff up to the limit. What a reader knows of its own size
// spares growing by doubling.
func readAll(r io.Reader) (string, error) {
	size := min(sizeOf(r), maxBytes)
	text := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if file, ok := r.(seekable); ok && readAhead(file, text.AvailableBuffer()[:size]) {
		text.Write(text.AvailableBuffer()[:size])
	}
	if _, err := text.ReadFrom(io.LimitReader(r, int64(maxBytes+1-text.Len()))); err != nil {
		return "", err
	}
	if text.Len() > maxBytes {
		return "", fmt.Errorf("it is larger than the limit of %d bytes", maxBytes)
	}
	data := text.Bytes()
	return unsafe.String(unsafe.SliceData(data), len(data)), nil // nobody writes to them any more
}

// sizeOf is how many bytes a reader says that it holds, 0 when it does not.
func sizeOf(r io.Reader) int {
	switch sized := r.(type) {
	case interface{ Len() int }:
		return sized.Len()
	case fs.File:
		if info, err := sized.Stat(); err == nil && info.Mode().IsRegular() {
			return int(info.Size())
		}
	}
	return 0
}

// seekable is what a file on disk can do.
type seekable interface {
	io.ReaderAt
	io.Seeker
}

// readAhead fills a buffer from where a file stands, in pieces, and goes on to
// what follows. Where that fails the file stays, for reading it in order to say why.
func readAhead(file seekable, into []byte) bool {
	pieces := pieceCount(len(into), minRead)
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil || pieces == 1 {
		return false
	}
	var short atomic.Bool
	sideBySide(pieces, func(piece int) {
		from, to := piece*len(into)/pieces, (piece+1)*len(into)/pieces
		if n, _ := file.ReadAt(into[from:to], at+int64(from)); n < to-from {
			short.Store(true)
		}
	})
	if short.Load() {
		return false
	}
	_, err = file.Seek(at+int64(len(into)), io.SeekStart)
	return err == nil
}
