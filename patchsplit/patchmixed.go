package patchsplit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// takeApart cuts a production file's section in two when the file holds test
// code of its own and both change. It returns nil where the section stays whole.
func (f *File) takeApart(part *FilePart, c *Classifier) *sections {
	if part.Part != Production || !holdsTests(f.Path) || part.Class == ClassVendored {
		return nil
	}
	if !mayHoldTests(f.Path, f.raw) && !mayHoldTests(f.Path, string(c.base.content(f.before()))) {
		return nil
	}
	if len(f.Fragments()) == 0 {
		return nil
	}
	d := f.document(c)
	kind := d.compare(*part, c)
	if kind == "" {
		return nil
	}
	*part = part.divide(d.edits(), kind)
	if part.Part != Mixed {
		return nil
	}
	if f.Status == Modified && !f.moded() {
		if production, test, ok := d.apart(); ok {
			return &sections{Production: f.section(production), Test: f.section(test)}
		}
	}
	part.Why += "; the patches keep it whole, with production"
	return &sections{Production: f.raw}
}

// edits are those of all blocks, counted in the file.
func (d *document) edits() []edit {
	var edits []edit
	for _, b := range d.blocks {
		for _, e := range b.edits {
			edits = append(edits, edit{e.oldFrom + b.oldAt, e.oldTo + b.oldAt, e.newFrom + b.newAt, e.newTo + b.newAt, e.test})
		}
	}
	return edits
}

// before is the name that base knows the file by.
func (f *File) before() string {
	if f.OldPath != "" {
		return f.OldPath
	}
	return f.Path
}

func (f *File) moded() bool { return f.OldMode != f.NewMode }

// section prints the file with other hunks than it was read with, "" for none.
// The object ids of its header do not hold for these.
func (f *File) section(hunks []hunkText) string {
	if len(hunks) == 0 {
		return ""
	}
	var out strings.Builder
	for line := range strings.Lines(f.raw) {
		if strings.HasPrefix(line, "@@ -") {
			break
		}
		if !strings.HasPrefix(line, "index ") {
			out.WriteString(line)
		}
	}
	for _, h := range hunks {
		h.write(&out)
	}
	return out.String()
}

// document reads what is known of the file's two versions: all of it where the
// diff adds or deletes the file or fits base's content, else the hunks.
func (f *File) document(c *Classifier) document {
	var base []byte
	if f.Status != Added {
		base = c.base.content(f.before())
	}
	if f.Status == Added || f.Status == Deleted || base != nil && len(base) < maxRead {
		if old, new, ok := f.whole(base); ok {
			return document{[]block{{old: linesOf(old, nil), new: linesOf(new, nil)}}, true}
		}
	}
	var d document
	for _, fragment := range f.Fragments() {
		b := block{heading: fragment.Comment, oldAt: startOf(fragment.OldPosition, fragment.OldLines), newAt: startOf(fragment.NewPosition, fragment.NewLines)}
		b.old, b.new = fragmentSides(fragment)
		d.blocks = append(d.blocks, b)
	}
	return d
}

func startOf(position, lines int64) int {
	if lines == 0 {
		return int(position)
	}
	return max(0, int(position)-1)
}

func fragmentSides(fragment *gitdiff.TextFragment) (old, new []sourceLine) {
	for _, line := range fragment.Lines {
		if line.Op != gitdiff.OpAdd {
			old = append(old, sourceLine{text: line.Line})
		}
		if line.Op != gitdiff.OpDelete {
			new = append(new, sourceLine{text: line.Line})
		}
	}
	return old, new
}

// whole applies the hunks to base's content at their very places; ok is false
// when they do not fit, as when the diff was made from another base.
func (f *File) whole(base []byte) (old, new []byte, ok bool) {
	lines := linesOf(base, nil)
	if f.Status == Deleted && base == nil && len(f.Fragments()) == 1 {
		lines, _ = fragmentSides(f.Fragments()[0])
	}
	var out []sourceLine
	at := 0
	for _, fragment := range f.Fragments() {
		from := startOf(fragment.OldPosition, fragment.OldLines)
		removed, added := fragmentSides(fragment)
		if from < at || from+len(removed) > len(lines) {
			return nil, nil, false
		}
		for i, line := range removed {
			if lines[from+i].text != line.text {
				return nil, nil, false
			}
		}
		out = append(append(out, lines[at:from]...), added...)
		at = from + len(removed)
	}
	return textOf(lines), textOf(append(out, lines[at:]...)), true
}

func textOf(lines []sourceLine) []byte {
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(line.text)
	}
	return []byte(text.String())
}

// compare finds the edits of each block by part and returns the kinds of test
// code that changed, "" for none.
func (d *document) compare(part FilePart, c *Classifier) string {
	oldPath := part.Path
	if part.OldPath != "" {
		oldPath = part.OldPath
	}
	var kinds, found []string // of the file, and by block
	for i := range d.blocks {
		b := &d.blocks[i]
		old, new := textOf(b.old), textOf(b.new)
		edits, kind := editsOf(old, new, b.tests(oldPath, old, c), b.tests(part.Path, new, c))
		b.edits = edits
		kinds, found = appendNew(kinds, kind), append(found, kind)
	}
	for i := range d.blocks {
		if b := &d.blocks[i]; found[i] == "" && len(kinds) > 0 {
			b.edits = compare(b.old, b.new)
		}
	}
	return strings.Join(kinds, ", ")
}

// appendNew adds a text that is not there yet and not empty.
func appendNew(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// headings are the lines of the left margin that open test code, as git puts
// them behind a hunk's @@.
var headings = map[string]*lazyregexp.Regexp{
	".rs": lazyregexp.New(`^(?:pub(?:\s*\([^)]*\))?\s+)?mod\s+(?:\w+_)?tests?\b|^#\[cfg\(test\)\]`),
	".ts": lazyregexp.New(`^if\s*\(\s*import\.meta\.vitest\b`), ".zig": lazyregexp.New(`^test\b`), ".d": lazyregexp.New(`\bunittest\b`),
}

// tests finds the test code in one side of a block. Of a hunk alone, its heading
// tells what its first lines stand in, up to the bracket in the left margin.
func (b *block) tests(path string, text []byte, c *Classifier) regions {
	ext := extOf(path)
	if slices.Contains(scripts, ext) {
		ext = ".ts"
	}
	if b.heading == "" || headings[ext] == nil || !headings[ext].MatchString(b.heading) {
		return c.inlineTests(path, text)
	}
	lines, size := 0, 0
	for line := range bytes.Lines(text) {
		lines, size = lines+1, size+len(line)
		if line[0] == '}' {
			break
		}
	}
	found := regions{{0, lines, "hunk under " + strings.TrimSpace(b.heading), -1}}
	for _, r := range c.inlineTests(path, text[size:]) {
		r.from, r.to = r.from+lines, r.to+lines
		if r.subject >= 0 {
			r.subject += lines
		}
		found = append(found, r)
	}
	return found
}
