package audit

import (
	"maps"
	"slices"
)

// AdvisedFloor is the least rate to use: the weight of a found flip is up to its
// inverse.
const AdvisedFloor = 0.05

// priorAttempts is how many attempts' worth of the overall rate an agent's own
// is mixed with, so that one lucky month does not switch its audits off.
const priorAttempts = 20

// Plan is which rates to use next. It knows the past only.
type Plan struct {
	Budget float64     `json:"budget"` // share of always-full time that audits may take
	Rate   *float64    `json:"rate"`   // one rate for everybody
	Agents []AgentRate `json:"agents"`
	WhyNot string      `json:"why_not,omitempty"`
}

// AgentRate is the rate of one agent's attempts.
type AgentRate struct {
	Agent string  `json:"agent"`
	Rate  float64 `json:"rate"`
}

// plan spreads the budget over agents: rate proportional to the root of flips per
// second of audit.
func (s *Sheet) plan(budget float64, overall *float64) Plan {
	p := Plan{Budget: budget, Agents: []AgentRate{}}
	names := slices.Sorted(maps.Keys(s.suites))
	if len(names) == 0 || overall == nil {
		p.WhyNot = "there is no audit yet, or no record of how long the full suite takes"
		return p
	}
	rate := max(AdvisedFloor, min(1, budget))
	p.Rate = &rate
	var variance, cost []float64
	total := 0.0
	for _, name := range names {
		part, suite := s.agents[name], s.suites[name]
		flips := (part.weighted + priorAttempts*max(*overall, 0.001)) / float64(part.passing+priorAttempts)
		all := float64(part.passing) * suite.seconds / float64(suite.known)
		variance, cost = append(variance, float64(part.passing)*flips), append(cost, all)
		total += all
	}
	spread, err := Allocate(variance, cost, budget*total, AdvisedFloor)
	if err != nil {
		p.WhyNot = err.Error()
		return p
	}
	for i, name := range names {
		p.Agents = append(p.Agents, AgentRate{name, spread.Rates[i]})
	}
	return p
}
