//go:build unix

package ledger

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock waits for the only lock on the file. Closing the file, or dying, gives it
// back.
func lock(file *os.File) error {
	for {
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
