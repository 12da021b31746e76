// Package console is what runners share of talking with tools through a shell:
// words quoted for it, and what a tool prints read line by line in bounded memory.
package console

import (
	"bytes"
	"io"
	"strings"
)

// Lines is a writer that calls Take for each line written to it, without its
// end. What is longer than 1 MiB is cut.
type Lines struct {
	Take   func(line string)
	buffer []byte
}

const maxLine = 1 << 20

var _ io.Writer = (*Lines)(nil)

func (w *Lines) Write(p []byte) (int, error) {
	size := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			w.add(p)
			return size, nil
		}
		w.add(p[:i])
		w.Take(string(bytes.TrimSuffix(w.buffer, []byte{'\r'})))
		w.buffer, p = w.buffer[:0], p[i+1:]
	}
}

func (w *Lines) add(p []byte) {
	w.buffer = append(w.buffer, p[:min(len(p), max(0, maxLine-len(w.buffer)))]...)
}

// End takes a last line without an end.
func (w *Lines) End() {
	if len(w.buffer) > 0 {
		w.Take(string(w.buffer))
		w.buffer = nil
	}
}

// Quote makes a word for the shell.
func Quote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Shell makes a command for the shell.
func Shell(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Quote(word)
	}
	return strings.Join(quoted, " ")
}
