package main

import (
	"context"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/coverage"
	"github.com/touchstone-gate/touchstone/patchsplit"
	"github.com/touchstone-gate/touchstone/rts"
)

// selection is what the gate asks when the whole suite is too expensive: the rows,
// the likeliest to fail first.
func (a *App) selection(c *change, parts []patchsplit.FilePart, settings config.Config, runners []gate.Runner, states *states) func(context.Context) (*gate.Choice, error) {
	return func(ctx context.Context) (*gate.Choice, error) {
		file, err := mapPath("", c.repo.Root())
		if err != nil {
			return nil, err
		}
		facts, err := gatherFacts(ctx, c, parts, runners, states, file)
		if err != nil {
			return nil, err
		}
		defer facts.Close()
		chosen := facts.choose(settings, rts.Strategy(settings.Select.Strategy))
		past, err := a.history(ctx, "", c)
		chosen.Rows = rts.Rank(chosen.Rows, past)
		choice := choiceOf(chosen)
		if err != nil { // the order says nothing of it then
			choice.Notes = append(choice.Notes, err.Error())
		}
		return choice, nil
	}
}

// choiceOf is a selection as the gate reads it.
func choiceOf(chosen rts.Selection) *gate.Choice {
	choice := &gate.Choice{
		Selection:  gate.Selection{Strategy: string(chosen.Strategy), Selected: len(chosen.Rows), Of: chosen.Of, ShareOfTime: chosen.Share, Fallback: chosen.Fallback},
		Everything: len(chosen.Rows) == chosen.Of,
		Rows:       make(map[string][]gate.Chosen),
	}
	for _, row := range chosen.Rows {
		id := row.ID
		if row.Whole || row.All {
			id = ""
		}
		choice.Rows[row.Runner] = append(choice.Rows[row.Runner], gate.Chosen{Unit: row.Unit, ID: id, Reasons: row.Reasons})
	}
	return choice
}

// suiteTime is what the whole suite took when its coverage map was made, 0
// without one.
func suiteTime(root string) func() time.Duration {
	return func() time.Duration {
		file, err := mapPath("", root)
		if err != nil {
			return 0
		}
		m, err := coverage.Open(file)
		if err != nil {
			return 0
		}
		defer m.Close()
		var seconds float64
		for _, row := range m.Header.Rows {
			seconds += row.Seconds
		}
		return time.Duration(seconds * float64(time.Second))
	}
}
