package audit

import (
	"fmt"
	"slices"
	"strings"
)

// Reward is one attempt of a group as a training pipeline takes it.
type Reward struct {
	Group     string  `json:"group"`
	Member    string  `json:"member"`
	ID        string  `json:"id"`
	Cheap     bool    `json:"cheap"`
	Flip      bool    `json:"flip"`   // known to be one
	Weight    float64 `json:"weight"` // 1/p of what was audited, else 0
	Reward    float64 `json:"reward"`
	Advantage float64 `json:"advantage"` // reward less the mean of its group; not divided by the standard deviation
	Missing   bool    `json:"missing"`   // its audit has no outcome: its reward is the cheap one, and biased upwards
}

// Fold gives records the outcomes of those that amend them, which are left out.
func Fold(records []Record) []Record {
	var folded []Record
	place := make(map[string]int)
	for _, r := range records {
		if i, ok := place[r.Amends]; ok && r.Amends != "" {
			was := &folded[i]
			was.Full, was.Why, was.Flips = r.Full, r.Why, r.Flips
			was.SpentSeconds += r.SpentSeconds
			continue
		}
		if r.Amends == "" {
			place[r.ID] = len(folded)
			folded = append(folded, r)
		}
	}
	return folded
}

// GroupRewards corrects the rewards of one group's records, all of one window.
func GroupRewards(records []Record) ([]Reward, error) {
	if len(records) == 0 {
		return nil, nil
	}
	records = Fold(records)
	slices.SortStableFunc(records, func(a, b Record) int { return strings.Compare(a.Member, b.Member) })
	var cheap, flip []bool
	var weight []float64
	for i := range records {
		r := &records[i]
		if r.Repository != records[0].Repository || r.Group != records[0].Group {
			return nil, fmt.Errorf("records of %s %s and of %s %s are no one group", records[0].Repository, records[0].Group, r.Repository, r.Group)
		}
		w := weightOf(r, records)
		cheap, weight = append(cheap, r.Passing()), append(weight, w)
		flip = append(flip, r.Passing() && r.Full == Flipped && w > 0)
	}
	reward, advantage := Rewards(cheap, flip, weight)
	list := make([]Reward, len(records))
	for i, r := range records {
		list[i] = Reward{r.Group, r.Member, r.ID, cheap[i], flip[i], weight[i], reward[i], advantage[i], r.Full == Missing}
	}
	return list, nil
}

// weightOf is the inverse of the probability that a record's outcome would be
// known by chance, 0 when it is not known that way.
func weightOf(r *Record, group []Record) float64 {
	if !r.Passing() || r.Full == NotRun || r.Full == Missing {
		return 0
	}
	if kindOf(r) != sealedMember {
		if r.Drawn {
			return 1 / r.Probability.Float()
		}
		return 0
	}
	if r.Full == Clean {
		return 0
	}
	network, drawn := 0, false
	for i := range group {
		if o := &group[i]; o.Passing() && o.Full == Flipped && o.Window == r.Window {
			network++
			drawn = drawn || o.Drawn
		}
	}
	if !drawn {
		return 0
	}
	return 1 / r.Probability.Found(network)
}
