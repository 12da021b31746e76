package rts

// Trace is what one row was observed to do in one run of it.
type Trace struct {
	Row
	Loads    []string // files
	Executes []string // Symbol keys, see Key
	Opens    []string // files, as data
	Lists    []string // directories, "." for the root
}

// Traces is what one traced run of a suite tells. Paths are
// repository-relative.
type Traces struct {
	Rows []Trace
	// Traced are the files and Symbol keys whose execution would have been seen.
	Traced []string
	// Imports are the Symbol keys that ran while files were loaded, for everybody
	// who loads them.
	Imports []string
	// Environment identifies the tools that ran the rows; observations of one
	// environment say nothing about another.
	Environment string
	// Failed are the units of which nothing was observed, with why.
	Failed map[string]string
}
