package sandbox

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// guard ends a command that goes over a limit.
type guard struct {
	timer *time.Timer
	done  chan struct{}
	gone  sync.WaitGroup
}

// watchEvery is how often usage is looked at, at most.
const watchEvery = 50 * time.Millisecond

func (w *world) guard(t task, e *ending) *guard {
	g := &guard{done: make(chan struct{})}
	g.timer = time.AfterFunc(t.Timeout, func() { e.because(timedOut) })
	g.gone.Go(func() { w.watch(t, e, g.done) })
	return g
}

func (g *guard) end() {
	g.timer.Stop()
	close(g.done)
	g.gone.Wait()
}

func (w *world) watch(t task, e *ending, done <-chan struct{}) {
	pause := watchEvery
	for {
		select {
		case <-done:
			return
		case <-time.After(pause):
		}
		begin := time.Now()
		if why := w.exceeded(t); why != "" {
			e.because(why)
		}
		pause = max(watchEvery, 20*time.Since(begin)) // never more than 5 % of a processor
	}
}

// exceeded names the limit that is passed, "" for none.
func (w *world) exceeded(t task) string {
	pids := processes()
	switch {
	case len(pids) > t.Pids:
		return "processes"
	case overMemory(pids, t.Memory):
		return "memory"
	case w.diskFull():
		return "disk"
	}
	return ""
}

// processes lists all but the init.
func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// overMemory compares memory with the limit. The cheap sum counts pages that
// processes share once for each; only when it is over are they told apart.
func overMemory(pids []int, limit int64) bool {
	var sum int64
	for _, pid := range pids {
		sum += resident(pid)
	}
	if sum <= limit {
		return false
	}
	sum = 0
	for _, pid := range pids {
		share, err := proportional(pid)
		if err != nil {
			share = resident(pid)
		}
		sum += share
	}
	return sum > limit
}

// resident is what a process has in memory, in bytes; 0 when it is gone.
func resident(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// proportional is a process's own share of what it has in memory.
func proportional(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(string(line), "Pss: %d kB", &kilobytes); n == 1 {
			return kilobytes * 1024, nil
		}
	}
	return 0, fmt.Errorf("process %d: no Pss line", pid)
}

// diskFull reports whether the run, or the state's home, has no room left.
func (w *world) diskFull() bool {
	if w.onDisk {
		return written(w.at("run")) > w.Disk || written(w.at("keep")) > w.Disk
	}
	return full(w.at("run")) || full(w.at("keep"))
}

// written sums up what a directory's files take on disk.
func written(dir string) (bytes int64) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err == nil && unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
			bytes += st.Blocks * 512
		}
		return nil
	})
	return bytes
}

// full reports whether a size-limited file system has no page or no file left.
func full(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Blocks > 0 && (st.Bfree == 0 || st.Files > 0 && st.Ffree == 0)
}
