package rts

import (
	"iter"
	"maps"
	"slices"
)

// Graph says, from sources alone, which units can reach which files. Nodes are
// files and whatever stands for several of them, as a package directory. The
// zero Graph is empty. Edges of two trees may go into one graph: it then says
// what can be reached on either.
type Graph struct {
	users  map[string]map[string]bool // used -> who uses it
	units  map[string]bool
	known  map[string]bool   // paths whose users the graph knows all of
	doubts map[string]string // nodes that may reach what their source does not say -> why
}

func (g *Graph) init() {
	if g.users == nil {
		g.users, g.units = make(map[string]map[string]bool), make(map[string]bool)
		g.known, g.doubts = make(map[string]bool), make(map[string]string)
	}
}

// Use records that a node uses another.
func (g *Graph) Use(user, used string) {
	g.init()
	if g.users[used] == nil {
		g.users[used] = make(map[string]bool)
	}
	g.users[used][user] = true
}

// Unit records that a node is a unit of tests.
func (g *Graph) Unit(node string) { g.init(); g.units[node] = true }

// Know records that the graph holds every static use of a path.
func (g *Graph) Know(path string) { g.init(); g.known[path] = true }

// Doubt records that a node reaches more than its source says, as by a computed
// import, a started process or a file that it reads. Of two doubts the one that
// is about more than data stays.
func (g *Graph) Doubt(node, why string) {
	g.init()
	if before := g.doubts[node]; before == "" || before == readsFiles {
		g.doubts[node] = why
	}
}

// readsFiles is the doubt that only changed data raises.
const readsFiles = "reads files"

// Knows tells whether the graph can speak of a path.
func (g *Graph) Knows(path string) bool { return g != nil && g.known[path] }

// Units lists all units, sorted.
func (g *Graph) Units() []string { return slices.Sorted(maps.Keys(g.units)) }

// Nodes yields everything that something uses.
func (g *Graph) Nodes() iter.Seq[string] { return maps.Keys(g.users) }

// Reaching lists the units that reach a node, by the number of steps.
func (g *Graph) Reaching(node string) map[string]int {
	found := make(map[string]int)
	seen := map[string]bool{node: true}
	level := []string{node}
	for steps := 0; len(level) > 0; steps++ {
		var next []string
		for _, at := range level {
			if g.units[at] {
				found[at] = steps
			}
			for user := range g.users[at] {
				if !seen[user] {
					seen[user] = true
					next = append(next, user)
				}
			}
		}
		level = next
	}
	return found
}

// Doubtful lists the units that reach a node of which the graph does not know
// all, with why.
func (g *Graph) Doubtful() map[string]string {
	found := make(map[string]string)
	for _, node := range slices.Sorted(maps.Keys(g.doubts)) {
		for unit := range g.Reaching(node) {
			if _, known := found[unit]; !known {
				found[unit] = g.doubts[node]
			}
		}
	}
	return found
}
