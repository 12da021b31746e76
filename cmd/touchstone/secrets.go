package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// secrets are values of the environment that must stand nowhere: the runner masks
// them in its log, but not in what is posted.
type secrets []string

var secretName = lazyregexp.New(`(?i)(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|PRIVATE_KEY|API_?KEY|ACCESS_KEY)`)

// shortest is how long a value must be to be told from ordinary text.
const shortest = 8

func findSecrets(getenv func(string) string) secrets {
	names := []string{"GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"}
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); secretName.MatchString(name) {
			names = append(names, name)
		}
	}
	var found secrets
	for _, name := range names {
		if value := strings.TrimSpace(getenv(name)); len(value) >= shortest && !slices.Contains(found, value) {
			found = append(found, value)
		}
	}
	// The longer first: one may hold another.
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	return found
}

// hide takes the secrets out of a text.
func (s secrets) hide(text string) string {
	for _, value := range s {
		text = strings.ReplaceAll(text, value, "***")
	}
	return text
}

// scrub takes the secrets out of every text of a report.
func (s secrets) scrub(r *gate.Report) {
	if len(s) == 0 {
		return
	}
	text, err := json.Marshal(r)
	if err != nil {
		return // a report is plain data: this cannot happen
	}
	clean := text
	for _, value := range s {
		quoted, err := json.Marshal(value)
		if err == nil {
			clean = bytes.ReplaceAll(clean, quoted[1:len(quoted)-1], []byte("***"))
		}
	}
	var scrubbed gate.Report
	if !bytes.Equal(clean, text) && json.Unmarshal(clean, &scrubbed) == nil {
		*r = scrubbed
	}
}
