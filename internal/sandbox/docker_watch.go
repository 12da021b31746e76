package sandbox

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/touchstone-gate/touchstone/gate"
)

// containerWatch ends a container that goes over a limit which its cgroup does
// not keep, and samples what it uses. (Memory and threads the kernel keeps.)
type containerWatch struct {
	d     *daemon
	id    string
	why   atomic.Pointer[string]
	stuck chan struct{} // closed when the container does not end although killed
	done  context.CancelFunc
	all   sync.WaitGroup

	cpu    time.Duration
	memory int64
}

// Pauses between looks: at first, and for what a file system walk finds out.
const (
	lookEvery = 200 * time.Millisecond
	sizeEvery = 2 * time.Second
)

func (d *daemon) watch(ctx context.Context, id string, t task) *containerWatch {
	looking, done := context.WithCancel(context.WithoutCancel(ctx))
	w := &containerWatch{d: d, id: id, stuck: make(chan struct{}), done: done}
	timer := time.AfterFunc(t.Timeout, func() { w.because(looking, timedOut) })
	stop := context.AfterFunc(ctx, func() { w.because(looking, "cancelled") })
	w.all.Go(func() { w.repeat(looking, lookEvery, func() { w.look(looking, t) }) })
	w.all.Go(func() { w.repeat(looking, sizeEvery, func() { w.size(looking) }) })
	context.AfterFunc(looking, func() { timer.Stop(); stop() })
	return w
}

// because kills the container; the first reason stays.
func (w *containerWatch) because(looking context.Context, why string) {
	if !w.why.CompareAndSwap(nil, &why) {
		return
	}
	ctx, cancel := context.WithTimeout(looking, answerGrace)
	defer cancel()
	for ctx.Err() == nil {
		w.d.api.ContainerKill(ctx, w.id, "SIGKILL")
		select {
		case <-looking.Done():
			return
		case <-time.After(time.Second): // it may not have been running yet
		}
	}
	if looking.Err() == nil {
		close(w.stuck)
	}
}

// repeat calls look again and again, using no more than a twentieth of the time.
func (w *containerWatch) repeat(ctx context.Context, pause time.Duration, look func()) {
	every := pause
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		begin := time.Now()
		look()
		pause = max(every, 20*time.Since(begin))
	}
}

func (w *containerWatch) look(ctx context.Context, t task) {
	if top, err := w.d.api.ContainerTop(ctx, w.id, []string{"-eo", "pid"}); err == nil && len(top.Processes) > t.Pids+1 { // with the init
		w.because(ctx, "processes")
	}
	answer, err := w.d.api.ContainerStatsOneShot(ctx, w.id)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	var stats container.StatsResponse
	if json.NewDecoder(answer.Body).Decode(&stats) == nil {
		w.cpu = max(w.cpu, time.Duration(stats.CPUStats.CPUUsage.TotalUsage))
		w.memory = max(w.memory, int64(stats.MemoryStats.MaxUsage), int64(stats.MemoryStats.Usage))
	}
}

// size compares what was written to the container's file system with the limit.
func (w *containerWatch) size(ctx context.Context) {
	info, _, err := w.d.api.ContainerInspectWithRaw(ctx, w.id, true)
	if err == nil && info.SizeRw != nil && *info.SizeRw > w.d.opts.Disk {
		w.because(ctx, "disk")
	}
}

func (w *containerWatch) end() {
	w.done()
	w.all.Wait()
}

func (w *containerWatch) result(status int64) gate.Exit {
	exit := exitOfContainer(status)
	exit.CPU, exit.MaxRSS = w.cpu, w.memory
	if why := w.why.Load(); why != nil {
		exit.TimedOut = *why == timedOut
		if !exit.TimedOut {
			exit.Limit = *why
		}
	}
	return exit
}
