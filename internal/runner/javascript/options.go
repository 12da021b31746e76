package javascript

import (
	"slices"
	"strings"
)

// frameworkValues are options of the frameworks that take the next word as
// their value; those of dropped are not handed on.
var (
	frameworkValues = map[string][]string{
		Mocha:  {"-r", "--require", "-t", "--timeout", "-u", "--ui", "--file", "--extension", "--config", "--package", "--opts", "--loader", "--import", "-s", "--slow", "--retries", "--ignore", "--exclude", "-n", "--node-option", "--compilers", "--jobs", "-j", "--reporter", "-R", "--reporter-option", "--reporter-options", "-O", "--grep", "-g", "--fgrep", "-f", "--spec"},
		Jest:   {"-c", "--config", "--rootDir", "--env", "--testEnvironment", "--maxWorkers", "-w", "--testTimeout", "--selectProjects", "--reporters", "--testPathPattern", "--testNamePattern", "-t", "--coverageDirectory", "--coverageThreshold", "--coverageReporters", "--coverageProvider", "--collectCoverageFrom", "--coveragePathIgnorePatterns", "--testMatch", "--testRegex", "--projects", "--globals", "--setupFilesAfterEnv"},
		Vitest: {"-c", "--config", "--root", "-r", "--dir", "--environment", "--pool", "--project", "--mode", "--reporter", "--testNamePattern", "-t", "--testTimeout", "--outputFile"},
		Node:   {"-c", "--concurrency", "-t", "--timeout", "-X", "--coverage-exclude", "-i", "--ignore", "-p", "--pattern", "-r", "--reporter", "--lines", "--branches", "--functions", "--statements", "-T", "--no-typescript-project", "--post-compile"}, // borp's
		Ava:    {"--config", "-m", "--match", "-T", "--timeout", "-c", "--concurrency", "--node-arguments"},
	}
	dropped = map[string][]string{
		Mocha:  {"--reporter", "-R", "--reporter-option", "--reporter-options", "-O", "--bail", "-b", "--watch", "-w", "--grep", "-g", "--fgrep", "-f", "--parallel", "-p", "--jobs", "-j", "--recursive", "--exit", "--spec", "--invert", "--forbid-only", "--forbid-pending", "--allow-uncaught", "--inspect", "--color", "-c", "--colors"},
		Jest:   {"--coverage", "--collectCoverage", "--coverageDirectory", "--coverageThreshold", "--coverageReporters", "--coverageProvider", "--collectCoverageFrom", "--coveragePathIgnorePatterns", "--reporters", "--watch", "--watchAll", "--bail", "-b", "--ci", "--onlyChanged", "-o", "--testPathPattern", "--testNamePattern", "-t", "--verbose", "--silent", "--updateSnapshot", "-u", "--changedSince", "--findRelatedTests", "--runTestsByPath", "--testMatch", "--testRegex", "--logHeapUsage", "--detectOpenHandles", "--lastCommit", "--shard"},
		Vitest: {"run", "watch", "dev", "--run", "--coverage", "--reporter", "--watch", "-w", "--bail", "--testNamePattern", "-t", "--ui", "--outputFile", "--typecheck", "-u", "--update", "--changed", "--shard", "--passWithNoTests"},
		Ava:    {"--watch", "-w", "--fail-fast", "--tap", "-t", "--match", "-m", "--verbose", "-v", "--update-snapshots", "-u", "--color", "--no-color"},
	}
)

// arguments sorts what follows the framework's program into options and files.
func (r *scriptReader) arguments(words []string) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "|" || word == "||" || word == "&" {
			return // another command
		}
		if word == ">" || word == ">>" {
			i++
			continue
		}
		if strings.HasPrefix(word, "$") || strings.ContainsAny(word, "<>|") {
			continue
		}
		if !strings.HasPrefix(word, "-") {
			if !slices.Contains(dropped[r.framework], word) {
				r.script.targets = append(r.script.targets, word)
			}
			continue
		}
		name, _, joined := strings.Cut(word, "=")
		name = strings.SplitN(name, ".", 2)[0] // --coverage.enabled
		takes := !joined && slices.Contains(frameworkValues[r.framework], name) && i+1 < len(words)
		if !slices.Contains(dropped[r.framework], name) {
			r.script.options = append(r.script.options, word)
			if takes {
				r.script.options = append(r.script.options, words[i+1])
			}
		}
		if takes {
			if name == "--spec" || r.script.borp && (name == "--pattern" || name == "-p") {
				r.script.targets = append(r.script.targets, words[i+1])
			}
			i++
		}
	}
}
