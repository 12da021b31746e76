package pytest

import (
	"path"
	"slices"
	"strings"
)

// namesakes are the files among others that pytest would import under the same
// name as a test file: in a whole run the second of them cannot be collected.
func (s *suite) namesakes(file string, others []string) []string {
	if !strings.HasSuffix(file, ".py") || slices.ContainsFunc(s.options, func(o string) bool { return strings.Contains(o, "importlib") }) {
		return nil
	}
	var found []string
	for _, other := range others {
		if other != file && path.Base(other) == path.Base(file) && s.moduleName(other) == s.moduleName(file) {
			found = append(found, other)
		}
	}
	return found
}

// moduleName is the name under which pytest imports a file by default: from the
// first directory upwards that is no package.
func (s *suite) moduleName(file string) string {
	name, dir := path.Base(file), path.Dir(file)
	for ; dir != "." && s.exists(path.Join(dir, "__init__.py")); dir = path.Dir(dir) {
		name = path.Base(dir) + "/" + name
	}
	return name
}

// company are the files that must be collected before the units for the units
// to fare as in a whole run: those of the same name that the change adds, where
// no other bears the name already.
func (c *call) company(units []string) []string {
	var found []string
	if c.Config.Framework != Pytest || len(c.Added) == 0 || slices.ContainsFunc(c.Command, func(word string) bool { return strings.Contains(word, "importlib") }) {
		return nil
	}
	s := c.suite(c.state.Tree())
	for _, unit := range units {
		if slices.Contains(c.Added, unit) || !s.isUnit(unit) {
			continue
		}
		same := s.namesakes(unit, s.files)
		if slices.ContainsFunc(same, func(other string) bool { return !slices.Contains(c.Added, other) }) {
			continue // they do not run together anyway
		}
		found = append(found, same...)
	}
	slices.Sort(found)
	return slices.DeleteFunc(slices.Compact(found), func(file string) bool { return slices.Contains(units, file) })
}
