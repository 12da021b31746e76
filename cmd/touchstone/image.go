package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/internal/sandbox"
)

// dockerfiles are where a repository's own is looked for, in order.
var dockerfiles = []string{"Dockerfile", ".devcontainer/Dockerfile", "docker/Dockerfile"}

// imageSource stages base's files for an image, where the docker sandbox is asked
// for and the configuration names none. remove takes them away.
func imageSource(ctx context.Context, c *change, settings config.Sandbox) (source *sandbox.Build, remove func(), err error) {
	remove = func() {}
	if settings.Kind != "docker" || settings.Image != "" {
		return nil, remove, nil
	}
	build := &sandbox.Build{}
	for _, file := range dockerfiles {
		if _, ok := c.base.Entry(file); ok && build.Dockerfile == "" {
			build.Dockerfile = file
		}
	}
	if build.Dockerfile == "" {
		return nil, remove, fmt.Errorf("the docker sandbox needs an image: name one in sandbox.image of %s, or keep a Dockerfile on base (looked for %q)", config.Path, dockerfiles)
	}
	dir, err := os.MkdirTemp("", "touchstone-image-")
	if err != nil {
		return nil, remove, err
	}
	remove = func() { os.RemoveAll(dir) }
	var ids []string
	for _, file := range c.base.Paths() {
		if entry, ok := c.base.Entry(file); ok && entry.Mode != git.ModeSubmodule {
			ids = append(ids, entry.ID)
			build.Files = append(build.Files, sandbox.File{Path: file, Mode: entry.Mode, Blob: filepath.Join(dir, entry.ID)})
		}
	}
	if err := c.repo.Materialize(ctx, ids, dir); err != nil {
		remove()
		return nil, func() {}, err
	}
	return build, remove, nil
}

// openBox makes the sandbox of a run.
func openBox(ctx context.Context, c *change, settings config.Config, found *runners) (*sandbox.Sandbox, error) {
	source, remove, err := imageSource(ctx, c, settings.Sandbox)
	if err != nil {
		return nil, err
	}
	defer remove()
	options := boxOptions(c.repo.Root(), settings, found)
	options.Image, options.Runtime, options.Build = settings.Sandbox.Image, settings.Sandbox.Runtime, source
	return sandbox.New(ctx, options)
}
