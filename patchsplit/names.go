package patchsplit

import (
	"fmt"
	"slices"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// naming is how one ecosystem names its test files.
type naming struct {
	ecosystem string
	extension []string
	name      *lazyregexp.Regexp // of the base name without its last extension
	words     string
}

var (
	scripts = []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"}
	native  = []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"}
)

var namings = []naming{
	{"JavaScript", scripts, lazyregexp.New(`\.(test|spec|cy|e2e|test-d|bench\.test)$`), "*.test.* or *.spec.*"},
	{"JavaScript", []string{".snap"}, lazyregexp.New(`.`), "snapshot"},
	{"Java", []string{".java", ".kt", ".groovy", ".scala"}, lazyregexp.New(`[a-z0-9](Test|Tests|TestCase|IT|Spec|Suite)$|^Test[A-Z]`), "*Test"},
	{"C#", []string{".cs", ".fs", ".vb"}, lazyregexp.New(`[a-z0-9](Test|Tests)$`), "*Tests"},
	{"Swift", []string{".swift", ".m", ".mm"}, lazyregexp.New(`[a-z0-9](Test|Tests)$`), "*Tests"},
	{"Ruby", []string{".rb"}, lazyregexp.New(`_(spec|test)$`), "*_spec.rb or *_test.rb"},
	{"PHP", []string{".php", ".phpt"}, lazyregexp.New(`[a-z0-9](Test|Cest)$`), "*Test.php"},
	{"Elixir", []string{".exs"}, lazyregexp.New(`_test$`), "*_test.exs"},
	{"Dart", []string{".dart"}, lazyregexp.New(`_test$`), "*_test.dart"},
	{"C++", native, lazyregexp.New(`(_|-)(test|tests|unittest|gtest)$`), "*_test"},
	{"Haskell", []string{".hs"}, lazyregexp.New(`[a-z]Spec$|^Spec$`), "*Spec.hs"},
	{"Erlang", []string{".erl"}, lazyregexp.New(`_(SUITE|tests)$`), "*_SUITE.erl"},
	{"Lua", []string{".lua", ".luau"}, lazyregexp.New(`(_|\.)spec$|_test$`), "*_spec.lua or *_test.lua"},
	{"Solidity", []string{".sol"}, lazyregexp.New(`\.t$`), "*.t.sol"},
	{"Zig", []string{".zig"}, lazyregexp.New(`_test$`), "*_test.zig"},
	{"Bats", []string{".bats"}, lazyregexp.New(`.`), "*.bats"},
}

// namingsFor are the namings by extension.
var namingsFor = func() map[string][]*naming {
	by := make(map[string][]*naming)
	for i := range namings {
		for _, ext := range namings[i].extension {
			by[ext] = append(by[ext], &namings[i])
		}
	}
	return by
}()

// namedAsTest is the rule for file names that only test files have.
func namedAsTest(path string) Decision {
	for _, n := range namingsFor[extOf(path)] {
		if n.name.MatchString(stemOf(path)) {
			return Decision{Part: Test, Why: fmt.Sprintf("%s test file (%s)", n.ecosystem, n.words)}
		}
	}
	return Decision{}
}

// packageTest is the rule for names that a module of the product may have too: the
// one test file of a small package, beside its source, and what test frameworks of
// JavaScript load before the tests. The product imports its own.
func (c *Classifier) packageTest(path string) Decision {
	d := packageTestName(path)
	if d.Part != Test || c.blind() {
		return d
	}
	if user := c.productUser(path, 1); user != "" {
		return Decision{Part: Production, Why: fmt.Sprintf("named like a test, but %s imports it", user)}
	}
	return d
}

func packageTestName(path string) Decision {
	if dir := dirOf(path); stemOf(path) == "test" && (dir == "" || dir == "source") && slices.Contains(scripts, extOf(path)) {
		return Decision{Part: Test, Why: "JavaScript test file (test.* of a package that has one)"}
	}
	if slices.Contains(scripts, extOf(path)) && scriptSetup.MatchString(stemOf(path)) {
		return Decision{Part: Test, Why: "set-up of JavaScript tests, by its name"}
	}
	return Decision{}
}

// scriptSetup are setupTests, which react-scripts loads by that name, and what
// others call theirs.
var scriptSetup = lazyregexp.New(`(?i)^(setup[.-]?tests?|tests?[.-]?setup|setup[.-]?(jest|vitest|mocha|enzyme|jasmine)|(jest|vitest|mocha|enzyme|jasmine)[.-]?(global)?[.-]?setup)([.-](after-?env|env|globals?|files?))?$`)

// perlTest is the rule for *.t, which templates and manual pages are called too:
// a test of Perl says in its text what runs it.
func (c *Classifier) perlTest(path string) Decision {
	if extOf(path) == ".t" && (c.blind() || perlSource.Match(c.evidence(path).content(path))) {
		return Decision{Part: Test, Why: "Perl test file (*.t)"}
	}
	return Decision{}
}

var perlSource = lazyregexp.New(`\A#!.*(perl|raku|prove|sh\b)|(?m)^[ \t]*(use|require)[ \t]+[\w:.]+[^;\n]*;`)
