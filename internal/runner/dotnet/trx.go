package dotnet

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// trxResult is one result of a report.
type trxResult struct {
	Class, Method string // of the definition: "N.Outer+Inner", without arguments
	Name          string // as the framework shows it
	Outcome       string
	Took          time.Duration
	Message       string
	Stack         string
}

// trxReport is what the reports of one command say.
type trxReport struct {
	Results []trxResult
	Runs    int      // reports that are whole
	Errors  []string // of the run itself: a host that crashed, a setting
}

// The elements of a report, as far as they are read.
type (
	unitResult struct {
		TestID   string       `xml:"testId,attr"`
		Name     string       `xml:"testName,attr"`
		Outcome  string       `xml:"outcome,attr"`
		Duration string       `xml:"duration,attr"`
		Message  string       `xml:"Output>ErrorInfo>Message"`
		Stack    string       `xml:"Output>ErrorInfo>StackTrace"`
		Said     string       `xml:"Output>StdOut"`
		Inner    []unitResult `xml:"InnerResults>UnitTestResult"`
	}
	unitTest struct {
		ID     string `xml:"id,attr"`
		Method struct {
			Class string `xml:"className,attr"`
			Name  string `xml:"name,attr"`
		} `xml:"TestMethod"`
	}
	runInfo struct {
		Outcome string `xml:"outcome,attr"`
		Text    string `xml:"Text"`
	}
)

const maxText = 8 << 10 // bytes of one message or stack that are held

// readTrx reads the reports of a stream, one after the other. One that breaks off
// is an error, with the results that came before.
func readTrx(from io.Reader) (trxReport, error) {
	var (
		report  trxReport
		decoder = xml.NewDecoder(from)
		pending []unitResult
		tests   map[string]unitTest
		open    bool
	)
	decoder.Strict = false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && !open {
			return report, nil
		}
		if err != nil {
			return report, fmt.Errorf("reading the trx report: it breaks off at byte %d: %w", decoder.InputOffset(), err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "TestRun":
				open, pending, tests = true, nil, make(map[string]unitTest)
			case "UnitTestResult":
				var r unitResult
				err = decoder.DecodeElement(&r, &t)
				pending = append(pending, r)
			case "UnitTest":
				var u unitTest
				err = decoder.DecodeElement(&u, &t)
				tests[u.ID] = u
			case "RunInfo":
				var info runInfo
				if err = decoder.DecodeElement(&info, &t); info.Outcome == "Error" && len(report.Errors) < 20 {
					report.Errors = append(report.Errors, clip(info.Text))
				}
			}
			if err != nil {
				return report, fmt.Errorf("reading the trx report: %s at byte %d: %w", t.Name.Local, decoder.InputOffset(), err)
			}
		case xml.EndElement:
			if t.Name.Local == "TestRun" {
				open = false
				report.Runs++
				for _, r := range pending {
					report.add(r, tests[r.TestID])
				}
			}
		}
	}
}

// add enters a result, or those of its data rows in its place.
func (r *trxReport) add(u unitResult, test unitTest) {
	if len(u.Inner) > 0 {
		for _, inner := range u.Inner {
			r.add(inner, test)
		}
		return
	}
	class, _, _ := strings.Cut(test.Method.Class, ",") // older reports add the assembly
	method := strings.TrimPrefix(test.Method.Name, class+".")
	method, _, _ = strings.Cut(method, "(")
	if u.Message == "" && u.Outcome == "NotExecuted" {
		u.Message = u.Said
	}
	r.Results = append(r.Results, trxResult{class, method, u.Name, u.Outcome, duration(u.Duration), clip(u.Message), clip(u.Stack)})
}

// duration reads "hh:mm:ss.fffffff".
func duration(text string) time.Duration {
	var hours, minutes int
	var seconds float64
	if _, err := fmt.Sscanf(text, "%d:%d:%f", &hours, &minutes, &seconds); err != nil {
		return 0
	}
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute + time.Duration(seconds*float64(time.Second))
}

func clip(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return text
}
