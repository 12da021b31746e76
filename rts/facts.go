package rts

// Row is one check that can be selected: a row of the matrix, or a whole unit
// where its rows are not known.
type Row struct {
	ID      string
	Runner  string
	Unit    string
	File    string
	Seconds float64 // what a run of it costs; 0 when unknown
	// Whole is set for a row that stands for all rows of its unit.
	Whole bool
	// Seen is set when the map knows the row. Then the number of the row in the
	// map is its index in Facts.Rows.
	Seen bool
	// Gone is set for a row of the map that head does not have, or of which a
	// Whole row takes the place. It is never selected.
	Gone bool
	// Green is set when the row passed, every time, where the map was made.
	Green bool
	// Open says why what was observed of the row is not all that it does: it
	// started a process, its trace was lost. "" when it is all.
	Open string
}

// Relation is what a row was observed to do.
type Relation uint8

const (
	Loads    Relation = iota // a file: the row's process loaded it for the row's sake
	Executes                 // a Symbol key
	Opens                    // a file, as data
	Lists                    // a directory
	Imports                  // a Symbol key that ran while a file was being loaded
	Traced                   // a file or a Symbol key: its execution would have been observed. Has no rows.
)

// Key names a function of a file in the relations about functions.
func Key(file, symbol string) string { return file + "#" + symbol }

// Map is what was observed on some commit, as an index from thing to rows.
type Map interface {
	// Rows returns the numbers of the rows that stand in the relation to a key,
	// ascending, and whether the key is known at all.
	Rows(relation Relation, key string) (rows []int, known bool)
}

// Facts are everything that is known of the rows of a change.
type Facts struct {
	// Rows are all rows there are to choose from. Those that the map knows come
	// first, in its order.
	Rows []Row
	// Map may be nil; Gap is what has changed since it was made, up to base.
	Map Map
	Gap Change
	// NoMap says why there is no map, or why it is not believed.
	NoMap string
	// Graph may be nil; NoGraph says why.
	Graph   *Graph
	NoGraph string
	// Mentions returns the units whose sources hold a word: as a word of a string
	// when quoted, else anywhere. nil when sources were not read.
	Mentions func(word string, quoted bool) []string
}

// seenRows is how many rows the map knows.
func (f *Facts) seenRows() int {
	n := 0
	for n < len(f.Rows) && f.Rows[n].Seen {
		n++
	}
	return n
}
