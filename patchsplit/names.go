package patchsplit

import (
	"fmt"
	"regexp"
	"slices"
)

// naming is how one ecosystem names its test files.
type naming struct {
	ecosystem string
	extension []string
	name      *regexp.Regexp // of the base name without its last extension
	words     string
}

var (
	scripts = []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"}
	native  = []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"}
)

var namings = []naming{
	{"JavaScript", scripts, regexp.MustCompile(`\.(test|spec|cy|e2e|test-d|bench\.test)$`), "*.test.* or *.spec.*"},
	{"JavaScript", []string{".snap"}, regexp.MustCompile(`.`), "snapshot"},
	{"Java", []string{".java", ".kt", ".groovy", ".scala"}, regexp.MustCompile(`[a-z0-9](Test|Tests|TestCase|IT|Spec|Suite)$|^Test[A-Z]`), "*Test"},
	{"C#", []string{".cs", ".fs", ".vb"}, regexp.MustCompile(`[a-z0-9](Test|Tests)$`), "*Tests"},
	{"Swift", []string{".swift", ".m", ".mm"}, regexp.MustCompile(`[a-z0-9](Test|Tests)$`), "*Tests"},
	{"Ruby", []string{".rb"}, regexp.MustCompile(`_(spec|test)$`), "*_spec.rb or *_test.rb"},
	{"PHP", []string{".php", ".phpt"}, regexp.MustCompile(`[a-z0-9](Test|Cest)$`), "*Test.php"},
	{"Elixir", []string{".exs"}, regexp.MustCompile(`_test$`), "*_test.exs"},
	{"Dart", []string{".dart"}, regexp.MustCompile(`_test$`), "*_test.dart"},
	{"C++", native, regexp.MustCompile(`(_|-)(test|tests|unittest|gtest)$`), "*_test"},
	{"Haskell", []string{".hs"}, regexp.MustCompile(`[a-z]Spec$|^Spec$`), "*Spec.hs"},
	{"Erlang", []string{".erl"}, regexp.MustCompile(`_(SUITE|tests)$`), "*_SUITE.erl"},
	{"Lua", []string{".lua"}, regexp.MustCompile(`_spec$`), "*_spec.lua"},
	{"Bats", []string{".bats"}, regexp.MustCompile(`.`), "*.bats"},
}

// namedAsTest is the rule for file names that only test files have.
func namedAsTest(path string) Decision {
	stem, ext := stemOf(path), extOf(path)
	for _, n := range namings {
		if slices.Contains(n.extension, ext) && n.name.MatchString(stem) {
			return Decision{Part: Test, Why: fmt.Sprintf("%s test file (%s)", n.ecosystem, n.words)}
		}
	}
	return Decision{}
}
