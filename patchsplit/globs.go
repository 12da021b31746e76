package patchsplit

import (
	"fmt"

	"github.com/bmatcuk/doublestar/v4"
)

// Rules are globs from the repository's configuration, added to the built-in
// rules and stronger than they are. They are matched against whole paths:
// ** crosses directories, * and ? do not, [..] and {a,b} as in a shell.
// A path that several lists match is production before test before neutral.
type Rules struct {
	Test, Production, Neutral []string
}

type glob struct {
	pattern string
	part    Part
}

func (r Rules) compile() ([]glob, error) {
	var globs []glob
	for _, list := range []struct {
		part     Part
		patterns []string
	}{{Production, r.Production}, {Test, r.Test}, {Neutral, r.Neutral}} {
		for _, pattern := range list.patterns {
			if pattern == "" || !doublestar.ValidatePattern(pattern) {
				return nil, fmt.Errorf("reading split.%s: %q is not a glob: write ** / * / ? / [..] / {a,b}", list.part, pattern)
			}
			globs = append(globs, glob{pattern, list.part})
		}
	}
	return globs, nil
}

func (g glob) matches(path string) bool { return doublestar.MatchUnvalidated(g.pattern, path) }

// configured is the rule that asks the repository's configuration.
func (c *Classifier) configured(path string) Decision {
	for _, g := range c.globs {
		if g.matches(path) {
			return Decision{Part: g.part, Why: fmt.Sprintf("matches %s glob %s", g.part, g.pattern)}
		}
	}
	return Decision{}
}
