package audit

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"
)

// attemptOf is an attempt of a sealed group that passes the cheap check.
func attemptOf(group, member int, sealed bool) Record {
	return Record{Version: 1, ID: fmt.Sprintf("r g%d m%d", group, member), Time: time.Unix(int64(1_800_000_000+100*group+member), 0), Repository: "r", Group: fmt.Sprint("g", group),
		Member: fmt.Sprint("m", member), Design: MemberCoins, Sealed: sealed, Probability: 200_000, Floor: 200_000, Largest: 1, Cheap: "pass", SuiteSeconds: 10, Agent: "a"}
}

func (r Record) with(full Outcome, why Why) Record {
	r.Full, r.Why, r.Drawn = full, why, why == ByCoin
	if full == Flipped {
		r.Flips = []RecordedFlip{{ID: "t", Kind: "regression", Dir: ".", MissedBy: "lines"}}
	}
	return r
}

func (r Record) amending(full Outcome) Record {
	r = r.with(full, ByEscalation)
	r.ID, r.Amends, r.SpentSeconds = r.ID+" escalation", r.ID, 3
	return r
}

// TestAmendmentsAreTheEscalation records a sealed group's escalation at once, and by
// amendments: the numbers and the rewards are the same.
func TestAmendmentsAreTheEscalation(t *testing.T) {
	var atOnce, amended []Record
	for group := range 20 {
		for member := range 4 {
			r := attemptOf(group, member, true)
			switch {
			case group%5 == 0 && member == 0:
				atOnce, amended = append(atOnce, r.with(Flipped, ByCoin)), append(amended, r.with(Flipped, ByCoin))
			case group%5 == 0:
				full := []Outcome{Flipped, Flipped, Clean, Missing}[member]
				if group == 5 {
					full = Clean
				}
				one := r.with(full, ByEscalation)
				one.SpentSeconds = 3
				atOnce, amended = append(atOnce, one), append(amended, r)
			default:
				atOnce, amended = append(atOnce, r), append(amended, r)
			}
		}
	}
	var late []Record // each group's window ends with its escalation
	for i := range atOnce {
		late = append(late, amended[i])
		if i%4 == 3 {
			for j := i - 3; j <= i; j++ {
				if atOnce[j].Why == ByEscalation {
					late = append(late, amended[j].amending(atOnce[j].Full))
				}
			}
		}
	}
	amended = late
	a, b := summed(t, atOnce), summed(t, amended)
	if a.Estimate.Flips == nil || *a.Estimate.Flips < 8 {
		t.Fatalf("the group's flips do not count together: %+v", a.Estimate)
	}
	if one, two := figures(a), figures(b); one != two {
		t.Errorf("at once\n%s\namended\n%s", one, two)
	}
	one, err := GroupRewards(atOnce[:4])
	if err != nil {
		t.Fatal(err)
	}
	two, err := GroupRewards(amended[:7])
	if err != nil || !reflect.DeepEqual(one, two) || one[1].Weight == 0 {
		t.Errorf("rewards at once %+v, amended %+v: %v", one, two, err)
	}
}

// TestAmendmentsInAnOpenStreamTellNothingOfTheRate wants found siblings counted, and
// the estimate left to the coins.
func TestAmendmentsInAnOpenStreamTellNothingOfTheRate(t *testing.T) {
	records := []Record{attemptOf(0, 0, false).with(Flipped, ByCoin), attemptOf(0, 1, false), attemptOf(1, 0, false).with(Clean, ByCoin), attemptOf(2, 0, false)}
	before := summed(t, records)
	after := summed(t, append(records, records[1].amending(Flipped)))
	if math.Abs(*before.Estimate.Flips-5) > 1e-9 || *after.Estimate.Flips != *before.Estimate.Flips || after.Counts.FlipsFound != 2 || after.Counts.Passing != 4 || after.Counts.Escalated != 1 || after.Time.Audits != 3 {
		t.Errorf("before %+v, after %+v %+v", *before.Estimate.Flips, *after.Estimate.Flips, after.Counts)
	}
}

// figures are the numbers without what rounding leaves open.
func figures(s Summary) string {
	e := s.Estimate
	s.Counts.Records = 0
	return fmt.Sprintf("%+v %.9g %.9g %.9g %.9g %.9g %+v %.9g %+v %+v %+v", s.Counts, *e.Rate, *e.Flips, *e.Hajek, *e.Low, *e.High, e.Missing, *s.Bound.Flips, s.Time.Times, s.Kinds, s.Layers)
}

func summed(t *testing.T, records []Record) Summary {
	t.Helper()
	sheet, hash := NewSheet(0, 0), ""
	for i := range records {
		r := records[i]
		if _, err := Seal(&r, int64(i+1), hash); err != nil {
			t.Fatal(err)
		}
		hash = r.Hash
		sheet.Add(&r)
	}
	return sheet.Summarise(0.95, 0.2)
}
