package sandbox

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// reportVariable tells a command where to write what gate.Command.Report gets.
const (
	reportVariable = "TOUCHSTONE_REPORT"
	reportPath     = "/dev/fd/3"
)

// auxMark stands in arguments and variables for the directory of gate.Command.Files.
const auxMark = "{aux}"

// passed lists the variables that commands see of the user's environment:
// those that say where tools and their caches are, none that can hold a secret.
// A name that ends in "*" stands for a prefix.
var passed = []string{
	"PATH", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TZDIR", "CI",
	"GOROOT", "GOPATH", "GOBIN", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOTOOLCHAIN", "GOEXPERIMENT", "GOWORK", "GOENV",
	"GOAMD64", "GOARM64", "CGO_ENABLED", "CC", "CXX", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "PKG_CONFIG_PATH",
	"VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_ROOT", "PYENV_VERSION", "PYTHONPATH", "PYTHONHOME",
	"PYTHONUTF8", "UV_CACHE_DIR", "UV_PYTHON_INSTALL_DIR", "PIP_CACHE_DIR",
	"NODE_PATH", "NVM_DIR", "NVM_BIN", "VOLTA_HOME", "COREPACK_HOME", "PNPM_HOME",
	"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN",
	"JAVA_HOME", "M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "SDKMAN_DIR", "ANDROID_HOME",
	"GEM_HOME", "GEM_PATH", "RBENV_ROOT", "RBENV_VERSION", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "NIX_PROFILES", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"SYSTEMROOT", "COMSPEC", "PATHEXT", "WINDIR", "PROGRAMFILES", "NUMBER_OF_PROCESSORS",
}

// caches are the variables that name directories which tools write to between
// runs. Where such a directory lies outside the home it is shown like the home.
var caches = []string{
	"GOPATH", "GOCACHE", "GOMODCACHE", "CARGO_HOME", "GRADLE_USER_HOME", "XDG_CACHE_HOME", "UV_CACHE_DIR", "PIP_CACHE_DIR",
}

// userEnviron is what commands see of the user's own environment.
func (s *Sandbox) userEnviron() []string { return letThrough(os.Environ(), passed, s.opts.EnvAllow) }

// letThrough picks the entries of an environment whose names are in either list.
func letThrough(environ []string, names ...[]string) []string {
	var out []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if ok && slices.ContainsFunc(names, func(list []string) bool { return allowed(list, name) }) {
			out = append(out, entry)
		}
	}
	return out
}

// environ builds a command's environment: what the state's place has, then the
// sandbox's own, then configuration's, then the command's.
func (s *Sandbox) environ(p places, dir string, cmd gate.Command) []string {
	env := make(map[string]string)
	for _, entry := range p.env {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	maps.Copy(env, map[string]string{
		"HOME": p.home, "TMPDIR": p.temp, "TERM": "dumb", "PWD": filepath.Join(p.root, dir),
	})
	maps.Copy(env, s.opts.Env)
	maps.Copy(env, cmd.Env)
	if cmd.Report != nil {
		env[reportVariable] = p.report
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+p.substitute(env[name]))
	}
	return list
}

func allowed(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return pattern == name
	})
}

// substitute puts in the auxiliary directory, and the tree's new path where the
// tree has moved.
func (p places) substitute(word string) string {
	return strings.ReplaceAll(moved(word, p.moved[0], p.moved[1]), auxMark, p.aux)
}

// moved replaces path from by to where it stands as a whole path or as the
// beginning of one.
func moved(word, from, to string) string {
	if from == "" {
		return word
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(word, from)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		if endsPath(after) && (before == "" || startsPath(before)) {
			out.WriteString(to)
		} else {
			out.WriteString(from)
		}
		word = after
	}
}

func endsPath(after string) bool {
	return after == "" || strings.ContainsAny(after[:1], "/\\:;,=\"' \t\n")
}

func startsPath(before string) bool {
	return strings.ContainsAny(before[len(before)-1:], ":;,=\"' \t\n@(")
}
