package sandbox

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// Build is an image made from a Dockerfile of the repository.
type Build struct {
	Dockerfile string // path of it among Files
	Files      []File // the whole tree; what .dockerignore names is left out
}

// account is a user of an image.
type account struct {
	name     string // as the image has it; "" for root
	uid, gid int
}

// nobody owns what commands may read only. Without capabilities even root cannot
// write to its files.
var nobody = account{uid: 65534, gid: 65534}

// readyImage finds, pulls or builds the repository's image, and reads from it
// what commands inherit.
func (d *daemon) readyImage(ctx context.Context) error {
	ref := d.opts.Image
	var err error
	switch {
	case ref != "":
		err = d.findImage(ctx, ref)
	case d.opts.Build != nil:
		ref, err = d.buildImage(ctx, *d.opts.Build)
	default:
		err = errors.New("the docker sandbox needs an image: name one in sandbox.image, or keep a Dockerfile at the repository's root on base")
	}
	if err != nil {
		return err
	}
	found, err := d.api.ImageInspect(ctx, ref)
	if err != nil {
		return d.explain(fmt.Sprintf("reading image %q", ref), err)
	}
	d.image, d.env = found.ID, found.Config.Env
	d.user, err = d.lookUp(ctx, found.Config.User)
	return err
}

// findImage pulls what the engine does not have.
func (d *daemon) findImage(ctx context.Context, ref string) error {
	_, err := d.api.ImageInspect(ctx, ref)
	if !cerrdefs.IsNotFound(err) {
		return d.explain(fmt.Sprintf("reading image %q", ref), err)
	}
	stream, err := d.api.ImagePull(ctx, ref, image.PullOptions{})
	if err == nil {
		defer stream.Close()
		_, err = readProgress(stream)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case cerrdefs.IsNotFound(err), strings.Contains(err.Error(), "manifest unknown"):
		return fmt.Errorf("image %q is neither in the Docker engine nor in its registry: build it, or correct sandbox.image: %w", ref, err)
	case strings.Contains(err.Error(), "no space left on device"):
		return d.explain(fmt.Sprintf("pulling image %q", ref), err)
	}
	return fmt.Errorf("image %q is not in the Docker engine and pulling it was refused: `docker pull` it beforehand, logged in where that is needed: %w", ref, err)
}

// readProgress reads an engine's stream of messages to its end. It returns the
// tail of what the build printed, and the error that a message carries.
func readProgress(stream io.Reader) (said string, err error) {
	for decoder := json.NewDecoder(stream); ; {
		var message struct{ Stream, Error string }
		if err := decoder.Decode(&message); errors.Is(err, io.EOF) {
			return said, nil
		} else if err != nil {
			return said, err
		}
		said += message.Stream
		said = said[max(0, len(said)-2000):]
		if message.Error != "" {
			return said, errors.New(message.Error)
		}
	}
}

// buildImage has the engine build the Dockerfile. The engine's own cache makes
// the second time quick.
func (d *daemon) buildImage(ctx context.Context, b Build) (string, error) {
	files, err := b.wanted()
	if err != nil {
		return "", err
	}
	content, w := io.Pipe()
	go func() {
		out := newTreeWriter(w, account{})
		for _, f := range files {
			e, err := f.entry()
			if err == nil {
				err = out.entry("/", f.Path, e)
			}
			if err != nil {
				w.CloseWithError(err)
				return
			}
		}
		w.CloseWithError(out.close())
	}()
	tag := "touchstone-build:" + strings.ToLower(bare(d.labels[label]))
	answer, err := d.api.ImageBuild(ctx, content, build.ImageBuildOptions{
		Dockerfile: b.Dockerfile, Tags: []string{tag}, Remove: true, ForceRemove: true, Version: build.BuilderV1, Labels: d.labels,
	})
	content.CloseWithError(err)
	if err != nil {
		return "", d.explain("building "+b.Dockerfile, err)
	}
	defer answer.Body.Close()
	said, err := readProgress(answer.Body)
	if err != nil {
		return "", d.explain(fmt.Sprintf("building base's %s", b.Dockerfile), fmt.Errorf("%w: %s", err, strings.TrimSpace(said)))
	}
	d.mu.Lock()
	d.order = append(d.order, tag)
	d.mu.Unlock()
	return tag, nil
}

// bare leaves of a text what a tag may hold.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return map[bool]rune{true: '-', false: r}[r == '/']
		}
		return -1
	}, text)
}

// wanted are the files of the build's context.
func (b Build) wanted() ([]File, error) {
	i := slices.IndexFunc(b.Files, func(f File) bool { return f.Path == ".dockerignore" })
	if i < 0 {
		return b.Files, nil
	}
	content, err := b.Files[i].content()
	if err != nil {
		return nil, err
	}
	patterns, err := ignorefile.ReadAll(strings.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("base's .dockerignore: %w", err)
	}
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		return nil, fmt.Errorf("base's .dockerignore: %w", err)
	}
	var kept []File
	for _, f := range b.Files {
		ignored, err := matcher.MatchesOrParentMatches(f.Path)
		if err != nil {
			return nil, fmt.Errorf("base's .dockerignore: %w", err)
		}
		if !ignored || f.Path == b.Dockerfile {
			kept = append(kept, f)
		}
	}
	return kept, nil
}

// lookUp turns an image's user into numbers, by the image's own files.
func (d *daemon) lookUp(ctx context.Context, name string) (account, error) {
	a := account{name: name}
	if name == "" {
		return a, nil
	}
	made, err := d.api.ContainerCreate(ctx, &container.Config{Image: d.image, Entrypoint: []string{"/"}, Labels: d.labels}, &container.HostConfig{NetworkMode: "none"}, nil, nil, "")
	if err != nil {
		return a, d.explain("making a container", err)
	}
	defer d.remove(made.ID)
	user, group, grouped := strings.Cut(name, ":")
	known := false
	for _, line := range d.lines(ctx, made.ID, "/etc/passwd") {
		f := strings.Split(line, ":")
		if len(f) >= 4 && (f[0] == user || f[2] == user) {
			a.uid, _ = strconv.Atoi(f[2])
			a.gid, _ = strconv.Atoi(f[3])
			known = true
			break
		}
	}
	if n, err := strconv.Atoi(user); err == nil {
		a.uid, known = n, true
	}
	if grouped {
		a.gid = d.lookUpGroup(ctx, made.ID, group)
	}
	if !known {
		return a, fmt.Errorf("the image's user %q is not in its /etc/passwd", name)
	}
	return a, nil
}

func (d *daemon) lookUpGroup(ctx context.Context, id, group string) int {
	for _, line := range d.lines(ctx, id, "/etc/group") {
		f := strings.Split(line, ":")
		if len(f) >= 3 && f[0] == group {
			group = f[2]
		}
	}
	n, _ := strconv.Atoi(group)
	return n
}

// lines reads a small text file of a container; none when it has no such file.
func (d *daemon) lines(ctx context.Context, id, file string) []string {
	stream, _, err := d.api.CopyFromContainer(ctx, id, file)
	if err != nil {
		return nil
	}
	defer stream.Close()
	in := tar.NewReader(stream)
	if h, err := in.Next(); err != nil || h.Typeflag != tar.TypeReg {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(in, 1<<20))
	return strings.Split(string(text), "\n")
}

// joinSlash joins paths of a Linux container, also on other systems.
func joinSlash(parts ...string) string { return path.Join(parts...) }
