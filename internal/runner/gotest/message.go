package gotest

import (
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	logged     = lazyregexp.New(`(?m)^\s*([\w./\\-]+\.go):(\d+): (.*(?:\n {8,}.*)*)`)
	frameLines = lazyregexp.New(`(?m)^\s*\x16?(=== (RUN|PAUSE|CONT|NAME)|--- (PASS|FAIL|SKIP|BENCH)).*\n?`)
	address    = lazyregexp.New(`0x[0-9a-f]{6,}`)
)

// steady takes what changes from run to run out of a name.
func steady(name string) string {
	if !strings.Contains(name, "0x") {
		return name
	}
	return address.ReplaceAllString(name, "0x_")
}

// account is what a test said before it failed or was skipped.
type account struct {
	message string
	file    string // as printed, usually a bare name
	line    int
}

// explain reads a test's own output. Of many logged lines the last one counts,
// since Fatal and the like end a test; of a few, the first.
func explain(output string) *account {
	output = frameLines.ReplaceAllString(output, "")
	found := logged.FindAllStringSubmatch(output, -1)
	if found == nil {
		return &account{message: gate.Message(output)}
	}
	telling := found[0]
	if len(found) > 3 {
		telling = found[len(found)-1]
	}
	line, _ := strconv.Atoi(telling[2])
	return &account{message: gate.Message(telling[3]), file: strings.Clone(telling[1]), line: line}
}
