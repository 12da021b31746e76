package ledger

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock waits for the only lock on the file. Closing the file, or dying, gives it
// back. It covers a byte far behind the content, which Windows would otherwise
// keep readers from.
func lock(file *os.File) error {
	return windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
}
