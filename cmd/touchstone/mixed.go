package main

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"

	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// mixInto puts base's version of each mixed file, with only the test hunks or
// only the production hunks applied, into a state's tree. A mixed file that one
// side does not have stays as the tree has it: its tests come with the code
// they test.
func (s *states) mixInto(tree map[string]git.Entry, parts []patchsplit.FilePart, only patchsplit.Part) error {
	for _, part := range parts {
		path := pathOnBase(part)
		entry, onBase := s.change.base.Entry(path)
		if part.Part != patchsplit.Mixed || !onBase || part.Status == patchsplit.Deleted {
			continue
		}
		content, err := onlyPart(s.change, part, only)
		if err != nil {
			return fmt.Errorf("making %s with its %s hunks only: %w", path, only, err)
		}
		if only == patchsplit.Production {
			path = part.Path
			entry, _ = s.change.head.Entry(path)
		}
		entry.ID = blobID(entry.ID, content)
		s.made.Store(entry.ID, content)
		if err := os.WriteFile(filepath.Join(s.staging, entry.ID), content, 0o644); err != nil {
			return fmt.Errorf("making %s with its %s hunks only: %w", path, only, err)
		}
		tree[path] = entry
	}
	return nil
}

// onlyPart is base's version of a mixed file with the hunks of one part.
func onlyPart(c *change, part patchsplit.FilePart, only patchsplit.Part) ([]byte, error) {
	var old, new []byte
	var err error
	if _, onBase := c.base.Entry(pathOnBase(part)); onBase {
		if old, err = c.base.ReadFile(pathOnBase(part)); err != nil {
			return nil, err
		}
	}
	if part.Status != patchsplit.Deleted {
		if new, err = c.head.ReadFile(part.Path); err != nil {
			return nil, err
		}
	}
	return patchsplit.OnlyPart(old, new, part.Hunks, only)
}

// pathOnBase is the name that base knows the file by: a copy is new.
func pathOnBase(part patchsplit.FilePart) string {
	if part.Status == patchsplit.Renamed {
		return part.OldPath
	}
	return part.Path
}

// productionSides are the two versions of a file's production code, nil for one
// that does not exist or cannot be read.
func productionSides(c *change, part patchsplit.FilePart) (before, after []byte) {
	old := part.Path
	if part.OldPath != "" {
		old = part.OldPath
	}
	before, _ = c.base.ReadFile(old) // absent, a link, too large: declares nothing
	if part.Part == patchsplit.Mixed && part.Status != patchsplit.Deleted && part.Status != patchsplit.Copied {
		after, _ = onlyPart(c, part, patchsplit.Production)
		return before, after
	}
	after, _ = c.head.ReadFile(part.Path)
	return before, after
}

// blobID is the id that git gives a content, in the kind of the id next to it.
func blobID(like string, content []byte) string {
	var h hash.Hash = sha1.New() //nolint:gosec // git's own
	if len(like) == hex.EncodedLen(sha256.Size) {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}
