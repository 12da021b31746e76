package jvm

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/console"
)

// kept is what was built of a state and lies in its home, which stays between its
// runs while the tree does not.
//
// It is copied there after a build of its own, before any test runs, so that no
// test ever writes into it, and is taken only for the sources that it was built
// of: another state, or test code taken out since, makes another mark.
type kept struct {
	state   gate.State
	mark    string   // of what is wanted now
	before  string   // of what was there before the last test code was taken out
	left    string   // digest of the test code that was taken out
	modules []string // that were built
	saved   bool
	off     bool
}

// otherCompilers build everything anew in every run, so that keeping would cost
// a build more.
var otherCompilers = lazyregexp.New(`kotlin-maven-plugin|gmaven|groovy-|scala-maven-plugin|aspectj`)

// keeps tells whether this question's build is to be kept, and says in the kept
// what is wanted.
func (s *session) keeps(asked []ask) bool {
	k := &s.left.Known
	if s.tool.building(s, nil) == nil || s.forgetful.Load() {
		return false
	}
	if k.state != s.state {
		*k = kept{state: s.state}
	}
	modules := slices.Clone(k.modules)
	for _, a := range asked {
		if module := s.project.moduleOf(a.unit); !slices.Contains(modules, module) {
			modules = append(modules, module)
		}
	}
	for _, module := range s.project.modules {
		k.off = k.off || otherCompilers.MatchString(s.project.build[module])
	}
	if left := s.left.Digest(); k.mark == "" || left != k.left || len(modules) > len(k.modules) {
		k.before, k.mark, k.left, k.modules, k.saved = k.mark, rand.Text(), left, modules, false
	}
	return !k.off
}

// keeping are the shell lines before the tests: they bring back what was built
// of these sources, or build it and lay it aside.
func (s *session) keeping() string {
	k := &s.left.Known
	var restore, save, again strings.Builder
	for i, module := range s.project.modules {
		built := `"$root"/` + console.Quote(s.tool.output(module))
		fmt.Fprintf(&restore, "\t[ ! -d \"$keep/%[1]d\" ] || cp -a \"$keep/%[1]d\" %[2]s || exit 1\n", i, built)
		fmt.Fprintf(&save, "\t[ ! -d %[2]s ] || cp -a %[2]s \"$keep/%[1]d\" || exit 1\n", i, built)
		fmt.Fprintf(&again, "\trm -rf %[1]s/test-classes %[1]s/generated-test-sources %[1]s/maven-status/*/testCompile\n", built)
	}
	var times strings.Builder
	for _, file := range s.left.Files() { // older than what is built of them
		fmt.Fprintf(&times, "touch -t 200101010000 \"$root\"/%s || exit 1\n", console.Quote(file))
	}
	argv := s.tool.building(s, k.modules)
	return times.String() + fmt.Sprintf(`keep="${HOME:-/tmp}/.cache/touchstone/%[1]s-$(printf '%%s %%s' "$root" %[2]s | cksum | cut -d' ' -f1)"
restore() {
%[3]s}
lay() {
	rm -rf "$keep" && mkdir -p "$keep" || exit 1
%[4]s	echo "$1" >"$keep/mark"
}
build() {
	(cd "$root"/%[5]s && %[6]s) 9>&-
	code=$?
	[ $code = 0 ] || { lay "%[7]s failed"; exit $code; }
	lay %[7]s
}
again() {
%[8]s}
case "$(cat "$keep/mark" 2>/dev/null)" in
%[7]s) echo touchstone-kept; restore ;;
%[9]s|"%[9]s failed") restore; again; build ;;
*) build ;;
esac
echo touchstone-built
`, s.tool.framework(), console.Quote(s.Name()+" "+string(s.state.Name())), restore.String(), save.String(), console.Quote(s.Dir), console.Shell(argv), k.mark, again.String(), orNone(k.before))
}

func orNone(mark string) string {
	if mark == "" {
		return "none"
	}
	return mark
}

// doubtful holds for a question whose build was kept and that then came to
// nothing although nothing of the sources stands against it: it is asked once
// more of a build from scratch, and so are all that follow.
func (h *heard) doubtful() bool {
	return h.built && !h.cutShort() && h.exit.Limit == "" && len(h.cases) == 0 && (len(h.errors) > 0 || h.verdict != "SUCCESS")
}
