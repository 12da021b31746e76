package pytest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// record is one line of the observer. Kind says which of the other fields count.
type record struct {
	Kind string `json:"kind"`

	ID      string   `json:"id"`
	IDs     []string `json:"ids"`
	Node    string   `json:"node"` // pytest's own id of a row
	Unit    string   `json:"unit"`
	File    string   `json:"file"`
	Message string   `json:"message"`
	LeftOut bool     `json:"left_out"`

	Row   rowRecord `json:"row"`
	Facts facts     `json:"facts"`

	When    string  `json:"when"`
	Outcome string  `json:"outcome"`
	Part    bool    `json:"part"` // the report of a subtest
	Seconds float64 `json:"seconds"`
	At      float64 `json:"at"` // Unix time
	Xfail   *string `json:"xfail"`
	Skip    string  `json:"skip"`
	Words   string  `json:"words"` // a failure that left no exception

	Status      int    `json:"status"`
	Interpreter string `json:"interpreter"`
	CollectOnly bool   `json:"collect_only"`

	Subject string `json:"subject"`
	SHA256  string `json:"sha256"`
	InTree  bool   `json:"in_tree"`

	// Of a traced run, see observer/trace.py.
	Number int    `json:"n"`
	Line   int    `json:"line"`
	Stores bool   `json:"stores"`
	Opens  string `json:"opens"`
	Lists  string `json:"lists"`
	Starts string `json:"starts"`
	Nodes  []int  `json:"nodes"`
	Whole  bool   `json:"whole"`
	Caller int    `json:"caller"`
	Callee int    `json:"callee"`
	User   string `json:"user"`
	Used   string `json:"used"`
}

type rowRecord struct {
	ID      string `json:"id"`
	Node    string `json:"node"`
	Unit    string `json:"unit"`
	File    string `json:"file"`
	Name    string `json:"name"`
	Line    int    `json:"line"`
	End     int    `json:"end"`
	Digest  string `json:"digest"`
	Context string `json:"context"`
}

// facts are what the observer read off an exception. Type is empty when there
// was none.
type facts struct {
	Type           string          `json:"type"`
	Assertion      bool            `json:"assertion"`
	Import         bool            `json:"import"`
	Syntax         bool            `json:"syntax"`
	Message        string          `json:"message"`
	File           string          `json:"file"`
	Line           int             `json:"line"`
	FromProduction bool            `json:"from_production"`
	Missing        []missingRecord `json:"missing"`
	Reached        string          `json:"reached"` // the stand-in that was used
}

// phase is what is kept of a report: setup, call or teardown of one attempt.
type phase struct {
	when, outcome string
	part          bool
	took          time.Duration
	xfail         *string
	skip, words   string
	facts         *facts // nil when nothing was raised
	reached       string // the stand-in that was used
}

func (r record) phase() phase {
	p := phase{
		when: r.When, outcome: r.Outcome, part: r.Part, took: time.Duration(r.Seconds * float64(time.Second)),
		xfail: r.Xfail, skip: r.Skip, words: r.Words, reached: r.Facts.Reached,
	}
	if r.Facts.Type != "" {
		p.facts = &r.Facts
	}
	return p
}

// raised are the facts of what was raised, zero when nothing was.
func (p phase) raised() facts {
	if p.facts == nil {
		return facts{}
	}
	return *p.facts
}

type missingRecord struct {
	Name           string `json:"name"`
	Owner          string `json:"owner"`
	FromProduction bool   `json:"from_production"`
	Signature      bool   `json:"signature"`
}

func (f facts) place() gate.Place { return gate.Place{File: f.File, Line: f.Line} }

func (f facts) names() []gate.Missing {
	var found []gate.Missing
	for _, m := range f.Missing {
		found = append(found, gate.Missing(m))
	}
	return found
}

// maxRecord bounds one line of the observer. A longer one is damaged: the
// observer bounds all that it sends.
const maxRecord = 4 << 20

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
