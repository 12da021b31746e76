package github

import (
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// Commit is what a commit says of who made it.
type Commit struct {
	Author  string // email
	Message string
}

// sign is how one agent's pull requests can be told. Everything is compared
// exactly: the words alone stand in many a person's branch or title.
type sign struct {
	name    string // lower-case product name
	logins  []string
	ids     []int64
	branch  *lazyregexp.Regexp
	emails  []string
	trailer string // a trailer's key
	title   string // prefix
	body    *lazyregexp.Regexp
}

var signs = []sign{
	{name: "copilot", logins: []string{"copilot-swe-agent[bot]"}, ids: []int64{198982749}, branch: lazyregexp.New(`^copilot/`),
		emails: []string{"198982749+copilot@users.noreply.github.com"}, trailer: "agent-logs-url"},
	{name: "codex", logins: []string{"chatgpt-codex-connector[bot]"}, ids: []int64{199175422}, branch: lazyregexp.New(`^codex/`),
		emails: []string{"codex@openai.com"}, title: "[codex] ", body: lazyregexp.New(`https://chatgpt\.com/codex/tasks/`)},
	{name: "claude", logins: []string{"claude[bot]"}, ids: []int64{209825114}, branch: lazyregexp.New(`^claude/`),
		emails: []string{"noreply@anthropic.com"}, body: lazyregexp.New(`Generated with \[Claude Code\]`)},
	{name: "cursor", logins: []string{"cursor[bot]"}, ids: []int64{206951365}, branch: lazyregexp.New(`^cursor/`),
		emails: []string{"cursoragent@cursor.com"}, body: lazyregexp.New(`https://(www\.)?cursor\.com/(background-agent|agents/bc-)`)},
	{name: "devin", logins: []string{"devin-ai-integration[bot]"}, ids: []int64{158243242}, branch: lazyregexp.New(`^devin/\d{10}-`),
		emails: []string{"158243242+devin-ai-integration[bot]@users.noreply.github.com"}},
	{name: "jules", logins: []string{"google-labs-jules[bot]"}, ids: []int64{161369871}, branch: lazyregexp.New(`^jules-\d+-[0-9a-f]+$`),
		emails: []string{"161369871+google-labs-jules[bot]@users.noreply.github.com"}, body: lazyregexp.New(`PR created automatically by Jules`)},
	{name: "amazon-q", logins: []string{"amazon-q-developer[bot]"}},
	{name: "codegen", logins: []string{"codegen-sh[bot]"}},
	{name: "openhands", emails: []string{"openhands@all-hands.dev"}},
	{name: "aider", emails: []string{"noreply@aider.chat"}},
	{name: "amp", emails: []string{"amp@ampcode.com"}},
	{name: "opencode", emails: []string{"noreply@opencode.ai"}},
}

// AgentOf says which agent a pull request is likely from, and by which signs; ""
// for none. It may make the gate ask for more, never for less: any author can
// set every sign, and leave out most.
func AgentOf(p *Pull, commits []Commit) (name string, signals []string) {
	emails, trailers := people(commits)
	for _, s := range signs {
		if found := s.seen(p, emails, trailers); len(found) > len(signals) {
			name, signals = s.name, found
		}
	}
	return name, signals
}

func (s sign) seen(p *Pull, emails, trailers map[string]bool) (found []string) {
	add := func(holds bool, signal string) {
		if holds {
			found = append(found, signal)
		}
	}
	add(slices.Contains(s.logins, strings.ToLower(p.Author)) || slices.Contains(s.ids, p.AuthorID), "author")
	add(s.branch != nil && s.branch.MatchString(p.HeadRef), "branch")
	add(slices.ContainsFunc(s.emails, func(email string) bool { return emails[email] }), "commit address")
	add(s.trailer != "" && trailers[s.trailer], "trailer")
	add(s.title != "" && strings.HasPrefix(p.Title, s.title), "title")
	add(s.body != nil && s.body.MatchString(p.Body), "body")
	return found
}

var (
	trailerLine = lazyregexp.New(`(?m)^([A-Za-z][A-Za-z0-9-]*): *(.*?) *\r?$`)
	address     = lazyregexp.New(`<([^<>\s]+@[^<>\s]+)>$`)
)

// people are the addresses of a pull request's authors and co-authors, in lower
// case, and the keys of its trailers.
func people(commits []Commit) (emails, trailers map[string]bool) {
	emails, trailers = make(map[string]bool), make(map[string]bool)
	for _, commit := range commits {
		emails[strings.ToLower(commit.Author)] = true
		_, body, _ := strings.Cut(commit.Message, "\n")
		for _, line := range trailerLine.FindAllStringSubmatch(body, -1) {
			key := strings.ToLower(line[1])
			trailers[key] = true
			if at := address.FindStringSubmatch(line[2]); at != nil && key == "co-authored-by" {
				emails[strings.ToLower(at[1])] = true
			}
		}
	}
	return emails, trailers
}
