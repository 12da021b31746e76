package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/tools/txtar"

	"github.com/touchstone-gate/touchstone/internal/report"
)

//go:embed demo/*.txtar
var demoFiles embed.FS

func (a *App) demoCommand() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:     "demo",
		Short:   "Check three small pull requests that are embedded in the binary (needs only git and go)",
		Example: "  touchstone demo",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the repositories on disk and say where")
	return cmd
}

// demoPR is one embedded pull request.
type demoPR struct {
	title, want, about string
	files              []txtar.File
}

func readDemo() ([]demoPR, error) {
	entries, err := demoFiles.ReadDir("demo")
	if err != nil {
		return nil, err
	}
	var prs []demoPR
	for _, entry := range entries {
		content, err := demoFiles.ReadFile("demo/" + entry.Name())
		if err != nil {
			return nil, err
		}
		archive := txtar.Parse(content)
		lines := strings.SplitN(strings.TrimSpace(string(archive.Comment)), "\n", 3)
		if len(lines) != 3 {
			return nil, fmt.Errorf("demo/%s: its comment has %d lines, not a title, a want: line and a text", entry.Name(), len(lines))
		}
		prs = append(prs, demoPR{lines[0], strings.TrimPrefix(lines[1], "want: "), lines[2], archive.Files})
	}
	return prs, nil
}

// demo plays each pull request in a repository of its own and prints the report
// that its maintainer would see. Its exit status is about the demo, not about
// the pull requests: two of them are meant to fail.
func (a *App) demo(ctx context.Context, keep bool) error {
	for _, tool := range []string{"git", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			return undecided(fmt.Errorf("the demo needs %s, which is not in PATH", tool))
		}
	}
	prs, err := readDemo()
	if err != nil {
		return undecided(err)
	}
	width := a.reportOptions(printOptions{}).Width
	for i, pr := range prs {
		fmt.Fprintf(a.Stdout, "━━━ Pull request %d of %d: %s\n%s\n", i+1, len(prs), pr.title, report.Wrap("    ", pr.about, width))
		if err := a.playDemo(ctx, pr, keep); err != nil {
			return err
		}
		fmt.Fprintln(a.Stdout)
	}
	fmt.Fprint(a.Stdout, report.Wrap("", "Run 'touchstone check' inside a repository of yours: it judges your uncommitted work against the default branch.", width))
	return nil
}

func (a *App) playDemo(ctx context.Context, pr demoPR, keep bool) error {
	dir, err := os.MkdirTemp("", "touchstone-demo-")
	if err != nil {
		return undecided(err)
	}
	if keep {
		fmt.Fprintf(a.Stdout, "    (in %s)\n\n", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	if err := buildDemo(ctx, dir, pr); err != nil {
		return undecided(fmt.Errorf("building the demo repository: %w", err))
	}
	progress := a.progress(printOptions{})
	result, err := a.examine(ctx, checkOptions{repo: dir, base: "HEAD~1", head: "HEAD", runOptions: runOptions{jobs: runtime.NumCPU(), full: "always"}}, progress)
	progress.Close()
	if err != nil {
		return err
	}
	if err := report.Write(a.Stdout, "text", result, a.reportOptions(printOptions{})); err != nil {
		return undecided(err)
	}
	if got := result.Verdict.Conclusion.String(); got != pr.want {
		return undecided(fmt.Errorf("the demo was meant to end with %s and ended with %s: please report this, with the text above", pr.want, got))
	}
	return nil
}

// buildDemo makes a repository of two commits: base, and head on top of it.
func buildDemo(ctx context.Context, dir string, pr demoPR) error {
	git := func(args ...string) error {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "-c", "user.name=Demo", "-c", "user.email=demo@example.com", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return errors.Join(err, errors.New(strings.TrimSpace(string(out))))
		}
		return nil
	}
	if err := git("init", "-q"); err != nil {
		return err
	}
	for _, side := range []struct{ prefix, subject string }{{"base/", "chore: the state before"}, {"head/", pr.title}} {
		for _, file := range pr.files {
			name, ok := strings.CutPrefix(file.Name, side.prefix)
			if !ok {
				continue
			}
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, file.Data, 0o644); err != nil {
				return err
			}
		}
		if err := errors.Join(git("add", "-A"), git("commit", "-q", "-m", side.subject)); err != nil {
			return err
		}
	}
	return nil
}
