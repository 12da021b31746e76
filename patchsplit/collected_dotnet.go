package patchsplit

import (
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	dotnetTests = lazyregexp.New(`(?i)Include="(?:Microsoft\.NET\.Test\.Sdk|xunit[\w.]*|NUnit[\w.]*|MSTest[\w.]*|TUnit|Microsoft\.VisualStudio\.[\w.]*UnitTest\w*)["\s,]|<IsTestProject>\s*true|Sdk="MSTest\.Sdk`)
	dotnetNot   = lazyregexp.New(`(?i)<IsTestProject>\s*false|<PackageId>|<IsPackable>\s*true`)
	dotnetFile  = lazyregexp.New(`(?i)\.(?:cs|fs|vb)proj$`)
)

// readDotnet takes the whole directory of a test project.
func readDotnet(_ string, data []byte) *collection {
	if !dotnetTests.Match(data) || dotnetNot.Match(data) {
		return nil
	}
	return &collection{framework: "dotnet test", patterns: []string{"**"}}
}

// dotnetProduct is the rule for sources that are merely named like tests and
// belong to a project that is none.
func (c *Classifier) dotnetProduct(path string) Decision {
	if !slices.Contains([]string{".cs", ".fs", ".vb"}, extOf(path)) {
		return Decision{}
	}
	for dir := range ancestors(path) {
		for _, file := range c.base.in(dir) {
			if !dotnetFile.MatchString(file) {
				continue
			}
			if name := strings.ToLower(stemOf(file)); strings.Contains(name, "test") || strings.Contains(name, "spec") || dotnetTests.Match(c.base.content(file)) && !dotnetNot.Match(c.base.content(file)) {
				return Decision{}
			}
			return Decision{Part: Production, Why: "belongs to " + file + ", which is no test project"}
		}
	}
	return Decision{}
}
