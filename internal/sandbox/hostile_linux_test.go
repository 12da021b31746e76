package sandbox

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// hostile lists what a command may try against the machine. Each script prints
// what it got; nothing means that it failed. docs/security.md names them.
var hostile = []struct{ name, only, script string }{
	{"environment of other processes", "", `cat /proc/*/environ 2>/dev/null | grep -a canary-7f3a`},
	{"own environment", "", `env | grep canary-7f3a`},
	{"processes of the machine", "", `for p in /proc/[0-9]*; do tr '\0' ' ' < $p/cmdline; echo; done | grep -aE '^([a-z/]*)(dockerd|containerd|go test|systemd)'`},
	{"engine and agent sockets", "", `for s in /var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock /run/podman/podman.sock "$SSH_AUTH_SOCK"; do test -S "$s" && echo $s; done`},
	{"the repository", "", `ls -d .git ../.git; cat .git/HEAD; echo 0 > .git/refs/heads/main`},
	{"git configuration", "", `git init -q . && git config core.fsmonitor 'touch /tmp/pwned'; git config --global core.fsmonitor evil; git config --system core.fsmonitor evil 2>/dev/null; :`},
	{"runner files", "", `echo pwned >> "$RUNNER_FILE"; cat "$RUNNER_FILE" | grep -v pwned`},
	{"write through a link", "", `ln -s "$OUTSIDE" l; echo pwned > l/f; echo pwned > "$OUTSIDE/f"; :`},
	{"shared memory", "", `echo pwned > /dev/shm/pwned-7f3a; :`},
	{"temporary directories", "", `echo pwned > /tmp/pwned-7f3a; echo pwned > /var/tmp/pwned-7f3a; :`},
	{"capabilities", "", `grep -E '^Cap' /proc/self/status | grep -v 0000000000000000`},
	{"new privileges", "", `grep NoNewPrivs /proc/self/status | grep -v 1; sudo -n true && echo sudo`},
	{"user namespaces", "", `unshare -Ur true && echo got one`},
	{"mounts", "", `mount -t tmpfs x /mnt && echo mounted; umount /proc && echo unmounted; umount -l /tmp && echo unmounted`},
	{"device nodes", "", `mknod n b 254 0 && echo made; ls /dev/vda /dev/sda /dev/mem /dev/kmsg /dev/fuse /dev/kvm 2>/dev/null`},
	{"kernel switches", "", `for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sysrq-trigger /proc/sys/vm/drop_caches; do (echo x > $f) && echo $f; done; head -c 1 /proc/kcore`},
	{"control groups", "", `for f in $(find /sys/fs/cgroup -name release_agent -o -name cgroup.procs 2>/dev/null | head -50); do (echo 0 > $f) && echo $f; done`},
	{"raw packets", "", `python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW); print("got one")'`},
	{"the machine's own ports", "", `(echo > /dev/tcp/127.0.0.1/$PORT) && echo connected`},
	{"the network", "", `(echo > /dev/tcp/192.0.2.1/80) && echo connected; (echo > /dev/tcp/172.17.0.1/2375) && echo connected`},
	{"terminal", "", `(echo x > /dev/tty) && echo wrote`},
	{"inherited files", "", `ls -l /proc/self/fd | grep -vE ' [0-3] -> |total|/proc/'`},
	{"system files", "overlay", `for d in / /etc /usr /opt /var /boot /sys /dev; do touch $d/pwned-7f3a && echo $d; done`},
	{"the supervisor's memory", "", `head -c 1 /proc/1/mem; ls -l /proc/1/fd | grep -- '->' | grep -vE '/dev/null|pipe|/dev/pts'`},
	{"tracing the supervisor", "overlay", `python3 -c 'import ctypes; print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))' | grep -vx -- -1`},
	{"keys", "", `cat /proc/keys`},
	{"accounts", "overlay", `cat /etc/shadow`},
}

func TestHostileOverlay(t *testing.T) { testHostile(t, "overlay") }
func TestHostileDocker(t *testing.T)  { testHostile(t, "docker") }

func testHostile(t *testing.T, kind string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	home, outside, temp := t.TempDir(), t.TempDir(), t.TempDir()
	writeAt(t, filepath.Join(outside, "f"), "untouched\n")
	writeAt(t, filepath.Join(temp, "_runner_file_commands", "set_env"), "runner\n")
	t.Setenv("HOME", home)
	t.Setenv("RUNNER_TEMP", temp)
	t.Setenv("GITHUB_ENV", filepath.Join(temp, "_runner_file_commands", "set_env"))
	t.Setenv("GITHUB_TOKEN", "canary-7f3a")
	t.Setenv("MY_SECRET", "canary-7f3a")
	f := newFixture(t, kind)
	f.again(func(o *Options) {
		o.Env = map[string]string{"PORT": port, "OUTSIDE": outside, "RUNNER_FILE": os.Getenv("GITHUB_ENV")}
	})
	before := snapshot(t, f.root) + snapshot(t, outside) + snapshot(t, home) + snapshot(t, temp)
	var script strings.Builder
	for i, attack := range hostile {
		if attack.only == "" || attack.only == kind {
			// each in a shell of its own, and the tree as it was
			fmt.Fprintf(&script, "echo '== %d'; (%s) 2>/dev/null\n", i, attack.script)
		}
	}
	st := f.state(f.file("main.txt", modeFile, "base\n"))
	out, exit := f.run(st, gate.Command{Argv: []string{"bash", "-c", script.String()}})
	tried := 0
	for part := range strings.SplitSeq(out, "== ") {
		number, got, _ := strings.Cut(part, "\n")
		var i int
		if _, err := fmt.Sscan(number, &i); err != nil {
			continue
		}
		tried++
		t.Run(hostile[i].name, func(t *testing.T) {
			if got != "" {
				t.Errorf("got: %s", got)
			}
		})
	}
	if tried < 20 {
		t.Errorf("only %d attacks were tried: %+v\n%s", tried, exit, out)
	}
	if snapshot(t, f.root)+snapshot(t, outside)+snapshot(t, home)+snapshot(t, temp) != before {
		t.Error("the work tree, the home, the runner's files or what lies outside changed")
	}
	for _, path := range []string{"/dev/shm/pwned-7f3a", "/tmp/pwned-7f3a", "/var/tmp/pwned-7f3a"} {
		if _, err := os.Lstat(path); err == nil {
			os.Remove(path)
			t.Errorf("the machine has %s now", path)
		}
	}
	other := f.state(f.file("main.txt", modeFile, "head\n"))
	for _, st := range []*State{st, other} {
		if got := f.sh(st, `ls /dev/shm/pwned-7f3a /tmp/pwned-7f3a /var/tmp/pwned-7f3a /tmp/pwned 2>/dev/null; :`); got != "" {
			t.Errorf("a later run finds %q", got)
		}
	}
	if got := f.sh(other, `cat ~/.gitconfig 2>/dev/null; :`); got != "" {
		t.Errorf("the other state's home has %q", got)
	}
}

func TestSignalsOverlay(t *testing.T) { testSignals(t, "overlay") }
func TestSignalsDocker(t *testing.T)  { testSignals(t, "docker") }

// testSignals sends the supervisor what would end or stop it. The run must come
// to its end, or to an error: never to a result that was not seen.
func testSignals(t *testing.T, kind string) {
	if kind == "overlay" && landlockABI() < scopesABI {
		t.Skipf("skipped: Landlock %d cannot cut off signals; a killed init is then an error of the run", landlockABI())
	}
	f := newFixture(t, kind)
	st := f.state()
	out, exit := f.run(st, gate.Command{Argv: []string{"sh", "-c", `for s in HUP INT QUIT ABRT SEGV BUS FPE TERM STOP USR1 KILL; do kill -$s 1 2>/dev/null; done; sleep 0.2; echo alive`}})
	if alive := out == "alive\n" && exit.Code == 0; !alive && (kind == "overlay" || exit.Code == 0) {
		t.Errorf("%+v: %q", exit, out)
	}
	if got := f.sh(st, "echo again"); got != "again" {
		t.Errorf("the next run: %q", got)
	}
}

// TestAbstractSockets: they belong to the network namespace, which a state
// shares where the configuration opens the network.
func TestAbstractSockets(t *testing.T) {
	if landlockABI() < scopesABI {
		t.Skipf("skipped: Landlock %d cannot cut off abstract sockets: a documented limit of sandbox.network: open", landlockABI())
	}
	need(t, "python3")
	name := fmt.Sprintf("@touchstone-test-%d", os.Getpid())
	l, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f := fixtureAt(t, "overlay", t.TempDir(), func(o *Options) { o.Network = true })
	connect := fmt.Sprintf("import socket; socket.socket(socket.AF_UNIX).connect('\\0%s')", name[1:])
	out, exit := f.run(f.state(), gate.Command{Argv: []string{"python3", "-c", connect}})
	if exit.Code == 0 || !strings.Contains(out, "PermissionError") {
		t.Errorf("%+v: %s", exit, out)
	}
}

func TestForkBombDocker(t *testing.T) {
	f := newFixture(t, "docker")
	f.again(func(o *Options) { o.Pids = 50 })
	begin := time.Now()
	_, exit := f.run(f.state(), gate.Command{Argv: []string{"bash", "-c", `b() { b | b & }; b; sleep 50`}, Timeout: 40 * time.Second})
	if exit.Limit != "processes" && !exit.TimedOut || time.Since(begin) > time.Minute {
		t.Errorf("%+v after %v", exit, time.Since(begin))
	}
}

// TestManyFiles: files take kernel memory besides their size.
func TestManyFiles(t *testing.T) {
	need(t, "python3")
	f := fixtureAt(t, "overlay", t.TempDir(), func(o *Options) { o.Disk = 32 << 20 })
	_, exit := f.run(f.state(), gate.Command{Argv: []string{"python3", "-c", "import time\ntry:\n  for i in range(200000): open('/tmp/%d' % i, 'w').close()\nexcept OSError: time.sleep(20)"}})
	if exit.Limit != "disk" {
		t.Errorf("%+v", exit)
	}
}
