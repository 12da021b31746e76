package git

import (
	"context"
	"fmt"
	"path/filepath"
)

// Ignored lists what lies in the work tree and is ignored: files, and directories
// that hold nothing else, which end in a slash; what is in those may be listed too.
func (r *Repo) Ignored(ctx context.Context) (paths []string, err error) {
	index := filepath.Join(r.gitDir, "index")
	err = r.onWorkTree(ctx, index, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z").records(func(path string) error {
		paths = append(paths, path)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing ignored files: %w", err)
	}
	return paths, nil
}
