// Package report (interim).
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

type Options struct {
	Color   bool
	Width   int
	Verbose bool
}

func Formats() []string { return []string{"text", "markdown", "json"} }
func Write(w io.Writer, format string, r *gate.Report, o Options) error {
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(r)
	}
	fmt.Fprintln(w, r.Verdict.Conclusion, r.Verdict.Reasons)
	for _, c := range r.Checks {
		if c.Role != "" || o.Verbose {
			fmt.Fprintln(w, c.ID, c.Origin, c.Role, c.RoleReason, c.Cells)
		}
	}
	fmt.Fprintf(w, "flips %+v lost %+v notes %q states %+v seconds %+v\n", r.Flips, r.Lost, r.Notes, r.States, r.Seconds)
	return nil
}
func Read(r io.Reader) (*gate.Report, error) {
	var rep gate.Report
	return &rep, json.NewDecoder(r).Decode(&rep)
}

type Progress struct{}

func NewProgress(w io.Writer, tty bool, now func() time.Time) *Progress { return &Progress{} }
func (*Progress) Phase(string)                                          {}
func (*Progress) Add(string, int)                                       {}
func (*Progress) Done(string, bool)                                     {}
func (*Progress) Close()                                                {}
