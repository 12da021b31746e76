package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// RefName is the ref that a repository keeps its ledger on.
const RefName = "refs/touchstone/ledger"

// Branch is what a ref store needs of git. Ids are git's own.
type Branch interface {
	// Tip is the newest published commit, "" when there is none yet.
	Tip(ctx context.Context) (commit string, err error)
	// Files gives the blob id of every path of a commit.
	Files(ctx context.Context, commit string) (map[string]string, error)
	Blob(id string) ([]byte, error)
	// Publish makes a commit on parent ("" for the first), in which files have new
	// content, and moves the ref to it. It returns false, and nothing has changed,
	// when the ref is not at parent any more.
	Publish(ctx context.Context, parent string, files map[string][]byte, message string) (bool, error)
	// LockPath is a file by which the processes that use one clone take turns. That
	// saves work; what is published is right without it.
	LockPath() string
}

// Each commit's tree holds the whole ledger, so a shallow clone is enough:
// segments of the chain, and for every id the start of its digest in one of 256
// lists, so that an append reads and writes two small files however long the
// ledger is.
const (
	segmentRecords = 256
	segmentDir     = "records"
	idDir          = "ids"
)

// patience is how long an append tries while other writers are faster.
const patience = 5 * time.Minute

// Ref is a ledger on a git ref.
type Ref struct{ branch Branch }

// NewRef takes the ref's branch.
func NewRef(branch Branch) *Ref { return &Ref{branch} }

// Close does nothing: the branch belongs to the caller.
func (*Ref) Close() error { return nil }

// Append implements Store. Whoever publishes first wins; the others take up the
// new tip and chain their records behind it. History is never rewritten.
func (s *Ref) Append(ctx context.Context, records []audit.Record) (added int, err error) {
	began := time.Now()
	for try := 0; ; try++ {
		added, done, err := s.try(ctx, records)
		if err != nil || done {
			return added, err
		}
		if time.Since(began) > patience {
			return 0, fmt.Errorf("appending to the ledger on %s: other writers were faster for %s: try again", RefName, patience)
		}
		pause := time.Duration(rand.Int64N(int64(min(2*time.Second, 20*time.Millisecond<<min(try, 7)))))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// try appends behind the tip as it is now.
func (s *Ref) try(ctx context.Context, records []audit.Record) (added int, done bool, err error) {
	turn, err := os.OpenFile(s.branch.LockPath(), os.O_RDWR|os.O_CREATE, 0o644)
	if err == nil {
		defer turn.Close()
		err = lock(turn)
	}
	if err != nil {
		return 0, false, fmt.Errorf("waiting for the ledger's other writers: %w", err)
	}
	commit, err := s.branch.Tip(ctx)
	if err != nil {
		return 0, false, fmt.Errorf("reading the ledger's ref: %w", err)
	}
	page, err := s.open(ctx, commit)
	if err != nil {
		return 0, false, fmt.Errorf("reading the ledger at commit %s: %w", commit, err)
	}
	known, err := page.known(records)
	if err != nil {
		return 0, false, err
	}
	lines, err := page.tip.seal(records, known)
	if err != nil || len(lines) == 0 {
		return 0, err == nil, err
	}
	page.write(lines)
	if err := page.enter(records, known); err != nil {
		return 0, false, err
	}
	message := fmt.Sprintf("ledger: %d records, the last is %s", page.tip.seq, page.tip.hash)
	done, err = s.branch.Publish(ctx, commit, page.changed, message)
	if err != nil {
		return 0, false, fmt.Errorf("appending to the ledger on %s: %w", RefName, err)
	}
	return len(lines), done, nil
}

// page is the end of a ledger at one commit, and what an append changes there.
type page struct {
	branch  Branch
	files   map[string]string
	changed map[string][]byte
	tip     tip
	segment string // path of the last segment
	number  int
	content []byte
}

func (s *Ref) open(ctx context.Context, commit string) (*page, error) {
	p := &page{branch: s.branch, changed: make(map[string][]byte), segment: segmentPath(0)}
	if commit == "" {
		return p, nil
	}
	var err error
	if p.files, err = s.branch.Files(ctx, commit); err != nil {
		return nil, err
	}
	segments := segmentsOf(p.files)
	if len(segments) == 0 {
		return p, nil
	}
	p.number = len(segments) - 1
	p.segment = segments[p.number]
	if p.content, err = s.branch.Blob(p.files[p.segment]); err != nil {
		return nil, err
	}
	body := bytes.TrimSuffix(p.content, []byte("\n"))
	p.tip, err = tipOf(body[bytes.LastIndexByte(body, '\n')+1:])
	return p, err
}

func segmentPath(n int) string { return fmt.Sprintf("%s/%08d.jsonl", segmentDir, n) }

func segmentsOf(files map[string]string) []string {
	return slices.Sorted(func(yield func(string) bool) {
		for name := range maps.Keys(files) {
			if strings.HasPrefix(name, segmentDir+"/") && !yield(name) {
				return
			}
		}
	})
}

// write puts lines into the last segment, and into new ones when it is full.
func (p *page) write(lines [][]byte) {
	have := bytes.Count(p.content, []byte("\n"))
	for _, line := range lines {
		if have == segmentRecords {
			p.number++
			p.segment, p.content, have = segmentPath(p.number), nil, 0
		}
		p.content = append(p.content, line...)
		have++
		p.changed[p.segment] = p.content
	}
}

// mark is an id in its list: the list's path, and a line of it.
func mark(id string) (list, line string) {
	sum := sha256.Sum256([]byte(id))
	text := hex.EncodeToString(sum[:10])
	return path.Join(idDir, text[:2]), text + "\n"
}

// list is one list of ids, as far as it is changed already.
func (p *page) list(name string) ([]byte, error) {
	if content, ok := p.changed[name]; ok {
		return content, nil
	}
	blob, ok := p.files[name]
	if !ok {
		return nil, nil
	}
	return p.branch.Blob(blob)
}

// known tells which records are in the ledger.
func (p *page) known(records []audit.Record) (map[string]bool, error) {
	known := make(map[string]bool)
	for _, r := range records {
		name, line := mark(r.ID)
		content, err := p.list(name)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(content, []byte(line)) {
			known[r.ID] = true
		}
	}
	return known, nil
}

// enter puts the ids of the new records into their lists.
func (p *page) enter(records []audit.Record, known map[string]bool) error {
	for _, r := range records {
		name, line := mark(r.ID)
		content, err := p.list(name)
		if err != nil {
			return err
		}
		if !known[r.ID] && !bytes.Contains(content, []byte(line)) {
			p.changed[name] = append(content, line...)
		}
	}
	return nil
}

// Lines implements Store.
func (s *Ref) Lines(ctx context.Context, f func(line []byte) error) error {
	return s.Chunks(ctx, func(lines []byte) error {
		_, err := eachLine(lines, f)
		return err
	})
}

// Chunks calls f with each segment.
func (s *Ref) Chunks(ctx context.Context, f func(lines []byte) error) error {
	commit, err := s.branch.Tip(ctx)
	if err != nil || commit == "" {
		return err
	}
	files, err := s.branch.Files(ctx, commit)
	if err != nil {
		return err
	}
	for _, name := range segmentsOf(files) {
		content, err := s.branch.Blob(files[name])
		if err != nil {
			return err
		}
		if err := f(content); err != nil {
			return err
		}
	}
	return nil
}
