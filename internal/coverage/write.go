package coverage

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	bolt "go.etcd.io/bbolt"

	"github.com/touchstone-gate/touchstone/rts"
)

var (
	metaBucket  = []byte("meta")
	rowsBucket  = []byte("rows")
	headerKey   = []byte("header")
	completeKey = []byte("complete")
)

// Write makes a map of what was traced, in place of the file if there is one.
// Rows, failures and environments of the header are filled in from the traces.
func Write(path string, h Header, traces []rts.Traces) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing the coverage map %s: %w", path, err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".touchstone-map-")
	if err != nil {
		return err
	}
	temporary.Close()
	defer os.Remove(temporary.Name()) // gone already when all went well
	if err := fill(temporary.Name(), h, traces); err != nil {
		return err
	}
	if err := seal(temporary.Name()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

func fill(path string, h Header, traces []rts.Traces) error {
	db, err := bolt.Open(path, 0o644, &bolt.Options{NoFreelistSync: true})
	if err != nil {
		return err
	}
	index := make(map[string]*roaring.Bitmap)
	h.Schema, h.Rows, h.Failed = Schema, nil, make(map[string]string)
	for _, t := range traces {
		maps.Copy(h.Failed, t.Failed)
		for _, row := range t.Rows {
			add(index, row, uint32(len(h.Rows)))
			h.Rows = append(h.Rows, row.Row)
		}
		for _, key := range t.Traced {
			at(index, rts.Traced, key)
		}
		for _, key := range t.Imports {
			at(index, rts.Imports, key)
		}
	}
	err = db.Update(func(tx *bolt.Tx) error { return put(tx, h, index) })
	return errors.Join(err, db.Close())
}

func put(tx *bolt.Tx, h Header, index map[string]*roaring.Bitmap) error {
	rows, err := tx.CreateBucket(rowsBucket)
	if err != nil {
		return err
	}
	rows.FillPercent = 1 // keys come in order and nothing is added later
	for _, key := range slices.Sorted(maps.Keys(index)) {
		var value []byte
		if b := index[key]; b != nil {
			b.RunOptimize()
			if value, err = b.ToBytes(); err != nil {
				return err
			}
		}
		if err := rows.Put([]byte(key), value); err != nil {
			return err
		}
	}
	meta, err := tx.CreateBucket(metaBucket)
	if err != nil {
		return err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return errors.Join(meta.Put(headerKey, text), meta.Put(completeKey, []byte{Schema}))
}

// name is a key of the rows' bucket: the relation's letter and the thing.
func name(r rts.Relation, key string) string { return string(rune('A'+r)) + key }

func at(index map[string]*roaring.Bitmap, r rts.Relation, key string) *roaring.Bitmap {
	b, known := index[name(r, key)]
	if !known {
		b = roaring.New()
		index[name(r, key)] = b
	}
	return b
}

func add(index map[string]*roaring.Bitmap, row rts.Trace, number uint32) {
	for r, keys := range map[rts.Relation][]string{rts.Loads: row.Loads, rts.Executes: row.Executes, rts.Opens: row.Opens, rts.Lists: row.Lists} {
		for _, key := range keys {
			if len(key) < bolt.MaxKeySize {
				at(index, r, key).Add(number)
			}
		}
	}
}
