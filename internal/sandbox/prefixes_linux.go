package sandbox

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// toolVariables name where a user's tools are. What they lead to must stay in
// sight although it may lie where states get a place of their own, as a virtual
// environment below /tmp does.
var toolVariables = []string{
	"GOROOT", "GOBIN", "VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "PYTHONPATH", "PYTHONHOME", "UV_PYTHON_INSTALL_DIR",
	"NODE_PATH", "NVM_DIR", "NVM_BIN", "VOLTA_HOME", "COREPACK_HOME", "PNPM_HOME", "RUSTUP_HOME",
	"JAVA_HOME", "M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "SDKMAN_DIR", "ANDROID_HOME",
	"GEM_HOME", "GEM_PATH", "RBENV_ROOT", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
	"LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "PKG_CONFIG_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// toolPaths lists what the user's tools are made of in private places: what the
// tool variables name, the prefix of each directory of PATH and of each program
// that is started by its path, and the prefixes that links in those lead to (an
// environment's interpreter).
func (s *Sandbox) toolPaths() []string {
	var found []string
	add := func(path string) {
		if filepath.IsAbs(path) && privatePlace(filepath.Clean(path)) {
			found = append(found, s.narrow(filepath.Clean(path))...)
		}
	}
	install := func(prefix string) {
		add(prefix)
		addInterpreters(prefix, add)
	}
	for _, name := range toolVariables {
		for _, path := range filepath.SplitList(os.Getenv(name)) {
			install(path)
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			install(prefixOf(dir))
		}
	}
	for _, program := range s.opts.Programs {
		add(program)
		if dir := filepath.Dir(program); prefixOf(dir) != dir {
			install(prefixOf(dir))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// prefixOf is the directory that an installation's bin directory belongs to.
func prefixOf(bin string) string {
	bin = filepath.Clean(bin)
	switch filepath.Base(bin) {
	case "bin", "sbin", "shims":
		return filepath.Dir(bin)
	}
	return bin
}

// maxLinks bounds how many programs of one directory are looked at.
const maxLinks = 2000

// addInterpreters adds what the programs of an installation lead to, and what a
// virtual environment says it was made from. Only installations in private
// places matter: of others, links are followed by whoever runs them, and lead
// to such places only through one of these.
func addInterpreters(prefix string, add func(string)) {
	for _, bin := range []string{prefix, filepath.Join(prefix, "bin")} {
		entries, err := os.ReadDir(bin)
		if err != nil {
			continue
		}
		for _, e := range entries[:min(len(entries), maxLinks)] {
			if e.Type()&os.ModeSymlink == 0 {
				continue
			}
			if real, err := filepath.EvalSymlinks(filepath.Join(bin, e.Name())); err == nil {
				add(prefixOf(filepath.Dir(real)))
			}
		}
	}
	if home := madeFrom(filepath.Join(prefix, "pyvenv.cfg")); home != "" {
		add(prefixOf(home))
	}
}

// madeFrom reads the interpreter's directory from a virtual environment's file.
func madeFrom(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), "="); ok && strings.TrimSpace(key) == "home" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// narrow keeps a prefix from opening more than an installation: one that holds
// the work tree or the home, or is a private place as a whole, is shown by the
// directories that installations are made of.
func (s *Sandbox) narrow(prefix string) []string {
	if !s.wide(prefix) {
		return []string{prefix}
	}
	var parts []string
	for _, name := range []string{"bin", "sbin", "shims", "lib", "lib64", "libexec", "include", "share", "pyvenv.cfg"} {
		if part := filepath.Join(prefix, name); !s.wide(part) {
			parts = append(parts, part)
		}
	}
	return parts
}

func (s *Sandbox) wide(path string) bool {
	return slices.Contains([]string{"/tmp", "/var/tmp", "/run", "/var/run", "/dev", "/dev/shm", "/proc"}, path) ||
		under(s.opts.Root, path) || (s.home != "" && under(s.home, path))
}
