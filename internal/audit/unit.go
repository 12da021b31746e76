package audit

import "hash/fnv"

// unit is what one coin, or one sealed group of coins, covers: the smallest thing
// that estimates and bounds are made of. It is small, since a ledger has as many.
type unit struct {
	cluster     uint64
	last        int32 // number of its last record: where it stands in time
	probability int32
	passing     int32
	drawn       int32 // by their own coin
	flips       int32 // among the drawn
	siblings    int32 // flips found by escalation
	clean       int32 // audited, whoever asked for it, and clean
	missing     int32
	kind        unitKind
}

type unitKind uint8

const (
	openMember   unitKind = iota // an attempt with a coin of its own
	sharedCoin                   // one coin for a group and window
	sealedMember                 // coins for attempts that were all in before any outcome
)

func kindOf(r *Record) unitKind {
	switch {
	case r.Design == GroupCoins:
		return sharedCoin
	case r.Sealed:
		return sealedMember
	}
	return openMember
}

// take adds a passing attempt's record.
func (u *unit) take(r *Record) {
	u.passing++
	if r.Drawn {
		u.drawn++
	}
	u.outcome(r)
}

// outcome takes what became of the attempt's full run.
func (u *unit) outcome(r *Record) {
	switch {
	case r.Full == Missing:
		u.missing++
	case r.Full == Clean:
		u.clean++
	case r.Full == Flipped && r.Drawn:
		u.flips++
	case r.Full == Flipped && r.Why == ByEscalation:
		u.siblings++
	}
}

// networks are the flips that stand for themselves: in an open stream each, in a
// sealed group all together, since finding one finds all.
func (u *unit) networks() []int {
	switch {
	case u.flips == 0:
		return nil
	case u.kind == sealedMember:
		return []int{int(u.flips + u.siblings)}
	}
	networks := make([]int, u.flips)
	for i := range networks {
		networks[i] = 1
	}
	return networks
}

// unknown counts the attempts whose outcome should be known and is not. Where a
// flip was found in a sealed group, that includes siblings that nobody ran.
func (u *unit) unknown() int {
	if u.kind == sealedMember && u.flips > 0 {
		return int(u.passing - u.flips - u.siblings - u.clean)
	}
	return int(u.missing)
}

func (u *unit) group() Group {
	g := Group{Cluster: u.cluster, Passing: int(u.passing), Probability: Probability(u.probability)}
	if u.kind == sharedCoin {
		g.Design, g.Audited, g.Flips, g.Missing = GroupCoins, u.drawn > 0, int(u.flips), u.missing > 0
		return g
	}
	g.Design, g.Networks, g.Piloted, g.MissingMembers = MemberCoins, u.networks(), int(u.drawn), u.unknown()
	return g
}

func (u *unit) event() Event {
	e := Event{Passing: int(u.passing), Probability: Probability(u.probability), Missing: u.unknown()}
	if u.kind == sharedCoin {
		e.Design, e.Audited, e.Flips = GroupCoins, u.drawn > 0, int(u.flips)
		return e
	}
	e.Design, e.Networks, e.Clean = MemberCoins, u.networks(), int(u.clean)
	return e
}

// fingerprint stands for names in maps of a million entries: two different ones
// agree with a chance of about one in ten million.
func fingerprint(parts ...string) uint64 {
	h := fnv.New64a()
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return h.Sum64() | 1
}
