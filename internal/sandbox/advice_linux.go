package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// switches are kernel settings that forbid user namespaces, and their cure.
var switches = []struct{ file, forbids, cure string }{
	{"proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"},
	{"proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"},
	{"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
}

// advice says what to change on this machine for namespaces to work after err,
// as the end of an error message; "" when it has no such cause or none is known.
func advice(root string, err error) string {
	refused := []string{unix.EPERM.Error(), unix.EACCES.Error(), unix.ENOSPC.Error(), unix.EINVAL.Error()}
	if !slices.ContainsFunc(refused, func(text string) bool { return strings.HasSuffix(err.Error(), text) }) {
		return ""
	}
	if _, err := os.Stat(filepath.Join(root, auxDir)); err == nil {
		return " (this is a state of touchstone's own, in which there are no further ones)"
	}
	for _, s := range switches {
		value, err := os.ReadFile(filepath.Join(root, s.file))
		if err == nil && strings.TrimSpace(string(value)) == s.forbids {
			return " (this machine forbids user namespaces; `sudo " + s.cure + "` allows them)"
		}
	}
	for _, mark := range []string{".dockerenv", "run/.containerenv"} {
		if _, err := os.Stat(filepath.Join(root, mark)); err == nil {
			return " (this is a container, whose runtime forbids namespaces or mounts; run touchstone outside of it)"
		}
	}
	return ""
}
