package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// Store is a place for records.
type Store interface {
	// Append puts records behind the last one, in order. It gives each its place
	// in the chain; those whose id is there already are left out. It returns how
	// many were added.
	Append(ctx context.Context, records []audit.Record) (added int, err error)
	// Lines calls f with every line in order, without line ends. A line is valid
	// only during the call.
	Lines(ctx context.Context, f func(line []byte) error) error
	Close() error
}

// tip is the end of a chain.
type tip struct {
	seq  int64
	hash string
}

// tipOf reads the end of the chain off its last line.
func tipOf(line []byte) (tip, error) {
	if len(line) == 0 {
		return tip{}, nil
	}
	r, err := audit.ParseLine(line)
	if err != nil {
		return tip{}, fmt.Errorf("the last record cannot be continued: %w; see what happened with touchstone audit verify", err)
	}
	return tip{r.Seq, r.Hash}, nil
}

// seal writes the lines of the records that known does not hold, each with its
// line end, and moves the tip.
func (t *tip) seal(records []audit.Record, known map[string]bool) (lines [][]byte, err error) {
	mine := make(map[string]bool)
	for i := range records {
		r := &records[i]
		if known[r.ID] || mine[r.ID] {
			continue
		}
		mine[r.ID] = true
		line, err := audit.Seal(r, t.seq+1, t.hash)
		if err != nil {
			return nil, err
		}
		lines = append(lines, append(line, '\n'))
		t.seq, t.hash = r.Seq, r.Hash
	}
	return lines, nil
}

// idNeedle is how a record's id stands in its line.
func idNeedle(id string) []byte {
	quoted, _ := json.Marshal(id) // a string always can be written
	return append(append([]byte(`,"id":`), quoted...), ',')
}

// eachLine calls f with the lines of content, and returns what follows the last
// line end.
func eachLine(content []byte, f func(line []byte) error) (rest []byte, err error) {
	for {
		i := bytes.IndexByte(content, '\n')
		if i < 0 {
			return content, nil
		}
		if err := f(content[:i]); err != nil {
			return content, err
		}
		content = content[i+1:]
	}
}
