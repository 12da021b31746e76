package audit

import "fmt"

// Chain checks that records follow each other: nothing lost, nothing put in
// between, nothing twice. What it cannot see is a cut at the end: compare Tip with
// one that was written down elsewhere.
type Chain struct {
	seq  int64
	hash string
}

// Tip is the number of records so far and the hash of the last.
func (c *Chain) Tip() (seq int64, hash string) { return c.seq, c.hash }

// Next takes the next record.
func (c *Chain) Next(r *Record) error {
	defer func() { c.seq, c.hash = r.Seq, r.Hash }()
	switch {
	case r.Seq != c.seq+1:
		return fmt.Errorf("record %q has seq %d where %d is due: records are missing or out of order", r.ID, r.Seq, c.seq+1)
	case r.Prev != c.hash:
		return fmt.Errorf("record %q (seq %d) does not follow the record before it: one of them was replaced", r.ID, r.Seq)
	}
	return nil
}

// Recheck throws the coin of a record again and compares. It says nothing about
// records of another key.
func Recheck(key Key, r *Record) error {
	if r.KeyID != key.ID() {
		return nil
	}
	d := key.Draw(r.Coin(), r.Probability)
	if d.Heads != r.Drawn {
		return fmt.Errorf("record %q (seq %d) says drawn %v; the revealed key gives %d of a million against a probability of %d, so %v", r.ID, r.Seq, r.Drawn, d.Micro, d.Probability, d.Heads)
	}
	return nil
}

// Coin is what the record's coin was thrown for.
func (r *Record) Coin() Coin {
	c := Coin{r.Repository, r.Group, r.Member, r.Window}
	if r.Design == GroupCoins {
		c.Member = ""
	}
	return c
}
