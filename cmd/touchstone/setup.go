package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/internal/sandbox"
)

// setups runs the configuration's set-up commands, with the network, once for
// each distinct set of dependency files that the states have. Where base has the
// same set as another state, base's code is what runs.
type setups struct {
	commands []gate.Command
	mu       sync.Mutex
	done     map[string]*setUp
}

type setUp struct {
	once  sync.Once
	layer *sandbox.Layer
	err   error
}

// newSetups reads the commands of all runners, in their order, each once.
func newSetups(runners []config.Runner) *setups {
	s := &setups{done: make(map[string]*setUp)}
	var seen []string
	for _, r := range runners {
		for _, argv := range r.Setup {
			if id := fmt.Sprintf("%q %q", r.Dir, argv); !slices.Contains(seen, id) {
				seen = append(seen, id)
				s.commands = append(s.commands, gate.Command{Argv: argv, Dir: string(r.Dir), Env: setupEnvironment(r.Env)})
			}
		}
	}
	return s
}

// setupEnvironment lets rustup install a toolchain: a home in layers refuses to
// rename across them, and rustup may copy instead.
func setupEnvironment(own map[string]string) map[string]string {
	env := map[string]string{"RUSTUP_PERMIT_COPY_RENAME": "1"}
	maps.Copy(env, own)
	return env
}

// dependencyFiles are the names of files that say what set-up commands install.
var dependencyFiles = []string{
	"pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "requirements*.in", "constraints*.txt", "poetry.lock", "Pipfile", "Pipfile.lock",
	"uv.lock", "pdm.lock", "environment.y*ml", "tox.ini", "noxfile.py", ".python-version", "MANIFEST.in",
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml", "bun.lock*", ".npmrc", ".yarnrc*", ".nvmrc", ".node-version",
	"go.mod", "go.sum", "go.work", "go.work.sum", "Cargo.toml", "Cargo.lock", "rust-toolchain*", "Gemfile", "Gemfile.lock", "*.gemspec", ".ruby-version",
	"pom.xml", "build.gradle*", "settings.gradle*", "gradle.lockfile", "gradle.properties", "libs.versions.toml", "composer.json", "composer.lock",
	"*.csproj", "*.fsproj", "packages.lock.json", "Directory.*.props", "global.json", "CMakeLists.txt", "conanfile.*", "vcpkg.json", "Makefile", ".tool-versions", "mise.toml",
}

// decides tells whether a path's content may change what set-up leaves: by its
// name, or since a command names it.
func (s *setups) decides(file string) bool {
	byName := slices.ContainsFunc(dependencyFiles, func(pattern string) bool {
		ok, _ := path.Match(pattern, path.Base(file))
		return ok
	})
	return byName || slices.ContainsFunc(s.commands, func(c gate.Command) bool {
		return slices.ContainsFunc(c.Argv, func(word string) bool {
			return strings.Contains(word, path.Base(file)) || path.Join(c.Dir, word) == file
		})
	})
}

// key names a state's set of dependency files. Paths that no state has otherwise
// are the same in all.
func (s *setups) key(tree map[string]git.Entry) string {
	var key strings.Builder
	for _, file := range slices.Sorted(maps.Keys(tree)) {
		if s.decides(file) {
			fmt.Fprintf(&key, "%q %o %s\n", file, tree[file].Mode, tree[file].ID)
		}
	}
	return key.String()
}

// layer returns what set-up left for the state, nil where there is none to do.
func (s *states) layer(ctx context.Context, tree map[string]git.Entry) (*sandbox.Layer, error) {
	if s.setups == nil || len(s.setups.commands) == 0 || s.sandbox.Kind() == "copy" {
		return nil, nil
	}
	key := s.setups.key(tree)
	for _, first := range []gate.StateName{gate.Head, gate.Base} {
		if known, ok := s.trees[first]; ok && s.setups.key(known) == key {
			tree = known
		}
	}
	s.setups.mu.Lock()
	one := s.setups.done[key]
	if one == nil {
		one = &setUp{}
		s.setups.done[key] = one
	}
	s.setups.mu.Unlock()
	one.once.Do(func() { one.layer, one.err = s.sandbox.Setup(ctx, s.files(tree), s.setups.commands) })
	return one.layer, one.err
}

// skipped says so where there are commands that cannot be run.
func (s *setups) skipped(box *sandbox.Sandbox) []string {
	if len(s.commands) == 0 || box.Kind() != "copy" {
		return nil
	}
	return []string{"the configured set-up commands were not run: in copies they would change this machine's own tools; run them beforehand, or use the overlay or docker sandbox"}
}
