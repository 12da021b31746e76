package cargo

import (
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// manifest is what a Cargo.toml says of a package's targets.
type manifest struct {
	Package *struct {
		Name      string `toml:"name"`
		AutoTests *bool  `toml:"autotests"`
		AutoBins  *bool  `toml:"autobins"`
		AutoLib   *bool  `toml:"autolib"`
	} `toml:"package"`
	Lib  *declared  `toml:"lib"`
	Bin  []declared `toml:"bin"`
	Test []declared `toml:"test"`
}

// declared is a target as a manifest declares it.
type declared struct {
	Name     string   `toml:"name"`
	Path     string   `toml:"path"`
	Test     *bool    `toml:"test"`
	DocTest  *bool    `toml:"doctest"`
	Harness  *bool    `toml:"harness"`
	Features []string `toml:"required-features"`
}

// target is one program that cargo test builds and runs: a unit.
type target struct {
	unit    string   // repository-relative path of its root source; of documentation tests with docSuffix
	dir     string   // of its package
	prefix  string   // of its rows' ids
	name    string   // as cargo has it
	file    string   // root source
	choose  []string // cargo's options for it
	harness bool     // has the test harness of Rust
	all     bool     // all of its code is test code
	doc     string   // the source whose documentation tests it is; else ""
}

// docSuffix makes the unit of a source's documentation tests.
const docSuffix = " (doc)"

// targets lists the test targets of all packages below the runner's directory,
// sorted by unit. Documentation tests are left out.
func (r *Runner) targets(tree gate.Tree) []*target {
	paths := tree.Paths()
	var found []*target
	for _, file := range paths {
		dir := path.Dir(file)
		if path.Base(file) != "Cargo.toml" || !treepath.Within(r.Dir, dir) || foreign(dir) {
			continue
		}
		text, err := tree.ReadFile(file)
		var m manifest
		if err != nil || toml.Unmarshal(text, &m) != nil || m.Package == nil || m.Package.Name == "" {
			continue
		}
		found = append(found, m.targets(paths, dir)...)
	}
	slices.SortStableFunc(found, func(a, b *target) int { return strings.Compare(a.unit, b.unit) })
	return slices.CompactFunc(found, func(a, b *target) bool { return a.unit == b.unit })
}

func (m *manifest) targets(paths []string, dir string) []*target {
	has := func(file string) bool { _, ok := slices.BinarySearch(paths, file); return ok }
	crate := m.Package.Name
	var found []*target
	add := func(d declared, fallback, prefix string, choose ...string) {
		if d.Path = path.Join(dir, nonEmpty(d.Path, fallback)); !has(d.Path) || d.Test != nil && !*d.Test {
			return
		}
		t := &target{unit: d.Path, dir: dir, prefix: prefix, name: d.Name, file: d.Path, choose: choose, harness: d.Harness == nil || *d.Harness}
		t.all = choose[0] == "--test"
		if len(d.Features) > 0 {
			t.choose = append(t.choose, "--features", strings.Join(d.Features, ","))
		}
		found = append(found, t)
	}
	lib := declared{}
	if m.Lib != nil {
		lib = *m.Lib
	}
	add(lib, "src/lib.rs", strings.ReplaceAll(nonEmpty(lib.Name, crate), "-", "_"), "--lib")
	bins := m.Bin
	if on(m.Package.AutoBins) {
		bins = automatic(bins, paths, dir, "src/bin", declared{Name: crate, Path: "src/main.rs"})
	}
	for _, bin := range bins {
		fallback := "src/bin/" + bin.Name + ".rs"
		if !has(path.Join(dir, fallback)) {
			fallback = "src/main.rs"
		}
		add(bin, fallback, crate+"/bin/"+bin.Name, "--bin", bin.Name)
	}
	tests := m.Test
	if on(m.Package.AutoTests) {
		tests = automatic(tests, paths, dir, "tests")
	}
	for _, test := range tests {
		fallback := "tests/" + test.Name + ".rs"
		if !has(path.Join(dir, fallback)) {
			fallback = "tests/" + test.Name + "/main.rs"
		}
		add(test, fallback, crate+"/"+test.Name, "--test", test.Name)
	}
	return found
}

// automatic adds the targets that cargo finds by itself to those that are
// declared.
func automatic(list []declared, paths []string, dir, below string, more ...declared) []declared {
	for _, file := range paths {
		rest, ok := strings.CutPrefix(file, path.Join(dir, below)+"/")
		if !ok || !strings.HasSuffix(rest, ".rs") {
			continue
		}
		name, inner, deeper := strings.Cut(rest, "/")
		if !deeper || inner == "main.rs" {
			more = append(more, declared{Name: strings.TrimSuffix(name, ".rs"), Path: below + "/" + rest})
		}
	}
	for _, d := range more {
		if !slices.ContainsFunc(list, func(known declared) bool { return known.Name == d.Name || known.Path == d.Path }) {
			list = append(list, d)
		}
	}
	return list
}

func on(setting *bool) bool { return setting == nil || *setting }

func nonEmpty(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// foreign holds for directories of data and of copies.
func foreign(dir string) bool {
	return treepath.HasPart(dir, "fixtures", "fixture", "testdata", "test-data", "test_data", "vendor", "third_party", "target", "node_modules", "templates")
}

// Candidate is a runner that a repository seems to want.
type Candidate struct {
	Dir string
	Why string
}

// Detect finds the directories nearest to the root that hold Rust packages.
func Detect(tree gate.Tree) []Candidate {
	var found []Candidate
	for _, file := range tree.Paths() {
		dir := path.Dir(file)
		if path.Base(file) != "Cargo.toml" || foreign(dir) {
			continue
		}
		if len(New(Config{Dir: dir}).targets(tree)) > 0 {
			found = append(found, Candidate{Dir: dir, Why: file})
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(c Candidate) bool {
		return slices.ContainsFunc(found, func(outer Candidate) bool { return outer.Dir != c.Dir && treepath.Within(outer.Dir, c.Dir) })
	})
}
