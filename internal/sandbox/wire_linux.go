package sandbox

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"golang.org/x/sys/unix"
)

// setup is the first message to a namespace's init: what its world looks like.
type setup struct {
	Root    string
	Home    string // "" when there is none to show
	Caches  []string
	Visible []string
	Hidden  []string
	Files   []File
	Stamp   time.Time
	Disk    int64
	Scratch string // directory on disk to use in place of a tmpfs, "" for a tmpfs
	Network bool
	// Under are directories that lie between what the user has and what commands
	// write, by the path they are shown at.
	Under map[string]string
}

// request asks the init to run a command, or, with Digest set, to read files.
// The command's output ends come with it as file descriptors.
type request struct {
	Task   task
	Digest []string
	Keep   bool // what the command writes stays for the next
	Finish bool // no command follows: leave behind, unmounted, what was kept
}

type reply struct {
	Error       string
	NeedScratch bool // a tmpfs here cannot carry an overlay's upper layer: use a directory on disk
	Exit        gate.Exit
	Digests     map[string]string
	Left        map[string]string // where in the scratch what was kept is, by the path it was shown at
}

func (r reply) err() error {
	if r.Error == "" {
		return nil
	}
	return errors.New(r.Error)
}

// maxDescriptors is how many files travel with one message.
const maxDescriptors = 3

// send writes one message: its length together with the files, then gob.
// Gob, not JSON: paths and arguments are bytes, not text.
func send(conn *net.UnixConn, message any, files ...*os.File) error {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(message); err != nil {
		return err
	}
	var rights []byte
	if len(files) > 0 {
		var fds []int
		for _, f := range files {
			fds = append(fds, int(f.Fd()))
		}
		rights = unix.UnixRights(fds...)
	}
	length := binary.BigEndian.AppendUint64(nil, uint64(body.Len()))
	if _, _, err := conn.WriteMsgUnix(length, rights, nil); err != nil {
		return err
	}
	_, err := conn.Write(body.Bytes())
	return err
}

func receive(conn *net.UnixConn, message any) ([]*os.File, error) {
	length := make([]byte, 8)
	oob := make([]byte, unix.CmsgSpace(4*maxDescriptors))
	n, oobn, _, _, err := conn.ReadMsgUnix(length, oob)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, io.EOF
	}
	files, err := openRights(oob[:oobn])
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(conn, length[n:]); err != nil {
		return files, err
	}
	body := io.LimitReader(conn, int64(binary.BigEndian.Uint64(length)))
	buffered, err := io.ReadAll(body)
	if err != nil {
		return files, err
	}
	return files, gob.NewDecoder(bytes.NewReader(buffered)).Decode(message)
}

func openRights(oob []byte) ([]*os.File, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return files, err
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return files, nil
}

// socketPair returns a connection and the file of its other end, which is
// meant for another process.
func socketPair() (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "init")
	ours, err := connOf(os.NewFile(uintptr(fds[0]), "sandbox"))
	if err != nil {
		theirs.Close()
	}
	return ours, theirs, err
}

// connOf turns a socket's file into a connection; the file is closed.
func connOf(f *os.File) (*net.UnixConn, error) {
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	u, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, fmt.Errorf("descriptor %q is a %T, not a unix socket", f.Name(), conn)
	}
	return u, nil
}
