package jvm

import (
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// ask is a class with the methods that are wanted of it; nil for all.
type ask struct {
	unit, class string // class with its package, without nested ones
	methods     []method
}

// method is one method of a class, which may be a nested one.
type method struct {
	class, name string
	parts       bool // its parts have names of their own: name[0]
}

// maven is what belongs to Maven alone.
type maven struct{}

func (maven) framework() string { return Maven }

func (maven) program() string { return "mvn" }

func (maven) isBuildFile(base string) bool { return base == "pom.xml" }

func (maven) modules(tree gate.Tree, file string) []string { return modulesOf(tree, file) }

func (maven) byName() bool { return true }

func (maven) redirect() string { return "" }

func (maven) files() map[string]string { return nil }

func (maven) output(module string) string { return path.Join(module, "target") }

func (maven) reports() []string {
	return []string{"target/surefire-reports/TEST-*.xml", "target/failsafe-reports/TEST-*.xml"}
}

// quiet are the options of every run: offline, all modules whatever fails, whole
// stack traces, and without checks that say nothing about tests. A local
// repository is taken as it is, from whichever mirror it was filled.
var quiet = []string{
	"-o", "-B", "-fae", "-Dstyle.color=never", "-Dmaven.test.failure.ignore=true", "-DtrimStackTrace=false", "-Dsurefire.printSummary=true",
	"-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false", "-Dfailsafe.failIfNoSpecifiedTests=false", "-Dit.failIfNoSpecifiedTests=false",
	"-Daether.enhancedLocalRepository.trackingFilename=none.properties",
	"-Denforcer.skip", "-Dcheckstyle.skip", "-Drat.skip", "-Dlicense.skip", "-Dspotless.check.skip", "-Dspotless.apply.skip", "-Dformatter.skip", "-Dimpsort.skip", "-Dsort.skip",
	"-Dpmd.skip", "-Dcpd.skip", "-Dspotbugs.skip", "-Danimal.sniffer.skip", "-Djacoco.skip", "-Dmaven.javadoc.skip", "-Dgpg.skip", "-Dmaven.site.skip", "-Dinvoker.skip",
}

// argv is the command for a selection.
func (maven) argv(s *session, asked []ask) []string {
	var modules, unit, integration []string
	exact := s.knowsExact() || len(asked) == 1
	for _, a := range asked {
		if module := s.project.moduleOf(a.unit); !slices.Contains(modules, module) {
			modules = append(modules, module)
		}
		pattern := selection(a, exact)
		if s.project.integration(a.unit) {
			integration = append(integration, pattern)
		} else {
			unit = append(unit, pattern)
		}
	}
	argv := s.maven(modules)
	if len(unit) == 0 {
		unit = []string{"touchstone/NoTest"}
	}
	argv = append(argv, "-Dtest="+strings.Join(unit, ","))
	if len(integration) == 0 {
		return append(argv, "test")
	}
	return append(argv, "-Dit.test="+strings.Join(integration, ","), "verify")
}

// building: the tests' classes of the modules and of all that they need.
func (maven) building(s *session, modules []string) []string {
	return append(s.maven(modules), "test-compile")
}

// maven is the command for some modules and those that they need, up to its goal.
func (s *session) maven(modules []string) []string {
	argv := append(slices.Clone(s.Command), quiet...)
	if len(s.project.modules) == 1 {
		return argv
	}
	names := make([]string, len(modules))
	for i, module := range modules {
		names[i] = treepath.Relative(s.Dir, module)
	}
	return append(argv, "-pl", strings.Join(names, ","), "-am")
}

// selection is a class in Surefire's words: its path, and methods.
func selection(a ask, exact bool) string {
	name := strings.ReplaceAll(a.class, ".", "/")
	if a.methods == nil || !exact {
		return name + "," + name + "$*"
	}
	byClass := make(map[string][]string)
	var order []string
	for _, m := range a.methods {
		if byClass[m.class] == nil {
			order = append(order, m.class)
		}
		word := m.name
		if m.parts {
			word += "*"
		}
		if !slices.Contains(byClass[m.class], word) {
			byClass[m.class] = append(byClass[m.class], word)
		}
	}
	var words []string
	for _, class := range order {
		words = append(words, strings.ReplaceAll(class, ".", "/")+"#"+strings.Join(byClass[class], "+"))
	}
	return strings.Join(words, ",")
}

var (
	mavenLevel  = lazyregexp.New(`^\[(INFO|ERROR|WARNING)\] ?`)
	mavenAt     = lazyregexp.New(`^(?:file:/*)?(\S.*\.(?:java|kt)):? ?[\[(](\d+),(?: ?(\d+))?[\])] ?(.*)$`)
	began       = lazyregexp.New(`^Running ([\w.$]+)\s*$`)
	ended       = lazyregexp.New(`^Tests run: \d+.*? in ([\w.$]+)\s*$`)
	endedOld    = lazyregexp.New(`^Tests run: \d+.*Time elapsed: [^-]*$`)
	pluginIs    = lazyregexp.New(`maven-(?:surefire|failsafe)-plugin:(\d+)\.(\d+)`)
	forkDied    = lazyregexp.New(`The forked VM terminated|forked VM terminated without|There was an error in the forked process|Crashed tests:|ForkedProcess.*crash`)
	unavailable = lazyregexp.New(`in offline mode|for offline mode|Could not resolve all (?:files|dependencies|artifacts)|Could not resolve dependencies|could not be resolved|has not been downloaded from it before|Non-resolvable`)
	lacked      = lazyregexp.New(`(?:the artifact|Could not find artifact|No cached version of) ([\w.-]+(?::[\w.-]+){2,4})`)
)

// take reads a line of what Maven prints.
func (maven) take(h *heard, line string) {
	level := ""
	if m := mavenLevel.FindStringSubmatch(line); m != nil {
		level, line = m[1], line[len(m[0]):]
	}
	if m := pluginIs.FindStringSubmatch(line); m != nil {
		h.exact = number(m[1]) > 2 || number(m[1]) == 2 && number(m[2]) >= 19
	}
	if m := began.FindStringSubmatch(line); m != nil {
		h.begin(m[1])
		return
	}
	if m := ended.FindStringSubmatch(line); m != nil {
		h.end(m[1])
		return
	}
	trimmed := strings.TrimSpace(line)
	switch {
	case endedOld.MatchString(line):
		h.endLast()
	case trimmed == "COMPILATION ERROR :" || strings.HasPrefix(trimmed, "Failed to execute goal"):
		h.compiling = true
		if level == "ERROR" {
			h.say(trimmed)
		}
	case strings.HasPrefix(trimmed, "BUILD "):
		h.verdict = strings.TrimPrefix(trimmed, "BUILD ")
	case forkDied.MatchString(line):
		h.died = true
	case level == "ERROR":
		if m := mavenAt.FindStringSubmatch(line); m != nil {
			h.error(m[1], m[2], m[3], m[4])
			return
		}
		h.detail(trimmed)
		h.say(trimmed)
	case level == "":
		h.detail(trimmed)
	default:
		h.open = false
	}
}

// lacking names what could not be had, in the words of Maven or Gradle, which have
// it behind much else.
func lacking(words string) string {
	if m := lacked.FindStringSubmatch(words); m != nil {
		return "the dependency " + m[1]
	}
	return "a dependency"
}

// unbuilt is the observation of what a failed build says.
func (h *heard) unbuilt() gate.Observation {
	words := strings.Join(h.words, " ")
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Setup, Message: gate.Message(words)}
	if strings.Contains(words, "Compilation failed") {
		o.Reason = gate.Compile
	}
	if unavailable.MatchString(words) {
		o.Reason, o.Message = gate.Import, gate.Message(lacking(words)+" is not at hand offline: name setup: in .github/touchstone.yml, or run the build once ("+words+")")
	}
	return o
}
