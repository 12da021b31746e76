package report

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// The part of SARIF 2.1.0 that findings need
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID string `json:"id"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI     string `json:"uri"`
		URIBase string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// renderSARIF writes the findings for code scanning. Those without a place in
// the repository have no location.
func renderSARIF(r *gate.Report) ([]byte, error) {
	name, version, _ := strings.Cut(Sanitize(r.Tool, 100), " ")
	driver := sarifDriver{Name: name, Version: version, Rules: []sarifRule{}}
	if name == "" {
		driver.Name = "touchstone"
	}
	known := make(map[string]int)
	results := []sarifResult{}
	for _, f := range r.Findings {
		rule := Sanitize(f.Rule, 100)
		if _, ok := known[rule]; !ok {
			known[rule] = len(driver.Rules)
			driver.Rules = append(driver.Rules, sarifRule{rule})
		}
		result := sarifResult{RuleID: rule, RuleIndex: known[rule], Level: sarifLevel(f.Severity), Message: sarifMessage{Sanitize(f.Message, 2000)}}
		if annotatable(f.Path) {
			at := sarifPhysical{Artifact: sarifArtifact{uri(f.Path), "%SRCROOT%"}}
			if f.Line > 0 {
				at.Region = &sarifRegion{f.Line}
			}
			result.Locations = []sarifLocation{{at}}
		}
		results = append(results, result)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{{sarifTool{driver}, results}}})
	return inert(out.Bytes()), err
}

func sarifLevel(s gate.Severity) string {
	switch s {
	case gate.SeverityError, gate.SeverityWarning:
		return string(s)
	}
	return "note"
}
