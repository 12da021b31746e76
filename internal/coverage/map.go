package coverage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	bolt "go.etcd.io/bbolt"

	"github.com/touchstone-gate/touchstone/rts"
)

// Map is an open file. Close it when done.
type Map struct {
	Header
	db   *bolt.DB
	path string
	err  error
}

// ErrNone says that there is no map.
var ErrNone = errors.New("none was made yet (touchstone select --index build makes one)")

// Open opens a map for reading. An error other than ErrNone is a file that
// cannot be believed.
func Open(path string) (m *Map, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	defer func() {
		if p := recover(); p != nil { // bbolt's answer to a damaged page
			err = fmt.Errorf("the coverage map %s is damaged: %v", path, p)
		}
	}()
	if err := checkSeal(path); err != nil {
		return nil, fmt.Errorf("the coverage map %s cannot be read: %w", path, err)
	}
	db, err := bolt.Open(path, 0o644, &bolt.Options{ReadOnly: true, Timeout: 5 * time.Second})
	if err != nil {
		return nil, fmt.Errorf("the coverage map %s cannot be read: %w", path, err)
	}
	m = &Map{db: db, path: path}
	if err := m.readHeader(); err != nil {
		db.Close()
		return nil, err
	}
	return m, nil
}

func (m *Map) readHeader() error {
	return m.db.View(func(tx *bolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if meta == nil || tx.Bucket(rowsBucket) == nil || meta.Get(completeKey) == nil {
			return fmt.Errorf("the coverage map %s is not whole", m.path)
		}
		if got := meta.Get(completeKey); !bytes.Equal(got, []byte{Schema}) {
			return fmt.Errorf("the coverage map %s has the schema %d, this version reads %d", m.path, got, Schema)
		}
		if err := json.Unmarshal(meta.Get(headerKey), &m.Header); err != nil {
			return fmt.Errorf("the coverage map %s: %w", m.path, err)
		}
		return nil
	})
}

// Close ends the use of the file.
func (m *Map) Close() error { return m.db.Close() }

// Rows implements rts.Map. What cannot be read is told by Err.
func (m *Map) Rows(r rts.Relation, key string) (rows []int, known bool) {
	err := m.view(func(tx *bolt.Tx) error {
		value := tx.Bucket(rowsBucket).Get([]byte(name(r, key)))
		if value == nil {
			return nil
		}
		known = true
		var err error
		rows, err = numbers(value, len(m.Header.Rows))
		return err
	})
	if err != nil && m.err == nil {
		m.err = fmt.Errorf("the coverage map %s is damaged at %q: %w", m.path, key, err)
	}
	return rows, known
}

// Err is the first error that Rows met: then nothing that it said is to be
// believed.
func (m *Map) Err() error { return m.err }

func (m *Map) view(f func(*bolt.Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return m.db.View(f)
}

func numbers(value []byte, most int) ([]int, error) {
	b := roaring.New()
	if err := b.UnmarshalBinary(value); err != nil {
		return nil, err
	}
	rows := make([]int, 0, b.GetCardinality())
	for it := b.Iterator(); it.HasNext(); {
		n := int(it.Next())
		if n >= most {
			return nil, fmt.Errorf("row %d of %d", n, most)
		}
		rows = append(rows, n)
	}
	return rows, nil
}

// Traces gives back what the map was made from, as far as keep wants its rows.
// Keys without rows are kept.
func (m *Map) Traces(keep func(rts.Row) bool) (rts.Traces, error) {
	t := rts.Traces{Failed: m.Failed}
	place := make(map[int]int)
	for i, row := range m.Header.Rows {
		if keep(row) {
			place[i] = len(t.Rows)
			t.Rows = append(t.Rows, rts.Trace{Row: row})
		}
	}
	err := m.view(func(tx *bolt.Tx) error {
		return tx.Bucket(rowsBucket).ForEach(func(k, value []byte) error {
			relation, key := rts.Relation(k[0]-'A'), string(k[1:])
			switch relation {
			case rts.Traced:
				t.Traced = append(t.Traced, key)
				return nil
			case rts.Imports:
				t.Imports = append(t.Imports, key)
				return nil
			}
			rows, err := numbers(value, len(m.Header.Rows))
			for _, n := range rows {
				if i, kept := place[n]; kept {
					list(&t.Rows[i], relation, key)
				}
			}
			return err
		})
	})
	if err != nil {
		return rts.Traces{}, fmt.Errorf("reading the coverage map %s: %w", m.path, err)
	}
	return t, nil
}

func list(row *rts.Trace, r rts.Relation, key string) {
	to := map[rts.Relation]*[]string{rts.Loads: &row.Loads, rts.Executes: &row.Executes, rts.Opens: &row.Opens, rts.Lists: &row.Lists}[r]
	*to = append(*to, key)
}
