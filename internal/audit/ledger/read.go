package ledger

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// chunked is a store that can hand out many lines at once.
type chunked interface {
	Chunks(ctx context.Context, f func(lines []byte) error) error
}

// parcel is a run of lines on its way through the decoders.
type parcel struct {
	lines   []byte
	records []audit.Record
	err     error
	done    chan struct{}
}

// Records calls f with every record in order, each checked against its own hash.
// Lines are decoded side by side. A record is valid only during the call. With
// broken, a line that cannot be read or was edited is reported there and reading
// goes on; without, it ends with the error.
func Records(ctx context.Context, s Store, f func(r *audit.Record) error, broken func(err error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := max(1, runtime.GOMAXPROCS(0))
	work, ordered := make(chan *parcel, workers), make(chan *parcel, workers)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for p := range work {
				p.decode(broken != nil)
				close(p.done)
			}
		})
	}
	var reading error
	all.Go(func() {
		defer close(ordered)
		defer close(work)
		reading = parcels(ctx, s, func(p *parcel) error {
			select {
			case ordered <- p:
			case <-ctx.Done():
				return ctx.Err()
			}
			work <- p
			return nil
		})
	})
	err := consume(ordered, f, broken)
	cancel()
	for range ordered { // lets the reader go
	}
	all.Wait()
	if err != nil {
		return err
	}
	return reading
}

func consume(ordered <-chan *parcel, f func(r *audit.Record) error, broken func(err error)) error {
	for p := range ordered {
		<-p.done
		for i := range p.records {
			if err := f(&p.records[i]); err != nil {
				return err
			}
		}
		if p.err != nil {
			if broken == nil {
				return p.err
			}
			broken(p.err)
		}
	}
	return nil
}

// decode reads the lines. A line that cannot be read ends the parcel, or, when
// reading is to go on, is left out.
func (p *parcel) decode(goOn bool) {
	p.records = make([]audit.Record, 0, len(p.lines)/400+1)
	_, err := eachLine(p.lines, func(line []byte) error {
		r, err := audit.ParseLine(line)
		if err != nil && !goOn {
			return err
		}
		if err != nil {
			p.err = err
			if r.ID == "" {
				return nil
			}
		}
		p.records = append(p.records, r)
		return nil
	})
	if err != nil {
		p.err = err
	}
	p.lines = nil
}

// parcels cuts a store's lines into parcels.
func parcels(ctx context.Context, s Store, send func(*parcel) error) error {
	pack := func(lines []byte) error {
		for len(lines) > 0 {
			cut := len(lines)
			if cut > chunk/4 {
				cut = bytes.LastIndexByte(lines[:chunk/4], '\n') + 1
			}
			if cut == 0 {
				cut = bytes.IndexByte(lines, '\n') + 1
			}
			if err := send(&parcel{lines: bytes.Clone(lines[:cut]), done: make(chan struct{})}); err != nil {
				return err
			}
			lines = lines[cut:]
		}
		return nil
	}
	if c, ok := s.(chunked); ok {
		return c.Chunks(ctx, pack)
	}
	var buffer []byte
	err := s.Lines(ctx, func(line []byte) error {
		buffer = append(append(buffer, line...), '\n')
		if len(buffer) < chunk/4 {
			return nil
		}
		defer func() { buffer = buffer[:0] }()
		return pack(buffer)
	})
	if err != nil {
		return err
	}
	return pack(buffer)
}

// Verify reads a whole ledger and calls report with everything that is wrong: an
// edited record, a gap, a replaced one, and, with keys, a coin that does not show
// what the record says. see is shown every record. It returns the end of the chain
// and how many draws were rechecked.
func Verify(ctx context.Context, s Store, keys []audit.Key, see func(r *audit.Record), report func(err error)) (seq int64, hash string, rechecked int, err error) {
	var chain audit.Chain
	ids := make(map[string]bool, len(keys))
	for _, key := range keys {
		ids[key.ID()] = true
	}
	err = Records(ctx, s, func(r *audit.Record) error {
		see(r)
		if err := chain.Next(r); err != nil {
			report(err)
		}
		if !ids[r.KeyID] {
			return nil
		}
		rechecked++
		for _, key := range keys {
			if err := audit.Recheck(key, r); err != nil {
				report(err)
			}
		}
		return nil
	}, report)
	seq, hash = chain.Tip()
	if err != nil {
		err = fmt.Errorf("reading the ledger: %w", err)
	}
	return seq, hash, rechecked, err
}
