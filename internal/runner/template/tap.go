package template

import (
	"bufio"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/junit"
)

// point is one line "ok" or "not ok" of a TAP stream.
type point struct {
	path        []string // titles from the outermost test down to its own
	ok          bool
	subtest     bool // it closes a subtest, or is a test of its own
	skip, todo  bool
	words       string
	diagnostics string
	took        time.Duration
}

// tap reads TAP as version 13 and 14 write it, with subtests by indentation, and
// tape's dialect, in which a comment is the title of the assertions below it.
type tap struct {
	take   func(point)
	title  string           // of tape's dialect
	headed map[int]string   // by depth: the subtest that was announced
	inner  map[int][]string // by depth: titles above
	last   *point
	yaml   bool

	planned map[string]int // by path of the parent: how many points were promised
	counted map[string]int
	bailed  string
	any     bool
	notes   strings.Builder // the comments since the last point
}

// maxText bounds what is kept of a point's diagnostics, in bytes.
const maxText = 4 << 10

var (
	pointLine = lazyregexp.New(`^(not )?ok\b(?: +(\d+))?(?: +-)? *(.*)$`)
	directive = lazyregexp.New(`(?i)(?:^|[^\\])# *(skip|todo)\S*(?:[: ]+(.*))?$`)
	timeNote  = lazyregexp.New(` *# time=([\d.]+)(ms|s)?\s*$`)
	planLine  = lazyregexp.New(`^1\.\.(\d+)`)
	subtest   = lazyregexp.New(`^# Subtest(?:: *(.*))?$`)
	summary   = lazyregexp.New(`^# (?:tests|pass|fail|ok|skip|todo|suites|cancelled|skipped|duration_ms|time=|failed \d+|\{)`)
)

// maxLine bounds a line of the stream; longer ones are cut.
const maxLine = 64 << 10

// readTAP calls take for each point, in the order of the stream: parts come
// before what they are parts of.
func readTAP(from io.Reader, take func(point)) (*tap, error) {
	t := &tap{take: take, headed: make(map[int]string), inner: make(map[int][]string), planned: make(map[string]int), counted: make(map[string]int)}
	lines := bufio.NewReaderSize(from, maxLine)
	for {
		line, more, err := lines.ReadLine()
		if errors.Is(err, io.EOF) {
			t.flush()
			return t, nil
		}
		if err != nil {
			return t, err
		}
		t.line(string(line))
		for more && err == nil {
			_, more, err = lines.ReadLine()
		}
	}
}

func (t *tap) line(line string) {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	depth := indent / 4
	switch {
	case t.yaml && strings.TrimSpace(text) == "...":
		t.yaml = false
	case t.yaml:
		if t.last != nil && len(t.last.diagnostics) < maxText {
			t.last.diagnostics += text + "\n"
		}
	case strings.TrimSpace(text) == "---" && t.last != nil:
		t.yaml = true
	case strings.HasPrefix(text, "Bail out!"):
		t.bailed = strings.TrimSpace(strings.TrimPrefix(text, "Bail out!")) + " "
	case indent%4 != 0: // not TAP's: a test's own output
	case subtest.MatchString(text):
		t.flush()
		t.announce(depth, unescapeTAP(subtest.FindStringSubmatch(text)[1]))
	case planLine.MatchString(text):
		t.flush()
		t.planned[t.key(depth)], _ = strconv.Atoi(planLine.FindStringSubmatch(text)[1])
		t.any = true
	case strings.HasPrefix(text, "# ") && depth == 0 && !summary.MatchString(text):
		t.flush()
		t.title = strings.TrimSpace(text[2:])
		if t.notes.Len() < maxText {
			t.notes.WriteString(text[2:] + "\n")
		}
	case pointLine.MatchString(text):
		t.flush()
		t.point(depth, pointLine.FindStringSubmatch(text))
	}
}

// announce notes a subtest: node:test writes it before the indented points, at
// the depth of the point that closes it; node-tap one level deeper or the same.
func (t *tap) announce(depth int, title string) {
	t.headed[depth] = title
	t.inner[depth+1] = append(append([]string(nil), t.inner[depth]...), title)
	delete(t.headed, depth+1)
	delete(t.counted, t.key(depth+1))
}

func (t *tap) key(depth int) string { return strings.Join(t.inner[depth], "\x00") }

func (t *tap) point(depth int, m []string) {
	t.any = true
	p := &point{ok: m[1] == ""}
	text := m[3]
	if note := timeNote.FindStringSubmatch(text); note != nil {
		value, _ := strconv.ParseFloat(note[1], 64)
		if note[2] != "s" {
			value /= 1000
		}
		p.took = time.Duration(value * float64(time.Second))
		text = timeNote.ReplaceAllString(text, "")
	}
	text = strings.TrimSuffix(strings.TrimRight(text, " "), " {")
	if d := directive.FindStringSubmatchIndex(text); d != nil {
		p.skip = strings.EqualFold(text[d[2]:d[3]], "skip")
		p.todo = !p.skip
		if d[4] >= 0 {
			p.words = text[d[4]:d[5]]
		}
		text = strings.TrimRight(text[:strings.LastIndexByte(text[:d[2]], '#')], " ")
	}
	title := unescapeTAP(text)
	if title == "" {
		title = m[2]
	}
	p.path = append(append([]string(nil), t.inner[depth]...), title)
	if announced, was := t.headed[depth]; was && announced == title {
		p.subtest = true
		delete(t.headed, depth)
	}
	if depth == 0 && !p.subtest && t.title != "" {
		p.path = []string{t.title, title}
	}
	t.counted[t.key(depth)]++
	t.last = p
}

// flush hands a point on: its diagnostics came after it.
func (t *tap) flush() {
	if t.last != nil {
		if exitCode.MatchString(t.last.diagnostics) { // of a file: what its process printed came before
			t.last.diagnostics += t.notes.String()
		}
		t.notes.Reset()
		t.take(*t.last)
	}
	t.last, t.yaml = nil, false
}

// incomplete says how the stream did not keep its plan, "" when it did.
func (t *tap) incomplete() string {
	switch {
	case t.bailed != "":
		return "it bailed out: " + t.bailed
	case !t.any:
		return "there is no TAP in the output"
	}
	planned, has := t.planned[""]
	switch {
	case !has:
		return "the plan is missing: the run broke off"
	case planned != t.counted[""]:
		return "the plan promises " + strconv.Itoa(planned) + " points and there are " + strconv.Itoa(t.counted[""])
	}
	return ""
}

var tapEscape = strings.NewReplacer(`\\`, `\`, `\#`, `#`)

func unescapeTAP(text string) string { return strings.TrimSpace(tapEscape.Replace(text)) }

func (p point) observation() gate.Observation {
	o := gate.Observation{Outcome: gate.Passed, Duration: p.took}
	switch {
	case p.skip:
		o = gate.Observation{Outcome: gate.Skipped, Message: gate.Message(p.words)}
	case p.todo:
		o = gate.Observation{Outcome: gate.Skipped, Message: gate.Message("todo " + p.words)}
	case !p.ok:
		p.failed(&o)
	}
	return o
}

// failed reads the diagnostics of a point that is not ok.
func (p point) failed(o *gate.Observation) {
	o.Outcome, o.Reason, o.Message = gate.Failed, gate.Assertion, gate.Message(p.said())
	title := p.path[len(p.path)-1]
	switch d := p.diagnostics; {
	case junit.TimedOut(d):
		o.Outcome, o.Reason = gate.TimedOut, gate.Timeout
	case killed.MatchString(d):
		o.Outcome, o.Reason = gate.Crashed, gate.Crash
	case inHook.MatchString(d):
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	case noModule.MatchString(d):
		o.Outcome, o.Reason = gate.Errored, gate.Import
		o.Missing = []gate.Missing{{Name: moduleName(noModule.FindStringSubmatch(d)[1])}}
	case exitCode.MatchString(d) && strings.Contains(d, "SyntaxError"):
		o.Outcome, o.Reason = gate.Errored, gate.Compile
	case (threw.MatchString(d) || notThere.MatchString(title)) && !asserted.MatchString(d):
		o.Reason = gate.Exception
		o.Missing = junit.Missing(title + "\n" + d)
	}
}

// moduleName is the bare name of a module that was asked for by a path.
func moduleName(from string) string {
	base := path.Base(from)
	return strings.TrimSuffix(base, path.Ext(base))
}

var (
	exitCode = lazyregexp.New(`(?m)^exitCode: `)
	killed   = lazyregexp.New(`(?m)^signal: '?SIG`)
	inHook   = lazyregexp.New(`(?m)^failureType: '?(?:hookFailed|cancelledByParent)`)
	noModule = lazyregexp.New(`Cannot find (?:module|package) '([^']+)'`)
	threw    = lazyregexp.New(`(?m)(?:^|[\s'"])(?:[A-Z]\w*(?:Error|Exception))\b|^(?:name|type): ['"]?\w*Error|operator: ['"]?error`)
	notThere = lazyregexp.New(`is not (?:a function|a constructor|defined)`)
	asserted = lazyregexp.New(`(?m)ERR_ASSERTION|AssertionError|^name: ['"]?AssertionError`)
	saying   = lazyregexp.New(`(?m)^(?:error|message|found|actual|compare|operator): (?:\|-?\s*\n)?\s*(.*)$`)
)

func (p point) said() string {
	if m := saying.FindStringSubmatch(p.diagnostics); m != nil && strings.Trim(m[1], `'" `) != "" {
		return strings.Trim(m[1], `'" `)
	}
	if p.diagnostics != "" {
		return p.diagnostics
	}
	return p.path[len(p.path)-1]
}
