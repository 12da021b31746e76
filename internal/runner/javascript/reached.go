package javascript

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// reachedWords open what a stand-in says when it is used.
const reachedWords = "touchstone: reached "

var reachedSaid = lazyregexp.New(reachedWords + `(\S+) \[([0-9a-f]{16})\]`)

// blinded is a state on which a use of some names can go by unseen.
type blinded interface{ Blind() []string }

// onBridge is what a call knows of a state on which head's names stand in.
type onBridge struct {
	mark  string
	blind *regexp.Regexp // nil for none
}

func bridged(state gate.State) *onBridge {
	b, ok := state.(gate.Bridged)
	if !ok {
		return nil
	}
	o := &onBridge{mark: b.Mark()}
	if b, ok := state.(blinded); ok && len(b.Blind()) > 0 {
		var names []string
		for _, name := range b.Blind() {
			names = append(names, regexp.QuoteMeta(name))
		}
		o.blind = regexp.MustCompile(`(?:^|[^\w$])(` + strings.Join(names, "|") + `)(?:[^\w$]|$)`)
	}
	return o
}

// standIn is the stand-in that a failure tells of, "" for none.
func standIn(f *failure) string {
	for ; f != nil; f = f.Cause {
		if m := reachedSaid.FindStringSubmatch(f.Message + "\n" + f.Stack); m != nil {
			return m[1]
		}
	}
	return ""
}

// told are the IDs of uses that some failure tells of.
func (h heard) told() map[string]bool {
	ids := make(map[string]bool)
	take := func(errors []failure) {
		for i := range errors {
			for f := &errors[i]; f != nil; f = f.Cause {
				for _, m := range reachedSaid.FindAllStringSubmatch(f.Message+"\n"+f.Stack, -1) {
					ids[m[2]] = true
				}
			}
		}
	}
	for _, row := range h.rows {
		for _, r := range row.results {
			take(r.Errors)
		}
	}
	for _, r := range h.errors {
		take(r.Errors)
	}
	for unit := range h.uncaught {
		take(h.uncaught[unit])
	}
	return ids
}

// swallowed is a stand-in that was used without any failure telling of it, "" for
// none: some check caught what it threw, or asked another process.
func (h heard) swallowed() string {
	told := h.told()
	for _, id := range slices.Sorted(maps.Keys(h.marks)) {
		if !told[id] {
			return h.marks[id]
		}
	}
	return ""
}

// apart makes the questions about single rows that find out which of them
// swallowed the use of a stand-in. Of a row that was alone, or that nobody can
// ask alone, it is known: nothing that the invocation says came from base for
// certain.
func (c *call) apart(q question, h *heard) []question {
	if c.bridge == nil || q.list {
		return nil
	}
	h.settle()
	name := h.swallowed()
	if name == "" {
		return nil
	}
	rows := 0
	for _, row := range h.rows {
		if !row.suite {
			rows++
		}
	}
	asked := 0
	for _, ids := range q.rows {
		asked += len(ids)
	}
	if rows <= 1 || asked == 1 || rows > maxAlone || c.result.Wall > c.limit || h.stepFailed != nil {
		h.tainted = name
		return nil
	}
	c.answerTold(q, h, name)
	open := slices.DeleteFunc(slices.Clone(q.units), func(unit string) bool {
		return c.failed[unit] || !slices.ContainsFunc(h.rows, func(row *heardRow) bool {
			id := h.ids()[row]
			return row.unit == unit && !row.suite && !c.answered[id] && q.wants(unit, id)
		})
	})
	return c.oneByOne(open, q, *h, h.death)
}

// answerTold answers for the rows that tell of a use themselves, and for units
// that could not be loaded: there is no row in them to ask alone.
func (c *call) answerTold(q question, h *heard, name string) {
	ids := h.ids()
	for _, row := range h.rows {
		last := len(row.results) - 1
		if id := ids[row]; !row.suite && row.over && q.wants(row.unit, id) && !c.answered[id] &&
			slices.ContainsFunc(row.results[last].Errors, func(f failure) bool { return standIn(&f) != "" }) {
			c.remember(id, knownRow{row.unit, row.path, row.number, row.suite})
			c.answer(c.row(id, row), c.observations(*h, row, nil)...)
		}
	}
	for _, e := range h.errors {
		if slices.Contains(q.units, e.Unit) {
			c.fail(e.Unit, onStandIn(name, gate.Observation{}))
		}
	}
}

// behindBridge rewrites an observation that comes from a stand-in into one that
// says nothing.
func (c *call) behindBridge(h heard, unit string, s *span, errors []failure, o gate.Observation) gate.Observation {
	if c.bridge == nil {
		return o
	}
	for i := range errors {
		if name := standIn(&errors[i]); name != "" {
			return onStandIn(name, o)
		}
	}
	if h.tainted != "" {
		return onStandIn(h.tainted, o)
	}
	if name := c.names(unit, s); name != "" {
		o = onStandIn(name, o)
		o.Message, o.Reached = gate.Message("names "+name+", for which nothing can stand in"), ""
	}
	return o
}

func onStandIn(name string, o gate.Observation) gate.Observation {
	return gate.Observation{Outcome: gate.Errored, Reason: gate.MissingSymbol, Duration: o.Duration, Place: o.Place, Reached: name, Message: gate.Message("reached " + name + ", which base does not have")}
}

// names is the first name that a check's text, or what all checks of its file
// share, uses and for which nothing can stand in; "" for none. What a file
// imports it need not use.
func (c *call) names(unit string, s *span) string {
	if c.bridge.blind == nil {
		return ""
	}
	o := c.reader.outline(unit)
	if s == nil {
		return firstName(c.bridge.blind, o.source)
	}
	if name := firstName(c.bridge.blind, o.source[s.from:s.to]); name != "" {
		return name
	}
	return firstName(c.bridge.blind, o.shared())
}

func firstName(names *regexp.Regexp, text string) string {
	if m := names.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

var importClause = lazyregexp.New(`(?s)\bimport\s[^;'"]*?from\s*['"][^'"\n]*['"]|\b(?:const|let|var)\s*\{[^{}]*\}\s*=\s*(?:(?:await\s+)?(?:require|import)\s*\([^()]*\)|[\w$.]+\s*(?:;|\n))`)

// shared is what a file holds beside its tests and what it imports.
func (o *outline) shared() string {
	var text strings.Builder
	at := 0
	var cut func([]*span)
	cut = func(spans []*span) {
		for _, s := range spans {
			if s.kind == suiteSpan {
				cut(s.inside)
				continue
			}
			text.WriteString(o.source[at:max(at, s.from)])
			at = max(at, s.to)
		}
	}
	cut(o.roots)
	text.WriteString(o.source[at:])
	return importClause.ReplaceAllString(text.String(), "")
}
