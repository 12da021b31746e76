package git

import (
	"context"
	"fmt"
	"strings"
)

// WordFiles lists the files of a tree, or those at and under the given literal
// paths, in which a word occurs as a whole word. Binary files are not looked into.
func (r *Repo) WordFiles(ctx context.Context, tree, word string, under ...string) ([]string, error) {
	if word == "" || strings.ContainsAny(word, "\n\x00") {
		return nil, fmt.Errorf("%q is no word to look for", word)
	}
	var paths []string
	args := []string{"grep", "-l", "-z", "-w", "-F", "-I", "--no-color", "--no-recurse-submodules", "--full-name", "-e", word, tree, "--"}
	err := r.command(ctx, append(args, under...)...).records(func(name string) error {
		paths = append(paths, strings.TrimPrefix(name, tree+":"))
		return nil
	})
	if err != nil && status(err) != 1 {
		return nil, fmt.Errorf("looking for %q in %s: %w", word, short(tree), err)
	}
	return paths, nil
}
