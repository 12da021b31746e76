package patchsplit

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// settings marks a manifest whose test settings change: it declares
// dependencies, and it also says which tests run.
func (c *Classifier) settings(part FilePart) FilePart {
	read := testSettings[baseOf(part.Path)]
	if read == nil || part.Part != Production || part.Class != "" || part.Status == Deleted || !c.head.has(part.Path) {
		return part
	}
	before := part.Path
	if part.OldPath != "" {
		before = part.OldPath
	}
	was, is := read(c.base.content(before)), read(c.head.content(part.Path))
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(union(was, is))) {
		if !reflect.DeepEqual(was[name], is[name]) {
			changed = append(changed, name)
		}
	}
	if len(changed) > 0 {
		part.Class = ClassTestConfig
		part.Why += "; its settings of tests change: " + strings.Join(changed, ", ")
	}
	return part
}

func union(a, b map[string]any) map[string]any {
	both := maps.Clone(a)
	if both == nil {
		both = make(map[string]any)
	}
	maps.Copy(both, b)
	return both
}

// testSettings read what manifests say of tests, by setting; a file that cannot
// be read says nothing.
var testSettings = map[string]func(data []byte) map[string]any{
	"pyproject.toml": tomlSettings("tool", "pytest", "coverage", "tox", "nox", "hatch"),
	"Cargo.toml":     tomlSettings("", "test", "profile"),
	"setup.cfg":      setupSettings,
	"package.json":   packageSettings,
}

func tomlSettings(table string, names ...string) func([]byte) map[string]any {
	return func(data []byte) map[string]any {
		var doc map[string]any
		if _, err := toml.Decode(string(data), &doc); err != nil {
			return nil
		}
		if table != "" {
			doc, _ = doc[table].(map[string]any)
		}
		return only(doc, func(name string) bool { return slices.Contains(names, name) })
	}
}

func only(doc map[string]any, wanted func(string) bool) map[string]any {
	kept := make(map[string]any)
	for name, value := range doc {
		if wanted(name) {
			kept[name] = value
		}
	}
	return kept
}

func setupSettings(data []byte) map[string]any {
	kept := make(map[string]any)
	for _, section := range []string{"tool:pytest", "coverage:run", "coverage:report", "aliases"} {
		if values, ok := iniSection(data, section); ok {
			kept[section] = values
		}
	}
	return kept
}

func packageSettings(data []byte) map[string]any {
	var doc map[string]any
	if json.Unmarshal(data, &doc) != nil {
		return nil
	}
	kept := only(doc, func(name string) bool {
		return slices.Contains([]string{"jest", "mocha", "ava", "tap", "c8", "nyc", "vitest", "babel"}, name)
	})
	scripts, _ := doc["scripts"].(map[string]any)
	for name, script := range scripts {
		if strings.Contains(name, "test") {
			kept["scripts."+name] = script
		}
	}
	return kept
}

// TestSettingsOnly tells whether all that changes in a manifest is what it says
// of the tests. It is then no part of the product, and declares no dependency.
func TestSettingsOnly(path string, before, after []byte) bool {
	rest := withoutSettings[baseOf(path)]
	if rest == nil || before == nil || after == nil {
		return false
	}
	was, is := rest(before), rest(after)
	return was != nil && is != nil && reflect.DeepEqual(was, is)
}

// withoutSettings read what manifests say of anything but tests; nil for what
// cannot be read.
var withoutSettings = map[string]func(data []byte) map[string]any{
	"package.json": func(data []byte) map[string]any {
		var doc map[string]any
		if json.Unmarshal(data, &doc) != nil {
			return nil
		}
		scripts, _ := doc["scripts"].(map[string]any)
		for name := range packageSettings(data) {
			delete(doc, name)
			delete(scripts, strings.TrimPrefix(name, "scripts."))
		}
		return doc
	},
	"pyproject.toml": func(data []byte) map[string]any {
		var doc map[string]any
		if _, err := toml.Decode(string(data), &doc); err != nil {
			return nil
		}
		tools, _ := doc["tool"].(map[string]any)
		for name := range testSettings["pyproject.toml"](data) {
			delete(tools, name)
		}
		if len(tools) == 0 {
			delete(doc, "tool")
		}
		return doc
	},
}
