package rts

import (
	"path"
	"strings"
)

// History is what is known of earlier changes that broke rows. The zero value
// knows nothing. It orders rows and never selects or drops one.
type History struct {
	// Changed are the paths of the change that is ranked for.
	Changed []string
	// Past are earlier changes that broke something, the newest first.
	Past []Past
}

// Past is one earlier change that broke rows.
type Past struct {
	Failed []PastFailure
	Files  []string // that it changed; none when that is not known
}

// PastFailure is a row that failed: its id then, and the directory of its file.
type PastFailure struct{ ID, Dir string }

// What a past failure adds to the chance of another, as chances: of the row
// itself, of one whose change touched a file that changes now, and of a row of
// the same directory whose change did.
const (
	failedBefore   = 0.08
	failedWithFile = 0.3
	dirWithFile    = 0.03
	fades          = 20 // changes after which a failure counts for half
)

// missed is the chance that nothing of the past makes the row fail.
func (h *History) missed(row *Row) float64 {
	missed := 1.0
	for age, past := range h.Past {
		together := h.together(past)
		p := 0.0
		for _, failure := range past.Failed {
			switch {
			case failure.of(row) && together:
				p = max(p, failedWithFile)
			case failure.of(row):
				p = max(p, failedBefore)
			case together && failure.Dir != "" && failure.Dir == path.Dir(row.File):
				p = max(p, dirWithFile)
			}
		}
		missed *= 1 - p*fades/float64(fades+age)
	}
	return missed
}

// together tells whether an earlier change touched a file that changes now.
func (h *History) together(past Past) bool {
	for _, file := range past.Files {
		for _, changed := range h.Changed {
			if file == changed {
				return true
			}
		}
	}
	return false
}

// of tells whether the failure is a row's, or that of a part of it, or, for a
// row that stands for a whole unit, that of a row in it.
func (f PastFailure) of(row *Row) bool {
	switch {
	case f.ID == row.ID, strings.HasPrefix(f.ID, row.ID+"/"):
		return true
	case row.Whole:
		return strings.HasPrefix(f.ID, row.Unit+"::") || strings.HasPrefix(f.ID, row.Unit+" > ") || f.Dir != "" && f.Dir == row.Unit
	}
	return false
}
