package sandbox

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestMoved(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"/w/tree", "/c/t"},
		{"/w/tree/x", "/c/t/x"},
		{"/w/tree2/x", "/w/tree2/x"},
		{"/other/w/tree/x", "/other/w/tree/x"},
		{"--rootdir=/w/tree", "--rootdir=/c/t"},
		{"/w/tree/bin:/usr/bin:/w/tree", "/c/t/bin:/usr/bin:/c/t"},
		{"-I/w/tree", "-I/w/tree"},
		{"plain", "plain"},
	} {
		if got := moved(c.word, "/w/tree", "/c/t"); got != c.want {
			t.Errorf("moved(%q) = %q, want %q", c.word, got, c.want)
		}
	}
}

func TestParseMountTable(t *testing.T) {
	got := parseMountTable("36 35 98:0 / /mnt/a\\040b\\134c rw,noatime master:1 - ext3 /dev/root rw\n37 35 0:1 / /proc rw - proc proc rw\ngarbage\n")
	want := []mountPoint{{`/mnt/a b\c`, "ext3"}, {"/proc", "proc"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParseSockets(t *testing.T) {
	got := parseSockets("Num       RefCount Protocol Flags    Type St Inode Path\n" +
		"0000000000000000: 00000002 00000000 00010000 0001 01 1534 /run/a b.sock\n" +
		"0000000000000000: 00000002 00000000 00010000 0001 01 1535 @abstract\n" +
		"0000000000000000: 00000003 00000000 00000000 0001 03 1536 /run/connected\n")
	if want := []string{"/run/a b.sock"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAdvice(t *testing.T) {
	refused := errors.New("mount proc: operation not permitted")
	for _, c := range []struct {
		file, value string
		err         error
		want        string
	}{
		{"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", refused, "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
		{"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n", refused, ""},
		{"proc/sys/kernel/unprivileged_userns_clone", "0\n", refused, "sysctl -w kernel.unprivileged_userns_clone=1"},
		{"proc/sys/user/max_user_namespaces", "0\n", errors.New("fork/exec: no space left on device"), "sysctl -w user.max_user_namespaces"},
		{"proc/sys/user/max_user_namespaces", "0\n", errors.New("blob: no such file or directory"), ""},
		{".dockerenv", "", refused, "container"},
	} {
		root := t.TempDir()
		writeAt(t, filepath.Join(root, c.file), c.value)
		got := advice(root, c.err)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s = %q, %v: got %q, want one with %q", c.file, c.value, c.err, got, c.want)
		}
	}
}

func TestStamp(t *testing.T) {
	now := time.Unix(1000, 5)
	if got := newStamp(now); got != time.Unix(1001, 0) {
		t.Errorf("got %v", got)
	}
}

func TestKinds(t *testing.T) {
	root := t.TempDir()
	for _, c := range []struct{ kind, root, want, err string }{
		{"copy", root, "copy", ""},
		{"", root, "", ""},
		{"docker!", root, "", "use auto, overlay, docker or copy"},
		{"copy", "/", "", "root of the filesystem"},
		{"copy", filepath.Join(root, "none"), "", "no such file"},
	} {
		box, err := New(t.Context(), Options{Kind: c.kind, Root: c.root})
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%+v: error %v", c, err)
		case c.err == "" && err != nil:
			t.Errorf("%+v: %v", c, err)
		case c.want != "" && box.Kind() != c.want:
			t.Errorf("%+v: kind %q", c, box.Kind())
		case err == nil && (box.Kind() == "overlay") != (box.Reason() == ""):
			t.Errorf("%+v: kind %q with reason %q", c, box.Kind(), box.Reason())
		}
	}
}
