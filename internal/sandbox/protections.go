package sandbox

import (
	"fmt"
	"slices"
)

// Surroundings is what commands find around their state: the kind of sandbox, its
// layers and limits, and the environment. Equal ones make no difference to a test.
// The machine's sockets are not among it: they come and go, and no command sees one.
func (s *Sandbox) Surroundings() []string {
	o := s.opts
	limits := fmt.Sprintf("memory %d, disk %d, processes %d, time %v, output %d, network %v", o.Memory, o.Disk, o.Pids, o.Timeout, o.OutputCap, o.Network)
	seen := slices.Sorted(slices.Values(o.Visible))
	return slices.Concat([]string{s.kind, s.home, limits}, s.Layers(), seen, o.Programs, secretPaths(o.Root, s.home), s.userEnviron(), flat(o.Env))
}

func flat(env map[string]string) []string {
	var list []string
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// Layers names what stands between a command and the machine, for reports.
func (s *Sandbox) Layers() []string {
	var layers []string
	switch s.kind {
	case "copy":
		return []string{"copied tree", "private TMPDIR", "environment allow-list", "time limit"}
	case "docker":
		layers = s.docker.layers()
	default:
		layers = []string{
			"overlay at the same path", "read-only system", "private home", "private /tmp", "environment allow-list",
			"user namespace", "mount namespace", "PID namespace", "IPC namespace", "no capabilities",
			"no user namespaces inside", "time, memory, process and disk limits",
		}
		layers = slices.Concat(layers, groupLayer(), landlockLayer())
	}
	if !s.opts.Network {
		layers = append(layers, "no network but loopback")
	}
	return layers
}

func (d *daemon) layers() []string {
	layers := []string{
		"fresh container for each run", "tree at the same path", "nothing of the machine mounted", "private home", "the image's environment",
		"no capabilities", "no new privileges", "time, memory, process and disk limits",
	}
	if d.opts.Runtime != "" {
		layers = append(layers, "runtime "+d.opts.Runtime)
	}
	return append(layers, d.security...)
}
