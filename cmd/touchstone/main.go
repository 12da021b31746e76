// Command touchstone tells what the green of a change proves. See README.md.
package main

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/touchstone-gate/touchstone/internal/sandbox"
)

func main() {
	sandbox.Init()
	if os.Getenv("GOGC") == "" {
		collectLate()
	}
	app := App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	app.Cache, _ = os.UserCacheDir() // a user without one asks everything anew
	os.Exit(app.Main(os.Args[1:]))
}

// collectLate puts the first collection of garbage off until the heap has 64 MB;
// most runs are over before. The usual pace holds from then on.
func collectLate() {
	usual := debug.SetGCPercent(1600) // of 4 MB
	runtime.AddCleanup(new(*int), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
