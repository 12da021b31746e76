package jsimports

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// Asks is what one source asks for.
type Asks struct {
	// Names are module names as they are written: ./a, lodash, @/b. Each once,
	// sorted.
	Names []string
	// Globs are names with a * for each part that is computed, and patterns of
	// import.meta.glob; they begin with ./, ../ or /.
	Globs []string
	// Computed is set when a name is computed of which nothing is known.
	Computed bool
	// Unread is set when the source could not be parsed: then Names are what looks
	// like names in its text.
	Unread bool
}

// batch is how many sources are parsed in one go: esbuild keeps all of a build
// in memory.
const batch = 400

// Read reads sources: path -> content. A path says by its extension which
// language it is.
func Read(sources map[string][]byte) map[string]Asks {
	paths := make([]string, 0, len(sources))
	for file := range sources {
		paths = append(paths, file)
	}
	slices.Sort(paths)
	found := make(map[string]Asks, len(sources))
	for group := range slices.Chunk(paths, batch) {
		names, failed := parse(group, sources)
		for _, file := range group {
			asks := written(string(sources[file]))
			asks.Unread = failed[file]
			asks.Names = append(asks.Names, names[file]...)
			slices.Sort(asks.Names)
			asks.Names = slices.Compact(asks.Names)
			found[file] = asks
		}
	}
	return found
}

// keepAll makes esbuild keep imports that only types use, and read both kinds of
// decorators.
const keepAll = `{"compilerOptions": {"verbatimModuleSyntax": true, "experimentalDecorators": true}}`

// parse asks esbuild. Files that it could not read are in failed.
func parse(paths []string, sources map[string][]byte) (names map[string][]string, failed map[string]bool) {
	names, failed = make(map[string][]string), make(map[string]bool)
	var mu sync.Mutex
	loaded := make(map[string]bool)
	plugin := api.Plugin{Name: "tree", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.Kind == api.ResolveEntryPoint {
				return api.OnResolveResult{Path: a.Path, Namespace: "tree"}, nil
			}
			mu.Lock()
			defer mu.Unlock()
			names[a.Importer] = append(names[a.Importer], a.Path)
			return api.OnResolveResult{Path: a.Path, External: true}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "tree"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			content := string(sources[a.Path])
			mu.Lock()
			loaded[a.Path] = true
			mu.Unlock()
			return api.OnLoadResult{Contents: &content, Loader: loaderOf(a.Path)}, nil
		})
	}}
	var entries []api.EntryPoint
	for i, file := range paths {
		entries = append(entries, api.EntryPoint{InputPath: file, OutputPath: strconv.Itoa(i)})
	}
	result := api.Build(api.BuildOptions{
		EntryPointsAdvanced: entries, Bundle: true, Write: false, Outdir: "/out", AbsWorkingDir: "/", Platform: api.PlatformNode, Format: api.FormatESModule,
		TsconfigRaw: keepAll, LogLevel: api.LogLevelSilent, LogLimit: 0, Plugins: []api.Plugin{plugin}, TreeShaking: api.TreeShakingFalse, IgnoreAnnotations: true,
	})
	for _, message := range result.Errors {
		if strings.HasPrefix(message.Text, "Could not resolve") { // patterns are looked for on disk, where nothing is
			continue
		}
		if message.Location != nil {
			failed[strings.TrimPrefix(message.Location.File, "tree:")] = true
			continue
		}
		for _, file := range paths { // of which one it speaks is not known
			failed[file] = true
		}
	}
	for _, file := range paths {
		failed[file] = failed[file] || !loaded[file]
	}
	return names, failed
}

func loaderOf(file string) api.Loader {
	switch path.Ext(file) {
	case ".ts", ".mts", ".cts":
		return api.LoaderTS
	case ".tsx":
		return api.LoaderTSX
	}
	return api.LoaderJSX // also plain .js may hold markup
}

var (
	// named is a place in a text where a module is named by a plain string, from its
	// keyword on.
	named = lazyregexp.New(`^(?:from\s*|import\s*\(?\s*|require(?:\.\w+)?\s*\(\s*|(?:jest|vi|vitest|td|mock)\.\w+\s*(?:<[^>(]*>)?\(\s*(?:import\s*\(\s*)?|(?:proxyquire|rewire|esmock|quibble)(?:\.\w+)?\s*\(\s*|new\s+URL\s*\(\s*|toMatchFileSnapshot\s*\(\s*|reference\s+path\s*=\s*)["'\x60]([^"'\x60\n$]+)["'\x60]`)
	// argument is the beginning of a call that loads what it is given.
	argument = lazyregexp.New(`\b(?:require(?:\.resolve|\.requireActual)?|import|(?:jest|vi)\.(?:requireActual|requireMock|importActual|importMock|mock|doMock))\s*\(\s*(?:/\*[^*]*\*/\s*)*([^\s)][^\n;]*)`)
	globbed  = lazyregexp.New(`\b(?:import\.meta\.glob(?:Eager)?|require\.context)\s*(?:<[^>(]*>)?\(\s*([^)]*)`)
	quoted   = lazyregexp.New("[\"'`]([^\"'`\n]*)[\"'`]")
	hole     = lazyregexp.New(`\$\{[^}]*\}`)
	joined   = lazyregexp.New(`^["']([^"'\n]*)["']\s*\+\s*[^"'\n]*?(?:["']([^"'\n]*)["']\s*)?\)`)
	template = lazyregexp.New("^`([^`]*)`\\s*[,)]")
	whole    = lazyregexp.New("^(?:\"[^\"\n]*\"|'[^'\n]*'|`[^`$]*`)\\s*[,)]")
	loaders  = lazyregexp.New(`\b(?:createRequire|require\.extensions|module\.constructor|Module\._load|vm\.(?:run\w+|Script|compileFunction|SourceTextModule)|import-fresh|require-dir|require-all|requireindex|importx|jiti|\bglob(?:by)?(?:Sync)?\s*\(|fast-glob)\b`)
)

// loading is what loaders cannot match without.
var loading = []string{"createRequire", "require.extensions", "module.constructor", "Module._load", "vm.", "import-fresh", "require-dir", "require-all", "requireindex", "importx", "jiti", "glob"}

// types are the names that only the text tells of: what types are taken from,
// and what mocks and the like are given.
func types(text string) []string {
	var names []string
	for at := 0; at < len(text); at++ {
		if at > 0 && isWord(text[at-1]) || !slices.ContainsFunc(keywords, func(word string) bool { return strings.HasPrefix(text[at:], word) }) {
			continue
		}
		if m := named.FindStringSubmatch(text[at:min(len(text), at+maxNaming)]); m != nil {
			names = append(names, m[1])
			at += len(m[0]) - 1
		}
	}
	return names
}

// keywords are what named begins with. An expression that looks for them by
// itself takes a quarter of all time.
var keywords = []string{
	"from", "import", "require", "jest.", "vi.", "vitest.", "td.", "mock.", "proxyquire", "rewire", "esmock", "quibble", "new", "toMatchFileSnapshot", "reference",
}

// maxNaming is how far from its keyword a name ends, at most.
const maxNaming = 1500

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// written is what a text says of names that are computed.
func written(text string) Asks {
	asks := Asks{Names: types(text), Computed: slices.ContainsFunc(loading, func(word string) bool { return strings.Contains(text, word) }) && loaders.MatchString(text)}
	for _, m := range globbed.FindAllStringSubmatch(text, -1) {
		for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
			switch {
			case strings.HasPrefix(q[1], "!"):
			case strings.Contains(m[0], "context"): // a directory, and all below it
				asks.Globs = append(asks.Globs, q[1]+"/**")
			default:
				asks.Globs = append(asks.Globs, q[1])
			}
		}
	}
	for _, m := range argument.FindAllStringSubmatch(text, -1) {
		if whole.MatchString(m[1]) || strings.HasPrefix(m[1], "import(") || strings.HasPrefix(m[1], "import (") {
			continue
		}
		glob := pattern(m[1])
		if strings.HasPrefix(glob, ".") || strings.HasPrefix(glob, "/") {
			asks.Globs = append(asks.Globs, glob)
		} else {
			asks.Computed = true
		}
	}
	slices.Sort(asks.Globs)
	asks.Globs = slices.Compact(asks.Globs)
	return asks
}

// pattern is an argument with a * for what is computed, "" when it does not
// begin with something known.
func pattern(argument string) string {
	if m := template.FindStringSubmatch(argument); m != nil {
		return star(hole.ReplaceAllString(m[1], "*"))
	}
	if m := joined.FindStringSubmatch(argument); m != nil {
		return star(m[1] + "*" + m[2])
	}
	return ""
}

// star lets a computed part hold directories, and an extension follow.
func star(glob string) string {
	at := strings.IndexByte(glob, '*')
	if at < 0 || !strings.Contains(glob[:at], "/") {
		return ""
	}
	return glob[:strings.LastIndexByte(glob[:at], '/')+1] + "**"
}
