package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Names under which this program is executed again, see [Init].
const (
	initName   = "touchstone-sandbox-init"
	launchName = "touchstone-sandbox-launch"
)

// namespace is a running init: the first process of a set of namespaces, which
// serves requests. Everything in them ends with it, and it ends with us.
type namespace struct {
	cmd   *exec.Cmd
	group *controlGroup // holds all of it
	conn  *net.UnixConn
	life  *os.File // the init ends when nobody holds this end of a pipe
	said  *head    // what it wrote to stderr: the reason of a crash
	stop  sync.Once
}

func startNamespace(ctx context.Context, world setup) (*namespace, reply, error) {
	n, err := executeInit(world.Network)
	if err != nil {
		return nil, reply{}, fmt.Errorf("creating user and mount namespaces: %w%s", err, advice("/", err))
	}
	answer, err := n.call(ctx, world)
	if err != nil {
		n.kill()
		return nil, answer, fmt.Errorf("%w%s", err, advice("/", err))
	}
	return n, answer, nil
}

func executeInit(network bool) (*namespace, error) {
	conn, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	alive, life, err := os.Pipe()
	if err != nil {
		conn.Close()
		return nil, err
	}
	defer alive.Close()
	n := &namespace{conn: conn, life: life, said: &head{}}
	n.cmd = &exec.Cmd{
		Path:        "/proc/self/exe",
		Args:        []string{initName},
		Env:         []string{},
		Dir:         "/",
		Stderr:      n.said,
		ExtraFiles:  []*os.File{theirs, alive},
		SysProcAttr: isolation(network),
	}
	if err := n.cmd.Start(); err != nil {
		conn.Close()
		life.Close()
		return nil, err
	}
	n.group = newControlGroup()
	if n.group.admit(n.cmd.Process.Pid) != nil { // before it starts anything: it waits for its setup
		n.group.remove()
		n.group = nil
	}
	return n, nil
}

// isolation keeps every id what it is: the command runs as the user, and file
// owners look the same. As root all ids are mapped, else only the user's own;
// then the init needs ambient capabilities to keep what the namespace gave it.
func isolation(network bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
	}
	if !network {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	if uid := os.Geteuid(); uid != 0 {
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		for c := range uintptr(lastCapability() + 1) {
			attr.AmbientCaps = append(attr.AmbientCaps, c)
		}
		return attr
	}
	attr.UidMappings = mapped("/proc/self/uid_map")
	attr.GidMappings = mapped("/proc/self/gid_map")
	return attr
}

// mapped returns the identity map of all ids that our own namespace has.
func mapped(file string) []syscall.SysProcIDMap {
	text, _ := os.ReadFile(file)
	var maps []syscall.SysProcIDMap
	for line := range strings.Lines(string(text)) {
		var first, outside, size int
		if n, _ := fmt.Sscan(line, &first, &outside, &size); n == 3 {
			maps = append(maps, syscall.SysProcIDMap{ContainerID: first, HostID: first, Size: size})
		}
	}
	return maps
}

func lastCapability() int {
	text, err := os.ReadFile("/proc/sys/kernel/cap_last_cap")
	if err != nil {
		return unix.CAP_LAST_CAP
	}
	last, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return unix.CAP_LAST_CAP
	}
	return last
}

// call sends one message and waits for the answer. When ctx ends first,
// everything in the namespace is killed.
func (n *namespace) call(ctx context.Context, message any, files ...*os.File) (reply, error) {
	stop := context.AfterFunc(ctx, n.kill)
	defer stop()
	var answer reply
	err := send(n.conn, message, files...)
	if err == nil {
		_, err = receive(n.conn, &answer)
	}
	if ctx.Err() != nil {
		return answer, ctx.Err()
	}
	if err != nil {
		n.kill()
		return answer, errors.New(n.lastWords(err))
	}
	return answer, answer.err()
}

func (n *namespace) lastWords(err error) string {
	if said := strings.TrimSpace(string(n.said.buf)); said != "" {
		return fmt.Sprintf("the sandbox's init process ended: %s", said)
	}
	return fmt.Sprintf("the sandbox's init process ended (%v): %v", n.cmd.ProcessState, err)
}

// kill ends every process in the namespace and returns when they are gone.
func (n *namespace) kill() {
	n.stop.Do(func() {
		n.cmd.Process.Kill()
		n.cmd.Wait()
		n.life.Close()
		n.conn.Close()
		n.group.remove()
	})
}
