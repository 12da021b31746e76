package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// cloneFile makes dst, which must not exist, a file with src's content, sharing
// its blocks where the file system can.
func cloneFile(dst, src string, perm fs.FileMode) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if !shareBlocks(out, in) {
		_, err = io.Copy(out, in)
	}
	return errors.Join(err, out.Chmod(perm), out.Close())
}
