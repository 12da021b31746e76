package figures

import (
	"fmt"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// line is one number with its words.
type line struct {
	name, value, means, not string
}

// lines are the numbers in the order in which they matter.
func lines(s audit.Summary) []line {
	list := []line{coverage(s), bound(s), estimate(s), interval(s)}
	if s.Counts.Missing > 0 {
		list = append(list, missing(s))
	}
	return append(list, time(s), next(s))
}

func coverage(s audit.Summary) line {
	c := s.Counts
	return line{"audited", fmt.Sprintf("%d of %d passing attempts (%d of them always)", c.Audited, c.Passing, c.Always),
		fmt.Sprintf("%d records of %s: %d pass the cheap check, %d fail it, %d undecided; %d flips found",
			c.Records, plural(c.Repositories, "repository", "repositories"), c.Passing, c.Failing, c.Undecided, c.FlipsFound),
		"an attempt that fails the cheap check is never audited: nothing here is about those"}
}

func bound(s audit.Summary) line {
	b := s.Bound
	if b.Rate == nil {
		return line{"at most", "not known", "no bound: " + orWords(b.WhyNot, "no passing attempt yet"), ""}
	}
	return line{"at most", fmt.Sprintf("%.1f flips in %d passing attempts (%s)", *b.Flips, s.Counts.Passing, percent(b.Rate)),
		fmt.Sprintf("with %.4g %% confidence, now and at every earlier moment at once, whatever the authors did in answer to earlier audits (coins of at least %s, groups of at most %d)",
			100*b.Confidence, percentOf(b.Floor.Float()), b.Largest),
		"not an estimate: with few audits it is far above the true number, and it says nothing about attempts to come"}
}

func estimate(s audit.Summary) line {
	e := s.Estimate
	if e.Rate == nil {
		return line{"flips per passing attempt", "not known", "no audit yet", ""}
	}
	means := fmt.Sprintf("Horvitz-Thompson: about %.1f flips, each found one standing for those its coin did not show; right on average", *e.Flips)
	if e.Hajek != nil {
		means += fmt.Sprintf("; the ratio estimate (Hajek) says %s", percent(e.Hajek))
	}
	return line{"flips per passing attempt", percent(e.Rate), means,
		"not the share of changes that are wrong: only of those that pass the cheap check and fail the full suite; what no test sees is in no number"}
}

func interval(s audit.Summary) line {
	e := s.Estimate
	if e.Low == nil {
		return line{"interval", "not known", "it needs two groups, and one audited", ""}
	}
	return line{"interval", fmt.Sprintf("%s to %s", percent(e.Low), percent(e.High)),
		fmt.Sprintf("Korn-Graubard, %.4g %%, for attempts like these, with %s as units (effective size %.1f)", 100*e.Level, plural(e.Groups, "group", "groups"), *e.Size),
		"valid for one look at a moment fixed beforehand; if you look again and again, use the bound above"}
}

func missing(s audit.Summary) line {
	return line{"missing audits", fmt.Sprintf("%d, so the estimate lies in %s to %s", s.Counts.Missing, percentOf(s.Estimate.Missing.Low), percentOf(s.Estimate.Missing.High)),
		"all of them clean, and all of them flips; the bound counts them as flips", "not dropped: what fails to finish is not missing at random"}
}

func time(s audit.Summary) line {
	t := s.Time
	if t.Share == nil {
		return line{"time", "not known", "no record says how long the full suite takes", ""}
	}
	not := "time of tests, not of setting up"
	if t.Unknown > 0 {
		not += fmt.Sprintf("; %d records without the suite's time are left out", t.Unknown)
	}
	return line{"time", percent(t.Share) + " of running everything always",
		fmt.Sprintf("%s cheap checks and %s audits, of %.0f s", percent(t.SelectedShare), percent(t.AuditShare), t.Suite), not}
}

func next(s audit.Summary) line {
	p := s.Next
	if p.Rate == nil {
		return line{"rate to use next", "not known", orWords(p.WhyNot, "no audit yet"), ""}
	}
	var agents []string
	for _, a := range p.Agents {
		agents = append(agents, fmt.Sprintf("%s %.2f", a.Agent, a.Rate))
	}
	return line{"rate to use next", fmt.Sprintf("audit.rate: %.2f", *p.Rate),
		fmt.Sprintf("spends %s of always-full time on audits; least noise for it by agent: %s", percentOf(p.Budget), strings.Join(agents, ", ")),
		"from the past only: set it for windows to come, never for one that is open"}
}

// table is a part of the stream by name.
type table struct {
	title, not string
	rates      bool // the parts are of all attempts, not of flips alone
	parts      []audit.Part
}

func tables(s audit.Summary) []table {
	return []table{
		{"Flips by kind", "an attempt with several counts as the gravest", false, s.Kinds},
		{"By layer that missed them", "an attempt may count under several", false, s.Layers},
		{"By directory of the failing test", "an attempt may count under several", false, top(s.Dirs)},
		{"By agent", "rates of few audits are mostly noise", true, s.Agents},
		{"Trend", "rates of few audits are mostly noise", true, s.Trend},
	}
}

const shown = 15

func top(parts []audit.Part) []audit.Part { return parts[:min(len(parts), shown)] }

func percent(x *float64) string {
	if x == nil {
		return "not known"
	}
	return percentOf(*x)
}

func percentOf(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }

func orWords(words, otherwise string) string {
	if words == "" {
		return otherwise
	}
	return words
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
