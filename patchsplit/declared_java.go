package patchsplit

import (
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	javaMethod     = lazyregexp.New(`(?m)(?:^|[\s>\])])([A-Za-z_$][\w$]*)\s*\(`)
	phpFun         = lazyregexp.New(`\bfunction\s+&?(\w+)\s*\(`)
	javaFun        = lazyregexp.New(`\bfun\s+(?:<[^>]*>\s*)?(?:[\w.<>?]+\.)?(\w+)\s*\(`)
	javaBehind     = lazyregexp.New(`^\s*(?:throws\s+[\w.,\s]+|const\b|noexcept\b|override\b|final\b|\s)*(?::[^:;{]*)?[{;]`)
	javaBefore     = lazyregexp.New(`(?:^|[;{}\s])(?:return|new|throw|else|case|assert|yield|in)\s*$`)
	javaParam      = lazyregexp.New(`(?:final\s+)?(?:@\w+\s+)*([\w.<>\[\]?&\s]*[\w>\]?.])\s+[\w$]+\s*(,|$)`)
	notJavaMethods = lazyregexp.New(`^(?:if|for|while|switch|catch|synchronized|try|return|new|super|this|assert|throw|do|else)$`)
)

// readJava takes how functions and constructors are called, in Java and C++ or,
// where a keyword marks them, in Kotlin and PHP, as far as the text shows it:
// enough to tell that one was declared otherwise.
func (d *declarations) readJava(source []byte, keyword *lazyregexp.Regexp) {
	masked := nativeSyntax.mask(source)
	head, marked := javaMethod, keyword != nil
	if marked {
		head = keyword
	}
	for _, m := range head.FindAllSubmatchIndex(masked, -1) {
		name, open := string(masked[m[2]:m[3]]), m[1]-1
		end := closing(masked, open)
		before := strings.TrimRight(string(masked[max(0, m[2]-40):m[2]]), " \t\n")
		if notJavaMethods.MatchString(name) || !marked && (before == "" || strings.ContainsAny(before[len(before)-1:], "=.(,+-/|!?:") ||
			javaBefore.MatchString(before) || !javaBehind.Match(masked[min(end, len(masked)):])) {
			continue
		}
		if last := before[max(0, len(before)-1):]; !marked && strings.Contains(";{}", last) && masked[min(end, len(masked)-1)] == ';' {
			continue // a call
		}
		inner := string(masked[open+1 : max(open+1, end-1)])
		if !marked {
			inner = javaParam.ReplaceAllString(strings.TrimSpace(inner), "$1$2")
		}
		d.signatures[name] += strings.Join(strings.Fields(inner), "") + ";"
	}
}
