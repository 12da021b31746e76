package pytest

import (
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// ahead are head's sources of the changed production modules, for a state on
// which what base lacks of them stands in; nil for any other.
func (c *call) ahead() map[string]string {
	b, ok := c.state.(gate.Bridged)
	if !ok {
		return nil
	}
	sources := make(map[string]string)
	for _, subject := range c.batch.Subjects {
		if !strings.HasSuffix(subject, ".py") {
			continue
		}
		if content, err := b.Ahead().ReadFile(subject); err == nil {
			sources[subject] = string(content)
		}
	}
	return sources
}

// reached is the stand-in that an attempt used, "" for none.
func reached(phases []phase) string {
	for _, p := range phases {
		if p.reached != "" {
			return p.reached
		}
	}
	return ""
}

// onStandIn is the observation of a row that used a stand-in, whatever it made
// of that.
func onStandIn(name string, o gate.Observation) gate.Observation {
	message := "reached " + name + ", which base does not have"
	if name == "another process" {
		message = "asks another process, in which nothing stands in"
	}
	return gate.Observation{Outcome: gate.Errored, Reason: gate.MissingSymbol, Duration: o.Duration, Place: o.Place, Reached: name, Message: clean(message)}
}
