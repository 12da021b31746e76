package main

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/postgres"
)

// startPostgres runs a real server on a socket in a directory of its own, and
// returns its address.
func startPostgres(t *testing.T) string {
	t.Helper()
	bin := findPostgres()
	if bin == "" {
		t.Skip("no PostgreSQL server is installed (apt-get install postgresql): the PostgreSQL ledger is not tested")
	}
	dir, err := os.MkdirTemp("", "pg") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	attributes := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // the server refuses to run as root
		owner, err := user.Lookup("postgres")
		if err != nil {
			t.Skipf("PostgreSQL does not run as root, and there is no other user for it: %v", err)
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, attributes
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + dir}
		return cmd
	}
	if out, err := command("initdb", "-D", filepath.Join(dir, "data"), "-U", "touchstone", "-A", "trust", "-N").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := command("postgres", "-D", filepath.Join(dir, "data"), "-k", dir, "-c", "listen_addresses=")
	var said strings.Builder
	server.Stderr = &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGINT) // fast shutdown
		server.Wait()
	})
	url := "postgres://touchstone@/postgres?host=" + dir
	for range 300 {
		if conn, err := pgx.Connect(t.Context(), url); err == nil {
			conn.Close(t.Context())
			return url
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("the server does not answer: %s", said.String())
	return ""
}

// findPostgres is the directory of the server's programs: in PATH, or where Debian
// puts them.
func findPostgres() string {
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

func TestPostgresLedger(t *testing.T) {
	url := startPostgres(t)
	t.Run("several repositories", func(t *testing.T) { severalRepositories(t, url) })
	t.Run("append-only", func(t *testing.T) { appendOnly(t, url) })
	t.Run("writers", func(t *testing.T) {
		play{name: withDatabase(t, url, "writers"), repo: func(int) string { return "." }, writers: 16, each: testAppends(t) / 16, life: 3 * time.Second}.run(t)
	})
}

// withDatabase makes a database of its own on the server.
func withDatabase(t *testing.T, url, name string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "create database "+name); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(url, "/postgres?", "/"+name+"?", 1)
}

func severalRepositories(t *testing.T, url string) {
	store, err := postgres.Open(t.Context(), url, "")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var list []audit.Record
	for n := range 6 {
		r := testRecord(1, n)
		if n%2 == 1 {
			r.Repository = "acme/web"
		}
		list = append(list, r)
	}
	for _, want := range []int{6, 0} {
		if added, err := store.Append(t.Context(), list); err != nil || added != want {
			t.Fatalf("added %d, want %d: %v", added, want, err)
		}
	}
	code, stdout, stderr := run("audit", "--ledger", url, "verify")
	if code != exitPass || strings.Count(stdout, "3 records, tip 3:") != 2 {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	code, exported, _ := run("audit", "--ledger", url, "export")
	file := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(file, []byte(exported), 0o644); err != nil {
		t.Fatal(err)
	}
	if code2, stdout, stderr := run("audit", "--ledger", file+".ledger", "import", file); code != exitPass || code2 != exitPass || !strings.Contains(stdout, "6 added") {
		t.Errorf("exit %d, %d: %s%s", code, code2, stdout, stderr)
	}
	if code, stdout, _ := run("audit", "--ledger", url, "report", "--repository", "acme/web"); code != exitPass || !strings.Contains(stdout, "of 3 passing attempts") {
		t.Errorf("exit %d: %s", code, stdout)
	}
}

func appendOnly(t *testing.T, url string) {
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, statement := range []string{"delete from touchstone_record", "update touchstone_record set line = ''", "truncate touchstone_record"} {
		if _, err := conn.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	// whoever owns the tables can take the trigger away: then the chain tells
	if _, err := conn.Exec(t.Context(), "alter table touchstone_record disable trigger all; delete from touchstone_record where repository = 'acme/web' and seq = 3"); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := run("audit", "--ledger", url, "verify"); code != exitFail || !strings.Contains(stderr, "cut or replaced") {
		t.Errorf("a record deleted at the end: exit %d: %s", code, stderr)
	}
}
