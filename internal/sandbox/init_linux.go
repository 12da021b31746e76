package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Descriptors that an init is started with.
const (
	socketFD = 3
	lifeFD   = 4
)

// Init must be the first call in main, and in TestMain of tests that make
// overlay states: the overlay kind executes its own program again, as the first
// process of a state's namespaces and to start each command. In such a process
// Init does not return; in all others it does nothing.
func Init() {
	switch os.Args[0] {
	case initName:
		if os.Getpid() == 1 {
			os.Exit(serve())
		}
	case launchName:
		if os.Getppid() == 1 {
			fail(launch(os.Args[1:]))
		}
	}
}

// serve makes the world it is told to make, then runs commands in it, one at a time.
func serve() int {
	w := &world{umask: unix.Umask(0)}
	go w.endWithParent(os.NewFile(lifeFD, "life"))
	conn, err := connOf(os.NewFile(socketFD, "socket"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if _, err := receive(conn, &w.setup); err != nil {
		return 1
	}
	err = w.make()
	answer := reply{NeedScratch: errors.Is(err, errNoUserXattr)}
	if err != nil {
		answer.Error = err.Error()
	}
	if send(conn, answer) != nil || err != nil {
		return 1
	}
	for w.serveOne(conn) == nil {
	}
	return 1
}

// endWithParent kills the whole namespace when the process that made it is
// gone, however it went. A parent-death signal would not do: it comes with the
// end of the thread that started us.
func (w *world) endWithParent(life *os.File) {
	io.Copy(io.Discard, life)
	killOthers()
	if dir := w.diskScratch.Load(); dir != nil {
		unix.Unmount(filepath.Join(*dir, "dev"), unix.MNT_DETACH) // what is mounted on cannot be removed
		os.RemoveAll(*dir)
	}
	os.Exit(1)
}

func killOthers() { unix.Kill(-1, unix.SIGKILL) }

func (w *world) serveOne(conn *net.UnixConn) error {
	var r request
	files, err := receive(conn, &r)
	if err != nil {
		return err
	}
	answer, err := w.handle(r, files)
	if err != nil {
		answer.Error = err.Error()
	}
	return send(conn, answer)
}

func (w *world) handle(r request, files []*os.File) (reply, error) {
	defer closeAll(files)
	if r.Finish {
		left, err := w.leave()
		return reply{Left: left}, err
	}
	if err := w.fresh(); err != nil {
		return reply{}, err
	}
	if len(r.Digest) > 0 {
		digests, err := digestFiles(w.Root, r.Digest)
		return reply{Digests: digests}, err
	}
	exit, err := w.execute(r.Task, files)
	if r.Keep {
		w.clean = err == nil
		return reply{Exit: exit}, err
	}
	return reply{Exit: exit}, errors.Join(err, w.drop())
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// inherited makes pipe ends what programs expect them to be: blocking.
func inherited(files []*os.File) []uintptr {
	var fds []uintptr
	for _, f := range files {
		fd := f.Fd()
		syscall.SetNonblock(int(fd), false)
		fds = append(fds, fd)
	}
	return fds
}
