package audit

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// Sheet takes a ledger record by record and keeps what the numbers need.
type Sheet struct {
	counts  Counts
	spent   Times
	units   []unit
	pending map[uint64]int32 // units that later records may add to
	repos   map[string]bool

	floor   Probability
	largest int

	kinds, agents, dirs, layers map[string]*share
	days                        map[int64]*share
	suites                      map[string]*suite
}

// Counts are plain numbers of records.
type Counts struct {
	Records      int `json:"records"`
	Repositories int `json:"repositories"`
	Passing      int `json:"passing"`   // the cheap check passes
	Failing      int `json:"failing"`   // it fails
	Undecided    int `json:"undecided"` // it could not find out
	Audited      int `json:"audited"`   // passing ones drawn, those of probability 1 included
	Always       int `json:"always"`    // of those, of probability 1
	Escalated    int `json:"escalated"`
	Missing      int `json:"missing"`
	FlipsFound   int `json:"flips_found"`
}

// Times are seconds. The share is over records whose full suite's time is known.
type Times struct {
	Selected float64 `json:"selected_s"`
	Audits   float64 `json:"audits_s"`
	Suite    float64 `json:"always_full_s"`
	Unknown  int     `json:"records_without_suite_time"`
}

// share is a part of the stream.
type share struct {
	passing, drawn, found int
	weighted              float64
}

// suite is what audits of an agent's attempts cost.
type suite struct {
	seconds float64
	known   int
}

// NewSheet starts an empty one. floor and largest are what a bound declares; 0
// takes what the ledger's first record declares.
func NewSheet(floor Probability, largest int) *Sheet {
	return &Sheet{
		pending: make(map[uint64]int32), repos: make(map[string]bool), floor: floor, largest: largest,
		kinds: make(map[string]*share), agents: make(map[string]*share), dirs: make(map[string]*share), layers: make(map[string]*share),
		days: make(map[int64]*share), suites: make(map[string]*suite),
	}
}

// Add takes the next record.
func (s *Sheet) Add(r *Record) {
	s.declare(r)
	s.counts.Records++
	s.repos[r.Repository] = true
	if r.Amends != "" {
		s.amend(r)
		return
	}
	s.clock(r)
	switch {
	case r.Passing():
		s.counts.Passing++
	case r.Cheap == "fail":
		s.counts.Failing++
		return
	default:
		s.counts.Undecided++
		return
	}
	s.count(r)
	u := s.unitOf(r)
	u.take(r)
	u.last = int32(s.counts.Records)
	s.spread(r)
}

// amend gives an attempt that is counted already the outcome of its escalation. In
// an open stream that protects and tells nothing of the rate, so only plain counts
// take it.
func (s *Sheet) amend(r *Record) {
	s.count(r)
	if r.SuiteSeconds > 0 {
		s.spent.Audits += r.SpentSeconds
	}
	if i, ok := s.pending[unitKey(r)]; ok && kindOf(r) == sealedMember {
		s.units[i].outcome(r)
		s.units[i].last = int32(s.counts.Records)
	}
	if r.Full == Flipped {
		at(s.agents, cmp.Or(r.Agent, "none")).found++
		at(s.days, r.Time.Unix()/86400).found++
		s.spreadFlips(r, 0)
	}
}

// declare takes the bound's declaration from the first record that has a coin.
func (s *Sheet) declare(r *Record) {
	if s.floor == 0 {
		s.floor = cmp.Or(r.Floor, r.Probability)
	}
	if s.largest == 0 {
		s.largest = max(1, r.Largest)
	}
}

func (s *Sheet) clock(r *Record) {
	if r.SuiteSeconds == 0 {
		s.spent.Unknown++
		return
	}
	s.spent.Selected += r.SelectedSeconds
	s.spent.Audits += r.SpentSeconds
	s.spent.Suite += r.SuiteSeconds
}

func (s *Sheet) count(r *Record) {
	if r.Drawn {
		s.counts.Audited++
		if r.Probability == Certain {
			s.counts.Always++
		}
	}
	switch r.Full {
	case Missing:
		s.counts.Missing++
	case Flipped:
		s.counts.FlipsFound++
	}
	if r.Why == ByEscalation {
		s.counts.Escalated++
	}
}

// unitOf finds the unit that a record belongs to. One whose probability differs
// from its group's is a unit of its own.
func (s *Sheet) unitOf(r *Record) *unit {
	fresh := unit{cluster: fingerprint(r.Repository, r.Group), probability: int32(r.Probability), kind: kindOf(r)}
	if fresh.kind == openMember {
		s.units = append(s.units, fresh)
		return &s.units[len(s.units)-1]
	}
	key := unitKey(r)
	i, ok := s.pending[key]
	if !ok {
		i = int32(len(s.units))
		s.pending[key] = i
		s.units = append(s.units, fresh)
	}
	return &s.units[i]
}

func unitKey(r *Record) uint64 {
	return fingerprint(r.Repository, r.Group, strconv.Itoa(r.Window), strconv.Itoa(int(r.Probability)), string(r.Design))
}

// spread counts a record in its parts of the stream, flips by the weight of the
// attempt's own coin.
func (s *Sheet) spread(r *Record) {
	weight := 0.0
	if r.Drawn && r.Full == Flipped {
		weight = 1 / r.Probability.Float()
	}
	at(s.agents, cmp.Or(r.Agent, "none")).take(r, weight)
	at(s.days, r.Time.Unix()/86400).take(r, weight)
	if r.SuiteSeconds > 0 {
		cost := at(s.suites, cmp.Or(r.Agent, "none"))
		cost.seconds += r.SuiteSeconds
		cost.known++
	}
	if r.Full == Flipped {
		s.spreadFlips(r, weight)
	}
}

func (s *Sheet) spreadFlips(r *Record, weight float64) {
	at(s.kinds, gravest(r.Flips)).take(r, weight)
	for _, dir := range distinct(r.Flips, func(f RecordedFlip) string { return cmp.Or(f.Dir, ".") }) {
		at(s.dirs, dir).take(r, weight)
	}
	for _, layer := range distinct(r.Flips, func(f RecordedFlip) string { return cmp.Or(f.MissedBy, "unknown") }) {
		at(s.layers, layer).take(r, weight)
	}
}

func (p *share) take(r *Record, weight float64) {
	p.passing++
	if r.Drawn {
		p.drawn++
	}
	if r.Full == Flipped {
		p.found++
	}
	p.weighted += weight
}

func at[K comparable, V any](m map[K]*V, key K) *V {
	v, ok := m[key]
	if !ok {
		v = new(V)
		m[key] = v
	}
	return v
}

// gravest is the kind that an attempt with several flips counts as.
func gravest(flips []RecordedFlip) string {
	for _, kind := range []string{"regression", "full_run_only", "sometimes"} {
		if slices.ContainsFunc(flips, func(f RecordedFlip) bool { return f.Kind == kind }) {
			return kind
		}
	}
	return "unknown"
}

func distinct(flips []RecordedFlip, of func(RecordedFlip) string) []string {
	var list []string
	for _, f := range flips {
		list = append(list, of(f))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// inTime orders the units by their last record: a group stands where its window
// ended.
func (s *Sheet) inTime() []unit {
	if len(s.pending) > 0 {
		slices.SortStableFunc(s.units, func(a, b unit) int { return cmp.Compare(a.last, b.last) })
		clear(s.pending)
	}
	return s.units
}

// period names the calendar part that a day belongs to: months, or weeks while
// there are few.
func period(day int64, weeks bool) string {
	t := time.Unix(day*86400, 0).UTC()
	if !weeks {
		return t.Format("2006-01")
	}
	year, week := t.ISOWeek()
	return strconv.Itoa(year) + "-W" + strconv.Itoa(100 + week)[1:]
}
