package coverage

import (
	"time"

	"github.com/touchstone-gate/touchstone/rts"
)

// Schema is the version of the file's layout.
const Schema = 1

// Header says what a map was made from.
type Header struct {
	Schema int
	Tool   string
	Commit string // the commit whose tests ran
	Tree   string // its tree
	// Environments identify the tools that ran the tests, by runner.
	Environments map[string]string
	Made         time.Time
	// Failed are the units of which nothing was observed, with why.
	Failed map[string]string
	Rows   []rts.Row
}
