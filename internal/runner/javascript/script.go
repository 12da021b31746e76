package javascript

import (
	"maps"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// script is how a repository's own npm script runs a framework.
type script struct {
	env     map[string]string
	node    []string // Node's own options
	options []string // the framework's
	targets []string // files and globs
	borp    bool     // started by borp, which has a configuration of its own
	steps   []string // shell commands that come before: builds
}

// maxNesting and maxReads bound how deep scripts may call each other, and how
// often.
const (
	maxNesting = 8
	maxReads   = 200
)

// runScript finds in a package's scripts the command that runs the framework,
// beginning at "test". found is false when none does.
func runScript(m manifest, framework string) (s script, found bool) {
	names := []string{"test"}
	for _, name := range sorted(m.Scripts) {
		if name != "test" && strings.Contains(name, "test") || name == "unit" || strings.HasPrefix(name, "unit:") {
			names = append(names, name)
		}
	}
	for _, name := range names {
		reader := &scriptReader{manifest: m, framework: framework}
		if reader.read(name, nil, 0); len(reader.runs) > 0 {
			return reader.widest(), true
		}
	}
	return script{}, false
}

type scriptReader struct {
	manifest
	framework string
	script    script   // of the command that is being read
	steps     []string // builds so far
	runs      []script // the commands that run the framework
	reads     int
}

// widest is the first run that names no files: a script may run some tests once
// more under other settings. Where all name files it is the first, with the files
// of those that are run as it is.
func (r *scriptReader) widest() script {
	for _, s := range r.runs {
		if len(s.targets) == 0 {
			return s
		}
	}
	all := r.runs[0]
	for _, s := range r.runs[1:] {
		if maps.Equal(s.env, all.env) && slices.Equal(s.node, all.node) && slices.Equal(s.options, all.options) {
			all.targets = slices.Concat(all.targets, s.targets)
			all.steps = s.steps
		}
	}
	return all
}

// read follows one script, which is called with an environment. What it runs
// before the framework is kept when it builds something; what runs the framework
// is no build.
func (r *scriptReader) read(name string, env map[string]string, nesting int) {
	text, ok := r.Scripts[name]
	if r.reads++; !ok || nesting > maxNesting || r.reads > maxReads {
		return
	}
	steps, runs := len(r.steps), len(r.runs)
	for _, part := range splitCommands(r.Scripts["pre"+name]) {
		if r.builds(part, nesting) {
			r.steps = append(r.steps, part)
		}
	}
	for _, part := range splitCommands(text) {
		before := len(r.runs)
		words, own := calledWith(splitWords(part))
		if inner := scriptName(words, r.Scripts); inner != "" {
			r.read(inner, joined(env, own), nesting+1)
		} else if r.script = (script{}); r.take(words) {
			r.script.env = joined(joined(env, own), r.script.env)
			r.script.steps = slices.Clone(r.steps)
			r.runs = append(r.runs, r.script)
		}
		if len(r.runs) == before && r.builds(part, nesting) {
			r.steps = append(r.steps, part)
		}
	}
	if len(r.runs) == runs {
		r.steps = r.steps[:steps]
	}
}

// calledWith takes off a command what sets its environment: NAME=value, env,
// cross-env.
func calledWith(words []string) (command []string, env map[string]string) {
	env = make(map[string]string)
	for i, word := range words {
		if name, value, assigned := strings.Cut(word, "="); assigned && isName(name) {
			env[name] = value
		} else if !slices.Contains([]string{"cross-env", "cross-env-shell", "env"}, word) {
			return words[i:], env
		}
	}
	return nil, env
}

func joined(outer, inner map[string]string) map[string]string {
	all := make(map[string]string, len(outer)+len(inner))
	maps.Copy(all, outer)
	maps.Copy(all, inner)
	return all
}

var (
	builder = lazyregexp.New(`(^|[\s/:&;])(tsc|babel|rollup|esbuild|webpack|tsup|swc|vite build|unbuild|tsdown|parcel|make|build|compile|bundle|prepare|transpile|generate|codegen|copy|cp|mkdir|rimraf|rm|shx|peggy|pegjs|nearleyc|ncc|microbundle|lerna|nx|turbo|wireit|gulp|grunt)\b`)
	checker = lazyregexp.New(`(^|[\s/:])(eslint|standard|xo|prettier|tsd|lint|format|size-limit|audit|biome|oxlint|knip|typecheck|type-check|check-types|attw|publint|dtslint)\b|--noEmit\b`)
)

// builds tells whether a command makes files that tests may need: checks of
// style and types do not, and the network is not there.
func (r *scriptReader) builds(command string, nesting int) bool {
	if checker.MatchString(command) {
		return false
	}
	words, _ := calledWith(splitWords(command))
	if inner := scriptName(words, r.Scripts); inner != "" && nesting < maxNesting {
		return slices.ContainsFunc(splitCommands(r.Scripts[inner]), func(part string) bool { return r.builds(part, nesting+1) })
	}
	return builder.MatchString(command)
}

// scriptName is the script that words run, as in "npm run x" or "yarn x", "" for
// another command.
func scriptName(words []string, scripts map[string]string) string {
	if len(words) == 0 || !slices.Contains([]string{"npm", "pnpm", "yarn", "bun", "npm-run-all", "run-s"}, words[0]) {
		return ""
	}
	for _, word := range words[1:] {
		if strings.HasPrefix(word, "-") || word == "run" || word == "run-script" {
			continue
		}
		if word == "t" || word == "tst" {
			word = "test"
		}
		if _, known := scripts[word]; known {
			return word
		}
		return ""
	}
	return ""
}

// wrappers are programs that run another one with what follows their own
// options.
var wrappers = []string{"npx", "c8", "nyc", "cross-env", "cross-env-shell", "env", "dotenv", "time", "pnpm", "yarn", "npm", "exec", "bunx", "dlx", "run", "istanbul", "--"}

// take reads the words of one command, and tells whether it runs the framework.
func (r *scriptReader) take(words []string) bool {
	env := make(map[string]string)
	for i, word := range words {
		name, value, assigned := strings.Cut(word, "=")
		switch {
		case assigned && isName(name):
			env[name] = value
		case r.isProgram(word):
			r.script.env = env
			r.arguments(words[i+1:])
			return true
		case r.framework == Mocha && word[strings.LastIndexByte(word, '/')+1:] == "ts-mocha":
			r.script.env = env
			r.script.options = []string{"--require", "ts-mocha"}
			r.arguments(tsMocha(words[i+1:], env))
			return true
		case r.framework == Node && strings.TrimSuffix(word[strings.LastIndexByte(word, '/')+1:], ".js") == "borp":
			r.script.env = env
			r.script.borp = true
			r.arguments(words[i+1:])
			r.script.options = nil
			return true
		case word == "node" || word == "tsx" && r.framework == Node:
			if !r.node(word, words[i+1:]) {
				return false
			}
			r.script.env = env
			return true
		case slices.Contains(wrappers, word) || strings.HasPrefix(word, "-") || i > 0 && strings.HasPrefix(words[i-1], "-"):
		default:
			return false
		}
	}
	return false
}

// tsMocha takes the options of ts-mocha's own off those of mocha, which it starts,
// and puts them where the module that it has mocha load looks for them.
func tsMocha(words []string, env map[string]string) (rest []string) {
	for i := 0; i < len(words); i++ {
		switch name, value, joined := strings.Cut(words[i], "="); name {
		case "--paths":
			env["TS_CONFIG_PATHS"] = "true"
		case "--type-check":
			env["TS_TYPE_CHECK"] = "true"
		case "-p", "--project":
			if !joined && i+1 < len(words) {
				i++
				value = words[i]
			}
			env["TS_NODE_PROJECT"] = value
		default:
			rest = append(rest, words[i])
		}
	}
	return rest
}

// isProgram holds for the framework's own program, by name or by path.
func (r *scriptReader) isProgram(word string) bool {
	if r.framework == Node {
		return false
	}
	base := word[strings.LastIndexByte(word, '/')+1:]
	base = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(base, ".js"), ".mjs"), ".cjs")
	return base == r.framework || base == "_"+r.framework
}

// valueOptions are options of Node that take the next word as their value.
var valueOptions = []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file"}

// node reads the words after node: its options, then either the framework's
// entry or, for node:test, files.
func (r *scriptReader) node(program string, words []string) bool {
	var own []string
	tests := false
	if program == "tsx" {
		own = append(own, "--import", "tsx")
	}
	for i := 0; i < len(words); i++ {
		switch word := words[i]; {
		case word == "--test":
			tests = true
		case slices.Contains(valueOptions, word) && i+1 < len(words):
			own = append(own, word, words[i+1])
			i++
		case strings.HasPrefix(word, "-"):
			own = append(own, word)
		case r.framework != Node:
			if !r.isProgram(word) && i+1 < len(words) && scriptExt.MatchString(word) {
				i++ // a script of the repository's own that starts what follows it
			}
			if !r.isProgram(words[i]) {
				return false
			}
			r.script.node = own
			r.arguments(words[i+1:])
			return true
		default:
			r.script.targets = append(r.script.targets, word)
		}
	}
	r.script.node = slices.DeleteFunc(own, unwantedNode)
	return r.framework == Node && (tests || len(r.script.targets) > 0 && strings.Contains(r.script.targets[0], "test"))
}

// unwantedNode holds for options of node:test that are ours to set.
func unwantedNode(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	return slices.Contains([]string{"--test-reporter", "--test-reporter-destination", "--watch", "--experimental-test-coverage", "--test-only", "--test-isolation", "--test-coverage-include",
		"--test-coverage-exclude", "--test-coverage-lines", "--test-coverage-branches", "--test-coverage-functions", "--test-concurrency", "--test-name-pattern", "--test-update-snapshots", "--test-force-exit"}, name)
}

// Script names the script of the runner's package.json that runs its framework
// on a tree, "" when none does.
func (r *Runner) Script(tree gate.Tree) string {
	m, ok := readManifest(tree, r.Dir)
	if !ok {
		return ""
	}
	for _, name := range sorted(m.Scripts) {
		reader := &scriptReader{manifest: m, framework: r.Config.Framework}
		if reader.read(name, nil, 0); len(reader.runs) > 0 {
			return name
		}
	}
	return ""
}
