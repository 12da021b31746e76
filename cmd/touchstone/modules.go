package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/git"
)

// fetchModules has the go command put the modules that base's and head's go.mod
// name into its cache, since the states have no network. Only go.mod, go.sum
// and go.work are shown to it, and it runs no code of the repository; go.sum
// vouches for what comes. What cannot be fetched is no error here: the build
// that misses it says so, and the note says why.
func fetchModules(ctx context.Context, c *change) (notes []string) {
	base, head := moduleFiles(c.base), moduleFiles(c.head)
	var work sync.WaitGroup
	var mu sync.Mutex
	fetch := func(files map[string][]byte) {
		if err := download(ctx, files); err != nil && ctx.Err() == nil {
			mu.Lock()
			defer mu.Unlock()
			notes = append(notes, fmt.Sprintf("not every Go module could be fetched: %v", err))
		}
	}
	work.Go(func() { fetch(base) })
	if !maps.EqualFunc(base, head, bytes.Equal) {
		work.Go(func() { fetch(head) })
	}
	work.Wait()
	return notes
}

// moduleFiles are the files of a tree that name modules, where any needs one.
func moduleFiles(tree *git.Tree) map[string][]byte {
	files := make(map[string][]byte)
	needed := false
	for _, file := range tree.Paths() {
		switch path.Base(file) {
		case "go.mod", "go.sum", "go.work", "go.work.sum":
			if slices.ContainsFunc(strings.Split(file, "/"), func(part string) bool { return part == "testdata" || part == "vendor" }) {
				continue
			}
			if content, err := tree.ReadFile(file); err == nil {
				files[file] = content
				needed = needed || path.Base(file) == "go.mod" && bytes.Contains(content, []byte("require"))
			}
		}
	}
	if !needed {
		return nil
	}
	return files
}

// download lays the files out in a directory of its own and fetches for each
// module what it requires.
func download(ctx context.Context, files map[string][]byte) error {
	root, err := os.MkdirTemp("", "touchstone-modules-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	for name, content := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(full, content, 0o600); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Base(name) != "go.mod" || !bytes.Contains(files[name], []byte("require")) {
			continue
		}
		cmd := exec.CommandContext(ctx, "go", "mod", "download")
		cmd.Dir = filepath.Join(root, filepath.FromSlash(path.Dir(name)))
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go mod download for %s: %w: %s", name, err, strings.Join(strings.Fields(string(out)), " "))
		}
	}
	return nil
}

// hasGo tells whether any of the runners is for Go.
func hasGo(list []gate.Runner) bool {
	for _, r := range list {
		if r.Framework() == "gotest" {
			return true
		}
	}
	return false
}
