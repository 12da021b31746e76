package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/volume"
)

// label marks what is ours in an engine. Its value says whose:
// machine/boot/process/start of the process/unix time of making.
const label = "dev.touchstone.owner"

// strangerAge is after what time things of other machines' processes, of which
// nobody here can tell whether they live, count as left behind.
const strangerAge = 24 * time.Hour

func ownLabel() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s/%s/%d/%s/%d", strings.ReplaceAll(host, "/", "-"), bootID(), os.Getpid(), startOf(os.Getpid()), time.Now().Unix())
}

// sweep removes what former processes left behind when they were killed.
func (d *daemon) sweep(ctx context.Context) {
	only := filters.NewArgs(filters.Arg("label", label))
	if list, err := d.api.ContainerList(ctx, container.ListOptions{All: true, Filters: only}); err == nil {
		for _, c := range list {
			if abandoned(c.Labels[label], time.Now()) {
				d.remove(c.ID)
			}
		}
	}
	if list, err := d.api.VolumeList(ctx, volume.ListOptions{Filters: only}); err == nil {
		for _, v := range list.Volumes {
			if abandoned(v.Labels[label], time.Now()) {
				d.api.VolumeRemove(ctx, v.Name, true)
			}
		}
	}
	if list, err := d.api.ImageList(ctx, image.ListOptions{Filters: only}); err == nil {
		slices.SortFunc(list, func(a, b image.Summary) int { return cmp.Compare(b.Created, a.Created) }) // children first
		for _, i := range list {
			if abandoned(i.Labels[label], time.Now()) {
				d.api.ImageRemove(ctx, i.ID, image.RemoveOptions{Force: true, PruneChildren: true})
			}
		}
	}
}

// abandoned reports whether the process that an owner's label names is gone.
func abandoned(owner string, now time.Time) bool {
	fields := strings.Split(owner, "/")
	if len(fields) != 5 {
		return false // not one of ours
	}
	host, _ := os.Hostname()
	pid, err1 := strconv.Atoi(fields[2])
	made, err2 := strconv.ParseInt(fields[4], 10, 64)
	if err1 != nil || err2 != nil {
		return false
	}
	if fields[0] != strings.ReplaceAll(host, "/", "-") || fields[1] == "" {
		return now.Sub(time.Unix(made, 0)) > strangerAge
	}
	return fields[1] != bootID() || fields[3] != startOf(pid)
}

// bootID is "" where the system has none.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// startOf tells a process from a later one of the same number: its start time in
// the system's own count, "" when there is no such process.
func startOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(text), ") ") // the name before may hold anything
	if i := strings.LastIndex(string(text), ") "); i >= 0 {
		after = string(text)[i+2:]
	}
	fields := strings.Fields(after)
	if len(fields) < 20 {
		return ""
	}
	return fields[19] // field 22 of the line
}
