package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Ref is one ref of our own, on which files are published commit by commit. It is
// the only thing in a repository that this package writes: objects, and this
// ref, here or at a remote. Use it in trusted jobs only, where the repository's
// configuration names the credentials.
type Ref struct {
	repo   *Repo
	name   string
	remote string      // "" for a ref that lives in this repository
	local  string      // the ref here: of a remote's, where it is fetched to, beside one of our own
	token  [][2]string // settings that send a token to its own server
}

// Ref takes the ref's full name, and the remote (a name or an address) on which it
// lives, or "". A token in credentials is sent to its own server only.
func (r *Repo) Ref(name, remote string, credentials Credentials) (*Ref, error) {
	if !strings.HasPrefix(name, "refs/touchstone/") || strings.ContainsAny(name, " ~^:?*[\\\x00\n") || strings.Contains(name, "..") {
		return nil, fmt.Errorf("%q is not a ref of ours: use one below refs/touchstone/", name)
	}
	if strings.HasPrefix(remote, "-") {
		return nil, fmt.Errorf("%q is not the name of a remote", remote)
	}
	f := &Ref{repo: r, name: name, remote: remote, local: name}
	if remote != "" {
		sum := sha256.Sum256([]byte(remote))
		f.local = "refs/touchstone/fetched/" + hex.EncodeToString(sum[:6])
	}
	if header, ok := credentials.header(); ok && strings.Contains(remote, "://") {
		f.token = [][2]string{header}
	}
	return f, nil
}

// writing is a call that may write objects to the repository, flushed to disk,
// and talk to a remote.
func (f *Ref) writing(ctx context.Context, args ...string) *call {
	c := f.repo.command(ctx, args...)
	c.Env = append(c.Env,
		"GIT_OBJECT_DIRECTORY="+f.repo.objects,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=",
		"GIT_ALLOW_PROTOCOL=file:git:http:https:ssh",
	)
	if len(f.token) > 0 {
		c.Env = append(c.Env, configured(append([][2]string{{"core.attributesFile", os.DevNull}}, f.token...))...)
	}
	for i, arg := range c.Args {
		if arg == "core.fsync=none" {
			c.Args[i] = "core.fsync=committed"
		}
	}
	return c
}

// Tip is the newest published commit, "" when there is none. From a remote it is
// fetched, with its history only if this clone has all of its own.
func (f *Ref) Tip(ctx context.Context) (commit string, err error) {
	if f.remote != "" {
		found, err := f.fetch(ctx)
		if err != nil || !found {
			return "", err
		}
	}
	commit, err = f.repo.command(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", f.local+"^{commit}").line()
	if status(err) == 1 {
		return "", nil
	}
	return commit, err
}

// fetch brings the ref here. Another process may do the same at the same time.
func (f *Ref) fetch(ctx context.Context) (found bool, err error) {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"}
	if f.repo.IsShallow(ctx) {
		args = append(args, "--depth=1")
	}
	args = append(args, "--", f.remote, "+"+f.name+":"+f.local)
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		_, err = f.writing(ctx, args...).output(1 << 20)
		switch {
		case err == nil:
			return true, nil
		case strings.Contains(err.Error(), "find remote ref"):
			return false, nil
		case !contended(err.Error()) || time.Since(began) > 2*shallowStaleAfter:
			return false, fmt.Errorf("fetching %s from %s: %w", f.name, f.remote, err)
		}
		f.clearStaleLocks()
	}
}

// contended holds for what git says when another process holds or moved a ref.
func contended(said string) bool {
	for _, words := range []string{"cannot lock ref", "Unable to create", "failed to update ref", "failed to lock", "shallow file has changed", "reference already exists", "but expected", "incorrect old value"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// Files gives the blob id of every path of a commit.
func (f *Ref) Files(ctx context.Context, commit string) (map[string]string, error) {
	files := make(map[string]string)
	err := f.repo.command(ctx, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit).records(func(record string) error {
		entry, err := parseEntry(record)
		if err == nil {
			files[entry.Path] = entry.ID
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", short(commit), err)
	}
	return files, nil
}

// Blob returns a blob's content.
func (f *Ref) Blob(id string) ([]byte, error) { return f.repo.Blob(id) }

// Publish makes a commit on parent ("" for the first), in which files have new
// content, and moves the ref to it. It returns false, and the ref has not moved,
// when it is not at parent any more.
func (f *Ref) Publish(ctx context.Context, parent string, files map[string][]byte, message string) (bool, error) {
	commit, err := f.commit(ctx, parent, files, message)
	if err != nil {
		return false, fmt.Errorf("making a commit for %s: %w", f.name, err)
	}
	if f.remote != "" {
		return f.push(ctx, commit)
	}
	old := parent
	if old == "" {
		old = strings.Repeat("0", len(commit))
	}
	_, err = f.writing(ctx, "update-ref", f.name, commit, old).output(1 << 20)
	if err != nil && contended(err.Error()) {
		f.clearStaleLocks()
		return false, nil
	}
	return err == nil, err
}

// commit writes the objects in one call of git fast-import. The branch that it
// needs is forgotten at the end, so no ref moves.
func (f *Ref) commit(ctx context.Context, parent string, files map[string][]byte, message string) (string, error) {
	const scratch = "refs/touchstone/scratch"
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit %s\nmark :1\ncommitter Touchstone <touchstone@localhost> %d +0000\ndata %d\n%s\n", scratch, time.Now().Unix(), len(message), message)
	if parent != "" {
		fmt.Fprintf(&in, "from %s\n", parent)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := checkPath(path); err != nil || strings.ContainsAny(path, "\"\\\n") {
			return "", errors.Join(fmt.Errorf("the path %q cannot be written", path), err)
		}
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n", path, len(files[path]))
		in.Write(files[path])
		in.WriteByte('\n')
	}
	fmt.Fprintf(&in, "\nget-mark :1\nreset %s\nfrom %s\n\ndone\n", scratch, strings.Repeat("0", 40))
	call := f.writing(ctx, "fast-import", "--quiet", "--done", "--date-format=raw")
	call.Stdin = &in
	id, err := call.line()
	if err == nil && !isID(id) {
		err = fmt.Errorf("git fast-import printed %q, which is no commit id", id)
	}
	return id, err
}

// push moves the remote's ref, never against its history.
func (f *Ref) push(ctx context.Context, commit string) (bool, error) {
	var out string
	call := f.writing(ctx, "push", "--porcelain", "--no-verify", "--recurse-submodules=no", "--", f.remote, commit+":"+f.name)
	err := call.stream(func(from io.Reader) error {
		printed, err := io.ReadAll(io.LimitReader(from, 1<<20))
		out = string(printed)
		return err
	})
	if err == nil {
		return true, nil
	}
	for _, line := range strings.Split(out, "\n") {
		if !strings.HasPrefix(line, "!") {
			continue
		}
		if contended(line) || strings.Contains(line, "[rejected]") {
			return false, nil
		}
		return false, fmt.Errorf("pushing %s to %s: %s (the token needs contents: write)", f.name, f.remote, strings.Join(strings.Fields(line[1:]), " "))
	}
	return false, fmt.Errorf("pushing %s to %s: %w", f.name, f.remote, err)
}

// LockPath is a file in the repository's own directory by which writers of the ref
// can take turns.
func (f *Ref) LockPath() string {
	return filepath.Join(filepath.Dir(f.repo.objects), "touchstone-writer.lock")
}

// Far longer than git holds the lock of a ref, and that of the list of a shallow
// clone's ends, which it may hold while it downloads.
const (
	staleAfter        = 2 * time.Second
	shallowStaleAfter = 30 * time.Second
)

// clearStaleLocks removes the locks that a killed git left on our ref and on the
// list of a shallow clone's ends.
func (f *Ref) clearStaleLocks() {
	dir := filepath.Dir(f.repo.objects)
	for path, after := range map[string]time.Duration{
		filepath.Join(dir, filepath.FromSlash(f.local)+".lock"): staleAfter,
		filepath.Join(dir, "shallow.lock"):                      shallowStaleAfter,
	} {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > after {
			os.Remove(path)
		}
	}
}
