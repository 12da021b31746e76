package figures

import (
	"fmt"
	"strings"
	"testing"
	gotime "time"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// stream is the summary of a stream in which an agent and a directory have hostile
// names.
func stream(n int) audit.Summary {
	sheet := audit.NewSheet(0, 0)
	for i := range n {
		r := audit.Record{Version: 1, ID: fmt.Sprint(i), Time: gotime.Unix(int64(1_800_000_000+i*86400), 0), Repository: "acme/api", Group: fmt.Sprint("issue/", i), Member: "pr/1", Design: audit.MemberCoins,
			Probability: 200_000, Floor: 200_000, Largest: 1, Cheap: "pass", SuiteSeconds: 10, SelectedSeconds: 1, Agent: "<script>|@team\x1b[1m"}
		switch {
		case i%20 == 0:
			r.Drawn, r.Why, r.Full = true, audit.ByCoin, audit.Flipped
			r.Flips = []audit.RecordedFlip{{ID: "t", Kind: "regression", Dir: "a|b<b>`x`", MissedBy: "lines"}}
		case i%20 == 7:
			r.Drawn, r.Why, r.Full = true, audit.ByCoin, audit.Missing
		case i%5 == 0:
			r.Drawn, r.Why, r.Full = true, audit.ByCoin, audit.Clean
		}
		sheet.Add(&r)
	}
	return sheet.Summarise(0.95, 0.2)
}

// TestEveryNumberHasItsWords wants each number with what it means and what it does
// not, in every form, and nothing of a hostile name alive.
func TestEveryNumberHasItsWords(t *testing.T) {
	for _, n := range []int{0, 1, 200} {
		s := stream(n)
		for _, l := range lines(s) {
			if l.value == "" || l.means == "" || l.not == "" && l.value != "not known" {
				t.Errorf("%d attempts: %+v", n, l)
			}
		}
		for _, format := range Formats() {
			var out strings.Builder
			if err := Write(&out, format, s); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), "NaN") || strings.Contains(out.String(), "Inf") || strings.ContainsAny(out.String(), "\x1b") {
				t.Errorf("%d attempts, %s:\n%s", n, format, out.String())
			}
			if format == "html" && strings.Contains(out.String(), "<script") || format == "markdown" && (strings.Contains(out.String(), "@team") || strings.Contains(out.String(), "a|b")) {
				t.Errorf("%s lets a name through:\n%s", format, out.String())
			}
		}
	}
	var out strings.Builder
	if err := Write(&out, "html", stream(200)); err != nil || strings.Count(out.String(), "<svg") != 2 || strings.Count(out.String(), "<polyline") != 2 {
		t.Errorf("the plots are not there: %v", err)
	}
}
