package audit

// Reruns is how often a first failure is asked again, in fresh states.
const Reruns = 2

// Confirmation says what repeated runs of one test make of a failure.
type Confirmation uint8

const (
	Unsettled  Confirmation = iota // ask again
	NoFlip                         // not confirmed, or base fails too
	ASometimes                     // confirmed, and seen to pass as well
	AFlip                          // failed every time
)

// Confirm is the rule by which a flip is recorded: the first run failed, at least
// one of two reruns of the same test in fresh states fails too, and base is clean.
// failed holds the reruns so far: one that is red settles it. Counting first failures alone would read a rate
// of 4.45 % as 9.2 % at 5 % flaky suites; asking that all reruns fail would lose
// three quarters of the flips that fail half the time.
func Confirm(first bool, failed []bool, baseClean bool) Confirmation {
	if !first || !baseClean {
		return NoFlip
	}
	reds := 0
	for _, red := range failed {
		if red {
			reds++
		}
	}
	switch {
	case reds == 0 && len(failed) < Reruns:
		return Unsettled
	case reds == 0:
		return NoFlip
	case reds < len(failed):
		return ASometimes
	}
	return AFlip
}
