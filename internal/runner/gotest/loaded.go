package gotest

import (
	"path"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// besideTests runs the tests and, at the same time, asks the go command where it
// finds every package. The working directory is made the real one first: the go
// command names directories by what $PWD says.
const besideTests = `tool=$1; flags=$2; targets=$3; shift 3
report=$TOUCHSTONE_REPORT; unset TOUCHSTONE_REPORT
{ cd "$(pwd -P)"; pwd -P; "$tool" list -e -deps -test $flags -f '{{if not .Standard}}{{.ImportPath}}{{"\t"}}{{.Dir}}{{end}}' $targets; } >"$report" 2>/dev/null &
"$@"; code=$?; wait; exit $code`

// asksPlaces tells whether there is anything to ask: a changed source, and a go
// command that can be asked.
func (s *session) asksPlaces() bool {
	for _, subject := range s.batch.Subjects {
		if isSubject(subject) {
			return isGo(s.Command[0])
		}
	}
	return false
}

func isSubject(file string) bool { return strings.HasSuffix(file, ".go") && !isTest(file) }

// besideList wraps a job's command into besideTests.
func (s *session) besideList(j job, argv []string) []string {
	targets := strings.Join(s.targets(j), " ")
	if len(targets) > maxPattern {
		targets = "./..."
	}
	return append([]string{"sh", "-c", besideTests, "sh", s.Command[0], strings.Join(s.settings.list, " "), targets}, argv...)
}

// loaded says, for the subjects that are in a package of the build, from which
// directory that package comes. The first line of places is the directory in
// which the list was made.
func (s *session) loaded(places string) []gate.Loaded {
	first, rest, _ := strings.Cut(places, "\n")
	root, ok := first, first != ""
	if s.Dir != "." {
		root, ok = strings.CutSuffix(first, "/"+s.Dir)
	}
	if !ok {
		return nil
	}
	dirs := make(map[string]string)
	for line := range strings.Lines(rest) {
		if name, dir, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t"); ok {
			name, _, _ = strings.Cut(name, " ") // "p [p.test]" is p as its test sees it
			dirs[name] = dir
		}
	}
	var found []gate.Loaded
	for _, subject := range s.batch.Subjects {
		at := path.Dir(subject)
		if dir, ok := dirs[s.importPath(at)]; ok && dir != "" && isSubject(subject) {
			found = append(found, gate.Loaded{Subject: subject, File: path.Join(dir, path.Base(subject)), InTree: dir == path.Join(root, at)})
		}
	}
	return found
}
