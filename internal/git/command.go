package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// hardened are settings that outrank the repository's own: no hooks, no file
// monitor, no external programs, no configured presentation, and nothing that
// makes git write beside our own index and objects. Of the diff settings only
// those are here that reach git diff-tree, which is plumbing.
var hardened = []string{
	"core.fsmonitor=false",
	"core.hooksPath=/dev/null",
	"core.untrackedCache=false",
	"core.splitIndex=false", // a shared index would be written beside the user's
	"core.ignoreStat=false",
	"core.safecrlf=false",
	"core.looseCompression=1",
	"core.fsync=none",
	"core.pager=cat",
	"core.quotePath=true",
	"core.warnAmbiguousRefs=true",
	"diff.external=",
	"diff.suppressBlankEmpty=false",
	"diff.indentHeuristic=true",
	"diff.ignoreSubmodules=none",
	"submodule.recurse=false",
	"protocol.ext.allow=never",
	"gc.auto=0",
	"maintenance.auto=false",
	"advice.addEmbeddedRepo=false",
}

// userVariables are the GIT_ variables that say where the user's own settings
// and git's own programs are. All others place a repository, an index or a
// trace, as they do inside a hook, and are dropped.
var userVariables = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"}

// environment is ours without what places a repository, plus what keeps git
// from asking, fetching, replacing and translating.
func environment() []string {
	var env []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "GIT_") || slices.Contains(userVariables, name) {
			env = append(env, pair)
		}
	}
	return append(env,
		"LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_NO_LAZY_FETCH=1",     // git 2.45 and newer
		"GIT_ALLOW_PROTOCOL=none", // the same for older ones: no transport at all
	)
}

// call is one git command that is about to run.
type call struct {
	*exec.Cmd
	ctx  context.Context
	name string // the subcommand, for errors
	said words  // standard error
}

// probe is a call that looks for the repository from dir upwards.
func probe(ctx context.Context, dir string, args ...string) *call {
	full := []string{"--no-pager"}
	for _, setting := range hardened {
		full = append(full, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, "git", append(full, args...)...)
	cmd.Dir = dir
	cmd.Env = environment()
	cmd.WaitDelay = 2 * time.Second // for children that hold git's output open
	return &call{Cmd: cmd, ctx: ctx, name: args[0]}
}

// command is a call on objects and refs. It sees neither the work tree nor the
// index, so no .gitattributes file of the change steers what it prints.
func (r *Repo) command(ctx context.Context, args ...string) *call {
	empty := filepath.Join(r.scratch, "empty")
	c := r.placed(ctx, empty, filepath.Join(r.scratch, "no-index"), args...)
	c.Env = append(c.Env, "GIT_ATTR_NOSYSTEM=1")
	c.Env = append(c.Env, configured([][2]string{{"core.attributesFile", os.DevNull}})...)
	return c
}

// onWorkTree is a call on the work tree and an index of ours.
func (r *Repo) onWorkTree(ctx context.Context, index string, args ...string) *call {
	return r.placed(ctx, r.root, index, args...)
}

// placed is a call on the repository that Open found, wherever a .git file or
// directory may point to by now.
func (r *Repo) placed(ctx context.Context, workTree, index string, args ...string) *call {
	c := probe(ctx, workTree, args...)
	c.Env = append(c.Env,
		"GIT_DIR="+r.gitDir,
		"GIT_WORK_TREE="+workTree,
		"GIT_INDEX_FILE="+index,
		"GIT_GRAFT_FILE="+filepath.Join(r.scratch, "no-grafts"),
		"GIT_OBJECT_DIRECTORY="+filepath.Join(r.scratch, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+quoteAlternate(r.objects),
	)
	return c
}

// quoteAlternate writes a path so that git does not split it at a colon.
func quoteAlternate(path string) string {
	if !strings.ContainsAny(path, ":;\"\\\n") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// maxRecord bounds one record of git's output, in bytes.
const maxRecord = 64 << 10

// stream runs git and has read read what it prints, to the end or to an error;
// an error of read ends git.
func (c *call) stream(read func(io.Reader) error) error {
	c.Stderr = &c.said
	out, err := c.StdoutPipe()
	if err != nil {
		return fmt.Errorf("starting git %s: %w", c.name, err)
	}
	if err := c.Start(); err != nil {
		return &commandError{what: c.name, err: err}
	}
	refused := read(out)
	if refused != nil {
		c.Process.Kill()
	}
	ended := c.Wait()
	switch {
	case c.ctx.Err() != nil:
		return &commandError{what: c.name, err: c.ctx.Err()}
	case refused != nil:
		return refused
	case ended != nil:
		return &commandError{what: c.name, err: ended, words: c.said.String()}
	}
	return nil
}

// output returns what git printed, up to limit bytes.
func (c *call) output(limit int64) (printed []byte, err error) {
	err = c.stream(func(out io.Reader) error {
		if printed, err = io.ReadAll(io.LimitReader(out, limit+1)); err == nil && int64(len(printed)) > limit {
			err = fmt.Errorf("git %s printed more than %d bytes: refused", c.name, limit)
		}
		return err
	})
	return printed, err
}

// line returns what git printed without the last line feed.
func (c *call) line() (string, error) {
	out, err := c.output(1 << 20)
	return strings.TrimSuffix(string(out), "\n"), err
}

// records calls f with each NUL-ended record that git prints.
func (c *call) records(f func(record string) error) error {
	return c.stream(func(out io.Reader) error {
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, maxRecord)
		scanner.Split(untilNUL)
		for scanner.Scan() {
			if err := f(scanner.Text()); err != nil {
				return err
			}
		}
		if errors.Is(scanner.Err(), bufio.ErrTooLong) {
			return fmt.Errorf("git %s printed a record of more than %d bytes: refused", c.name, maxRecord)
		}
		return scanner.Err()
	})
}

func untilNUL(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}

// commandError is a failed git call.
type commandError struct {
	what  string
	err   error
	words string
}

func (e *commandError) Error() string {
	if e.words == "" {
		return fmt.Sprintf("git %s: %v", e.what, e.err)
	}
	return fmt.Sprintf("git %s: %s", e.what, e.words)
}

func (e *commandError) Unwrap() error { return e.err }

// status is git's exit status, -1 when it did not exit by itself.
func status(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}
