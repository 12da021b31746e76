package patchsplit

import "fmt"

// Status says what happened to a file.
type Status uint8

const (
	StatusUnknown Status = iota
	Added
	Modified // content, mode or both
	Deleted
	Renamed
	Copied
	TypeChanged // a file became a symbolic link, a submodule, or the reverse
)

var statusNames = [...]string{"unknown", "added", "modified", "deleted", "renamed", "copied", "type-changed"}

func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// FileChange is one changed file.
//
// Invariants: Path is never empty and is the old path of a deleted file;
// OldPath is set only for Renamed and Copied; OldMode is "" for Added and
// NewMode is "" for Deleted.
type FileChange struct {
	OldPath, Path    string // repository-relative, forward slashes
	Status           Status
	OldMode, NewMode string // as git writes them: "100644"; "" also when not known
	Binary           bool
}
