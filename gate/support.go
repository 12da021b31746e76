package gate

import (
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// How far a change edits the test code around the tests: fixtures, helpers,
// set-up, data. That code can change what tests come to which the change does
// not touch.
const (
	supportEdits    = "edits"
	supportReplaces = "replaces" // it puts something in place of what the changed files declare
)

var (
	setsUp = lazyregexp.New(`(?i)autouse|set_?up|tear_?down|\bbefore(?:each|all)?\b|\bafter(?:each|all)?\b|TestMain|\bfunc init\(|^var .*\(`)
	// replaces marks what puts one thing in place of another: patching tools, the
	// tables that names are kept in, an assignment of a function or a name.
	replaces = lazyregexp.New(`monkeypatch|setattr|\bpatch|[mM]ock|\b[sS]tub|spyOn|sinon|sys\.modules|__dict__|\bglobals\(|\bvars\(|defineProperty|\.prototype\b|require\.cache|` +
		`^\s*[\w.\[\]"']+\s*=\s*(?:lambda\b|func\b|function\b|async\b|\(.*=>|\w+\s*=>)|^\s*[\w.\[\]"']+\.\w+\s*=\s*[A-Za-z_]\w*;?$`)
	imports = lazyregexp.New(`^(?:import\b|from \S+ import\b|"[^"]+"$|\w+ "[^"]+"$|(?:const|let|var) .*\brequire\(|export \{)`)
	remark  = lazyregexp.New(`^(?:#|//|/?\*)`)
	closing = lazyregexp.New(`^[\])}>;,]*$`)
)

// readSupport compares the test part outside of the tests between base and head.
// What a file that holds tests gains there counts only as far as it runs by
// itself or replaces something: nothing untouched calls a new helper.
func (r *replay) readSupport() string {
	found := ""
	for _, path := range sortedPaths(r.tests, r.in.Steering) {
		before, old := r.around(Base, path)
		after, now := r.around(Head, path)
		removed, added := minus(before, after), minus(after, before)
		holds := old || now
		switch {
		case r.replacing(slices.DeleteFunc(slices.Clone(added), func(line string) bool { return standsIn(before, line) })):
			return supportReplaces
		case !holds && len(removed)+len(added) > 0, len(removed) > 0, slices.ContainsFunc(added, setsUp.MatchString), slices.ContainsFunc(added, replaces.MatchString):
			found = supportEdits
		}
	}
	return found
}

func sortedPaths(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// replacing tells whether lines put something in place of a name that the
// changed files declare.
func (r *replay) replacing(lines []string) bool {
	if r.in.Declared == nil {
		return false
	}
	for _, line := range lines {
		if replaces.MatchString(line) {
			for word := range wordsOf(line) {
				if r.in.Declared(word) {
					return true
				}
			}
		}
	}
	return false
}

// standsIn tells whether a line puts in place of something what a line of base's
// version puts in place of something already: the same fake under another name,
// as when what it stands for has moved. Nothing else but the fake's parameters may
// be otherwise. A bare number, a truth value, nothing at all say too little.
func standsIn(before []string, line string) bool {
	fake := fakeOf(line)
	return fake != "" && !truth.MatchString(fake) && slices.ContainsFunc(before, func(old string) bool {
		return replaces.MatchString(old) && fakeOf(old) == fake && oneWordApart(old, line)
	})
}

// oneWordApart tells whether two lines differ in one word at most, beside the
// parameters of functions.
func oneWordApart(a, b string) bool {
	words := func(line string) []string {
		return token.FindAllString(parameters.ReplaceAllString(line, "$1$2 $3"), -1)
	}
	one, other := words(a), words(b)
	if len(one) != len(other) {
		return false
	}
	apart := 0
	for i, word := range one {
		if word == other[i] {
			continue
		}
		if apart++; apart > 1 || !name.MatchString(word) || !name.MatchString(other[i]) {
			return false
		}
	}
	return true
}

var (
	fakeValue = lazyregexp.New(`^.*(?:lambda[^:]*:|=>|return_value\s*=|[rR]eturnValue(?:Once)?\(|[rR]esolvedValue(?:Once)?\(|,|=)\s*([^,:=]+?)[\s)\]};,]*$`)
	truth     = lazyregexp.New("^(?i:true|false|[-+\\d.]+|none|null|nil|undefined|pass|\"\"|''|``|[({\\[ ]+|(?:\\w+\\.)*(?:\\w*mock|fn|stub)\\()$")
	// parameters of plain words and literals; a call among them is code.
	parameters = lazyregexp.New(`\b(lambda)\b[\w\s,*=.]*:|\b(func\w*\s*)\([\w\s,*=.]*\)|(?:\([\w\s,*=.]*\)|\w+)\s*(=>)`)
	token      = lazyregexp.New(`\w+|[^\w\s]`)
	name       = lazyregexp.New(`^[A-Za-z_]\w*$`)
)

// fakeOf is what a line puts in place of something: the last expression of it.
func fakeOf(line string) string {
	if m := fakeValue.FindStringSubmatch(line); m != nil && replaces.MatchString(line) {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// around are the lines of a file outside of its tests, without imports and
// comments, and whether it holds tests.
func (r *replay) around(name StateName, path string) (lines []string, tests bool) {
	o := r.states[name]
	if o == nil || o.state == nil {
		return nil, false
	}
	content, err := o.state.Tree().ReadFile(path)
	if err != nil {
		return nil, false
	}
	inside := make(map[int]bool)
	for _, key := range r.m.Keys() {
		if row, ok := r.m.Seen(key, name); ok && row.File == path && row.Line > 0 {
			tests = true
			for line := row.Line; line <= max(row.Line, row.End); line++ {
				inside[line] = true
			}
		}
	}
	for i, line := range strings.Split(string(content), "\n") {
		if trimmed := strings.TrimSpace(line); !inside[i+1] && !closing.MatchString(trimmed) && !imports.MatchString(trimmed) && !remark.MatchString(trimmed) {
			lines = append(lines, strings.TrimRight(line, " \t\r"))
		}
	}
	return lines, tests
}

// minus are the lines of a that b has not as often.
func minus(a, b []string) []string {
	count := make(map[string]int)
	for _, line := range b {
		count[line]++
	}
	var rest []string
	for _, line := range a {
		if count[line]--; count[line] < 0 {
			rest = append(rest, line)
		}
	}
	return rest
}
