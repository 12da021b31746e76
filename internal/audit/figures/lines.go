package figures

import (
	"fmt"
	"math"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// words are what a reader needs before the first number.
const words = "An attempt is a head of a pull request that was judged. It passes when the tests that the change touches and those that were selected do. " +
	"A flip is an attempt that passes and still breaks a test of the full suite: seen to fail, to fail again, and to pass on base. " +
	"An audit is a full run on a passing attempt, as a rule because a coin drew it. The question is how many flips nobody saw."

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
	value := fmt.Sprintf("%d of %d passing attempts", c.Audited, c.Passing)
	if c.Always > 0 {
		value += fmt.Sprintf(", %d of them without a coin, since such attempts are always audited (a merge queue, a cheap suite)", c.Always)
	}
	means := fmt.Sprintf("%s of %s: %d pass, %d fail, %d undecided. Audits found %s",
		plural(c.Records, "record", "records"), plural(c.Repositories, "repository", "repositories"), c.Passing, c.Failing, c.Undecided, plural(c.FlipsFound, "flip", "flips"))
	if c.Escalated > 0 {
		means += fmt.Sprintf(", some of them in %s that ran because a sibling was one", plural(c.Escalated, "attempt", "attempts"))
	}
	return line{"audited", value, means, "What fails its cheap check is never audited: nothing here is about that"}
}

func bound(s audit.Summary) line {
	b := s.Bound
	if b.Rate == nil {
		return line{"at most", "not known", "No bound: " + orWords(b.WhyNot, "no attempt has passed yet"), ""}
	}
	most := int(math.Floor(*b.Flips)) // a whole number of flips is below the bound, or at it
	return line{"at most", fmt.Sprintf("%s among %d passing attempts (%s)", plural(most, "flip", "flips"), s.Counts.Passing, percentOf(float64(most)/float64(s.Counts.Passing))),
		fmt.Sprintf("Seen and unseen together, with %.4g %% confidence: now and at every earlier moment at once, however often it is looked at and whatever the authors did in answer to earlier audits (declared: coins of at least %s, at most %s under one coin)",
			100*b.Confidence, percentOf(b.Floor.Float()), plural(b.Largest, "attempt", "attempts")),
		"Not an estimate: with few audits it is far above the true number. It says nothing about attempts to come"}
}

func estimate(s audit.Summary) line {
	e := s.Estimate
	if e.Rate == nil {
		return line{"best estimate", "not known", "There is no audit yet", ""}
	}
	means := fmt.Sprintf("About %.1f flips in all: each found one counts for those that its coin did not show (Horvitz-Thompson; right on average)", *e.Flips)
	if e.Hajek != nil {
		means += fmt.Sprintf(". Divided by what the coins happened to draw (Hajek) it is %s; far apart, the two say that the audits are few", percent(e.Hajek))
	}
	return line{"best estimate", percent(e.Rate) + " of passing attempts are flips", means,
		"Not the share of changes that are wrong: a fault that no test of the suite sees is in no number here"}
}

func interval(s audit.Summary) line {
	e := s.Estimate
	if e.Low == nil {
		return line{"interval", "not known", "It needs two groups, and one audit", ""}
	}
	return line{"interval", fmt.Sprintf("%s to %s", percent(e.Low), percent(e.High)),
		fmt.Sprintf("Where the rate of attempts like these lies, with %.4g %% confidence (Korn-Graubard, over %s; as good as %.0f independent audits)", 100*e.Level, plural(e.Groups, "group", "groups"), *e.Size),
		"Valid for one look at a moment fixed beforehand: if you look again and again, go by the bound above"}
}

func missing(s audit.Summary) line {
	return line{"missing audits", fmt.Sprintf("%d: the estimate lies between %s and %s", s.Counts.Missing, percentOf(s.Estimate.Missing.Low), percentOf(s.Estimate.Missing.High)),
		"Due or begun, without an outcome: first as if all were clean, then as if all were flips. The bound takes them as flips",
		"Not dropped: what fails to finish is not missing by chance"}
}

func time(s audit.Summary) line {
	t := s.Time
	if t.Share == nil {
		return line{"time", "not known", "No record says how long the full suite takes", ""}
	}
	not := "Time of tests, not of setting up, of machines or of people"
	if t.Unknown > 0 {
		not += fmt.Sprintf("; %s without the suite's time left out", plural(t.Unknown, "record", "records"))
	}
	return line{"time", percent(t.Share) + " of running everything always",
		fmt.Sprintf("%s for the cheap checks and %s for audits, of %.1f hours of tests", percent(t.SelectedShare), percent(t.AuditShare), t.Suite/3600), not}
}

func next(s audit.Summary) line {
	p := s.Next
	if p.Rate == nil {
		return line{"rate to use next", "not known", orWords(p.WhyNot, "There is no audit yet"), ""}
	}
	var agents []string
	for _, a := range p.Agents {
		agents = append(agents, fmt.Sprintf("%s %.2f", plain(a.Agent), a.Rate))
	}
	return line{"rate to use next", fmt.Sprintf("audit.rate: %.2f", *p.Rate),
		fmt.Sprintf("Spends %s of the time of running everything on audits. The same time, spread for the most exact count (audit.agents): %s", percentOf(p.Budget), strings.Join(agents, ", ")),
		"From the past only. Set it for windows to come, never for one that is open"}
}

// table is a part of the stream by name.
type table struct {
	title, not string
	rates      bool // the parts are of all attempts, not of flips alone
	parts      []audit.Part
}

func tables(s audit.Summary) []table {
	return []table{
		{"Flips by kind", "regression: the test fails alone too; full_run_only: only in the full run; sometimes: not every time. An attempt with several counts as the gravest.", false, s.Kinds},
		{"Flips by the selection that missed them", "How the tests of the cheap check were chosen; touched: only those that the change touches. An attempt may count under several.", false, s.Layers},
		{"Flips by directory of the failing test", "Where selection is blind. An attempt may count under several.", false, top(s.Dirs)},
		{"By agent", "none: no sign of one. Do not rank agents by rates of few audits, which are mostly chance.", true, s.Agents},
		{"Trend", "A rise or fall over few audits is mostly chance.", true, s.Trend},
	}
}

// header names the columns of cells.
func (t table) header() []string {
	if t.rates {
		return []string{"", "passing", "audited", "flips found", "flips estimated", "estimated rate"}
	}
	return []string{"", "flips found", "flips estimated"}
}

const shown = 15

func top(parts []audit.Part) []audit.Part { return parts[:min(len(parts), shown)] }

func percent(x *float64) string {
	if x == nil {
		return "not known"
	}
	return percentOf(*x)
}

// percentOf shows three digits.
func percentOf(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }

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
