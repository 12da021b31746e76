package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// RecordVersion is the version of a record's fields. A field is never reused
// with another meaning; new ones may be added.
const RecordVersion = 1

// Outcome says what became of the full suite on an attempt. The zero value is
// NotRun.
type Outcome string

const (
	NotRun  Outcome = ""
	Clean   Outcome = "pass"
	Flipped Outcome = "flip"
	Missing Outcome = "missing" // it ran, or should have, and the outcome could not be found out
)

// Why says why the full suite ran.
type Why string

const (
	ByCoin       Why = "coin"
	ByEscalation Why = "escalation" // a flip was found on a sibling
	ByQueue      Why = "queue"      // the merge queue runs it anyway: a stratum of probability 1
	ByPolicy     Why = "policy"     // it is cheap enough to run always: probability 1
	ByChoice     Why = "choice"     // somebody asked for it: known, but no part of any estimate
)

// RecordedFlip is a confirmed flip as a ledger keeps it.
type RecordedFlip struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`      // regression, full_run_only, sometimes
	Dir      string `json:"dir"`       // directory of the failing test
	MissedBy string `json:"missed_by"` // the layer of selection that let it through
}

// Record is what one judged head leaves in the ledger. Seq, Prev and Hash are
// the chain's and are set by the store.
type Record struct {
	Version int       `json:"v"`
	Seq     int64     `json:"seq"` // from 1, without a gap
	ID      string    `json:"id"`  // unique in the ledger: recording it again changes nothing
	Time    time.Time `json:"time"`

	Repository  string `json:"repo"`
	PullRequest int    `json:"pr"`
	Base        string `json:"base"`
	Head        string `json:"head"`

	Group       string      `json:"group"`
	Member      string      `json:"member"`
	Window      int         `json:"window"`
	Design      Design      `json:"coin"`
	Sealed      bool        `json:"sealed"` // every attempt of the group was in before any outcome was seen
	KeyID       string      `json:"key"`
	Probability Probability `json:"ppm"`       // as it stood when the window opened
	Floor       Probability `json:"floor_ppm"` // the least probability that the policy declares
	Largest     int         `json:"largest"`   // the most attempts that one coin covers, as declared
	Drawn       bool        `json:"drawn"`
	Why         Why         `json:"why"`

	Cheap           string  `json:"cheap"` // the verdict before any audit: pass, fail, undecided
	Strategy        string  `json:"strategy"`
	SelectedSeconds float64 `json:"selected_s"` // spent on the cheap check
	SpentSeconds    float64 `json:"spent_s"`    // spent on the audit
	SuiteSeconds    float64 `json:"suite_s"`    // what running everything takes, measured or as last measured; 0 unknown

	Full  Outcome        `json:"full"`
	Flips []RecordedFlip `json:"flips"`
	Agent string         `json:"agent"`
	Tool  string         `json:"tool"`

	// Amends is the id of an earlier record of the same attempt, which had no
	// full run and has one now, since a flip was found on a sibling. "" for a
	// record of its own.
	Amends string `json:"amends,omitempty"`

	Prev string `json:"prev"`
	Hash string `json:"hash,omitempty"`
}

// Passing holds for an attempt that passes the cheap check.
func (r *Record) Passing() bool { return r.Cheap == "pass" }

// Check refuses a record that says what cannot be.
func (r *Record) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("record %q: "+format, append([]any{r.ID}, args...)...)
	}
	switch {
	case r.Version != RecordVersion:
		return bad("version %d is not known: this touchstone reads version %d", r.Version, RecordVersion)
	case r.ID == "" || strings.ContainsAny(r.ID, "\"\\\n\r") || len(r.ID) > 500:
		return bad("an id has 1 to 500 bytes without quotes, backslashes and line ends")
	case r.Repository == "" || r.Group == "":
		return bad("repository and group must be named")
	case r.Time.IsZero():
		return bad("it has no time")
	case !r.Probability.Valid() || !r.Floor.Valid():
		return bad("a probability of %d ppm (floor %d) is out of 0 to %d", r.Probability, r.Floor, Certain)
	case r.Design != GroupCoins && r.Design != MemberCoins:
		return bad("coin %q is not group or member", r.Design)
	case r.Cheap != "pass" && r.Cheap != "fail" && r.Cheap != "undecided":
		return bad("cheap verdict %q is not pass, fail or undecided", r.Cheap)
	case r.Full != NotRun && r.Full != Clean && r.Full != Flipped && r.Full != Missing:
		return bad("full verdict %q is not pass, flip, missing or empty", r.Full)
	case (r.Full == NotRun) != (r.Why == ""):
		return bad("a full run has a reason, and only a full run: full is %q and why is %q", r.Full, r.Why)
	case r.Why == ByCoin && !r.Drawn:
		return bad("the coin is the reason of a full run, and it was not drawn")
	case (r.Why == ByQueue || r.Why == ByPolicy) && (r.Probability != Certain || !r.Drawn):
		return bad("what runs always is drawn with a probability of %d ppm, not %d", Certain, r.Probability)
	case r.Passing() && r.Drawn && r.Full == NotRun:
		return bad("it was drawn and there is no full verdict: record it as missing, never as not run")
	case r.Full == Flipped && len(r.Flips) == 0:
		return bad("it is a flip and names no failing test")
	case r.Amends != "" && (r.Why != ByEscalation || r.Amends == r.ID || !r.Passing() || r.Drawn):
		return bad("it amends %q: only the full run of a passing sibling that no coin drew does", r.Amends)
	case r.SelectedSeconds < 0 || r.SpentSeconds < 0 || r.SuiteSeconds < 0 || r.Window < 0:
		return bad("times and windows start at 0")
	}
	return nil
}

// maxLine bounds a record in bytes, well below what a reader takes as one line.
const maxLine = 256 << 10

const hashField = hashKey + `"`

// Seal gives a record its place behind prev, the hash of the record before it
// ("" for the first), and returns its line in the ledger, without a line end.
func Seal(r *Record, seq int64, prev string) ([]byte, error) {
	r.Seq, r.Prev, r.Hash = seq, prev, ""
	r.Time = r.Time.UTC()
	if r.Flips == nil {
		r.Flips = []RecordedFlip{}
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	line, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("writing record %q: %w", r.ID, err)
	}
	line = line[:len(line)-1] // without the closing brace
	if len(line) > maxLine {
		return nil, fmt.Errorf("record %q has %d bytes: more than %d are no record", r.ID, len(line), maxLine)
	}
	r.Hash = digest(line)
	return append(line, hashField+r.Hash+`"}`...), nil
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// carries compares a hash in hexadecimal with that of a body.
func carries(hash, body []byte) bool {
	sum := sha256.Sum256(body)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return bytes.Equal(hash, text[:])
}

// sealLength is the length of a line's hash field and closing brace.
const sealLength = len(hashField) + 2*sha256.Size + len(`"}`)

// ParseLine reads a line of a ledger and checks its own hash, not its place in
// the chain.
func ParseLine(line []byte) (Record, error) {
	var r Record
	if err := decodeRecord(line, &r); err != nil {
		return Record{}, fmt.Errorf("reading a record: %w", err)
	}
	cut := len(line) - sealLength
	if cut < 0 || string(line[cut:cut+len(hashField)]) != hashField || !carries(line[cut+len(hashField):len(line)-2], line[:cut]) {
		return r, fmt.Errorf("record %q (seq %d) does not have the hash that it carries: it was edited", r.ID, r.Seq)
	}
	return r, nil
}
