package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// splitOptions are the flags and the argument of split.
type splitOptions struct {
	repo, base, head string
	config           string
	outputDir        string
	part             string // whose patch to print, "" for the table
	explain          []string
	diff             string // a file, "-" for standard input, "" for two revisions
	writeOptions
}

func (a *App) splitCommand() *cobra.Command {
	var o splitOptions
	cmd := &cobra.Command{
		Use:   "split [DIFF | -]",
		Short: "Put each change of a diff into its part: production, test, neutral",
		Long: "Split says of each changed file, and of each hunk of files that hold both, whether it is production code,\n" +
			"test code or neither, and why. It compares two revisions, or reads a diff from a file or from standard\n" +
			"input. Configuration and other evidence are read from base; for a diff, that is HEAD unless --base names\n" +
			"another commit. Outside a repository names alone decide.",
		Example: "  touchstone split                                # the work tree against the default branch\n" +
			"  touchstone split --base v1.2 --head HEAD --output-dir parts\n" +
			"  git diff | touchstone split -\n" +
			"  touchstone split --part test | git -C ../base apply\n" +
			"  touchstone split --explain tests/helpers.py",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.diff = args[0]
			}
			return a.split(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.repo, "repo", ".", "directory of the repository")
	flags.StringVar(&o.base, "base", "", "commit to compare with (default: the merge base with the default branch); with a diff: the commit it applies to (default: HEAD)")
	flags.StringVar(&o.head, "head", "", "commit to split (default: the work tree, uncommitted work included)")
	flags.StringVar(&o.config, "config", "", "configuration file (default: "+config.Path+" of the base commit)")
	o.writeOptions.add(flags, "text", "json")
	flags.StringVar(&o.outputDir, "output-dir", "", "write production.patch, test.patch and neutral.patch into this directory")
	flags.StringVar(&o.part, "part", "", "print the patch of one part in place of the table: "+strings.Join(partNames[:], ", "))
	flags.StringArrayVar(&o.explain, "explain", nil, "say which rules were asked about a path, changed or not (repeatable)")
	return cmd
}

// division is what split found out.
type division struct {
	base, head     string // commits, "" when not known
	kind, evidence string
	parts          []patchsplit.FilePart
	classifier     *patchsplit.Classifier
	patch          *patchsplit.Patch
}

func (a *App) split(ctx context.Context, o splitOptions) error {
	switch {
	case o.diff != "" && o.head != "":
		return &exit{exitUsage, errors.New("--head: a diff already says what head is; name the commit that it applies to by --base")}
	}
	if err := o.writeOptions.check(); err != nil {
		return &exit{exitUsage, err}
	}
	if o.part != "" && !slices.Contains(partNames[:], o.part) {
		return &exit{exitUsage, fmt.Errorf("--part: %q is not one of %s", o.part, strings.Join(partNames[:], ", "))}
	}
	divide := a.divideRevisions
	if o.diff != "" {
		divide = a.divideDiff
	}
	d, err := divide(ctx, o)
	if err != nil {
		return err
	}
	written := func() error { return nil }
	if o.outputDir != "" {
		written = d.writePatches(o.outputDir)
	}
	printed := o.write(a.Stdout, func(w io.Writer, format string) error {
		if o.part != "" && w == a.Stdout {
			return printPatch(w, d.patches()[slices.Index(partNames[:], o.part)])
		}
		if format == "json" {
			return d.writeJSON(w, o.explain)
		}
		return d.writeText(w, o.explain)
	})
	if err := written(); err != nil {
		return undecided(err)
	}
	return printed
}

// divideRevisions splits the change between two commits, or up to the work tree.
func (a *App) divideRevisions(ctx context.Context, o splitOptions) (*division, error) {
	repo, err := git.Open(ctx, o.repo)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	defer repo.Close()
	c, err := readChange(ctx, repo, o.base, o.head)
	if errors.Is(err, errNothing) && len(o.explain) > 0 {
		c, err = readChange(ctx, repo, "HEAD", o.head) // a path can be asked about without a change
	}
	if err != nil {
		return nil, err
	}
	classifier, err := c.classifierFrom(o.config)
	if err != nil {
		return nil, err
	}
	d := &division{base: c.info.Base, head: c.info.Head, classifier: classifier}
	d.parts = patchsplit.Split(c.fileChanges(), classifier)
	d.kind, d.evidence = kindOf(c, d.parts)
	if o.outputDir == "" && o.part == "" {
		return d, nil
	}
	text, err := repo.Patch(ctx, c.baseTree, c.headTree)
	if err != nil {
		return nil, undecided(err)
	}
	d.patch, err = patchsplit.Parse(bytes.NewReader(text))
	return d, undecided(err)
}

// divideDiff splits a diff that was handed in, with the evidence of the commit
// it applies to when there is a repository.
func (a *App) divideDiff(ctx context.Context, o splitOptions) (*division, error) {
	type opening struct {
		repo *git.Repo
		err  error
	}
	opened := make(chan opening, 1)
	go func() { // git takes longer to answer than most diffs to be read
		repo, err := git.Open(ctx, o.repo)
		opened <- opening{repo, err}
	}()
	patch, badDiff := a.readDiff(o.diff)
	here := <-opened
	if here.err == nil {
		defer here.repo.Close()
	}
	if badDiff != nil {
		return nil, badDiff
	}
	d := &division{patch: patch}
	c := &change{}
	var err error
	switch {
	case here.err == nil:
		if err := c.readDiffBase(ctx, here.repo, o.base); err != nil {
			return nil, err
		}
		d.base = c.info.Base
	case o.base != "" || o.repo != ".":
		return nil, &exit{exitUsage, here.err}
	}
	if d.classifier, err = c.classifierFrom(o.config); err != nil {
		return nil, err
	}
	d.parts = patch.Parts(d.classifier)
	d.kind, d.evidence = patchsplit.Kind(d.parts, nil)
	return d, nil
}

func (a *App) readDiff(name string) (*patchsplit.Patch, error) {
	in, what := a.Stdin, "standard input"
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, &exit{exitUsage, fmt.Errorf("reading the diff: %w; to compare revisions, name them by --base and --head", err)}
		}
		defer file.Close()
		in, what = file, name
	}
	patch, err := patchsplit.Parse(in)
	if err != nil {
		return nil, undecided(fmt.Errorf("%s: %w", what, err))
	}
	return patch, nil
}

// readDiffBase takes the commit that a diff applies to. A repository without
// commits has no evidence.
func (c *change) readDiffBase(ctx context.Context, repo *git.Repo, rev string) (err error) {
	c.repo = repo
	name := rev
	if rev == "" {
		name = "HEAD"
	}
	if c.info.Base, err = repo.Resolve(ctx, name); err != nil {
		if rev == "" {
			return nil
		}
		return &exit{exitUsage, fmt.Errorf("--base: %w", err)}
	}
	if c.baseTree, err = repo.TreeOf(ctx, c.info.Base); err != nil {
		return undecided(err)
	}
	c.base, err = repo.Tree(ctx, c.baseTree)
	return undecided(err)
}

// classifierFrom is classifier with the configuration of base, if there is a base.
func (c *change) classifierFrom(path string) (*patchsplit.Classifier, error) {
	var settings config.Config
	if c.base != nil {
		var err error
		if settings, err = readConfig(c, path); err != nil {
			return nil, &exit{exitUsage, err}
		}
	}
	return c.classifier(settings)
}

// classifier makes the split's rules, with the evidence of the trees that are
// known.
func (c *change) classifier(settings config.Config) (*patchsplit.Classifier, error) {
	var base, head patchsplit.Tree
	if c.base != nil {
		base = c.base
	}
	if c.head != nil {
		head = c.head
	}
	classifier, err := patchsplit.NewClassifier(rulesOf(settings), base, head)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	return classifier, nil
}

// partNames are the parts that have a patch of their own, in the order of patches.
var partNames = [...]string{"production", "test", "neutral"}

func (d *division) patches() (patches [len(partNames)]*patchsplit.Patch) {
	patches[0], patches[1], patches[2] = d.patch.Split(d.classifier)
	return patches
}

// writePatches begins to write one patch for each part, an empty one for an empty
// part. The function that it returns waits for them.
func (d *division) writePatches(dir string) func() error {
	var failed [len(partNames)]error
	var all sync.WaitGroup
	made := os.MkdirAll(dir, 0o755)
	for i, patch := range d.patches() {
		if made == nil {
			all.Go(func() { failed[i] = writePatch(filepath.Join(dir, partNames[i]+".patch"), patch) })
		}
	}
	return func() error {
		all.Wait()
		if err := errors.Join(made, failed[0], failed[1], failed[2]); err != nil {
			return fmt.Errorf("writing the patches: %w", err)
		}
		return nil
	}
}

func writePatch(path string, patch *patchsplit.Patch) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(printPatch(file, patch), file.Close())
}

func printPatch(to io.Writer, patch *patchsplit.Patch) error {
	out := bufio.NewWriterSize(to, 64<<10)
	_, err := patch.WriteTo(out)
	return errors.Join(err, out.Flush())
}

// rulesOf are the globs that the configuration adds to the built-in rules.
func rulesOf(settings config.Config) patchsplit.Rules {
	return patchsplit.Rules{Test: settings.Split.Test, Production: settings.Split.Production, Neutral: settings.Split.Neutral}
}
