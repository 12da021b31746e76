package audit

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// A ledger of a million records is read for every report, and encoding/json takes
// most of the time. So lines that are spelt as Seal spells them are read by the
// scanner below; any other goes to encoding/json, which alone decides what is
// valid.

// decodeRecord reads a line into r.
func decodeRecord(line []byte, r *Record) error {
	s := scanner{rest: line}
	if s.record(r) && !s.failed && len(s.rest) == 0 {
		return nil
	}
	*r = Record{}
	return json.Unmarshal(line, r)
}

// scanner reads a line in Seal's spelling. After a failure it reads nothing more.
type scanner struct {
	rest   []byte
	failed bool
}

// key steps over text.
func (s *scanner) key(text string) {
	if s.failed || len(s.rest) < len(text) || string(s.rest[:len(text)]) != text {
		s.failed = true
		return
	}
	s.rest = s.rest[len(text):]
}

// text reads a string without escapes.
func (s *scanner) text(key string) string {
	s.key(key)
	s.key(`"`)
	end := bytes.IndexByte(s.rest, '"')
	if s.failed || end < 0 || bytes.IndexByte(s.rest[:end], '\\') >= 0 {
		s.failed = true
		return ""
	}
	text := string(s.rest[:end])
	s.rest = s.rest[end+1:]
	return text
}

// number reads the bytes of a number.
func (s *scanner) number(key string) []byte {
	s.key(key)
	end := 0
	for end < len(s.rest) && (s.rest[end] >= '0' && s.rest[end] <= '9' || bytes.IndexByte([]byte("+-.eE"), s.rest[end]) >= 0) {
		end++
	}
	number := s.rest[:end]
	s.rest = s.rest[end:]
	return number
}

func (s *scanner) whole(key string) int64 {
	n, err := strconv.ParseInt(string(s.number(key)), 10, 64)
	s.failed = s.failed || err != nil
	return n
}

func (s *scanner) float(key string) float64 {
	f, err := strconv.ParseFloat(string(s.number(key)), 64)
	s.failed = s.failed || err != nil
	return f
}

func (s *scanner) flag(key string) bool {
	s.key(key)
	if !s.failed && len(s.rest) > 0 && s.rest[0] == 't' {
		s.key("true")
		return true
	}
	s.key("false")
	return false
}

func (s *scanner) time(key string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s.text(key))
	s.failed = s.failed || err != nil
	return t
}

func (s *scanner) flips() []RecordedFlip {
	list := []RecordedFlip{}
	for s.key(`,"flips":[`); !s.failed && len(s.rest) > 0 && s.rest[0] != ']'; {
		if len(list) > 0 {
			s.key(",")
		}
		f := RecordedFlip{ID: s.text(`{"id":`), Kind: s.text(`,"kind":`), Dir: s.text(`,"dir":`), MissedBy: s.text(`,"missed_by":`)}
		s.key("}")
		list = append(list, f)
	}
	s.key("]")
	return list
}

// record reads the fields in the order in which Record has them.
func (s *scanner) record(r *Record) bool {
	r.Version, r.Seq, r.ID, r.Time = int(s.whole(`{"v":`)), s.whole(`,"seq":`), s.text(`,"id":`), s.time(`,"time":`)
	r.Repository, r.PullRequest, r.Base, r.Head = s.text(`,"repo":`), int(s.whole(`,"pr":`)), s.text(`,"base":`), s.text(`,"head":`)
	r.Group, r.Member, r.Window, r.Design = s.text(`,"group":`), s.text(`,"member":`), int(s.whole(`,"window":`)), Design(s.text(`,"coin":`))
	r.Sealed, r.KeyID, r.Probability, r.Floor = s.flag(`,"sealed":`), s.text(`,"key":`), Probability(s.whole(`,"ppm":`)), Probability(s.whole(`,"floor_ppm":`))
	r.Largest, r.Drawn, r.Why = int(s.whole(`,"largest":`)), s.flag(`,"drawn":`), Why(s.text(`,"why":`))
	r.Cheap, r.Strategy = s.text(`,"cheap":`), s.text(`,"strategy":`)
	r.SelectedSeconds, r.SpentSeconds, r.SuiteSeconds = s.float(`,"selected_s":`), s.float(`,"spent_s":`), s.float(`,"suite_s":`)
	r.Full, r.Flips, r.Agent, r.Tool = Outcome(s.text(`,"full":`)), s.flips(), s.text(`,"agent":`), s.text(`,"tool":`)
	if bytes.HasPrefix(s.rest, []byte(amendsKey)) {
		r.Amends = s.text(amendsKey)
	}
	r.Prev, r.Hash = s.text(`,"prev":`), s.text(hashKey)
	s.key("}")
	return !s.failed
}

const (
	amendsKey = `,"amends":`
	hashKey   = `,"hash":`
)
