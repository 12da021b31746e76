package sandbox

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"

	"github.com/touchstone-gate/touchstone/gate"
)

func dockerClient(t *testing.T) *client.Client {
	t.Helper()
	api, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close() })
	return api
}

// TestDockerErrors: each way to fail has words of its own, with what to do.
func TestDockerErrors(t *testing.T) {
	root := t.TempDir()
	name := testImage(t)
	wrong := filepath.Join(t.TempDir(), "none.sock")
	for _, c := range []struct {
		name, host string
		opts       Options
		want       []string
	}{
		{"engine missing", "unix://" + wrong, Options{Image: name}, []string{"no Docker engine answers", wrong, "DOCKER_HOST"}},
		{"far engine missing", "tcp://127.0.0.1:1", Options{Image: name}, []string{"no Docker engine answers", "127.0.0.1:1"}},
		{"bad address", "nonsense", Options{Image: name}, []string{"DOCKER_HOST", "nonsense"}},
		{"no image named", "", Options{}, []string{"sandbox.image", "Dockerfile"}},
		{"pull refused", "", Options{Image: "127.0.0.1:1/no/such:1"}, []string{"127.0.0.1:1/no/such:1", "pulling it was refused", "docker pull"}},
		{"unknown runtime", "", Options{Image: name, Runtime: "no-such-runtime"}, []string{"no-such-runtime", "runc", "daemon.json"}},
		{"failing Dockerfile", "", Options{Build: dockerfile(t, "FROM "+name+"\nRUN echo why it failed && false\n")}, []string{"building base's Dockerfile", "why it failed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.host != "" {
				t.Setenv("DOCKER_HOST", c.host)
			}
			c.opts.Kind, c.opts.Root = "docker", root
			box, err := newBox(t, c.opts)
			if err == nil {
				t.Fatalf("got %s", box.Kind())
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in: %v", want, err)
				}
			}
		})
	}
	t.Setenv("DOCKER_HOST", "unix://"+wrong)
	if box, err := newBox(t, Options{Root: root, Image: name}); err != nil || box.Kind() == "docker" || !strings.Contains(box.Reason(), "no Docker engine answers") {
		t.Errorf("auto without an engine: %v, %+v", err, box)
	}
}

func dockerfile(t *testing.T, content string, more ...string) *Build {
	t.Helper()
	dir := t.TempDir()
	writeAt(t, filepath.Join(dir, "0"), content)
	b := &Build{Dockerfile: "Dockerfile", Files: []File{{Path: "Dockerfile", Mode: modeFile, Blob: filepath.Join(dir, "0")}}}
	for i := 0; i < len(more); i += 2 {
		blob := filepath.Join(dir, fmt.Sprint(i+1))
		writeAt(t, blob, more[i+1])
		b.Files = append(b.Files, File{Path: more[i], Mode: modeFile, Blob: blob})
	}
	return b
}

// TestDockerBuild makes the image from base's own Dockerfile, as an ordinary user
// of it.
func TestDockerBuild(t *testing.T) {
	name := testImage(t)
	f := fixtureAt(t, "docker", filepath.Join(t.TempDir(), "tree"), func(o *Options) {
		o.Image = ""
		o.Build = dockerfile(t, "FROM "+name+"\nRUN useradd -m -u 4321 someone\nCOPY . /ctx\nENV COLOUR=blue\nUSER someone\n", "a/kept.txt", "kept", "a/left.log", "x", ".dockerignore", "**/*.log\n")
	})
	st := f.state(f.file("main.txt", modeFile, "base\n"))
	got := f.sh(st, `id -u; ls /ctx/a; echo $COLOUR $FROM_IMAGE; cat main.txt; echo x > main.txt; rm -r pkg; echo y > ~/y && stat -c %U main.txt ~/y; touch /usr/x 2>/dev/null || echo refused`)
	if want := "4321\nkept.txt\nblue yes\nbase\nsomeone\nsomeone\nrefused"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDockerFar talks to the engine over TCP, as to one on another machine.
func TestDockerFar(t *testing.T) {
	testImage(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	network, address, _ := strings.Cut(dockerClient(t).DaemonHost(), "://")
	go forward(l, network, address)
	t.Setenv("DOCKER_HOST", "tcp://"+l.Addr().String())
	f := newFixture(t, "docker")
	st := f.state(f.file("main.txt", modeFile, "base\n"))
	if got := f.sh(st, "cat main.txt pkg/a.txt; pwd"); got != "base\na\n"+f.root {
		t.Errorf("got %q", got)
	}
}

func forward(l net.Listener, network, address string) {
	for {
		near, err := l.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial(network, address)
		if err != nil {
			near.Close()
			continue
		}
		go func() { io.Copy(far, near); far.(*net.UnixConn).CloseWrite() }()
		go func() { io.Copy(near, far); near.Close() }()
	}
}

// TestDockerAlike compares what commands can find out about their state.
func TestDockerAlike(t *testing.T) {
	f := newFixture(t, "docker")
	a := f.state(f.file("main.txt", modeFile, "base\n"), f.file("pkg/a.txt", modeAbsent, ""), f.file("new/x", modeFile, ""))
	b := f.state(f.file("main.txt", modeFile, "head\n"), f.file("pkg/a.txt", modeExec, "b"), f.file("new/x", modeAbsent, ""))
	ids := regexp.MustCompile(`[0-9a-f]{64}|(?m)^\d+ \d+ \d+:\d+ |id=\d+|overlay2/l/[A-Z0-9]+|/\d+ `)
	const look = `cat /proc/self/mountinfo /proc/mounts; env; pwd; hostname; stat -c '%a %u %g %Y' . pkg main.txt ~; stat -c %a /tmp; ls -A /run /dev /tmp /home; id`
	one, two := ids.ReplaceAllString(f.sh(a, look), ""), ids.ReplaceAllString(f.sh(b, look), "")
	for i, line := range strings.Split(two, "\n") {
		if lines := strings.Split(one, "\n"); i >= len(lines) || lines[i] != line {
			t.Errorf("states can be told apart by line %d: %q, not %q", i+1, line, lines[min(i, len(lines)-1)])
		}
	}
	f.sh(a, `echo warm > ~/cache`)
	if got := f.sh(a, `cat ~/cache`); got != "warm" {
		t.Errorf("the home does not last: %q", got)
	}
	if got := f.sh(b, `cat ~/cache 2>/dev/null; :`); got != "" {
		t.Errorf("the other state's home holds %q", got)
	}
}

// TestDockerReport: what is no regular file any more gives no report.
func TestDockerReport(t *testing.T) {
	f := newFixture(t, "docker")
	st := f.state()
	for _, script := range []string{`ln -s /etc/passwd x; mv x $TOUCHSTONE_REPORT`, `rm -f $TOUCHSTONE_REPORT; ln -sf /etc/passwd $TOUCHSTONE_REPORT`, `mkfifo x; mv -f x $TOUCHSTONE_REPORT`} {
		var report bytes.Buffer
		if _, err := st.Run(t.Context(), gate.Command{Argv: []string{"sh", "-c", script}, Report: &report}); err != nil || report.Len() > 0 {
			t.Errorf("%s: %v, report %q", script, err, report.String())
		}
	}
}

func TestDockerDiskLimit(t *testing.T) {
	f := newFixture(t, "docker")
	f.again(func(o *Options) { o.Disk = 64 << 20 })
	st := f.state()
	if _, exit := f.run(st, gate.Command{Argv: []string{"sh", "-c", "for i in 1 2 3 4; do head -c 40000000 /dev/zero > /tmp/$i; done; sleep 50"}}); exit.Limit != "disk" {
		t.Errorf("160 MB under a limit of 64: %+v", exit)
	}
	if out, exit := f.run(st, gate.Command{Argv: []string{"sh", "-c", "head -c 100000000 /dev/zero > /tmp/x"}}); exit.Code == 0 {
		t.Errorf("one file of 100 MB under a limit of 64: %+v: %s", exit, out)
	}
}

// TestDockerKilled kills the process that holds a state, and has the next one
// find and remove what it left.
func TestDockerKilled(t *testing.T) {
	name, root := testImage(t), t.TempDir()
	api := dockerClient(t)
	self, _ := os.Executable()
	cmd := exec.Command(self, root, "100", "docker", name)
	cmd.Env = append(os.Environ(), helperVariable+"=hold")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	whose := fmt.Sprintf("/%d/", cmd.Process.Pid)
	eventually(t, "the container to run", func() bool {
		list, _ := api.ContainerList(t.Context(), container.ListOptions{Filters: filters.NewArgs(filters.Arg("label", label))})
		for _, c := range list {
			if strings.Contains(c.Labels[label], whose) {
				return true
			}
		}
		time.Sleep(50 * time.Millisecond)
		return false
	})
	cmd.Process.Signal(syscall.SIGKILL)
	cmd.Wait()
	newFixture(t, "docker") // sweeps
	only := filters.NewArgs(filters.Arg("label", label))
	containers, _ := api.ContainerList(t.Context(), container.ListOptions{All: true, Filters: only})
	for _, c := range containers {
		if strings.Contains(c.Labels[label], whose) {
			t.Errorf("container %s is left", c.ID)
		}
	}
	volumes, _ := api.VolumeList(t.Context(), volume.ListOptions{Filters: only})
	for _, v := range volumes.Volumes {
		if strings.Contains(v.Labels[label], whose) {
			t.Errorf("volume %s is left", v.Name)
		}
	}
	images, _ := api.ImageList(t.Context(), image.ListOptions{Filters: only})
	for _, i := range images {
		if strings.Contains(i.Labels[label], whose) {
			t.Errorf("image %s is left", i.ID)
		}
	}
}

func TestAbandoned(t *testing.T) {
	now := time.Now()
	own := strings.Split(ownLabel(), "/")
	with := func(i int, value string) string {
		fields := append([]string(nil), own...)
		fields[i] = value
		return strings.Join(fields, "/")
	}
	old := fmt.Sprint(now.Add(-25 * time.Hour).Unix())
	for _, c := range []struct {
		owner string
		want  bool
	}{
		{strings.Join(own, "/"), false}, {with(4, old), false},
		{with(1, "another-boot"), true}, {with(2, "999999999"), true}, {with(3, "1"), true},
		{with(0, "other-machine"), false}, {strings.Join([]string{"other-machine", own[1], own[2], own[3], old}, "/"), true},
		{"", false}, {"not/ours", false}, {"a/b/c/d/e", false},
	} {
		if got := abandoned(c.owner, now); got != c.want {
			t.Errorf("%q: %v, want %v", c.owner, got, c.want)
		}
	}
}

// TestDockerDiskFull runs an engine of its own on a small disk.
func TestDockerDiskFull(t *testing.T) {
	if os.Getenv("TOUCHSTONE_TEST_ENGINES") == "" {
		t.Skip("skipped: starts an engine of its own; TOUCHSTONE_TEST_ENGINES=1 runs it (.ci/run does)")
	}
	need(t, "dockerd", "containerd")
	api := smallEngine(t)
	var empty bytes.Buffer
	out := tar.NewWriter(&empty)
	out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "etc/", Mode: 0o755})
	out.Close()
	said, err := api.ImageImport(t.Context(), image.ImportSource{Source: &empty, SourceName: "-"}, "tiny:1", image.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, said)
	said.Close()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "big"), bytes.Repeat([]byte("x"), 80<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	box, err := newBox(t, Options{Kind: "docker", Root: root, Image: "tiny:1"})
	if err != nil {
		t.Fatal(err)
	}
	st, err := box.State(t.Context(), nil)
	if err == nil {
		st.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "is full") || !strings.Contains(err.Error(), "docker system prune") {
		t.Errorf("error %v", err)
	}
}

// smallEngine starts a Docker engine whose disk has 64 MB.
func smallEngine(t *testing.T) *client.Client {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "engine")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data := filepath.Join(dir, "data")
	os.Mkdir(data, 0o755)
	if err := syscall.Mount("t", data, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("skipped: mounting: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(data, syscall.MNT_DETACH) })
	var log bytes.Buffer
	socket := "unix://" + filepath.Join(dir, "s")
	cmd := exec.Command("dockerd", "--data-root", data, "--exec-root", filepath.Join(dir, "exec"), "-p", filepath.Join(dir, "pid"), "-H", socket, "--bridge", "none", "--iptables=false")
	cmd.Stderr = &log
	// In a network of its own: told to have no bridge, an engine removes the machine's.
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Signal(syscall.SIGTERM); cmd.Wait() })
	t.Setenv("DOCKER_HOST", socket)
	api := dockerClient(t)
	for range 200 {
		if _, err := api.Ping(context.Background()); err == nil {
			return api
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Skipf("skipped: the engine did not start: %s", log.String())
	return nil
}
