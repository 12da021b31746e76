// Command touchstone tells what the green of a change proves. See README.md.
package main

import (
	"os"
	"runtime/debug"

	"github.com/touchstone-gate/touchstone/internal/sandbox"
)

func main() {
	sandbox.Init()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // runs are short: most are over before garbage matters
	}
	app := App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	os.Exit(app.Main(os.Args[1:]))
}
