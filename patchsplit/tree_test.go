package patchsplit

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mapTree is a tree made of strings.
type mapTree map[string]string

func (t mapTree) ReadFile(path string) ([]byte, error) {
	text, ok := t[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func (t mapTree) Paths() []string { return slices.Sorted(maps.Keys(t)) }

// gitTree is a commit of a real repository, read through one git process.
type gitTree struct {
	rev   string
	paths []string
	in    io.WriteCloser
	out   *bufio.Reader
	reads int
}

func openGitTree(t *testing.T, repo, rev string) *gitTree {
	t.Helper()
	list, err := exec.Command("git", "-C", repo, "ls-tree", "-r", "-z", "--name-only", rev).Output()
	if err != nil {
		t.Fatalf("git ls-tree %s %s: %v", repo, rev, err)
	}
	cat := exec.Command("git", "-C", repo, "cat-file", "--batch")
	in, err := cat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cat.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cat.Wait() })
	paths := strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
	slices.Sort(paths)
	return &gitTree{rev: rev, paths: paths, in: in, out: bufio.NewReader(out)}
}

func (g *gitTree) Paths() []string { return g.paths }

func (g *gitTree) ReadFile(path string) ([]byte, error) {
	g.reads++
	fmt.Fprintf(g.in, "%s:%s\n", g.rev, path)
	head, err := g.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	var id, kind string
	var size int
	if _, err := fmt.Sscanf(head, "%s %s %d", &id, &kind, &size); err != nil {
		return nil, fs.ErrNotExist
	}
	data := make([]byte, size+1)
	_, err = io.ReadFull(g.out, data)
	return data[:size], err
}

func classifier(t *testing.T, rules Rules, base, head Tree) *Classifier {
	t.Helper()
	c, err := NewClassifier(rules, base, head)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
