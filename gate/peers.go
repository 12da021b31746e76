package gate

import (
	"context"
	"fmt"
	"strings"
)

// Peer is another attempt at the same task.
type Peer struct {
	Label string   // as the user named it: a branch, a commit
	Tests []string // the paths of its test part
}

// PeerState is base with the production part of the peer of that number, counted
// from 1, and the test part of the change.
func PeerState(number int) StateName { return StateName(fmt.Sprintf("peer(%d)", number)) }

// PeerTests is base with the production part of the change and the test part of
// the peer of that number.
func PeerTests(number int) StateName { return StateName(fmt.Sprintf("peer-tests(%d)", number)) }

// Cross is one cell of the table of whose tests accept whose code.
type Cross struct {
	Tests    string   `json:"tests"` // "head" or the peer's label
	Code     string   `json:"code"`
	Accepted int      `json:"accepted"` // checks that pass
	Rejected []string `json:"rejected"` // ids of those that do not
}

// peers runs the change's own checks on every peer's code, and every peer's
// checks on the change's.
func (r *replay) peers(ctx context.Context) {
	if len(r.in.Further.Peers) == 0 {
		return
	}
	r.phase("ask other attempts")
	for i, peer := range r.in.Further.Peers {
		name := PeerState(i + 1)
		r.states[name] = &opened{}
		r.askEach(ctx, name, r.proofs)
		r.release(name)
		r.crosses = append(r.crosses, r.cross(name, peer))
		r.peersChecks(ctx, i, peer)
	}
}

// cross counts what the change's own checks said of a peer's code.
func (r *replay) cross(name StateName, peer Peer) Cross {
	c := Cross{Tests: "head", Code: peer.Label, Rejected: []string{}}
	for _, row := range r.proofs("") {
		if cell := r.m.Cell(row.Key(), name); allGreen(cell) {
			c.Accepted++
		} else if len(cell) > 0 {
			c.Rejected = append(c.Rejected, row.ID)
		}
	}
	return c
}

// peersChecks runs the units that a peer's test part touches on the change's
// code.
func (r *replay) peersChecks(ctx context.Context, i int, peer Peer) {
	name := PeerTests(i + 1)
	r.states[name] = &opened{}
	state, err := r.open(ctx, name)
	if err != nil {
		r.remark("the state %s could not be made: %v", name, err)
		return
	}
	c := Cross{Tests: peer.Label, Code: "head", Rejected: []string{}}
	for _, runner := range r.in.Runners {
		units, err := runner.Units(ctx, state.Tree(), peer.Tests, false)
		if err != nil || len(units) == 0 {
			continue
		}
		result, _ := r.probe(ctx, runner, name, Batch{Units: units})
		for _, observed := range result.Rows {
			if len(observed.Observations) == 0 {
				continue
			}
			switch colour(observed.Observations[0]) {
			case green:
				c.Accepted++
			case red, grey:
				c.Rejected = append(c.Rejected, observed.Row.ID)
			}
		}
		for _, failure := range result.Units {
			c.Rejected = append(c.Rejected, failure.Unit)
		}
	}
	r.crosses = append(r.crosses, c)
}

// rejectsPeers holds for a check that no peer's code passes, every time.
func (r *replay) rejectsPeers(key Key) bool {
	for i := range r.in.Further.Peers {
		if cell := r.m.Cell(key, PeerState(i+1)); !r.m.firm(cell) || !allFailed(cell) {
			return false
		}
	}
	return len(r.in.Further.Peers) > 0
}

// aboutPeers is the finding for a check that accepts this change alone.
func aboutPeers(r *replay, row readRow) (Finding, bool) {
	if !row.read.Role.proves() || !r.rejectsPeers(row.key) {
		return Finding{}, false
	}
	var labels []string
	for _, peer := range r.in.Further.Peers {
		labels = append(labels, peer.Label)
	}
	return Finding{"candidate-specific", SeverityWarning, row.row.File, row.row.Line, fmt.Sprintf("%s is candidate_specific (peers): it rejects the code of %s; assert what the task asks for, not how this change does it", row.row.ID, strings.Join(labels, ", "))}, true
}
