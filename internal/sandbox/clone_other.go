//go:build !linux

package sandbox

import (
	"io/fs"
	"os"
	"time"
)

func shareBlocks(out, in *os.File) bool { return false }

// mark cannot tell here whether a file was changed, so clones are made anew.
type mark struct{}

const marksHold = false

func markOf(fs.FileInfo) mark { return mark{} }

func linkTime(string, time.Time) error { return nil }
