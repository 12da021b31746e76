package main

import (
	"context"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/git"
)

// TestSharedPackages says nothing of a manifest that asks for the same packages,
// nor where set-up commands install each state's own.
func TestSharedPackages(t *testing.T) {
	lock := func(own, left string) string {
		return `{"version": "` + own + `", "packages": {"": {"version": "` + own + `"}, "node_modules/left": {"version": "` + left + `"}}}`
	}
	for name, c := range map[string]struct {
		file, base, head string
		setups           int
		want             int
	}{
		"a script":           {file: "package.json", base: `{"version": "1", "dependencies": {"left": "1"}}`, head: `{"version": "2", "dependencies": {"left": "1"}, "scripts": {"x": "y"}}`},
		"a package":          {file: "web/package.json", base: `{"dependencies": {"left": "1"}}`, head: `{"dependencies": {"left": "2"}}`, want: 1},
		"a tool":             {file: "package.json", base: `{}`, head: `{"devDependencies": {"left": "2"}}`, want: 1},
		"a release":          {file: "package-lock.json", base: lock("1", "1"), head: lock("2", "1")},
		"a locked package":   {file: "package-lock.json", base: lock("1", "1"), head: lock("1", "2"), want: 1},
		"a requirement":      {file: "requirements-dev.txt", base: "left==1\n", head: "left==2\n", want: 1},
		"another file":       {file: "notes.txt", base: "left==1\n", head: "left==2\n"},
		"each state its own": {file: "requirements.txt", base: "left==1\n", head: "left==2\n", setups: 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, "", map[string]string{c.file: c.base}, map[string]string{c.file: c.head})
			repo, err := git.Open(context.Background(), dir)
			if err != nil {
				t.Fatal(err)
			}
			change, err := readChange(context.Background(), repo, "HEAD~1", "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			if got := sharedPackages(change, &setups{commands: make([]gate.Command, c.setups)}); len(got) != c.want {
				t.Errorf("said %q, want %d notes", got, c.want)
			}
		})
	}
}
