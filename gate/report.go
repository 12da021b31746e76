package gate

// SchemaVersion is the version of report.json. A field is never reused with
// another meaning; new fields may be added.
const SchemaVersion = 1

// Report is all that a run found out, in the shape of report.json. It is a
// pure projection of the matrix, the split, the policy and the costs.
type Report struct {
	Schema      int    `json:"schema"`
	Tool        string `json:"tool"`
	Repository  string `json:"repository"`
	PullRequest int    `json:"pull_request"`

	Change    ChangeInfo                `json:"change"`
	Split     []SplitEntry              `json:"split"`
	Checks    []Check                   `json:"checks"`
	Flips     []Flip                    `json:"flips"`
	Lost      []Lost                    `json:"lost"`
	Goldens   []Golden                  `json:"goldens,omitempty"`
	Findings  []Finding                 `json:"findings"`
	Summary   Summary                   `json:"summary"`
	Selection Selection                 `json:"selection"`
	Audit     Audit                     `json:"audit"`
	Verdict   Verdict                   `json:"verdict"`
	States    map[StateName]StateReport `json:"states"`
	Seconds   Seconds                   `json:"seconds"`

	// Groups are the hunk groups of the production part, the largest first, and
	// whether a check holds each in place; Peers the table of whose tests accept
	// whose code.
	Groups []GroupReport `json:"hunk_groups,omitempty"`
	Peers  []Cross       `json:"peers,omitempty"`

	// Commands are the test commands that ran, as a person would paste them.
	Commands []RanCommand `json:"commands"`
	// Notes are facts about the run itself that a reader must know: a weaker
	// sandbox, a suite that was cut short, advisory mode.
	Notes []string `json:"notes"`
	// Advisory is set when the exit status does not follow the verdict.
	Advisory bool `json:"advisory,omitempty"`

	// Doubts are the facts that could not be established. With Change.Inert and
	// Loaded they are what the verdict was decided from beside the matrix itself;
	// see Recheck.
	Doubts []string `json:"doubts,omitempty"`
	// Loaded names the runners whose tests loaded changed files on head.
	Loaded []string `json:"loaded,omitempty"`
	// Code counts the changed lines of the production files that tests can be seen
	// to load; Reached are those that they loaded on head.
	Code    map[string]int `json:"changed_code,omitempty"`
	Reached []string       `json:"reached,omitempty"`
	// Touched are the units of base that the change touches, by runner: their rows
	// must have an answer.
	Touched map[string][]string `json:"touched_units,omitempty"`
	// Forged are the units in which a check that must fail came out passed, by
	// runner and state.
	Forged map[string]map[StateName][]string `json:"forged,omitempty"`
	// Replaced are the parts of a test framework that the tree's code took the place
	// of, by runner and state.
	Replaced map[string]map[StateName][]string `json:"replaced,omitempty"`
	// Support says how far the change edits test code around the tests: "edits",
	// "replaces" (something that the changed files declare), or nothing.
	Support string `json:"support,omitempty"`
	// NoOldTests is set when head with base's tests is head itself.
	NoOldTests bool `json:"no_old_tests,omitempty"`
	// Unheard are the changed test files that no runner runs here, and why.
	Unheard map[string]string `json:"unheard,omitempty"`
	// Steering are the changed files that decide which tests run or what is reported
	// of them.
	Steering []string `json:"steering,omitempty"`
}

// ChangeInfo says what was compared.
type ChangeInfo struct {
	Base string  `json:"base"` // commit id
	Head string  `json:"head"` // commit id or "worktree"
	Gold *string `json:"gold"`
	Kind string  `json:"kind"` // fix, feature, refactor, tests, docs, dependency, revert, unknown
	// KindEvidence says in words what the kind was read from.
	KindEvidence string `json:"kind_evidence,omitempty"`
	// BaseWhy says how base was chosen when it was not named.
	BaseWhy string `json:"base_why,omitempty"`
	// Inert is set when the production part changes no code.
	Inert bool `json:"inert,omitempty"`
	// Reverts is set when the change takes back, line by line, a commit that base holds.
	Reverts bool  `json:"reverts,omitempty"`
	Agent   Agent `json:"agent"`
}

// Agent says whether the change looks like an agent's, and by which signals.
type Agent struct {
	Likely  bool     `json:"likely"`
	Name    string   `json:"name"`
	Signals []string `json:"signals"`
}

// SplitEntry is one changed file and its part.
type SplitEntry struct {
	Path    string      `json:"path"`
	OldPath *string     `json:"old_path"`
	Part    string      `json:"part"` // production, test, mixed, neutral
	Class   string      `json:"class,omitempty"`
	Why     string      `json:"why"`
	Hunks   []SplitHunk `json:"hunks,omitempty"` // only for mixed files
}

// SplitHunk is a run of new lines and its part.
type SplitHunk struct {
	NewStart int    `json:"new_start"`
	NewLines int    `json:"new_lines"`
	Part     string `json:"part"`
}

// Check is one row of the matrix as reported.
type Check struct {
	ID         string               `json:"id"`
	Runner     string               `json:"runner"`
	File       string               `json:"file"`
	Line       int                  `json:"line"`
	Name       string               `json:"name"`
	Origin     Origin               `json:"origin"`
	SelectedBy []string             `json:"selected_by"`
	Cells      map[StateName][]Cell `json:"cells"`
	// Unit is what loads or fails with the row, where that is not its file.
	Unit string `json:"unit,omitempty"`
	// Heir is the row of head that took the place of this one of base.
	Heir string `json:"heir,omitempty"`
	// ReadsNew is set when the check names a value that only this change adds.
	ReadsNew bool `json:"reads_new_values,omitempty"`
	// Forsakes is set when the check no longer names what its base version asked.
	Forsakes   bool   `json:"forsakes_subject,omitempty"`
	Role       Role   `json:"role"` // "" for rows that are not the change's evidence
	RoleReason string `json:"role_reason"`

	// Parent is the id of the check that this one is a part of, "" for none.
	Parent string `json:"parent,omitempty"`
	// Sources are short digests of the check's own source, by the states that
	// know it; equal ones mean that the check itself did not change.
	Sources map[StateName]string `json:"sources,omitempty"`
}

// Cell is one observation as reported.
type Cell struct {
	Outcome Outcome `json:"outcome"`
	Reason  Reason  `json:"reason"`
	Seconds float64 `json:"seconds"`
	Message string  `json:"message"`
	File    string  `json:"file,omitempty"` // where the outcome came from, when known
	Line    int     `json:"line,omitempty"`
}

// Flip is an untouched row that passes on base and does not pass on head.
type Flip struct {
	ID            string   `json:"id"`
	Kind          FlipKind `json:"kind"`
	Message       string   `json:"message"`
	ConfirmedRuns int      `json:"confirmed_runs"`
	// Reproduce is a command that shows the flip, without Touchstone.
	Reproduce []string `json:"reproduce,omitempty"`
	// Polluters are the rows after which one of kind full_run_only fails, in the
	// order in which they run; none where they were not found.
	Polluters []string `json:"polluters,omitempty"`
	// Hunks are the changes of production code without which it passes again.
	Hunks []Span `json:"likely_hunks,omitempty"`
	// SelectedBy are the reasons for which it was selected, none where it ran with
	// the whole suite or with a unit of the change.
	SelectedBy []string `json:"selected_by,omitempty"`
	// OnHead and OnBase say of one of kind sometimes how often it failed.
	OnHead *Rate `json:"on_head,omitempty"`
	OnBase *Rate `json:"on_base,omitempty"`

	passed bool // head has passed it too
}

// Rate is how many of a number of runs failed.
type Rate struct {
	Failed int `json:"failed"`
	Runs   int `json:"runs"`
}

// FlipKind tells a breakage from a disturbance.
type FlipKind string

const (
	Regression  FlipKind = "regression"    // fails when run alone
	FullRunOnly FlipKind = "full_run_only" // passes alone, fails repeatedly in company
	Sometimes   FlipKind = "sometimes"     // neither is stable
)

// Lost is a row that ran on base and has no result on head.
type Lost struct {
	ID     string `json:"id"`
	How    string `json:"how"`     // deleted, skipped, deselected, not_collected
	OnHead string `json:"on_head"` // what base's version did on head's source: passed, failed, not_loaded, not_asked
	// Message is how it failed there.
	Message string `json:"message,omitempty"`
}

// Severity orders findings.
type Severity string

const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

// Finding is one thing a reader should know, tied to a place where it has one.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Path     string   `json:"path"`
	Line     int      `json:"line"`
	Message  string   `json:"message"`
}

// Summary counts the change's own checks and what went wrong elsewhere.
type Summary struct {
	Added              int  `json:"added"`
	Modified           int  `json:"modified"`
	Affected           int  `json:"affected"`
	Discriminating     int  `json:"discriminating"`
	RegressionOnly     int  `json:"regression_only"`
	NotComparable      int  `json:"not_comparable"`
	MissingSymbol      int  `json:"missing_symbol"` // those of not_comparable
	Flaky              int  `json:"flaky"`
	DiagnosticNegative int  `json:"diagnostic_negative"`
	EvidenceInadequate bool `json:"evidence_inadequate"`
	NoEvidence         bool `json:"no_evidence"`
	Flips              int  `json:"flips"`
	Lost               int  `json:"lost"`
}

// Selection says how the rows beyond the change's own were chosen.
type Selection struct {
	Strategy    string  `json:"strategy"`
	Selected    int     `json:"selected"`
	Of          int     `json:"of"`            // rows known, 0 when the suite was not listed
	ShareOfTime float64 `json:"share_of_time"` // of the full suite, 0 when unknown
	Fallback    string  `json:"fallback"`
}

// Audit says whether this change was drawn for a full run.
type Audit struct {
	Probability float64 `json:"probability"`
	Drawn       bool    `json:"drawn"`
	RanFull     bool    `json:"ran_full"`
	Group       string  `json:"group"`
	// Cheap is the verdict without what only the full suite brought: what the
	// change's own and the selected checks alone say. Absent: undecided.
	Cheap Conclusion `json:"cheap,omitempty"`
	// Selection is the strategy that chose those.
	Selection string `json:"selection,omitempty"`
	// FullRunOnly are flips that pass alone and failed in two full runs, while
	// base's full run passes them.
	FullRunOnly []string `json:"full_run_only,omitempty"`
}

// StateReport says how a state was made and what it took.
type StateReport struct {
	Sandbox         string   `json:"sandbox"`
	Layers          []string `json:"layers,omitempty"` // protections that were active
	PreparedSeconds float64  `json:"prepared_seconds"`
	TestSeconds     float64  `json:"test_seconds"`
	// Recalled counts the observations that an earlier run of the same tree made.
	Recalled int `json:"recalled,omitempty"`
	// SameAs names the state with an identical tree whose observations stand
	// for this one too; then nothing was run here.
	SameAs StateName `json:"same_as,omitempty"`
}

// Seconds are wall-clock times.
type Seconds struct {
	Total float64 `json:"total"`
	Tests float64 `json:"tests"` // while at least one test process ran
}

// RanCommand is one test command that ran on a state.
type RanCommand struct {
	State  StateName `json:"state"`
	Runner string    `json:"runner"`
	Argv   []string  `json:"argv"` // from the repository's root
}
