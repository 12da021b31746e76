package gate

// Group is a part of the production part that can be taken back to base alone.
type Group struct {
	ID     string
	Places []Span
	Lines  int    // lines that base has otherwise, on either side
	Inert  string // why no check can tell it: "comments or layout", "logging"; "" when one may
	Quiet  string // why one that no check notices is no finding; "" when it is
}

// Span is a run of lines on head; Line and End are 0 for a file that head does
// not have, and End is Line-1 where lines were only taken away.
type Span struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	End  int    `json:"end"`
}

// GroupResult says whether any check holds a group in place. The zero value is
// that of a group nobody asked about.
type GroupResult string

const (
	NotAsked    GroupResult = "not_asked"
	Pinned      GroupResult = "pinned"         // a check fails without it
	LoadBearing GroupResult = "needed_to_load" // nothing builds or loads without it
	Unpinned    GroupResult = "unpinned"       // no check that was asked fails without it
	Inert       GroupResult = "inert"          // no check could tell it
)

// GroupReport is what became of a group, as reported.
type GroupReport struct {
	ID     string      `json:"id"` // its state is without(ID)
	Places []Span      `json:"places"`
	Lines  int         `json:"lines"`
	Result GroupResult `json:"result"`
	By     []string    `json:"by,omitempty"`  // checks that fail without it, at most five
	Why    string      `json:"why,omitempty"` // in words, where the result does not say it
	// Asked is how many checks passed without it, and Wider whether others than
	// the change's own were among them.
	Asked int  `json:"asked"`
	Wider bool `json:"wider"`
}
