package audit

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Summary is every number of an audit report. A number that cannot be said is
// null.
type Summary struct {
	Counts   Counts       `json:"counts"`
	Estimate EstimateView `json:"estimate"`
	Bound    BoundView    `json:"bound"`
	Time     TimeView     `json:"time"`
	Kinds    []Part       `json:"by_kind"`
	Agents   []Part       `json:"by_agent"`
	Dirs     []Part       `json:"by_directory"`
	Layers   []Part       `json:"by_layer"`
	Trend    []Part       `json:"trend"`
	Next     Plan         `json:"next"`
	Series   []Point      `json:"series"`
}

// EstimateView is an Estimate as reported.
type EstimateView struct {
	Rate     *float64 `json:"rate"` // Horvitz-Thompson
	Flips    *float64 `json:"flips"`
	Low      *float64 `json:"low"` // Korn-Graubard
	High     *float64 `json:"high"`
	Level    float64  `json:"level"`
	Hajek    *float64 `json:"hajek"`
	SEDesign *float64 `json:"se_design"`
	SE       *float64 `json:"se_cluster"`
	Size     *float64 `json:"effective_n"`
	Missing  Range    `json:"rate_missing"` // every missing audit clean, every one a flip
	Groups   int      `json:"groups"`
}

// BoundView is the anytime-valid upper bound as reported.
type BoundView struct {
	Flips      *float64    `json:"flips"`
	Rate       *float64    `json:"rate"`
	Known      int         `json:"known"`
	Confidence float64     `json:"confidence"`
	Floor      Probability `json:"floor_ppm"`
	Largest    int         `json:"largest_group"`
	WhyNot     string      `json:"why_not,omitempty"`
}

// TimeView is the time spent, and as a share of running everything always.
type TimeView struct {
	Times
	Share         *float64 `json:"share"`
	SelectedShare *float64 `json:"selected_share"`
	AuditShare    *float64 `json:"audit_share"`
}

// Part is a part of the stream: an agent, a kind of flip, a month. For parts that
// are known only of flips, Passing counts those alone and Rate is null.
type Part struct {
	Name      string   `json:"name"`
	Passing   int      `json:"passing"`
	Audited   int      `json:"audited"`
	Found     int      `json:"found"`
	Estimated float64  `json:"estimated"` // flips, by the weight of each attempt's own coin
	Rate      *float64 `json:"rate"`      // estimated flips per passing attempt
}

// Point is where the numbers stood after so many passing attempts.
type Point struct {
	Passing int     `json:"passing"`
	Upper   float64 `json:"upper"`    // flips per passing attempt
	Rate    float64 `json:"estimate"` // Horvitz-Thompson
}

// number is nil for what cannot be said.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Summarise makes the numbers: level is the confidence of interval and bound,
// budget the share of always-full time that audits may take next.
func (s *Sheet) Summarise(level, budget float64) Summary {
	s.counts.Repositories = len(s.repos)
	sum := Summary{Counts: s.counts, Time: s.spent.view()}
	sum.Estimate = s.estimate(level)
	sum.Bound, sum.Series = s.bound(1 - level)
	sum.Kinds, sum.Dirs, sum.Layers = parts(s.kinds, false), parts(s.dirs, false), parts(s.layers, false)
	sum.Agents = parts(s.agents, true)
	sum.Trend = s.trend()
	sum.Next = s.plan(budget, sum.Estimate.Rate)
	return sum
}

func (t Times) view() TimeView {
	v := TimeView{Times: t}
	if t.Suite > 0 {
		v.Share, v.SelectedShare, v.AuditShare = number((t.Selected+t.Audits)/t.Suite), number(t.Selected/t.Suite), number(t.Audits/t.Suite)
	}
	return v
}

func (s *Sheet) estimate(level float64) EstimateView {
	sums := NewAccumulator()
	for i := range s.units {
		if s.units[i].probability > 0 {
			sums.Add(s.units[i].group())
		}
	}
	e := sums.Estimate(level)
	v := EstimateView{Level: level, Missing: e.RateMissing, Groups: e.Groups}
	if e.Audited == 0 {
		return v
	}
	v.Rate, v.Flips, v.Hajek, v.SEDesign, v.SE, v.Size = number(e.Rate), number(e.Flips), number(e.Hajek), number(e.SEDesign), number(e.SECluster), number(e.Size)
	if e.Known {
		v.Low, v.High = number(e.Interval.Low), number(e.Interval.High)
	}
	return v
}

// bound runs the stream through the anytime bound. An attempt without a coin
// could be a flip: it counts whole.
func (s *Sheet) bound(alpha float64) (BoundView, []Point) {
	v := BoundView{Confidence: 1 - alpha, Floor: s.floor, Largest: s.largest}
	b, err := NewBound(s.floor, max(1, s.largest), alpha)
	if err != nil {
		v.WhyNot = err.Error()
		return v, nil
	}
	var line series
	weighted, blind := 0.0, 0
	for _, u := range s.inTime() {
		if u.probability == 0 {
			blind += int(u.passing)
			continue
		}
		if _, err := b.Add(u.event()); err != nil {
			v.WhyNot = err.Error()
			return v, nil
		}
		g := u.group()
		weighted += g.tally().z
		passing := b.Passing() + blind
		line.add(Point{passing, (b.Flips() + float64(blind)) / float64(passing), weighted / float64(passing)})
	}
	if passing := b.Passing() + blind; passing > 0 {
		v.Flips, v.Rate = number(b.Flips()+float64(blind)), number((b.Flips()+float64(blind))/float64(passing))
	}
	v.Known = b.Known()
	return v, line.all()
}

// series keeps at most maxPoints of a long line, evenly.
type series struct {
	points []Point
	stride int
	seen   int
	last   Point
}

const maxPoints = 400

func (s *series) add(p Point) {
	s.last = p
	s.stride = max(1, s.stride)
	if s.seen++; s.seen%s.stride != 0 {
		return
	}
	if len(s.points) == maxPoints {
		for i := range maxPoints / 2 {
			s.points[i] = s.points[2*i+1]
		}
		s.points = s.points[:maxPoints/2]
		s.stride *= 2
		if s.seen%s.stride != 0 {
			return
		}
	}
	s.points = append(s.points, p)
}

func (s *series) all() []Point {
	if n := len(s.points); s.seen > 0 && (n == 0 || s.points[n-1] != s.last) {
		return append(s.points, s.last)
	}
	return s.points
}

func parts(of map[string]*share, rates bool) []Part {
	list := []Part{}
	for name, p := range of {
		list = append(list, p.part(name, rates))
	}
	slices.SortFunc(list, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Estimated, a.Estimated), cmp.Compare(b.Found, a.Found), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func (p *share) part(name string, rates bool) Part {
	part := Part{Name: name, Passing: p.passing, Audited: p.drawn, Found: p.found, Estimated: p.weighted}
	if rates && p.drawn > 0 {
		part.Rate = number(p.weighted / float64(p.passing))
	}
	return part
}

func (s *Sheet) trend() []Part {
	days := slices.Sorted(maps.Keys(s.days))
	if len(days) == 0 {
		return []Part{}
	}
	weeks := days[len(days)-1]-days[0] < 120
	by := make(map[string]*share)
	for _, day := range days {
		p, d := at(by, period(day, weeks)), s.days[day]
		p.passing += d.passing
		p.drawn += d.drawn
		p.found += d.found
		p.weighted += d.weighted
	}
	list := []Part{}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		list = append(list, by[name].part(name, true))
	}
	return list
}
