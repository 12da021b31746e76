package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// credentials are paths below the home that hold secrets.
var credentials = []string{
	".ssh", ".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".gnupg", ".password-store",
	".aws", ".azure", ".kube", ".config/gcloud", ".config/doctl", ".config/hub", ".config/gh", ".config/glab-cli",
	".docker/config.json", ".docker/run", ".config/containers/auth.json", ".npmrc", ".yarnrc.yml", ".pypirc",
	".config/pip/pip.conf", ".pip/pip.conf", ".config/uv/credentials", ".local/share/uv/credentials", ".cargo/credentials",
	".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties",
	".terraform.d", ".terraformrc", ".vault-token", ".config/op", ".local/share/keyrings", ".pgpass", ".my.cnf",
	".mozilla", ".config/google-chrome", ".config/chromium", ".claude", ".claude.json", ".codex", ".config/github-copilot",
	"actions-runner/.credentials", "actions-runner/.credentials_rsaparams", ".huggingface/token", ".cache/huggingface/token", ".netlify", ".config/rclone", ".s3cfg", ".boto",
	".bash_history", ".zsh_history", ".python_history", ".node_repl_history",
}

// systemSecrets are files that root could read without any capability.
var systemSecrets = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/krb5.keytab", "/etc/ssl/private", "/etc/sudoers",
	"/etc/kubernetes", "/etc/rancher", "/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/var/lib/cloud",
}

// hiddenPaths lists, sorted, what no command may see: secrets, and the sockets that
// listen on this machine (a read-only mount does not keep anyone from connecting
// to one).
func hiddenPaths(root, home string) []string {
	return outermost(slices.Concat(secretPaths(root, home), outside(root, home, listeningSockets())))
}

// secretPaths are credentials and the repository's own store, wherever it is: the
// same paths in every run on a machine, while its sockets come and go.
func secretPaths(root, home string) []string {
	var paths []string
	if home != "" {
		for _, name := range credentials {
			paths = append(paths, filepath.Join(home, filepath.FromSlash(name)))
		}
	}
	paths = append(paths, filepath.Join(root, ".git"))
	return append(paths, outside(root, home, slices.Concat(systemSecrets, runnerFiles(), gitDirs(root)))...)
}

// outside leaves out what cannot be hidden without the work tree or the home.
func outside(root, home string, paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { return under(root, path) || home != "" && under(home, path) })
}

// outermost sorts paths and leaves out those below another.
func outermost(paths []string) []string {
	slices.Sort(paths)
	var out []string
	for _, path := range paths {
		if !slices.ContainsFunc(out, func(outer string) bool { return under(path, outer) }) {
			out = append(out, path)
		}
	}
	return out
}

// runnerFiles are the places of a GitHub runner: command files, the event, its
// own credentials.
func runnerFiles() []string {
	var paths []string
	for _, name := range []string{"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "GITHUB_EVENT_PATH"} {
		if path := os.Getenv(name); filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	if temp := os.Getenv("RUNNER_TEMP"); filepath.IsAbs(temp) {
		paths = append(paths, filepath.Join(temp, "_runner_file_commands"), filepath.Join(temp, "_github_workflow"))
	}
	return paths
}

// gitDirs returns where a linked work tree or a submodule keeps its repository.
func gitDirs(root string) []string {
	text, err := os.ReadFile(filepath.Join(root, ".git"))
	if err != nil {
		return nil // a directory, which is hidden as such, or nothing
	}
	dir, ok := strings.CutPrefix(strings.TrimRight(string(text), "\n"), "gitdir: ")
	if !ok {
		return nil
	}
	dir = resolve(root, dir)
	dirs := []string{dir}
	if common, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		dirs = append(dirs, resolve(dir, strings.TrimRight(string(common), "\n")))
	}
	return dirs
}

func resolve(base, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// under reports whether path is dir or lies below it.
func under(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
