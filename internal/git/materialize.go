package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// MaxMaterialized bounds one file that Materialize writes, in bytes.
const MaxMaterialized = 2 << 30

// Materialize writes blobs as files named by their id into dir. A file that is
// there is whole: it is left alone, and one that could not be finished is removed.
func (r *Repo) Materialize(ctx context.Context, ids []string, dir string) error {
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := filepath.Join(dir, id)
		if _, err := os.Lstat(name); err == nil {
			continue
		}
		if err := r.withBlob(id, func(size int64, content io.Reader) error { return writeWhole(name, size, content) }); err != nil {
			return fmt.Errorf("writing a file of the state: %w", err)
		}
	}
	return nil
}

func writeWhole(name string, size int64, content io.Reader) error {
	if size > MaxMaterialized {
		return fmt.Errorf("it has %d bytes, more than %d: refused", size, int64(MaxMaterialized))
	}
	part := name + ".part"
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	written, err := io.Copy(file, content)
	if err == nil && written != size {
		err = io.ErrUnexpectedEOF
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(part, name)
	}
	if err != nil {
		os.Remove(part)
	}
	return err
}
