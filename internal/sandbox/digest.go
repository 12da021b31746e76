package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// digestFiles is [State.Digest] for the tree at root. Links that lead out of
// the tree are not followed: what lies there is not part of the state.
func digestFiles(root string, paths []string) (map[string]string, error) {
	tree, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	digests := make(map[string]string, len(paths))
	for _, path := range paths {
		digests[path], err = digestFile(tree, filepath.FromSlash(path))
		if err != nil {
			return nil, err
		}
	}
	return digests, nil
}

func digestFile(tree *os.Root, path string) (string, error) {
	info, err := tree.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "", nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := tree.Readlink(path)
		return "link:" + target, err
	case !info.Mode().IsRegular():
		return "", nil
	}
	f, err := tree.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}
