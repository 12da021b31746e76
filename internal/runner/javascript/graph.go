package javascript

import (
	"crypto/sha256"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/jsimports"
	"github.com/touchstone-gate/touchstone/rts"
)

// AddGraph adds to a graph which files of a tree the test files reach: by what
// their sources ask for, by mocks that stand in for it, by snapshots, and by what
// the framework's configuration names. A name is taken for every file that it
// could mean under some resolver.
func (r *Runner) AddGraph(g *rts.Graph, tree gate.Tree) {
	s := r.suite(tree)
	b := &graphMaker{Graph: g, runner: r, suite: s, names: newResolver(tree), seen: make(map[string]bool)}
	for _, file := range tree.Paths() {
		if isCode(file) && !skips(file) {
			g.Know(file)
		}
	}
	everywhere := append(s.configured(), b.ambient()...)
	for _, unit := range s.files {
		g.Unit(unit)
		b.enter(unit)
		for _, file := range slices.Concat(everywhere, snapshots(s, unit)) {
			b.use(unit, file)
		}
		if len(s.before()) > 0 {
			g.Doubt(unit, "is built before it runs")
		}
	}
	for len(b.queue) > 0 {
		b.level()
	}
}

// isCode holds for everything that can hold code or types of the language.
func isCode(file string) bool {
	return scriptExt.MatchString(file) || strings.HasSuffix(file, ".vue") || strings.HasSuffix(file, ".svelte")
}

type graphMaker struct {
	*rts.Graph
	runner *Runner
	suite  *suite
	names  *resolver
	seen   map[string]bool
	queue  []string
}

func (b *graphMaker) enter(file string) {
	if !b.seen[file] && isCode(file) {
		b.seen[file] = true
		b.queue = append(b.queue, file)
	}
}

func (b *graphMaker) use(user, used string) {
	if user == used {
		return
	}
	b.Use(user, used)
	b.Know(used)
	b.enter(used)
}

// level reads what was reached last and enters what that asks for.
func (b *graphMaker) level() {
	files := b.queue
	b.queue = nil
	for file, asks := range b.runner.asks(b.suite, files) {
		why := asks.doubt
		for _, name := range asks.Names {
			found, external := b.names.find(file, name)
			for _, used := range found {
				b.use(file, used)
			}
			if len(found) == 0 && !external && why != startsProcesses {
				why = "asks for " + name + ", which the tree does not have"
			}
		}
		for _, glob := range asks.Globs {
			for _, used := range b.names.glob(file, glob) {
				b.use(file, used)
			}
		}
		if why != "" {
			b.Doubt(file, why)
		}
	}
}

// readSource is what a source's text says.
type readSource struct {
	jsimports.Asks
	doubt string // why it may reach more than it names, "" when it does not
}

// asks reads sources, each content once.
func (r *Runner) asks(s *suite, files []string) map[string]readSource {
	found := make(map[string]readSource, len(files))
	fresh := make(map[string][]byte)
	keys := make(map[string][sha256.Size]byte)
	r.mu.Lock()
	for _, file := range files {
		source := s.source(file)
		keys[file] = sha256.Sum256([]byte(path.Ext(file) + "\x00" + source))
		if known, ok := r.read[keys[file]]; ok {
			found[file] = known
		} else {
			fresh[file] = []byte(source)
		}
	}
	r.mu.Unlock()
	read := jsimports.Read(fresh)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read == nil {
		r.read = make(map[[sha256.Size]byte]readSource)
	}
	for file, asks := range read {
		found[file] = readSource{asks, doubtOf(s.source(file), asks)}
		r.read[keys[file]] = found[file]
	}
	return found
}

const startsProcesses = "starts processes"

var (
	starting = lazyregexp.New(`\b(child_process|worker_threads|cluster|execa|cross-spawn|shelljs|zx|tinyexec|nano-spawn|spawnSync|execSync|new\s+Worker)\b`)
	reading  = lazyregexp.New(`["'](?:node:)?(?:fs|fs/promises|graceful-fs|fs-extra|fs-jetpack|memfs|tinyglobby|glob|globby|fast-glob)["']`)
)

// starters and readers are what starting and reading cannot match without: most
// sources hold none of it, which is soon seen.
var (
	starters = []string{"child_process", "worker_threads", "cluster", "execa", "cross-spawn", "shelljs", "zx", "tinyexec", "nano-spawn", "Sync", "Worker"}
	readers  = []string{"fs", "glob"}
)

func holds(source string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(source, word) })
}

// doubtOf says why a source may reach more than it names, "" when it does not.
func doubtOf(source string, asks jsimports.Asks) string {
	switch {
	case holds(source, starters) && starting.MatchString(source):
		return startsProcesses
	case asks.Unread:
		return "could not be parsed"
	case asks.Computed:
		return "imports by computed names"
	case holds(source, readers) && reading.MatchString(source):
		return "reads files"
	}
	return ""
}

// configured are the tree's files that the framework's configuration or the
// repository's own script names, with the configuration itself.
func (s *suite) configured() []string {
	text := s.config
	var found []string
	for _, word := range slices.Concat(s.node, s.options, s.targets) {
		if _, value, ok := strings.Cut(word, "="); ok {
			word = value
		}
		for _, file := range s.fileOf(word) { // perhaps a configuration under another name
			found = append(found, file)
			text += "\n" + s.source(file)
		}
	}
	found = append(found, s.namedIn(text)...)
	for _, key := range []string{"setupFiles", "setupFilesAfterEnv", "globalSetup", "globalTeardown", "testEnvironment", "environment", "require", "file", "import"} {
		for _, name := range configStrings(text, key) { // a directory too
			found = append(found, s.fileOf(strings.TrimPrefix(name, "<rootDir>")+"/index")...)
		}
	}
	for _, name := range configNames[s.framework] {
		if file := path.Join(s.home, name); s.exists(file) {
			found = append(found, file)
		}
	}
	slices.Sort(found)
	return slices.DeleteFunc(slices.Compact(found), s.isUnit)
}

// namedIn lists the files that strings of a text name.
func (s *suite) namedIn(text string) []string {
	var found []string
	for _, t := range scan(text) {
		if t.kind != punctuation {
			found = append(found, s.fileOf(strings.Trim(text[t.from:t.to], "\"'`"))...)
		}
	}
	for line := range strings.SplitSeq(text, "\n") { // YAML and lists of options
		for word := range strings.FieldsSeq(line) {
			found = append(found, s.fileOf(strings.Trim(word, `"',[]`))...)
		}
	}
	return found
}

// fileOf are the files that a word of a configuration may mean.
func (s *suite) fileOf(word string) []string {
	word = strings.TrimPrefix(strings.TrimPrefix(word, "<rootDir>"), "/")
	if word == "" || strings.ContainsAny(word, "*$(){}|^\\ ") {
		return nil
	}
	var found []string
	for _, ext := range []string{"", ".js", ".ts", ".mjs", ".cjs", ".mts", ".tsx"} {
		if file := path.Join(s.home, word) + ext; s.exists(file) && (isCode(file) || path.Ext(file) == ".json" && path.Base(file) != "package.json") {
			found = append(found, file)
		}
	}
	return found
}

// snapshots are where the frameworks keep what a test file was once seen to
// give.
func snapshots(s *suite, unit string) []string {
	dir, name := path.Dir(unit), path.Base(unit)
	var found []string
	if strings.Contains(s.config, "snapshotResolver") || strings.Contains(s.config, "resolveSnapshotPath") || strings.Contains(s.config, "snapshotDir") {
		for _, file := range s.tree.Paths() { // whose they are only a program knows
			if path.Ext(file) == ".snap" {
				found = append(found, file)
			}
		}
	}
	for _, file := range []string{
		path.Join(dir, "__snapshots__", name+".snap"), path.Join(dir, "snapshots", name+".snap"), path.Join(dir, "snapshots", name+".md"),
		path.Join(dir, name+".snap"), path.Join(dir, name+".md"), unit + ".snapshot",
	} {
		if s.exists(file) {
			found = append(found, file)
		}
	}
	return found
}

// typeChecked tells whether types that do not fit fail a test file.
func (s *suite) typeChecked() bool {
	return strings.Contains(s.config, "ts-jest") || strings.Contains(s.config, "typecheck") || slices.ContainsFunc(s.node, func(o string) bool { return strings.Contains(o, "ts-node") }) ||
		s.framework == Mocha && strings.Contains(s.config+strings.Join(s.options, " "), "ts-node")
}

// ambient are declarations that every source sees without asking.
func (b *graphMaker) ambient() []string {
	if !b.suite.typeChecked() {
		return nil
	}
	var found []string
	for _, file := range b.suite.tree.Paths() {
		if isCode(file) && !isScript(file) && !skips(file) && strings.Contains(file, ".d.") {
			found = append(found, file)
		}
	}
	return found
}
