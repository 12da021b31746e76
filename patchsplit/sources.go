package patchsplit

// maxSources is how many source files are searched for who uses a file. Beyond
// it nothing is claimed: half a search proves nothing about the other half.
const maxSources = 4000

// corpus is a tree's source files by what their names say they are.
type corpus struct {
	tests, others []string
	complete      bool

	ofProduct []string // of others, filled by product
}

// product lists the sources whose use of a file makes it the product's.
func (s *corpus) product() []string {
	if s.ofProduct == nil {
		s.ofProduct = make([]string, 0, len(s.others))
		for _, path := range s.others {
			if isProductSource(path) {
				s.ofProduct = append(s.ofProduct, path)
			}
		}
	}
	return s.ofProduct
}

func (c *Classifier) corpus(tree *view) *corpus {
	if known := c.sources[tree]; known != nil {
		return known
	}
	sources := new(corpus)
	c.sources[tree] = sources
	var code []string
	for _, path := range tree.paths {
		if IsCode(path) && !isVendored(path) {
			if code = append(code, path); len(code) > maxSources {
				return sources
			}
		}
	}
	sources.complete = true
	for _, path := range code {
		if c.byName(path) == Test {
			sources.tests = append(sources.tests, path)
		} else {
			sources.others = append(sources.others, path)
		}
	}
	return sources
}

// IsCode tells a source from data by its extension: a file in a programming language
// that something compiles or runs.
func IsCode(path string) bool { return isCodeExt(extOf(path)) }

func isCodeExt(ext string) bool {
	switch ext {
	case ".go", ".py", ".pyx", ".pyi", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".rs", ".java", ".kt",
		".kts", ".scala", ".groovy", ".rb", ".php", ".cs", ".fs", ".vb", ".swift", ".m", ".mm", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp",
		".ex", ".exs", ".erl", ".hs", ".dart", ".lua", ".zig", ".d", ".nim", ".cr", ".pl", ".pm", ".r", ".jl", ".clj", ".cljs", ".ml", ".mli",
		".sh", ".bash", ".ps1", ".bats", ".asm", ".s", ".sql", ".proto", ".tf":
		return true
	}
	return false
}
