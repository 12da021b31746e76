package pytest

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// matchesAny tells whether a file matches one of pytest's name patterns: one
// without a slash speaks of the base name, one with a slash of the path's end.
func matchesAny(patterns []string, file string) bool {
	for _, pattern := range patterns {
		name := path.Base(file)
		if strings.Contains(pattern, "/") {
			name, pattern = "/"+file, "*/"+strings.TrimPrefix(pattern, "/")
		}
		if fnmatch(pattern).MatchString(name) {
			return true
		}
	}
	return false
}

var compiled sync.Map // pattern -> *regexp.Regexp

// fnmatch compiles a pattern in the dialect of Python's fnmatch, where * also
// matches slashes. One that does not compile matches its own text.
func fnmatch(pattern string) *regexp.Regexp {
	if known, ok := compiled.Load(pattern); ok {
		return known.(*regexp.Regexp)
	}
	re, err := regexp.Compile("^(?s:" + translate(pattern) + ")$")
	if err != nil {
		re = regexp.MustCompile("^" + regexp.QuoteMeta(pattern) + "$")
	}
	compiled.Store(pattern, re)
	return re
}

func translate(pattern string) string {
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			out.WriteString(".*")
		case '?':
			out.WriteString(".")
		case '[':
			end := strings.IndexByte(pattern[i:], ']')
			if end < 2 {
				out.WriteString(`\[`)
				continue
			}
			set := strings.ReplaceAll(pattern[i+1:i+end], `\`, `\\`)
			if set[0] == '!' {
				set = "^" + set[1:]
			}
			out.WriteString("[" + set + "]")
			i += end
		default:
			out.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return out.String()
}
