package patchsplit

import (
	"fmt"
	"regexp"
)

// rustModule is the rule for a Rust file that its parent declares: under
// #[cfg(test)] it is test code, whatever it is called; a module called tests
// that every build holds is the product's, unless it says otherwise itself.
func (c *Classifier) rustModule(path string) Decision {
	if extOf(path) != ".rs" {
		return Decision{}
	}
	if c.blind() {
		return rustModuleName(path)
	}
	for name, at := stemOf(path), path; ; {
		if name == "mod" {
			at = dirOf(at)
			name = baseOf(at)
		}
		parent := c.rustParent(dirOf(at))
		if parent == "" || parent == path {
			return Decision{}
		}
		test, declared := declaresModule(c.evidence(parent).content(parent), name)
		switch {
		case test:
			return Decision{Part: Test, Why: fmt.Sprintf("%s declares mod %s under #[cfg(test)]", parent, name)}
		case !declared:
			return Decision{}
		}
		if stem := stemOf(parent); stem == "lib" || stem == "main" {
			if _, among := testDirectory(path); among && !allTest(c.evidence(path).content(path)) {
				return Decision{Part: Production, Why: fmt.Sprintf("%s declares it for every build", parent)}
			}
			return Decision{}
		}
		name, at = stemOf(parent), parent
	}
}

// rustModuleName goes by what nearly all such modules are, where no parent can be
// read.
func rustModuleName(path string) Decision {
	if stem := stemOf(path); stem == "tests" || stem == "test" {
		return Decision{Part: Test, Why: "Rust module called " + stem + ", as only test builds hold"}
	}
	return Decision{}
}

// rustParent is the file that declares the modules of a directory.
func (c *Classifier) rustParent(dir string) string {
	for _, file := range []string{joinDir(dir, "mod.rs"), dir + ".rs", joinDir(dir, "lib.rs"), joinDir(dir, "main.rs")} {
		if c.base.has(file) || c.head.has(file) {
			return file
		}
	}
	return ""
}

// declaresModule finds "mod name;" in a source, and whether only test builds
// have it.
func declaresModule(source []byte, name string) (test, declared bool) {
	masked := rustSyntax.mask(source)
	at := regexp.MustCompile(`(?m)\bmod\s+` + regexp.QuoteMeta(name) + `\s*;`).FindIndex(masked)
	if at == nil {
		return false, false
	}
	s := newSpans(source)
	return rustTests(source).holds(s.line(at[0])), true
}

// allTest holds for a file that says of itself that only test builds hold it.
func allTest(source []byte) bool {
	found := rustTests(source)
	return len(found) == 1 && found[0].from == 0 && found[0].to == len(newSpans(source).starts)
}
