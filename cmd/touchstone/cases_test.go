package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/report"
	"github.com/touchstone-gate/touchstone/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Init()
	if ledger := os.Getenv("TOUCHSTONE_TEST_WRITER"); ledger != "" {
		os.Exit(writeLedger(ledger))
	}
	if os.Getenv("TOUCHSTONE_TEST_COMMAND") != "" { // the command, in a process of its own
		os.Exit((&App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}).Main(os.Args[1:]))
	}
	code := m.Run()
	if shared.dir != "" {
		os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// TestCases plays every whole change of testdata/cases and compares the report
// with what the case wants of it. testdata/cases/README.md tells how to add one.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { playCase(t, file) })
	}
}

func playCase(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	title, rest, _ := strings.Cut(strings.TrimSpace(string(archive.Comment)), "\n")
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "report.json")
	args := []string{"check", "--repo", dir, "--base", "HEAD~1", "--head", "HEAD", "--full", "never", "--budget", "-1s", "--quiet", "--output", "json=" + path}
	var wants []string
	for line := range strings.SplitSeq(rest, "\n") {
		verb, value, _ := strings.Cut(line, ": ")
		switch verb {
		case "needs":
			need(t, value)
		case "flags":
			args = append(args, strings.Fields(value)...)
		case "":
		default:
			wants = append(wants, line)
		}
	}
	if err := buildDemo(context.Background(), dir, demoPR{title: title, files: archive.Files}); err != nil {
		t.Fatal(err)
	}
	branches(t, dir, archive.Files)
	onDisk(t, dir, archive.Files)
	var stderr strings.Builder
	app := App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &stderr, Getenv: os.Getenv}
	code := app.Main(args)
	out, err := os.Open(path)
	if err != nil {
		t.Fatalf("no report; exit %d: %s", code, stderr.String())
	}
	defer out.Close()
	r, err := report.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range wants {
		if problem := compare(r, want); problem != "" {
			t.Errorf("%s: %s", want, problem)
		}
	}
	if t.Failed() {
		report.Write(os.Stderr, "text", r, report.Options{Verbose: true})
	}
}

// onDisk writes what lies in the work tree and in no commit.
func onDisk(t *testing.T, dir string, files []txtar.File) {
	t.Helper()
	for _, file := range files {
		name, is := strings.CutPrefix(file.Name, "disk/")
		if !is {
			continue
		}
		to := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, file.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// need skips the case, visibly, when a tool is not there.
func need(t *testing.T, tool string) {
	t.Helper()
	if tool == "pytest" {
		if out, err := exec.Command("python3", "-m", "pytest", "--version").CombinedOutput(); err != nil {
			t.Skipf("python3 -m pytest does not run here: %s", strings.TrimSpace(string(out)))
		}
		return
	}
	if tool == "heavy" {
		if os.Getenv("TOUCHSTONE_TEST_HEAVY") == "" {
			t.Skip("calls a build tool many times: set TOUCHSTONE_TEST_HEAVY=1 to run it")
		}
		return
	}
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("%s is not in PATH", tool)
	}
}

// compare says what is wrong with a report for one wanted line, "" for nothing.
func compare(r *gate.Report, want string) string {
	verb, value, _ := strings.Cut(want, ": ")
	fields := strings.Split(value, " | ")
	switch verb {
	case "want":
		if got := r.Verdict.Conclusion.String(); got != value {
			return fmt.Sprintf("the verdict is %s: %q", got, r.Verdict.Reasons)
		}
	case "reason":
		if !strings.Contains(strings.Join(r.Verdict.Reasons, "\n"), value) {
			return fmt.Sprintf("the reasons are %q", r.Verdict.Reasons)
		}
	case "part":
		for _, entry := range r.Split {
			if entry.Path == fields[0] && entry.Part == fields[1] {
				return ""
			}
		}
		return fmt.Sprintf("the split is %+v", r.Split)
	case "row":
		c, ok := row(r, fields[0])
		if !ok || string(c.Origin)+" "+string(c.Role) != strings.TrimSpace(fields[1])+" "+strings.TrimPrefix(fields[2], "-") {
			return fmt.Sprintf("found %v: %s %s (%s)", ok, c.Origin, c.Role, c.RoleReason)
		}
	case "cell":
		c, _ := row(r, fields[0])
		cells := c.Cells[gate.StateName(fields[1])]
		if len(cells) == 0 || strings.TrimSpace(cells[0].Outcome.String()+" "+string(cells[0].Reason)) != fields[2] {
			return fmt.Sprintf("the cell is %+v", cells)
		}
	case "flip":
		for _, flip := range r.Flips {
			if flip.ID == fields[0] && string(flip.Kind) == fields[1] {
				return ""
			}
		}
		return fmt.Sprintf("the flips are %+v", r.Flips)
	case "polluter", "blamed", "because", "reproduce":
		if got := flipDetail(r, fields[0], verb); !strings.Contains(got, fields[1]) {
			return fmt.Sprintf("it is %q; the flips are %+v, notes %q", got, r.Flips, r.Notes)
		}
	case "lost":
		for _, lost := range r.Lost {
			if lost.ID == fields[0] && lost.How == fields[1] && (len(fields) < 3 || lost.OnHead == fields[2]) {
				return ""
			}
		}
		return fmt.Sprintf("the lost rows are %+v", r.Lost)
	case "finding":
		for _, finding := range r.Findings {
			if finding.Rule == fields[0] {
				return ""
			}
		}
		return fmt.Sprintf("the findings are %+v", r.Findings)
	case "no-finding":
		for _, finding := range r.Findings {
			if finding.Rule == value {
				return finding.Message
			}
		}
	case "hunk":
		for _, g := range r.Groups {
			if slices.ContainsFunc(g.Places, func(p gate.Span) bool { return p.String() == fields[0] }) && string(g.Result) == fields[1] {
				return ""
			}
		}
		return fmt.Sprintf("the hunk groups are %+v", r.Groups)
	case "cross":
		for _, c := range r.Peers {
			if c.Tests == fields[0] && c.Code == fields[1] && fmt.Sprint(c.Accepted) == fields[2] && fmt.Sprint(len(c.Rejected)) == fields[3] {
				return ""
			}
		}
		return fmt.Sprintf("the cross table is %+v", r.Peers)
	case "selected":
		if c, ok := row(r, fields[0]); !ok || !slices.Contains(c.SelectedBy, fields[1]) {
			return fmt.Sprintf("found %v, selected by %q; selection %+v, notes %q", ok, c.SelectedBy, r.Selection, r.Notes)
		}
	case "unselected":
		if c, _ := row(r, fields[0]); len(c.Cells[gate.Head]) > 0 {
			return fmt.Sprintf("it ran, selected by %q; selection %+v", c.SelectedBy, r.Selection)
		}
	case "note":
		if !slices.ContainsFunc(r.Notes, func(note string) bool { return strings.Contains(note, value) }) {
			return fmt.Sprintf("notes %q", r.Notes)
		}
	case "none":
		if len(r.Flips)+len(r.Lost) > 0 {
			return fmt.Sprintf("flips %+v, lost %+v", r.Flips, r.Lost)
		}
	default:
		return "no such line is known"
	}
	return ""
}

// flipDetail is what a report says of one flip beyond its kind.
func flipDetail(r *gate.Report, id, what string) string {
	i := slices.IndexFunc(r.Flips, func(f gate.Flip) bool { return f.ID == id })
	if i < 0 {
		return ""
	}
	switch flip := r.Flips[i]; what {
	case "polluter":
		return strings.Join(flip.Polluters, " ")
	case "reproduce":
		return strings.Join(flip.Reproduce, " ")
	case "because":
		return strings.Join(flip.SelectedBy, " ")
	default:
		var places []string
		for _, place := range flip.Hunks {
			places = append(places, place.String())
		}
		return strings.Join(places, " ")
	}
}

// branches commits what a case has of other attempts: files under gold/ and
// peer/ are written over base, each on a branch of that name. The peer is pull
// request 7 of the remote origin too.
func branches(t *testing.T, dir string, files []txtar.File) {
	t.Helper()
	for _, branch := range []string{"gold", "peer"} {
		over := make(map[string]string)
		for _, file := range files {
			if name, ok := strings.CutPrefix(file.Name, branch+"/"); ok {
				over[name] = string(file.Data)
			}
		}
		if len(over) == 0 {
			continue
		}
		head := gitIn(t, dir, "rev-parse", "HEAD")
		gitIn(t, dir, "checkout", "-q", "-b", branch, "HEAD~1")
		write(t, dir, over)
		gitIn(t, dir, "add", "-A")
		gitIn(t, dir, "commit", "-q", "-m", branch)
		if branch == "peer" {
			gitIn(t, dir, "update-ref", "refs/pull/7/head", branch)
			gitIn(t, dir, "remote", "add", "origin", dir)
		}
		gitIn(t, dir, "checkout", "-q", "--detach", head)
	}
}

func row(r *gate.Report, id string) (gate.Check, bool) {
	for _, c := range r.Checks {
		if c.ID == id {
			return c, true
		}
	}
	return gate.Check{}, false
}

// TestFindingsAreExplained: every rule that a case must or must not find has its
// section in docs/rules.md.
func TestFindingsAreExplained(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`(?m)^(?:no-)?finding: (\S+)$`).FindAllSubmatch(content, -1) {
			if !strings.Contains(string(page), "\n## "+string(found[1])+"\n") {
				t.Errorf("%s: docs/rules.md has no section on %s", file, found[1])
			}
		}
	}
}
