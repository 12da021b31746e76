package gate

import "fmt"

// Level says what a finding does to the verdict. The zero value is LevelFail:
// a level nobody chose is the strict one.
type Level uint8

const (
	LevelFail Level = iota
	LevelWarn
	LevelIgnore
)

// ParseLevel reads a policy level as it stands in the configuration.
func ParseLevel(text string) (Level, error) {
	switch text {
	case "fail":
		return LevelFail, nil
	case "warn":
		return LevelWarn, nil
	case "ignore":
		return LevelIgnore, nil
	}
	return LevelFail, fmt.Errorf("%q is not a level: use fail, warn or ignore", text)
}

// Requirement says which evidence a change with production code must bring.
type Requirement uint8

const (
	RequireDiscriminating Requirement = iota // a check that fails without the change
	RequirePositive                          // a check that passes on head and could be compared
	RequireNone
)

// ParseRequirement reads policy.require.
func ParseRequirement(text string) (Requirement, error) {
	switch text {
	case "discriminating":
		return RequireDiscriminating, nil
	case "positive":
		return RequirePositive, nil
	case "none":
		return RequireNone, nil
	}
	return RequireDiscriminating, fmt.Errorf("%q is not a requirement: use discriminating, positive or none", text)
}

// Policy is what the base commit's configuration asks of a change.
type Policy struct {
	Require         Requirement
	VacuousTests    Level
	Flips           Level
	LostTests       Level
	LoosenedTests   Level    // rewritten tests whose new version also holds on base, and whose old one fails on head
	ExemptKinds     []string // kinds that need no evidence, when the split agrees
	RegressionKinds []string // kinds for which regression evidence is enough
	// AcceptInfrastructure counts a pass that needs an edited test set-up as proof.
	AcceptInfrastructure bool
	Repeat               int // observations that a deciding cell needs
}

// DefaultPolicy is the contract's default configuration.
func DefaultPolicy() Policy {
	return Policy{
		Require:         RequireDiscriminating,
		VacuousTests:    LevelWarn,
		Flips:           LevelFail,
		LostTests:       LevelWarn,
		LoosenedTests:   LevelWarn,
		ExemptKinds:     []string{"docs"},
		RegressionKinds: []string{"refactor", "dependency", "revert"},
		Repeat:          2,
	}
}
