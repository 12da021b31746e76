package report

import (
	"bytes"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/touchstone-gate/touchstone/gate"
)

// page is one self-contained file: no script, no font, no picture and no address
// from elsewhere.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Parse(pageText))
})

const pageText = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{.Title}}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #1f2328; background: #fff }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
h1 .pass, h1 .not_applicable { color: #1a7f37 } h1 .fail { color: #d1242f } h1 .undecided { color: #9a6700 }
table { border-collapse: collapse; width: 100% } td, th { border: 1px solid #d1d9e0; padding: .3rem .6rem; text-align: left; vertical-align: top }
code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere } .muted { color: #59636e }
@media (prefers-color-scheme: dark) { body { color: #f0f6fc; background: #0d1117 } td, th { border-color: #3d444d } .muted { color: #9198a1 } }
</style>
</head>
<body>
<h1><span class="{{.Class}}">{{.Verdict}}</span>: {{.Line}}</h1>
{{range .Rest}}<p>{{.}}</p>
{{end}}{{if .Advisory}}<p>Advisory: this verdict blocks nothing.</p>
{{end}}{{if .Sections}}<h2>Tests of this change</h2>
<table>
<tr><th></th><th>test</th><th>on base+tests</th><th>on head</th></tr>
{{range .Sections}}{{$title := .Title}}{{range .Rows}}<tr><td>{{$title}}</td><td><code>{{.ID}}</code>{{if .Why}}<br><code class="muted">{{.Why}}</code>{{end}}</td><td>{{.Before}}</td><td>{{.Head}}</td></tr>
{{end}}{{end}}</table>
{{end}}{{if .Flips}}<h2>Flips</h2>
<table>
<tr><th>test</th><th>on head</th><th>to see it</th></tr>
{{range .Flips}}<tr><td><code>{{.ID}}</code></td><td>{{.Words}}<br><code>{{.Message}}</code></td><td><code>{{.Command}}</code></td></tr>
{{end}}</table>
{{end}}{{if .Lost}}<h2>Lost</h2>
<ul>
{{range .Lost}}<li><code>{{.ID}}</code>: {{.How}}</li>
{{end}}</ul>
{{end}}{{if .Findings}}<h2>Findings</h2>
<ul>
{{range .Findings}}<li>{{.Severity}}: <code>{{.Place}}</code> {{.Message}} ({{.Rule}})</li>
{{end}}</ul>
{{end}}{{with .Crosses}}<h2>{{$.CrossesTitle}}</h2>
<table>
<tr><th></th>{{range .Names}}<th><code>{{.}}</code></th>{{end}}</tr>
{{range .Rows}}<tr><th><code>{{.Tests}}</code></th>{{range .Cells}}<td>{{.Words}}{{if .Rejected}}<br>rejected by <code>{{.Rejected}}</code>{{end}}</td>{{end}}</tr>
{{end}}</table>
{{end}}<h2>What was compared, and what it took</h2>
{{range .About}}<p class="muted">{{.}}</p>
{{end}}<ul class="muted">
{{range .Files}}<li>{{.Part}}: <code>{{.Path}}</code> ({{.Why}})</li>
{{end}}</ul>
</body>
</html>
`

type (
	htmlPage struct {
		Title, Class, Verdict, Line string
		Rest, About                 []string
		Advisory                    bool
		Sections                    []htmlSection
		Flips                       []htmlFlip
		Lost                        []htmlLost
		Findings                    []htmlFinding
		Files                       []htmlFile
		Crosses                     *crossTable
		CrossesTitle                string
	}
	htmlSection struct {
		Title string
		Rows  []htmlRow
	}
	htmlRow     struct{ ID, Before, Head, Why string }
	htmlFlip    struct{ ID, Words, Message, Command string }
	htmlLost    struct{ ID, How string }
	htmlFinding struct{ Severity, Place, Message, Rule string }
	htmlFile    struct{ Part, Path, Why string }
)

// renderHTML draws a report as one file for a browser.
func renderHTML(r *gate.Report) ([]byte, error) {
	line, rest := headline(r.Verdict)
	p := htmlPage{Title: Title(r), Class: r.Verdict.Conclusion.String(), Verdict: verdictName(r.Verdict.Conclusion), Line: Sanitize(line, longest), Advisory: r.Advisory}
	for _, words := range rest {
		p.Rest = append(p.Rest, Sanitize(words, 1000))
	}
	for _, words := range slices.Concat([]string{compared(r.Change), coverage(r.Selection, r.Audit)}, furtherWords(r), []string{cost(r)}, r.Notes) {
		p.About = append(p.About, Sanitize(words, 1000))
	}
	for _, s := range sections(ownChecks(r)) {
		section := htmlSection{Title: s.title()}
		for _, c := range s.list() {
			section.Rows = append(section.Rows, htmlRow{Sanitize(c.ID, 0), seen(c.Cells[gate.BaseTests]), seen(c.Cells[gate.Head]), Sanitize(explanation(c), 500)})
		}
		p.Sections = append(p.Sections, section)
	}
	for _, f := range r.Flips {
		p.Flips = append(p.Flips, htmlFlip{Sanitize(f.ID, 0), Sanitize(strings.Join(append([]string{"fails " + firm(f)}, blamedFor(f)...), "; "), 500), Sanitize(f.Message, 500), Shell(f.Reproduce)})
	}
	for _, l := range r.Lost {
		p.Lost = append(p.Lost, htmlLost{Sanitize(l.ID, 0), Sanitize(spaced(l.How), 40) + after("; ", onHeadWords[l.OnHead])})
	}
	for _, f := range other(r.Findings) {
		p.Findings = append(p.Findings, htmlFinding{Sanitize(string(f.Severity), 20), Sanitize(where(f), 0), Sanitize(f.Message, 500), Sanitize(f.Rule, 60)})
	}
	for _, entry := range r.Split {
		p.Files = append(p.Files, htmlFile{Sanitize(entry.Part, 20), Sanitize(entry.Path, 0), Sanitize(entry.Why, 300)})
	}
	p.Crosses, p.CrossesTitle = crossesOf(r), crossesTitle
	var out bytes.Buffer
	err := page().Execute(&out, p)
	return out.Bytes(), err
}

// uri is a path as a relative address.
func uri(path string) string { return (&url.URL{Path: path}).EscapedPath() }
