package javascript

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
)

// record is one line of an observer. Kind says which of the other fields count.
type record struct {
	Kind string `json:"kind"`

	Unit    string   `json:"unit"`
	Project string   `json:"project"`
	Path    []string `json:"path"`
	Number  int      `json:"number"` // among those of one name, from 1; 0 when the observer does not count
	Line    int      `json:"line"`
	File    string   `json:"file"`
	Suite   bool     `json:"suite"`

	Outcome  string    `json:"outcome"` // passed, failed, skipped, todo, ""
	Errors   []failure `json:"errors"`
	MS       float64   `json:"ms"`
	Again    bool      `json:"again"`    // the framework runs it again
	Filtered bool      `json:"filtered"` // left out because it was not asked for
	Expected bool      `json:"expected"` // declared as expected to fail
	Words    string    `json:"words"`

	Died    bool   `json:"died"`
	Code    int    `json:"code"`
	Signal  string `json:"signal"`
	Message string `json:"message"`
	Focused bool   `json:"focused"`
	Root    string `json:"root"`

	Subject string `json:"subject"`
	SHA256  string `json:"sha256"`
	InTree  bool   `json:"in_tree"`

	ID string `json:"id"` // of one use of a stand-in

	Files []string `json:"files"`
	Spans []int    `json:"spans"` // first and last lines of functions that were executed
	Whole bool     `json:"whole"` // every function of the file that was executed is told
}

// failure is an error as the observer read it.
type failure struct {
	Name      string   `json:"name"`
	Message   string   `json:"message"`
	Stack     string   `json:"stack"`
	Code      string   `json:"code"`
	Assertion bool     `json:"assertion"`
	Timeout   bool     `json:"timeout"`
	Hook      string   `json:"hook"`
	Subtests  bool     `json:"subtests"`
	Cancelled bool     `json:"cancelled"`
	Cause     *failure `json:"cause"`
}

// maxRecord bounds one line of an observer. A longer one is damaged: the
// observer bounds all that it sends.
const maxRecord = 1 << 20

// readRecords calls take for each record to the end of the stream, in constant
// memory. A damaged line is left out: what it would have said is then missing,
// and what is missing never passes.
func readRecords(from io.Reader, take func(record)) error {
	lines := bufio.NewReaderSize(from, 1<<16)
	var line []byte
	for {
		piece, more, err := lines.ReadLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(line) <= maxRecord {
			line = append(line, piece...)
		}
		if more {
			continue
		}
		var r record
		if len(line) <= maxRecord && json.Unmarshal(line, &r) == nil {
			take(r)
		}
		line = line[:0]
	}
}
