package git

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// foreignFilters are environment settings that take away the filter programs
// which the repository's own configuration names.
//
// A change's .gitattributes chooses filters by name; what a name runs is said by
// configuration. The user's own configuration (global, system) is believed, as
// it was when the files were checked out. The repository's .git/config is not:
// only git-lfs's own commands, which git lfs install --local and CI checkouts
// write there, may run. A file whose filter is taken away stands in the tree as
// it is on disk.
func (r *Repo) foreignFilters(ctx context.Context) ([]string, error) {
	foreign := make(map[string]bool)
	scope := ""
	err := r.command(ctx, "config", "--show-scope", "-z", "--get-regexp", `^filter\..*\.(clean|process)$`).records(func(record string) error {
		if scope == "" {
			scope = record
			return nil
		}
		key, value, _ := strings.Cut(record, "\n")
		driver := key[len("filter."):strings.LastIndexByte(key, '.')]
		if (scope == "local" || scope == "worktree") && !lfsCommand(value) {
			foreign[driver] = true
		}
		scope = ""
		return nil
	})
	if err != nil && status(err) != 1 {
		return nil, fmt.Errorf("reading the configured filters: %w", err)
	}
	var settings [][2]string
	for _, driver := range slices.Sorted(maps.Keys(foreign)) {
		prefix := "filter." + driver + "."
		settings = append(settings, [2]string{prefix + "clean", ""}, [2]string{prefix + "process", ""}, [2]string{prefix + "required", "false"})
	}
	return configured(settings), nil
}

func lfsCommand(command string) bool {
	return slices.Contains([]string{"git-lfs clean -- %f", "git-lfs filter-process", "git lfs clean -- %f", "git lfs filter-process"}, command)
}

// configured writes settings as environment variables, in which, unlike after
// -c, a key may hold an equals sign.
func configured(settings [][2]string) []string {
	env := []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings))}
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	return env
}
