package braces

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sort"
	"strings"
)

// At lists the members that hold a place, the outermost first.
func (s *Source) At(offset int) []*Member {
	var path []*Member
	for level := s.Members; ; {
		i := slices.IndexFunc(level, func(m *Member) bool { return m.From <= offset && offset < m.To })
		if i < 0 {
			return path
		}
		path = append(path, level[i])
		level = level[i].Inside
	}
}

// Header is a member's text from its annotations to its body or its end, literals
// blanked.
func (s *Source) Header(m *Member) string {
	if m.Open > 0 {
		return string(s.Masked[m.Head : m.Open-1])
	}
	return string(s.Masked[m.Head:m.To])
}

// Doc is the text of the comments before a member.
func (s *Source) Doc(m *Member) string { return string(s.Text[m.Before:m.From]) }

// LineAt is the line, from 1, that holds an offset.
func (s *Source) LineAt(offset int) int {
	return sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > offset })
}

// Offset is the place of a line and a column, both from 1; -1 for a line that is
// not there.
func (s *Source) Offset(line, column int) int {
	if line < 1 || line > len(s.lines) {
		return -1
	}
	return min(s.lines[line-1]+max(0, column-1), max(0, len(s.Text)-1))
}

// Digest identifies a piece of the source.
func (s *Source) Digest(from, to int) string {
	sum := sha256.Sum256(s.Text[from:to])
	return hex.EncodeToString(sum[:])
}

// Without identifies the source but for some members: what they share.
func (s *Source) Without(members []*Member) string {
	rest := slices.Clone(s.Text)
	for _, m := range members {
		Spaces(rest[m.From:m.To])
	}
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(string(rest)), " ")))
	return hex.EncodeToString(sum[:])
}
