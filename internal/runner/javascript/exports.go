package javascript

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// modulePackage is a package of the tree, as others may import it.
type modulePackage struct {
	dir     string
	entries []string // main and its kin
	exports json.RawMessage
	imports json.RawMessage
}

func (r *resolver) addPackage(dir string) {
	m, ok := readManifest(r.tree, dir)
	if !ok {
		return
	}
	var name string
	_ = json.Unmarshal(m.Rest["name"], &name) // one of another shape names nothing
	p := &modulePackage{dir: dir, exports: m.Rest["exports"], imports: m.Rest["imports"]}
	for _, field := range []string{"main", "module", "browser", "source", "types", "typings", "jsnext:main", "react-native"} {
		p.entries = append(p.entries, targetsIn(m.Rest[field])...)
	}
	r.byDir[dir] = p
	if name != "" {
		r.packages[name] = p
	}
	for _, field := range []string{"dependencies", "devDependencies", "peerDependencies", "optionalDependencies"} {
		var names map[string]any
		_ = json.Unmarshal(m.Rest[field], &names)
		for name := range names {
			r.declared[name] = true
		}
	}
}

// targetsIn are all strings in a JSON value: under whatever condition.
func targetsIn(raw json.RawMessage) []string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return nil
	}
	var found []string
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case string:
			found = append(found, v)
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(value)
	return found
}

// exported are the files that a package of the tree gives for a path below its
// name, "" for the package itself. Where it gives only what a build makes, that
// is all of its sources.
func (r *resolver) exported(p *modulePackage, sub string) []string {
	key := p.dir + "\x00" + sub
	found, known := r.given[key]
	if !known {
		found = r.export(p, sub)
		r.given[key] = found
	}
	return slices.Clip(found) // callers append to it
}

func (r *resolver) export(p *modulePackage, sub string) []string {
	targets := p.entries
	switch {
	case len(p.exports) > 0:
		targets = mapped(p.exports, "."+strings.TrimSuffix("/"+sub, "/"))
		if sub == "" {
			targets = append(targets, p.entries...) // older resolvers go by these
		}
	case sub != "":
		targets = []string{sub}
	case len(targets) == 0:
		targets = []string{"index"}
	}
	var found []string
	for _, target := range targets {
		place := path.Join(p.dir, target)
		if place == p.dir {
			place = path.Join(p.dir, "index")
		}
		if r.files[place] {
			found = append(found, place)
		}
		for _, stem := range []string{place, stemOf(place)} {
			found = append(found, r.stems[stem]...)
		}
	}
	if len(found) > 0 {
		return found
	}
	for file := range r.files {
		if treepath.Within(p.dir, file) && isScript(file) && !testWord.MatchString(file) {
			found = append(found, file)
		}
	}
	return found
}

// mapped are the targets that exports or imports give for a key, with patterns.
func mapped(raw json.RawMessage, key string) []string {
	var entries map[string]json.RawMessage
	if json.Unmarshal(raw, &entries) != nil || !strings.HasPrefix(anyKey(entries), key[:1]) { // one target, or conditions
		if key == "." {
			return targetsIn(raw)
		}
		return nil
	}
	var found []string
	for pattern, value := range entries {
		prefix, suffix, star := strings.Cut(pattern, "*")
		switch {
		case pattern == key:
			found = append(found, targetsIn(value)...)
		case star && strings.HasPrefix(key, prefix) && strings.HasSuffix(key, suffix) && len(key) >= len(prefix)+len(suffix):
			part := key[len(prefix) : len(key)-len(suffix)]
			for _, target := range targetsIn(value) {
				found = append(found, strings.ReplaceAll(target, "*", part))
			}
		}
	}
	return found
}

func anyKey(entries map[string]json.RawMessage) string {
	for key := range entries {
		return key
	}
	return ""
}

// ownImports are the files that a name with # means in the package around a
// directory.
func (r *resolver) ownImports(dir, name string) []string {
	for ; ; dir = path.Dir(dir) {
		if p := r.byDir[dir]; p != nil {
			var found []string
			for _, target := range mapped(p.imports, name) {
				if strings.HasPrefix(target, "./") {
					found = append(found, r.at(path.Join(dir, target))...)
				}
			}
			return found
		}
		if dir == "." {
			return nil
		}
	}
}

// pathAlias is one entry of a tsconfig's paths, or its baseUrl.
type pathAlias struct {
	prefix, suffix string
	star           bool
	targets        []string // repository-relative, with the *
}

var (
	jsonComment  = lazyregexp.New(`(?m)("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/`)
	jsonTrailing = lazyregexp.New(`,(\s*[\]}])`)
)

// addAliases reads a tsconfig. Which sources it is for is not asked: another
// one may extend it.
func (r *resolver) addAliases(file string) {
	content, err := r.tree.ReadFile(file)
	if err != nil {
		return
	}
	var config struct {
		CompilerOptions struct {
			BaseURL string              `json:"baseUrl"`
			Paths   map[string][]string `json:"paths"`
		} `json:"compilerOptions"`
	}
	if json.Unmarshal([]byte(plainJSON(string(content))), &config) != nil {
		return
	}
	base := path.Join(path.Dir(file), config.CompilerOptions.BaseURL)
	for pattern, targets := range config.CompilerOptions.Paths {
		a := pathAlias{}
		a.prefix, a.suffix, a.star = strings.Cut(pattern, "*")
		for _, target := range targets {
			a.targets = append(a.targets, path.Join(base, strings.TrimPrefix(target, "${configDir}/")))
		}
		r.aliases = append(r.aliases, a)
	}
	if config.CompilerOptions.BaseURL != "" {
		r.aliases = append(r.aliases, pathAlias{star: true, targets: []string{path.Join(base, "*")}})
	}
}

// aliased are the files that a name means by some tsconfig.
func (r *resolver) aliased(name string) []string {
	var found []string
	for _, a := range r.aliases {
		part, ok := "", name == a.prefix && !a.star
		if a.star && strings.HasPrefix(name, a.prefix) && strings.HasSuffix(name, a.suffix) && len(name) >= len(a.prefix)+len(a.suffix) {
			part, ok = name[len(a.prefix):len(name)-len(a.suffix)], true
		}
		for _, target := range a.targets {
			if ok {
				found = append(found, r.at(strings.ReplaceAll(target, "*", part))...)
			}
		}
	}
	return found
}
