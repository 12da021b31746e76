package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// Policy says how often attempts are audited. It comes from the base commit, so
// that a change does not choose its own rate.
type Policy struct {
	Rate   Probability
	Agents map[string]Probability // in place of Rate, by the agent's name
	Paths  map[string]Probability // at least this, for changes that touch a glob
	Under  time.Duration          // a suite that last took less always runs: probability 1
}

// Rated is a probability with the reason for it.
type Rated struct {
	Probability Probability
	Why         Why
	Words       string
}

// For is the probability of a change. suite is what the full suite took when it
// last ran, 0 when unknown: never what it takes now, which may tell the outcome.
func (p Policy) For(agent string, paths []string, suite time.Duration) Rated {
	if suite > 0 && suite <= p.Under {
		return Rated{Certain, ByPolicy, fmt.Sprintf("the full suite last took %s, not more than audit.full_when_under (%s)", suite.Round(time.Millisecond), p.Under)}
	}
	r := Rated{p.Rate, ByCoin, "audit.rate"}
	if rate, ok := p.Agents[agent]; ok {
		r.Probability, r.Words = rate, "audit.agents for "+agent
	}
	for glob, rate := range p.Paths {
		if rate > r.Probability && slices.ContainsFunc(paths, func(path string) bool { return doublestar.MatchUnvalidated(glob, path) }) {
			r.Probability, r.Words = rate, "audit.paths for "+glob
		}
	}
	return r
}

// Floor is the least probability that the policy can give.
func (p Policy) Floor() Probability {
	floor := p.Rate
	for _, rate := range p.Agents {
		floor = min(floor, rate)
	}
	return floor
}

var closing = lazyregexp.New(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\s*:?\s+(?:([\w.-]+/[\w.-]+)#|#|https?://[^\s/]+/([\w.-]+/[\w.-]+)/issues/)(\d+)\b`)

// GroupOf is the group of a pull request: the first issue of its own repository
// that its text closes, in GitHub's words, else the pull request itself. A second
// pull request for one issue falls into the same group.
func GroupOf(repository string, number int, text string) string {
	for _, m := range closing.FindAllStringSubmatch(text, -1) {
		if where := m[1] + m[2]; where == "" || strings.EqualFold(where, repository) {
			return "issue/" + m[3]
		}
	}
	return fmt.Sprintf("pr/%d", number)
}

// MemberOf names an attempt's line of work within its group. Its later heads are
// its later windows.
func MemberOf(number int) string { return fmt.Sprintf("pr/%d", number) }
