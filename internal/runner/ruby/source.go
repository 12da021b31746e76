package ruby

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// source is a test file's lines, with those that belong to rows.
type source struct {
	lines []string
	rows  [][2]int
}

// row describes a row: its source's digest is that of its lines; what its file
// has besides rows is filled in when all are known.
func (s *session) row(r record) gate.Row {
	row := gate.Row{ID: r.ID, Runner: s.Name(), Name: r.Name, Unit: r.Unit, File: r.File, Line: r.Line, End: r.End}
	src := s.sources[r.File]
	if src == nil {
		src = &source{}
		if text, err := s.state.Tree().ReadFile(r.File); err == nil {
			src.lines = strings.SplitAfter(string(text), "\n")
		}
		s.sources[r.File] = src
	}
	if r.Line < 1 || r.End < r.Line || r.End > len(src.lines) {
		return row
	}
	if at := [2]int{r.Line, r.End}; !slices.Contains(src.rows, at) {
		src.rows = append(src.rows, at)
	}
	row.Digest = digest(strings.Join(src.lines[r.Line-1:r.End], ""))
	return row
}

// context identifies what a file has besides rows.
func (s *source) context() string {
	if s == nil || len(s.rows) == 0 {
		return ""
	}
	rest := slices.Clone(s.lines)
	for _, at := range s.rows {
		clear(rest[at[0]-1 : at[1]])
	}
	return digest(strings.Join(strings.Fields(strings.Join(rest, "")), " "))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
