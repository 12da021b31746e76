package patchsplit

import "fmt"

// Part says what a change is for. The zero value is undecided.
type Part uint8

const (
	Undecided Part = iota
	Production
	Test
	Neutral // nothing that runs, or only outside the tests' sight
	Mixed   // production and test code in one file; the hunks tell which is which
)

var partNames = [...]string{"", "production", "test", "neutral", "mixed"}

func (p Part) String() string {
	if int(p) < len(partNames) {
		return partNames[p]
	}
	return fmt.Sprintf("part(%d)", uint8(p))
}

// MarshalText makes a Part its name in report.json; an undecided one has none.
func (p Part) MarshalText() ([]byte, error) {
	if p == Undecided || int(p) >= len(partNames) {
		return nil, fmt.Errorf("writing a part: %d is not one", uint8(p))
	}
	return []byte(partNames[p]), nil
}

// UnmarshalText accepts only the names of report.json.
func (p *Part) UnmarshalText(text []byte) error {
	for i, name := range partNames[1:] {
		if name == string(text) {
			*p = Part(i + 1)
			return nil
		}
	}
	return fmt.Errorf("reading a part: %q is not production, test, neutral or mixed", text)
}

// Classes say more about a file than its part does: what a reader of the report
// should look at twice, or may skip.
const (
	ClassTestConfig = "test-config" // it can change which tests run, and how
	ClassGenerated  = "generated"
	ClassVendored   = "vendored"
	ClassLock       = "lock"    // pins dependencies
	ClassSupport    = "support" // helper or data, placed by who uses it
	ClassDocs       = "docs"
)

// Decision is a file's part with the reason for it.
type Decision struct {
	Part  Part
	Why   string // in words: "matches test glob tests/**"
	Class string // one of the Class constants, or ""
}

// Hunk is a run of changed lines and its part, counted as in a unified diff.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Part               Part
}

// FilePart is one change and where it went.
type FilePart struct {
	FileChange
	Decision
	Hunks []Hunk // only for Mixed
}
