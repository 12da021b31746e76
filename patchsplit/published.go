package patchsplit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// published is the rule for scripts that package.json offers to whoever uses the
// package (main, exports, bin): they are the product whatever they are called, be it
// test-utils.js, register.js or .eslintrc.js. Packages among tests are samples, and
// so are those in directories that promise help for tests.
func (c *Classifier) published(path string) Decision {
	if !slices.Contains(scripts, extOf(path)) || namedAsTest(path).Part == Test {
		return Decision{}
	}
	for dir := range ancestors(path) {
		manifest := joinDir(dir, "package.json")
		if !c.evidence(path).has(manifest) {
			continue
		}
		if _, among := testDirectory(manifest); among || namesSupport(manifest) {
			return Decision{}
		}
		rel, _ := relTo(dir, path)
		if key := offers(c.evidence(path).content(manifest), rel); key != "" {
			return Decision{Part: Production, Why: fmt.Sprintf("%s offers it (%s)", manifest, key)}
		}
		return Decision{}
	}
	return Decision{}
}

// offers returns the key by which package.json offers a file of its package.
func offers(manifest []byte, file string) string {
	var doc map[string]any
	if json.Unmarshal(manifest, &doc) != nil {
		return ""
	}
	for _, key := range []string{"main", "module", "browser", "exports", "bin"} {
		if holdsPlace(doc[key], file) {
			return key
		}
	}
	return ""
}

// holdsPlace looks for a file among the strings of a value, whatever their depth.
// Extensions may be left out, and so may a directory's index.
func holdsPlace(value any, file string) bool {
	switch value := value.(type) {
	case string:
		place := strings.TrimSuffix(strings.TrimPrefix(value, "./"), "/")
		stem := joinDir(dirOf(file), stemOf(file))
		return place != "" && (place == file || place == stem || stemOf(file) == "index" && place == dirOf(file))
	case map[string]any:
		for _, inner := range value {
			if holdsPlace(inner, file) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, func(inner any) bool { return holdsPlace(inner, file) })
	}
	return false
}
