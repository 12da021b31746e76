//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"runtime"
)

var errNoOverlay = errors.New(runtime.GOOS + " has no overlay file system")

// Init does nothing on this system: only the overlay kind runs this program again.
func Init() {}

func probeOverlay(context.Context, *Sandbox) error { return errNoOverlay }

func openOverlay(context.Context, *Sandbox, *Layer, []File) (engine, error) { return nil, errNoOverlay }

func listeningSockets() []string { return nil }

func openOverlaySetup(context.Context, *Sandbox, []File) (setUpper, error) { return nil, errNoOverlay }

func landlockLayer() []string { return nil }

func groupLayer() []string { return nil }
