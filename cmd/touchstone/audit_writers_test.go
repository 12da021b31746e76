package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
)

// testRecord is one of a writer's.
func testRecord(writer, n int) audit.Record {
	return audit.Record{
		Version: audit.RecordVersion, ID: fmt.Sprintf("acme/api w%d n%d", writer, n), Time: time.Unix(1_800_000_000+int64(n), 0),
		Repository: "acme/api", Group: fmt.Sprintf("issue/%d", n), Member: fmt.Sprintf("pr/%d", writer), Design: audit.MemberCoins,
		Probability: 200_000, Floor: 200_000, Largest: 1, Cheap: "pass", SelectedSeconds: 3, SuiteSeconds: 60, Agent: "claude", Tool: "touchstone test",
	}
}

// writeLedger is a writer process: it appends the records from TOUCHSTONE_TEST_FROM
// to _TO one by one and says so after each.
func writeLedger(name string) int {
	number := func(variable string) int {
		n, err := strconv.Atoi(os.Getenv("TOUCHSTONE_TEST_" + variable))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		return n
	}
	ctx := context.Background()
	app := App{Stdin: strings.NewReader(""), Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	store, err := app.openLedger(ctx, &auditOptions{repo: os.Getenv("TOUCHSTONE_TEST_REPO"), ledger: name})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer store.Close()
	for n := number("FROM"); n < number("TO"); n++ {
		if _, err := store.Append(ctx, []audit.Record{testRecord(number("WRITER_NUMBER"), n)}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(n)
	}
	return 0
}

// testAppends is how many records the 16 writers of a test append together, at least.
func testAppends(t *testing.T) int {
	text := os.Getenv("TOUCHSTONE_TEST_APPENDS")
	if text == "" {
		return 160
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return (n + 15) / 16 * 16
}

// TestConcurrentWriters has 16 processes append to one ledger while they are
// killed at random and started again: no record is lost, none is there twice.
// TOUCHSTONE_TEST_APPENDS says how many, for a long run.
func TestConcurrentWriters(t *testing.T) {
	appends := testAppends(t)
	t.Run("file", func(t *testing.T) {
		play{name: filepath.Join(t.TempDir(), "ledger.jsonl"), repo: func(int) string { return "." }, writers: 16, each: appends / 16, life: 3 * time.Second}.run(t)
	})
	t.Run("git ref", func(t *testing.T) {
		dir := repository(t, "", map[string]string{"a": "b\n"})
		play{name: "git:", repo: func(int) string { return dir }, writers: 16, each: appends / 16, life: 6 * time.Second}.run(t)
	})
	t.Run("git ref at a remote, from shallow clones", func(t *testing.T) {
		dir := t.TempDir()
		source := repository(t, "", map[string]string{"a": "b\n"}, map[string]string{"a": "c\n"})
		gitIn(t, dir, "clone", "-q", "--bare", source, "remote.git")
		for i := range 4 {
			gitIn(t, dir, "clone", "-q", "--depth=1", "file://"+filepath.Join(dir, "remote.git"), fmt.Sprint(i))
		}
		play{name: "git:origin", repo: func(writer int) string { return filepath.Join(dir, fmt.Sprint(writer)) }, writers: 4, each: max(2, appends/100), life: 15 * time.Second}.run(t)
	})
}

// play is one run of several writers on one ledger.
type play struct {
	name    string
	repo    func(writer int) string
	writers int
	each    int           // records of a writer
	life    time.Duration // the longest a writer lives that is killed
}

func (p play) run(t *testing.T) {
	var kills atomic.Int32
	began := time.Now()
	var all sync.WaitGroup
	for writer := range p.writers {
		all.Go(func() {
			for done, tries := 0, 0; done < p.each; tries++ {
				if tries > 1000 {
					t.Errorf("writer %d came no further than %d of %d", writer, done, p.each)
					return
				}
				done = p.untilKilled(t, writer, done, tries, &kills)
			}
		})
	}
	all.Wait()
	t.Logf("%d appends by %d writers, killed %d times, in %s", p.each*p.writers, p.writers, kills.Load(), time.Since(began).Round(time.Millisecond))
	if kills.Load() == 0 {
		t.Error("no writer was killed")
	}
	p.check(t)
}

// untilKilled runs one writer process, which as a rule is killed with all its
// children, and returns up to where its records are acknowledged.
func (p play) untilKilled(t *testing.T, writer, from, tries int, kills *atomic.Int32) int {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TOUCHSTONE_TEST_WRITER="+p.name, "TOUCHSTONE_TEST_REPO="+p.repo(writer), fmt.Sprintf("TOUCHSTONE_TEST_WRITER_NUMBER=%d", writer),
		fmt.Sprintf("TOUCHSTONE_TEST_FROM=%d", from), fmt.Sprintf("TOUCHSTONE_TEST_TO=%d", p.each))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return p.each
	}
	var killed atomic.Bool
	life := time.Duration(rand.Int64N(int64(p.life)))
	if tries == 0 && writer == 0 {
		life = min(life, 100*time.Millisecond) // one at least
	}
	if tries%3 == 2 {
		life = time.Hour
	}
	stop := time.AfterFunc(life, func() {
		killed.Store(true)
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	})
	done := from
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		n, err := strconv.Atoi(scanner.Text())
		if err != nil || n != done {
			t.Errorf("writer %d said %q after %d", writer, scanner.Text(), done)
			break
		}
		done++
	}
	err = cmd.Wait()
	stop.Stop()
	switch {
	case killed.Load():
		kills.Add(1)
	case err != nil:
		t.Errorf("writer %d: %v: %s", writer, err, errs.String())
		return p.each
	}
	return done
}

// check wants every record once, in a whole chain.
func (p play) check(t *testing.T) {
	ctx := context.Background()
	app := App{Stdin: strings.NewReader(""), Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	store, err := app.openLedger(ctx, &auditOptions{repo: p.repo(0), ledger: p.name})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	seen := make(map[string]int)
	seq, _, _, err := ledger.Verify(ctx, store, nil, func(r *audit.Record) { seen[r.ID]++ }, func(err error) { t.Error(err) })
	if err != nil || seq != int64(p.each*p.writers) {
		t.Errorf("%d records in the chain, want %d: %v", seq, p.each*p.writers, err)
	}
	for writer := range p.writers {
		for n := range p.each {
			if id := testRecord(writer, n).ID; seen[id] != 1 {
				t.Errorf("%s is there %d times", id, seen[id])
			}
		}
	}
}
