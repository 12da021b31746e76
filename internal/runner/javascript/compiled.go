package javascript

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// compilation is where a build puts the tests before a framework is given them: the
// script names files that no tree holds (node --test dist/test/*.js), and the tests
// of the tree are what those are made from. Both directories are the repository's.
type compilation struct {
	from string // sources, "." for the root
	to   string // what is run; "" where the sources are
}

// readCompiled finds out, from what the script or the configuration names, whether
// what is run is compiled first: nothing of the tree lies there, something builds
// it, and the tree has sources at the place that it would be made from.
func readCompiled(tree gate.Tree, dir string, m manifest, s *settings) compilation {
	if len(s.steps) == 0 && !slices.ContainsFunc(buildScripts, func(name string) bool { return m.Scripts[name] != "" }) {
		return compilation{}
	}
	compilers := readCompilers(tree, dir)
	for _, target := range rooted(slices.Concat(s.targets, configStrings(s.config, "spec"), configStrings(s.config, "files"))) {
		for _, c := range candidates(tree, dir, compilers, directories(target)) {
			if anyFile(tree, dir, asFiles(tree, dir, c.source(dir, target), true)) {
				return c
			}
		}
	}
	return compilation{}
}

// candidates are the compilations that may have made what lies in one of some
// directories, the outermost first, of which the tree holds none: those that a
// tsconfig tells; else what any tsconfig, or src, compiles into the outermost.
func candidates(tree gate.Tree, dir string, compilers []compiler, dirs []string) (found []compilation) {
	for _, to := range dirs {
		for _, c := range compilers {
			if path.Join(c.Options.OutDir) == to && !holdsBelow(tree, path.Join(dir, to)) {
				found = append(found, compilation{c.root(tree, dir), path.Join(dir, to)})
			}
		}
	}
	if len(found) > 0 || len(dirs) == 0 || holdsBelow(tree, path.Join(dir, dirs[0])) {
		return found
	}
	to := path.Join(dir, dirs[0])
	for _, c := range compilers {
		found = append(found, compilation{c.root(tree, dir), to})
	}
	return append(found, compilation{path.Join(dir, "src"), to})
}

// directories are those on the way to a path or glob, the outermost first.
func directories(target string) (dirs []string) {
	for i := range len(target) {
		if target[i] == '/' && i > 0 {
			dirs = append(dirs, target[:i])
		} else if strings.IndexByte("*?{[(!", target[i]) >= 0 {
			return dirs
		}
	}
	if !scriptExt.MatchString(target) {
		dirs = append(dirs, strings.TrimSuffix(target, "/"))
	}
	return dirs
}

func anyFile(tree gate.Tree, dir string, globs []string) bool {
	return slices.ContainsFunc(tree.Paths(), func(file string) bool {
		return isScript(file) && !skips(file) && treepath.Within(dir, file) &&
			slices.ContainsFunc(globs, func(glob string) bool { return globMatches(glob, treepath.Relative(dir, file)) })
	})
}

func holdsBelow(tree gate.Tree, dir string) bool {
	i, _ := slices.BinarySearch(tree.Paths(), dir+"/")
	return i < len(tree.Paths()) && strings.HasPrefix(tree.Paths()[i], dir+"/")
}

// compiler is what a tsconfig says about places.
type compiler struct {
	Options struct {
		OutDir    string `json:"outDir"`
		RootDir   string `json:"rootDir"`
		Composite bool   `json:"composite"`
	} `json:"compilerOptions"`
	Include []string `json:"include"`
	Exclude []string `json:"exclude"`
	Files   []string `json:"files"`
}

// readCompilers reads every tsconfig beside a package. One that cannot be read says
// nothing, and what one extends is not followed: places are seldom there.
func readCompilers(tree gate.Tree, dir string) (found []compiler) {
	for _, file := range tree.Paths() {
		if path.Dir(file) != dir || !strings.HasPrefix(path.Base(file), "tsconfig") || path.Ext(file) != ".json" {
			continue
		}
		var c compiler
		if content, err := tree.ReadFile(file); err == nil && json.Unmarshal([]byte(plainJSON(string(content))), &c) == nil {
			found = append(found, c)
		}
	}
	return found
}

// root is the directory whose files are compiled into the output's: where nothing
// names it, the innermost that holds every source, as the compiler has it.
func (c *compiler) root(tree gate.Tree, dir string) string {
	switch {
	case c.Options.RootDir != "":
		return path.Join(dir, c.Options.RootDir)
	case c.Options.Composite:
		return dir
	}
	common := ""
	for _, file := range tree.Paths() {
		if !typed.MatchString(file) || strings.HasSuffix(file, ".d.ts") || skips(file) || !treepath.Within(dir, file) || !c.includes(treepath.Relative(dir, file)) {
			continue
		}
		if common == "" {
			common = path.Dir(file)
		}
		for !treepath.Within(common, file) {
			common = path.Dir(common)
		}
	}
	return cmp.Or(common, dir)
}

var typed = lazyregexp.New(`\.[cm]?tsx?$`)

func (c *compiler) includes(name string) bool {
	matches := func(glob string) bool {
		glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
		return glob == "." || globMatches(glob, name) || globMatches(glob+"/**/*", name)
	}
	if slices.ContainsFunc(c.Exclude, matches) {
		return false
	}
	return len(c.Include)+len(c.Files) == 0 || slices.ContainsFunc(c.Include, matches) || slices.ContainsFunc(c.Files, matches)
}

func plainJSON(text string) string {
	return jsonTrailing.ReplaceAllString(jsonComment.ReplaceAllString(text, "$1"), "$1")
}

// source is the target or glob, relative to the runner's directory, of the sources
// that what the framework is given is made from.
func (c compilation) source(dir, target string) string {
	full := path.Join(dir, target)
	if c.to == "" || !treepath.Within(c.to, full) {
		return target
	}
	made := treepath.Relative(dir, path.Join(c.from, treepath.Relative(c.to, full)))
	if end := scriptExt.FindString(made); end != "" {
		return strings.TrimSuffix(made, end) + "." + scriptFile
	}
	return made
}

// file is what a source is compiled to, itself where it is run as it stands.
func (c compilation) file(source string) string {
	if c.to == "" || !treepath.Within(c.from, source) {
		return source
	}
	out := path.Join(c.to, treepath.Relative(c.from, source))
	end := path.Ext(out)
	if !scriptExt.MatchString(end) {
		return out
	}
	made := ".js"
	if strings.HasPrefix(end, ".m") || strings.HasPrefix(end, ".c") {
		made = end[:2] + "js"
	}
	return strings.TrimSuffix(out, end) + made
}

// sources names, by what they are compiled to, the sources among some files.
func (c compilation) sources(files []string) map[string]string {
	by := make(map[string]string)
	for _, file := range files {
		if made := c.file(file); made != file {
			by[made] = file
		}
	}
	return by
}
