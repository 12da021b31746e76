package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// controlGroup holds the processes of one state within limits that the kernel
// itself keeps: where the watchdog looks 20 times a second, it never looks away.
// One directory for each hierarchy, version 1 or 2, that we may write to. The nil
// group holds nobody and limits nothing.
type controlGroup struct {
	dirs   []string
	limits map[string]string // what it can limit, in words, by the first word of the files: one hierarchy is enough for each
}

// groupPrefix starts the names of our groups; the maker's process id follows.
const groupPrefix = "touchstone-"

// slack and slackThreads are what a state's init may take beside its command.
const (
	slack        = 64 << 20
	slackThreads = 64
)

// limitFiles are what a group is limited by, whichever of them its hierarchy has.
var limitFiles = []string{"memory.max", "memory.limit_in_bytes", "pids.max"}

var limitWords = map[string]string{"memory": "memory", "pids": "processes"}

// newControlGroup returns nil where no hierarchy lets us make one.
func newControlGroup() *controlGroup {
	g := &controlGroup{limits: make(map[string]string)}
	for _, parent := range groupParents("/proc/self") {
		sweepGroups(parent)
		dir, err := os.MkdirTemp(parent, groupPrefix+strconv.Itoa(os.Getpid())+"-")
		if err != nil {
			continue
		}
		useful := false
		for _, name := range limitFiles {
			kind, _, _ := strings.Cut(name, ".")
			if g.limits[kind] == "" && exists(filepath.Join(dir, name)) {
				g.limits[kind], useful = limitWords[kind], true
			}
		}
		if !useful {
			os.Remove(dir)
			continue
		}
		g.dirs = append(g.dirs, dir)
	}
	if len(g.dirs) == 0 {
		return nil
	}
	return g
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// admit moves a process in; what it starts from then on is in too.
func (g *controlGroup) admit(pid int) error {
	if g == nil {
		return nil
	}
	for _, dir := range g.dirs {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
			return fmt.Errorf("moving process %d into a control group: %w", pid, err)
		}
	}
	return nil
}

// limit sets what all processes inside may have together: bytes of memory, files
// in a tmpfs among them, and threads. What a hierarchy refuses is left to the
// watchdog.
func (g *controlGroup) limit(memory int64, threads int) {
	if g == nil {
		return
	}
	bytes := strconv.FormatInt(memory, 10)
	for _, dir := range g.dirs {
		for _, set := range []struct{ name, value string }{
			{"memory.max", bytes}, {"memory.swap.max", "0"}, {"memory.limit_in_bytes", bytes}, {"pids.max", strconv.Itoa(threads)},
		} {
			if file := filepath.Join(dir, set.name); exists(file) {
				os.WriteFile(file, []byte(set.value), 0)
			}
		}
	}
}

// killed counts the processes that the kernel ended for want of memory inside.
func (g *controlGroup) killed() int {
	if g == nil {
		return 0
	}
	sum := 0
	for _, dir := range g.dirs {
		for _, name := range []string{"memory.events", "memory.oom_control"} {
			text, _ := os.ReadFile(filepath.Join(dir, name))
			for line := range strings.Lines(string(text)) {
				n := 0
				if got, _ := fmt.Sscanf(line, "oom_kill %d", &n); got == 1 {
					sum += n
				}
			}
		}
	}
	return sum
}

// remove takes the group away. Its processes are dead, and the kernel may need a
// moment to see that.
func (g *controlGroup) remove() {
	if g == nil {
		return
	}
	for _, dir := range g.dirs {
		for range 50 {
			if err := os.Remove(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
}

// groupParents lists the directories in which groups may be made, by what a
// process of proc (/proc/PID) says of itself: of version 1 its own group, of version
// 2 its own where that hands controllers on, and else the one above, since a
// group with processes hands none on.
func groupParents(proc string) []string {
	own, err1 := os.ReadFile(filepath.Join(proc, "cgroup"))
	mounts, err2 := os.ReadFile(filepath.Join(proc, "mountinfo"))
	if err1 != nil || err2 != nil {
		return nil
	}
	var parents []string
	for line := range strings.Lines(string(own)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		controllers := strings.Split(fields[1], ",")
		if fields[1] != "" && !slices.Contains(controllers, "memory") && !slices.Contains(controllers, "pids") {
			continue
		}
		dir, mount := groupDir(string(mounts), controllers, fields[2])
		if dir == "" {
			continue
		}
		if fields[1] == "" && !handsOn(dir) && dir != mount {
			dir = filepath.Dir(dir)
		}
		parents = append(parents, dir)
	}
	return parents
}

// groupDir finds where a hierarchy is mounted that has the controllers (one empty
// name for version 2), and the group's directory in it.
func groupDir(mounts string, controllers []string, group string) (dir, mount string) {
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(strings.TrimSpace(line), " - ")
		at, kind := strings.Fields(before), strings.Fields(after)
		if len(at) < 5 || len(kind) < 3 {
			continue
		}
		v2 := kind[0] == "cgroup2" && controllers[0] == ""
		v1 := kind[0] == "cgroup" && controllers[0] != "" && slices.Contains(strings.Split(kind[2], ","), controllers[0])
		if inside, ok := strings.CutPrefix(group, strings.TrimSuffix(at[3], "/")); ok && (v1 || v2) {
			return filepath.Join(at[4], inside), at[4]
		}
	}
	return "", ""
}

// handsOn makes a version 2 group give its controllers to groups below it, and
// tells whether it does.
func handsOn(dir string) bool {
	file := filepath.Join(dir, "cgroup.subtree_control")
	for _, controller := range []string{"+memory", "+pids"} {
		os.WriteFile(file, []byte(controller), 0) // refused for a group with processes, but the root
	}
	text, _ := os.ReadFile(file)
	return slices.ContainsFunc(strings.Fields(string(text)), func(c string) bool { return c == "memory" || c == "pids" })
}

// sweepGroups removes groups whose maker was killed. One that holds processes
// cannot be removed.
func sweepGroups(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*"))
	for _, dir := range left {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		if _, err := strconv.Atoi(pid); err == nil && !exists("/proc/"+pid) {
			os.Remove(dir)
		}
	}
}

// groupLayer says for reports whether states are held in control groups.
var groupLayer = sync.OnceValue(func() []string {
	g := newControlGroup()
	if g == nil {
		return nil
	}
	defer g.remove()
	return []string{"control groups (" + strings.Join(slices.Sorted(maps.Values(g.limits)), ", ") + ")"}
})
