package sandbox

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"golang.org/x/sys/unix"
)

// homeFixture has a home of its own, with the work tree below it at rel.
func homeFixture(t *testing.T, rel string) (*fixture, string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	writeAt(t, filepath.Join(home, ".ssh/id"), "secret\n")
	writeAt(t, filepath.Join(home, ".config/gh/hosts.yml"), "secret\n")
	writeAt(t, filepath.Join(home, ".config/kept"), "kept\n")
	writeAt(t, filepath.Join(home, ".npmrc"), "secret\n")
	writeAt(t, filepath.Join(home, ".cache/go"), "cache\n")
	return fixtureAt(t, "overlay", filepath.Join(home, rel), func(*Options) {}), home
}

func TestOverlaySamePath(t *testing.T) {
	names := []string{"plain", "a b", "a,b", "a:b", `a\b`, "new\nline", "quo\"te'", "latin\xe9", "-dash", `tab	$x`, "lower=upper"}
	for _, name := range names {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			f := fixtureAt(t, "overlay", filepath.Join(t.TempDir(), name), func(*Options) {})
			st := f.state(f.file("main.txt", modeFile, "base\n"))
			if got := f.sh(st, "pwd; cat main.txt pkg/a.txt"); got != f.root+"\nbase\na" {
				t.Errorf("state sees %q", got)
			}
		})
	}
}

func TestOverlayPlaces(t *testing.T) {
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", "/run", "/opt", ""} {
		t.Run("below "+dir, func(t *testing.T) {
			parent, err := os.MkdirTemp(dir, "place")
			if err != nil {
				t.Skipf("skipped: %v", err)
			}
			defer os.RemoveAll(parent)
			checkPlace(t, fixtureAt(t, "overlay", filepath.Join(parent, "tree"), func(*Options) {}))
		})
	}
	t.Run("in the home", func(t *testing.T) {
		f, _ := homeFixture(t, "src/tree")
		checkPlace(t, f)
	})
	t.Run("is the home", func(t *testing.T) {
		f, _ := homeFixture(t, ".")
		st := checkPlace(t, f)
		if got := f.sh(st, "cat .ssh/id .npmrc 2>/dev/null; cat .cache/go"); got != "cache" {
			t.Errorf("home sees %q", got)
		}
	})
	t.Run("holds the home", func(t *testing.T) {
		root := t.TempDir()
		home := filepath.Join(root, "home")
		writeAt(t, filepath.Join(home, ".ssh/id"), "secret\n")
		t.Setenv("HOME", home)
		f := fixtureAt(t, "overlay", root, func(*Options) {})
		if got := f.sh(checkPlace(t, f), `cat ~/.ssh/id 2>/dev/null; echo x > ~/y; cat ~/y`); got != "x" {
			t.Errorf("home sees %q", got)
		}
	})
	t.Run("no home", func(t *testing.T) {
		t.Setenv("HOME", "/nonexistent")
		f := newFixture(t, "overlay")
		if got := f.sh(checkPlace(t, f), `echo x > ~/y; cat ~/y; echo $HOME`); got != "x\n"+bareHome {
			t.Errorf("home sees %q", got)
		}
	})
	t.Run("a mount point, with mounts in it", func(t *testing.T) {
		root := t.TempDir()
		for _, dir := range []string{root, filepath.Join(root, "node_modules")} {
			os.MkdirAll(dir, 0o755)
			if err := unix.Mount("t", dir, "tmpfs", 0, ""); err != nil {
				t.Skipf("skipped: mounting: %v", err)
			}
			defer unix.Unmount(dir, unix.MNT_DETACH)
		}
		writeAt(t, filepath.Join(root, "node_modules/m"), "module\n")
		f := fixtureAt(t, "overlay", root, func(*Options) {})
		st := checkPlace(t, f)
		if got := f.sh(st, "cat node_modules/m; echo own > node_modules/m"); got != "module" {
			t.Errorf("inner mount: %q", got)
		}
		if got := f.sh(st, "cat node_modules/m"); got != "module" {
			t.Errorf("inner mount in the second run: %q", got)
		}
	})
	t.Run("by a link", func(t *testing.T) {
		f := newFixture(t, "overlay")
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(f.root, link); err != nil {
			t.Fatal(err)
		}
		f.opts.Root = link
		f.box, _ = New(t.Context(), f.opts)
		checkPlace(t, f)
	})
}

// checkPlace runs what any place must keep.
func checkPlace(t *testing.T, f *fixture) *State {
	t.Helper()
	before := snapshot(t, f.root)
	st := f.state(f.file("main.txt", modeFile, "base\n"), f.file("gone.txt", modeAbsent, ""))
	for range 2 {
		if got := f.sh(st, "pwd -P; cat main.txt pkg/a.txt; ls -d gone.txt .git own 2>/dev/null; echo own > own"); got != f.root+"\nbase\na" {
			t.Errorf("state sees %q", got)
		}
	}
	f.sh(st, "echo x > /tmp/x; echo x > /dev/shm/x; echo x > pkg/a.txt; rm main.txt")
	if snapshot(t, f.root) != before {
		t.Error("the work tree changed")
	}
	return st
}

func TestOverlayHome(t *testing.T) {
	f, home := homeFixture(t, "src/tree")
	before := snapshot(t, home)
	st := f.state(f.file("main.txt", modeFile, "base\n"))
	other := f.state(f.file("main.txt", modeFile, "head\n"))
	const look = `cd ~ && cat .ssh/id .npmrc .config/gh/hosts.yml 2>/dev/null; cat .cache/* .config/kept; ls -A . .config`
	if got, want := f.sh(st, look), "cache\nkept\n.:\n.cache\n.config\nsrc\n\n.config:\nkept"; got != want {
		t.Errorf("home is %q, want %q", got, want)
	}
	f.sh(st, "echo warm > ~/.cache/warm; rm ~/.config/kept; echo x > lost; mkdir ~/.ssh")
	if got := f.sh(st, "cat ~/.cache/warm; cat ~/.config/kept lost 2>/dev/null; ls -d ~/.ssh/* 2>/dev/null; :"); got != "warm" {
		t.Errorf("home in the next run: %q", got)
	}
	if got := f.sh(other, "ls ~/.cache"); got != "go" {
		t.Errorf("the other state's home holds %q", got)
	}
	if snapshot(t, home) != before {
		t.Error("the home changed")
	}
}

// TestOverlayMoves moves files between directories by a rename, as compilers do
// with what they write.
func TestOverlayMoves(t *testing.T) {
	f, _ := homeFixture(t, "src/tree")
	const move = `for d in . ~/.cache /tmp /dev/shm; do mkdir -p $d/a $d/b; echo x >$d/a/x
python3 -c "import os, sys; os.rename(sys.argv[1]+'/a/x', sys.argv[1]+'/b/x'); os.link(sys.argv[1]+'/b/x', sys.argv[1]+'/a/y')" $d; cat $d/b/x $d/a/y; done 2>&1`
	if got, want := f.sh(f.state(), move), strings.TrimSuffix(strings.Repeat("x\n", 8), "\n"); got != want {
		t.Errorf("moved files read %q, want %q", got, want)
	}
}

func TestOverlayCaches(t *testing.T) {
	cache := t.TempDir()
	writeAt(t, filepath.Join(cache, "old"), "old\n")
	t.Setenv("GOCACHE", cache)
	f := newFixture(t, "overlay")
	st := f.state()
	f.sh(st, `echo new > "$GOCACHE/new"`)
	if got := f.sh(st, `cat "$GOCACHE/old" "$GOCACHE/new"`); got != "old\nnew" {
		t.Errorf("cache holds %q", got)
	}
	if left, _ := os.ReadDir(cache); len(left) != 1 {
		t.Errorf("the user's cache holds %v", left)
	}
}

// TestOverlayClosed tries what a hostile command would. Each script prints
// nothing when it fails to get through.
func TestOverlayClosed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	socket := filepath.Join(t.TempDir(), "outside.sock")
	if l, err := net.Listen("unix", socket); err == nil {
		defer l.Close()
	}
	f, home := homeFixture(t, "src/tree")
	insideSocket := filepath.Join(home, "in.sock")
	if l, err := net.Listen("unix", insideSocket); err == nil {
		defer l.Close()
	}
	f.box, err = New(t.Context(), f.opts)
	if err != nil {
		t.Fatal(err)
	}
	st := f.state()
	for name, script := range map[string]string{
		"capabilities":    `grep -E '^Cap' /proc/self/status | grep -v 0000000000000000`,
		"new privileges":  `grep NoNewPrivs /proc/self/status | grep -v 1`,
		"system files":    `for d in / /etc /usr /opt /var /boot /sys /dev; do touch $d/touchstone-x 2>/dev/null && echo $d; done`,
		"kernel":          `for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sysrq-trigger; do (echo x > $f) 2>/dev/null && cat $f; done`,
		"memory":          `head -c 1 /proc/kcore 2>/dev/null`,
		"devices":         `ls /dev | grep -vxE 'fd|full|null|ptmx|pts|random|shm|stderr|stdin|stdout|tty|urandom|zero'`,
		"device nodes":    `mknod n b 254 0 2>/dev/null && echo made`,
		"mounts":          `umount /tmp 2>/dev/null && echo gone; mount -t tmpfs x /mnt 2>/dev/null && echo mounted`,
		"other processes": `for p in /proc/[0-9]*; do [ "$p" = /proc/1 ] || [ "$p" = /proc/$$ ] || cat $p/cmdline; done`,
		"the init":        `cat /proc/1/environ 2>/dev/null; ls -l /proc/1/fd /proc/1/root 2>/dev/null | grep -- '->'`,
		"kill":            `kill -9 1 2>/dev/null; sleep 0.1; [ -d /proc/1 ] || echo killed`,
		"run":             `ls -A /run | grep -vx touchstone`,
		"sockets":         `for s in ` + socket + ` ~/in.sock; do test -S $s && echo $s; done`,
		"shadow":          `cat /etc/shadow 2>/dev/null`,
		"descriptors":     `ls -l /proc/self/fd | grep -vE ' [0-3] -> |total'`,
		"keys":            `cat /proc/keys 2>/dev/null`,
	} {
		if out, _ := f.run(st, gate.Command{Argv: []string{"sh", "-c", script}}); out != "" {
			t.Errorf("%s: %s", name, out)
		}
	}
	bash := func(script string) string {
		out, _ := f.run(st, gate.Command{Argv: []string{"bash", "-c", script + " 2>&1"}})
		return out
	}
	if got := bash("(echo > /dev/tcp/127.0.0.1/" + port + ")"); !strings.Contains(got, "refused") {
		t.Errorf("connecting to the machine's own port: %q", got)
	}
	if got := bash("(echo > /dev/tcp/192.0.2.1/80)"); !strings.Contains(got, "unreachable") {
		t.Errorf("connecting to the network: %q", got)
	}
}

func TestOverlayNetwork(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	f := fixtureAt(t, "overlay", t.TempDir(), func(o *Options) { o.Network = true })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_, exit := f.run(f.state(), gate.Command{Argv: []string{"bash", "-c", "echo > /dev/tcp/127.0.0.1/" + port + " && cat /etc/resolv.conf > /dev/null"}})
	if exit.Code != 0 {
		t.Errorf("with the network on: %+v", exit)
	}
}

// TestOverlayAlike compares what a command can find out about its state. (The
// kernel shows whether a home was mounted before: "uuid=on"; both were not.)
func TestOverlayAlike(t *testing.T) {
	f, _ := homeFixture(t, "src/tree")
	a := f.state(f.file("main.txt", modeFile, "base\n"), f.file("pkg/a.txt", modeAbsent, ""))
	time.Sleep(1100 * time.Millisecond) // the states are not made within one second
	b := f.state(f.file("main.txt", modeFile, "head\n"), f.file("pkg/a.txt", modeExec, "b"))
	numbers := regexp.MustCompile(`(?m)^\d+ \d+ \d+:\d+ |id=\d+`)
	const look = `cat /proc/self/mountinfo; echo; env; pwd; hostname; stat -c '%a %u %g %Y' . pkg main.txt ~; stat -c %a /tmp; ls -A /run /dev /tmp; cat /proc/mounts`
	one, two := numbers.ReplaceAllString(f.sh(a, look), ""), numbers.ReplaceAllString(f.sh(b, look), "")
	if one != two {
		for i, line := range strings.Split(two, "\n") {
			if lines := strings.Split(one, "\n"); i >= len(lines) || lines[i] != line {
				t.Errorf("states can be told apart by line %d: %q", i+1, line)
			}
		}
	}
}

// TestOverlaySocketVanishes: a server of the machine ends while a state covers its
// socket.
func TestOverlaySocketVanishes(t *testing.T) {
	dir, err := os.MkdirTemp("/opt", "socket")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, "overlay")
	st := f.state()
	time.AfterFunc(300*time.Millisecond, func() { l.Close() }) // removes the file
	if got := f.sh(st, "sleep 1; echo done"); got != "done" {
		t.Errorf("got %q", got)
	}
	os.RemoveAll(dir)
	if got := f.sh(st, "echo again"); got != "again" {
		t.Errorf("the next run, with nothing left to cover: got %q", got)
	}
}

func TestOverlayDisk(t *testing.T) {
	f := fixtureAt(t, "overlay", t.TempDir(), func(o *Options) { o.Disk = 32 << 20 })
	st := f.state()
	for _, path := range []string{"/tmp/x", "x", "/dev/shm/x"} {
		if _, exit := f.run(st, gate.Command{Argv: []string{"sh", "-c", "dd if=/dev/zero bs=1M count=64 2>/dev/null of=" + path}}); exit.Limit != "disk" {
			t.Errorf("64 MB to %s under a limit of 32: %+v", path, exit)
		}
	}
	if got := f.sh(st, "df -k /tmp | tail -1 | awk '{print $3}'"); got != "0" && len(got) > 3 {
		t.Errorf("the next run begins with %s kB", got)
	}
}

func TestOverlayLinkedWorktree(t *testing.T) {
	main, linked := t.TempDir(), filepath.Join(t.TempDir(), "linked")
	for _, args := range [][]string{
		{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"}, {"worktree", "add", "-q", linked},
	} {
		if out, err := exec.Command("git", append([]string{"-C", main}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	box, err := New(t.Context(), Options{Kind: "overlay", Root: linked, Visible: []string{main}})
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	f := &fixture{t: t, root: linked, box: box}
	if got := f.sh(f.state(), "ls -A; git status 2>&1 | head -1"); !strings.HasPrefix(got, "fatal: not a git repository") {
		t.Errorf("linked work tree sees %q", got)
	}
	hidden := hiddenPaths(linked, "")
	if !slices.Contains(hidden, filepath.Join(main, ".git")) {
		t.Errorf("the repository's store is not among the hidden %q", hidden)
	}
}

// TestOverlayKilled kills the process that made a state the hard way.
func TestOverlayKilled(t *testing.T) {
	temp, root := t.TempDir(), t.TempDir()
	mounts := mountsNow(t)
	self, _ := os.Executable()
	cmd := exec.Command(self, root, "86399.25")
	cmd.Env = append(os.Environ(), helperVariable+"=hold", "TMPDIR="+temp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Skip("skipped: no overlay here")
	}
	eventually(t, "the command to run", func() bool { return len(processesWith(t, "86399.25")) >= 2 })
	cmd.Process.Signal(syscall.SIGKILL)
	cmd.Wait()
	eventually(t, "everything to end", func() bool { return len(processesWith(t, "86399.25")) == 0 })
	if left, _ := os.ReadDir(temp); len(left) > 0 || mountsNow(t) != mounts {
		t.Errorf("left behind: %v, mounts %s", left, mountsNow(t))
	}
}

// TestOverlayOnDisk takes the way of kernels whose tmpfs cannot be an upper layer.
func TestOverlayOnDisk(t *testing.T) {
	f := newFixture(t, "overlay")
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	o := newOverlay(f.box, nil, []File{f.file("main.txt", modeFile, "base\n"), f.file("only/here.txt", modeAbsent, "")})
	ns, err := o.startOnDisk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o.ns = ns
	st := &State{sandbox: f.box, engine: o}
	for range 2 {
		if got := f.sh(st, "cat main.txt pkg/a.txt; ls -d only .git own /tmp/own 2>/dev/null; touch own /tmp/own; rm main.txt"); got != "base\na" {
			t.Errorf("state sees %q", got)
		}
	}
	if left, _ := os.ReadDir(temp); len(left) != 1 {
		t.Errorf("the scratch is not where it should be: %v", left)
	}
	ns.life.Close() // as when this process is killed
	ns.cmd.Wait()
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left when the parent was gone: %v", left)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}

func TestOverlayForkBomb(t *testing.T) {
	f := fixtureAt(t, "overlay", t.TempDir(), func(o *Options) { o.Pids = 100 })
	st := f.state()
	begin := time.Now()
	_, exit := f.run(st, gate.Command{Argv: []string{"bash", "-c", `b() { b | b & }; b; sleep 20`}})
	if exit.Limit != "processes" || time.Since(begin) > 10*time.Second {
		t.Errorf("%+v after %v", exit, time.Since(begin))
	}
	if got := f.sh(st, "echo alive"); got != "alive" {
		t.Errorf("afterwards: %q", got)
	}
}

func TestOverlaySideBySide(t *testing.T) {
	f := newFixture(t, "overlay")
	var all sync.WaitGroup
	for i := range 4 {
		st := f.state(f.file("main.txt", modeFile, fmt.Sprint(i)))
		all.Go(func() {
			for range 3 {
				var out bytes.Buffer
				exit, err := st.Run(t.Context(), gate.Command{Argv: []string{"cat", "main.txt"}, Stdout: &out})
				if err != nil || exit.Code != 0 || out.String() != fmt.Sprint(i) {
					t.Errorf("state %d: %v, %+v, %q", i, err, exit, out.String())
				}
			}
		})
	}
	all.Wait()
}

func TestOverlayClosedWhileRunning(t *testing.T) {
	f := newFixture(t, "overlay")
	st := f.state()
	time.AfterFunc(200*time.Millisecond, func() { st.Close() })
	if _, err := st.Run(t.Context(), gate.Command{Argv: []string{"sleep", "60"}}); err == nil {
		t.Error("a run whose state was closed came to an end of its own")
	}
}

// TestOverlayNested asks for a sandbox inside of one, where the kernel refuses
// what an overlay needs.
func TestOverlayNested(t *testing.T) {
	f := newFixture(t, "overlay")
	out, exit := f.run(f.state(), f.helper("kind", f.root))
	if exit.Code != 0 || !strings.HasPrefix(out, "copy overlay does not work here: ") || !strings.Contains(out, "state of touchstone's own") {
		t.Errorf("%+v: %s", exit, out)
	}
}

func eventually(t *testing.T, what string, true func() bool) {
	t.Helper()
	for range 500 {
		if true() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

// TestOrdinaryUser runs the overlay's tests again as a user who is not root.
func TestOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("skipped: not root, so all tests ran as an ordinary user already")
	}
	dir, err := os.MkdirTemp("", "ordinary")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	const nobody = 65534
	self, _ := os.Executable()
	binary := filepath.Join(dir, "sandbox.test")
	for _, name := range []string{"", "home", "tmp"} {
		os.Mkdir(filepath.Join(dir, name), 0o755)
		os.Chmod(filepath.Join(dir, name), 0o755)
		if err := os.Chown(filepath.Join(dir, name), nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	if err := cloneFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run=^(TestContractOverlay|TestOverlay)", "-test.v")
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as user %d: %v\n%s", nobody, err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "skipped: ") {
			t.Logf("as user %d: %s", nobody, strings.TrimSpace(line))
		}
	}
	if n := strings.Count(string(out), "--- PASS"); n < 30 {
		t.Errorf("only %d tests passed as user %d", n, nobody)
	}
}
