package sandbox

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
)

// baseImage is the image that the docker tests stand on: a Debian with sh, bash,
// python3 and pytest. CI makes it (see .ci/run), since no registry may be there.
const baseImage = "touchstone-test:bookworm"

// imageSelf is where the tests' image has this test binary.
const imageSelf = "/opt/sandbox.test"

var helperImage struct {
	once sync.Once
	name string
	err  error
}

// testImage is the base image with this test binary in it, made once.
func testImage(t testing.TB) string {
	t.Helper()
	helperImage.once.Do(func() { helperImage.name, helperImage.err = makeTestImage(context.Background()) })
	if helperImage.err != nil {
		t.Skipf("skipped: %v", helperImage.err)
	}
	return helperImage.name
}

func makeTestImage(ctx context.Context) (string, error) {
	api, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		return "", err
	}
	defer api.Close()
	if _, err := api.ImageInspect(ctx, baseImage); err != nil {
		return "", fmt.Errorf("no Docker engine with the image %s: %w", baseImage, err)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	content, w := io.Pipe()
	go func() {
		out := newTreeWriter(w, account{})
		out.file("Dockerfile", "FROM "+baseImage+"\nCOPY self "+imageSelf+"\nENV FROM_IMAGE=yes\n", 0o644, account{})
		if err := out.entry("/", "self", entry{mode: 0o755, src: self, blob: true}); err != nil {
			out.err = err
		}
		w.CloseWithError(out.close())
	}()
	name := fmt.Sprintf("touchstone-test-helper:%d", os.Getpid())
	answer, err := api.ImageBuild(ctx, content, build.ImageBuildOptions{Tags: []string{name}, Remove: true, ForceRemove: true, Version: build.BuilderV1, Labels: map[string]string{label: ownLabel()}})
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if _, err := readProgress(answer.Body); err != nil {
		return "", err
	}
	return name, nil
}

// dropTestImage is called at the end of all tests.
func dropTestImage() {
	if helperImage.name == "" {
		return
	}
	if api, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation()); err == nil {
		api.ImageRemove(context.Background(), helperImage.name, image.RemoveOptions{Force: true, PruneChildren: true})
		api.Close()
	}
}
