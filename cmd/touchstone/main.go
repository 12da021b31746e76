// Command touchstone tells what the green of a change proves. See README.md.
package main

import (
	"os"

	"github.com/touchstone-gate/touchstone/internal/sandbox"
)

func main() {
	sandbox.Init()
	app := App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	app.Cache, _ = os.UserCacheDir() // a user without one asks everything anew
	os.Exit(app.Main(os.Args[1:]))
}
