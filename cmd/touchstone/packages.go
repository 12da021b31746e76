package main

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"

	"github.com/touchstone-gate/touchstone/internal/git"
)

// sharedPackages says that a change wants other packages than base, where no
// set-up command gives each state its own: a test may then be red on base since
// base's code runs with head's packages.
func sharedPackages(c *change, s *setups) []string {
	if len(s.commands) > 0 {
		return nil
	}
	for _, file := range c.files {
		if !wantsOthers(c.base, c.head, file.Path) {
			continue
		}
		return []string{file.Path + " changes which packages the tests need, and every state ran with the ones that are installed: what is red on base may be so on their account. " +
			"Name the commands that install them in runners: setup: of .github/touchstone.yml, and each state gets its own"}
	}
	return nil
}

// pinned are files that say nothing but which packages there are. Go and cargo
// need none of them to keep states apart: they read their own manifests anew.
var pinned = []string{
	"requirements*.txt", "constraints*.txt", "poetry.lock", "Pipfile.lock", "uv.lock", "pdm.lock",
	"npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock*", "Gemfile.lock", "composer.lock",
}

func wantsOthers(base, head *git.Tree, file string) bool {
	before, _ := base.ReadFile(file) // absent: names none
	after, _ := head.ReadFile(file)
	switch path.Base(file) {
	case "package.json":
		return !reflect.DeepEqual(sections(before, "dependencies", "devDependencies", "optionalDependencies", "peerDependencies"),
			sections(after, "dependencies", "devDependencies", "optionalDependencies", "peerDependencies"))
	case "package-lock.json": // holds the project's own version too, under ""
		return len(before) > 0 && len(after) > 0 && !reflect.DeepEqual(locked(before), locked(after))
	}
	known := slices.ContainsFunc(pinned, func(pattern string) bool {
		ok, _ := path.Match(pattern, path.Base(file))
		return ok
	})
	return known && len(before) > 0 && string(before) != string(after)
}

// sections are the named objects of a JSON object that hold anything.
func sections(text []byte, names ...string) map[string]any {
	var whole map[string]any
	if json.Unmarshal(text, &whole) != nil {
		return nil
	}
	kept := make(map[string]any)
	for _, name := range names {
		if object, ok := whole[name].(map[string]any); ok && len(object) > 0 {
			kept[name] = object
		}
	}
	return kept
}

// locked are the packages of a lock file of npm, without the project itself.
func locked(text []byte) map[string]any {
	kept := sections(text, "packages", "dependencies")
	if packages, ok := kept["packages"].(map[string]any); ok {
		delete(packages, "")
	}
	return kept
}
