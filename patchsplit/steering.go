package patchsplit

import (
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// Steers tells whether a change to a file can decide which tests run or what is
// reported of them: a test framework's options, plugins and hooks. nil is a file
// that does not exist. Fixtures and helpers do not steer: they are test code
// like any other, whatever file they stand in. Files that also build or describe
// the product (package.json, Cargo.toml, go.mod) are never said to steer.
func Steers(path string, old, new []byte) bool {
	base := baseOf(path)
	switch {
	case base == "conftest.py" || strings.HasSuffix(base, "_plugin.py"):
		return !slices.Equal(hooks(old), hooks(new))
	case startup(path):
		return true
	case base == "tox.ini" || base == "setup.cfg" || base == "pyproject.toml":
		return pytestSections(old) != pytestSections(new)
	}
	return isTestConfig(base)
}

// SetUpOnly tells whether a changed file does nothing but configure the tests:
// it is no part of the product's behaviour. A manifest that also declares what
// is built never is, nor what an interpreter runs at its start.
func SetUpOnly(part FilePart) bool {
	return part.Class == ClassTestConfig && !isManifest(baseOf(part.Path)) && !startup(part.Path) && isTestConfig(baseOf(part.Path))
}

var (
	pluginEntry = lazyregexp.New(`pytest11[^\[\]]*[\[\]\s]*[^\[\]]*`)
	dottedName  = lazyregexp.New(`[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*`)
)

// DeclaresPlugin tells whether a Python manifest declares the module in a file as
// a plugin of pytest that its distribution offers (entry points "pytest11").
func DeclaresPlugin(manifest []byte, file string) bool {
	module := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSuffix(file, ".py"), "src/"), "/", ".")
	for _, entries := range pluginEntry.FindAllString(string(manifest), -1) {
		for _, name := range dottedName.FindAllString(entries, -1) {
			if module == name || strings.HasSuffix(module, "."+name) && strings.Contains(name, ".") {
				return true
			}
		}
	}
	return false
}

// startup knows the files that an interpreter reads before any test.
func startup(path string) bool {
	base := baseOf(path)
	return base == "sitecustomize.py" || base == "usercustomize.py" || base == "pytest.py" || strings.HasSuffix(base, ".pth") ||
		strings.Contains(path, ".dist-info/") || strings.Contains(path, ".egg-info/") || strings.HasPrefix(path, "_pytest/") || strings.Contains(path, "/_pytest/")
}

var (
	hookName = lazyregexp.New(`\bpytest_[a-z]|\bhookimpl\b|\b_pytest\b|\bpluggy\b|\bsys\.modules\b|\bos\._exit\b|\batexit\b|\bsys\.settrace\b|\bTestReport\b|\bcollect_ignore`)
	fixture  = lazyregexp.New(`^@(?:pytest\.|pytest_asyncio\.)?fixture\b`)
)

// hooks are the top-level statements of a Python file, bodies included, that
// have to do with how pytest works, without the fixtures.
func hooks(source []byte) []string {
	var found []string
	var block []pyLine
	flush := func() {
		var text strings.Builder
		isFixture := false
		for _, line := range block {
			isFixture = isFixture || fixture.MatchString(line.text)
			text.WriteString(strings.Repeat(" ", line.indent) + line.text + "\n" + strings.Join(line.strings, "\x00") + "\n")
		}
		if hookName.MatchString(text.String()) && !isFixture {
			found = append(found, text.String())
		}
		block = nil
	}
	for _, line := range pyLines(source) {
		decorated := len(block) > 0 && strings.HasPrefix(block[len(block)-1].text, "@") && block[len(block)-1].indent == 0
		if line.indent == 0 && !decorated {
			flush()
		}
		block = append(block, line)
	}
	flush()
	return found
}

var pytestSection = lazyregexp.New(`^\s*\[+\s*(?:pytest|tool:pytest|"?tool"?\."?pytest"?[\w."-]*)\s*\]+`)

// pytestSections are the lines of a configuration file that configure pytest.
func pytestSections(content []byte) string {
	var kept strings.Builder
	inside := false
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "[") {
			inside = pytestSection.MatchString(line)
		}
		if inside && strings.TrimSpace(line) != "" {
			kept.WriteString(strings.TrimSpace(line) + "\n")
		}
	}
	return kept.String()
}
