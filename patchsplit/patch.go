package patchsplit

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Patch is a parsed diff.
//
// Invariants: printing a Patch that Parse returned gives the bytes it was
// parsed from; no path is changed twice, except by a deletion followed by an
// addition (a change of type).
type Patch struct {
	Files []*File
	tail  string // text after the last file
	apart bool   // known: no file names a path that another names

	placed   *placement // what place found, for
	placedBy *Classifier
}

// File is one file's section of a diff.
type File struct {
	FileChange
	Line int // where its header stands in the diff, from 1
	// NoData is set for a binary change whose content the diff leaves out
	// ("Binary files a/x and b/x differ"): it can be placed, not applied.
	NoData bool

	lead      string // text before the section
	raw       string // the section as it was read
	content   content
	fragments []*gitdiff.TextFragment // of content, once asked for
}

// Changes lists the changed files.
func (p *Patch) Changes() []FileChange {
	changes := make([]FileChange, len(p.Files))
	for i, file := range p.Files {
		changes[i] = file.FileChange
	}
	return changes
}

// WriteTo prints the patch byte for byte as it was read.
func (p *Patch) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for chunk := range p.chunks() {
		n, err := io.WriteString(w, chunk)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// chunks yields the patch's text in order.
func (p *Patch) chunks() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, file := range p.Files {
			if file.lead != "" && !yield(file.lead) || !yield(file.raw) {
				return
			}
		}
		yield(p.tail)
	}
}

// Bytes prints the patch.
func (p *Patch) Bytes() []byte {
	size := 0
	for chunk := range p.chunks() {
		size += len(chunk)
	}
	text := make([]byte, 0, size)
	for chunk := range p.chunks() {
		text = append(text, chunk...)
	}
	return text
}

// Split sorts the changes into three patches, in the order in which they stand.
// Each can be applied alone and in any order (by git apply --unidiff-zero, which
// takes hunks with little context): files that share a path (one is copied from
// the other, renamed over it) stay together, in the strictest of their parts,
// and a rename goes whole, with its new name. A mixed file is in two patches, its
// hunks cut at the border; where no hunks can be told apart, it is production.
// Free text (the mail header, the commit message) belongs to no part.
func (p *Patch) Split(c *Classifier) (production, test, neutral *Patch) {
	var parts [Mixed]Patch
	placed := p.place(c)
	for i, file := range p.Files {
		if placed.cuts[i] == nil {
			to := &parts[placed.parts[i].Part]
			to.Files = append(to.Files, file.with(file.raw))
			continue
		}
		for part, raw := range placed.cuts[i] {
			if raw != "" {
				parts[part].Files = append(parts[part].Files, file.with(raw))
			}
		}
	}
	return &parts[Production], &parts[Test], &parts[Neutral]
}

// with is a file with a section and without the text before it: the file itself,
// where that is no other.
func (f *File) with(raw string) *File {
	if f.lead == "" && raw == f.raw {
		return f
	}
	alone := *f
	alone.lead, alone.raw = "", raw
	if raw != f.raw {
		alone.half()
	}
	return &alone
}

// half fits a file to a section with a part of its hunks. The modes stood beside
// the object ids, which do not hold for it.
func (f *File) half() {
	f.OldMode, f.NewMode = "", ""
	f.content.body, f.fragments = f.raw[strings.Index(f.raw, "\n@@ -")+1:], nil
}

// Parts says where each file of the patch goes, with the hunks of mixed files.
// The list is the patch's own: it must not be changed.
func (p *Patch) Parts(c *Classifier) []FilePart { return p.place(c).parts }

// placement is where the files of a patch go, by their place in it.
type placement struct {
	parts []FilePart
	cuts  []*sections // nil for a file that goes whole, with its part
}

// sections are a file's bytes by the part whose patch they go to.
type sections [Mixed]string

// place decides every file, once for each classifier.
func (p *Patch) place(c *Classifier) *placement {
	if p.placedBy != c {
		p.placed, p.placedBy = p.decide(c), c
	}
	return p.placed
}

func (p *Patch) decide(c *Classifier) *placement {
	placed := &placement{make([]FilePart, len(p.Files)), make([]*sections, len(p.Files))}
	decide := func(c *Classifier, i int) {
		file := p.Files[i]
		placed.parts[i] = FilePart{FileChange: file.FileChange, Decision: c.File(file.Path)}
	}
	takeApart := func(c *Classifier, i int) { placed.cuts[i] = p.Files[i].takeApart(&placed.parts[i], c) }
	if p.apart {
		c.each(len(p.Files), func(c *Classifier, i int) { decide(c, i); takeApart(c, i) })
	} else {
		c.each(len(p.Files), decide)
		alone := p.keepTogether(placed.parts)
		c.each(len(p.Files), func(c *Classifier, i int) {
			if alone(i) {
				takeApart(c, i)
			}
		})
	}
	if len(c.head.paths) > 0 { // settings are read from there
		for i := range placed.parts {
			placed.parts[i] = c.settings(placed.parts[i])
		}
	}
	return placed
}

// keepTogether puts files that share a path into the strictest of their parts,
// and tells which share none.
func (p *Patch) keepTogether(parts []FilePart) (alone func(int) bool) {
	group := p.sharing()
	strictest, size := make([]Part, len(parts)), make([]int, len(parts)) // by group
	for i := range parts {
		strictest[group[i]] = stricter(strictest[group[i]], parts[i].Part)
		size[group[i]]++
	}
	for i := range parts {
		if to, d := strictest[group[i]], &parts[i].Decision; to != d.Part {
			d.Why, d.Part = fmt.Sprintf("shares a path with a file that is %s; by itself: %s", to, d.Why), to
		}
	}
	return func(i int) bool { return size[group[i]] == 1 }
}

func stricter(a, b Part) Part {
	if a == Undecided {
		return b
	}
	return min(a, b) // in the order of the constants
}

// sharing numbers the files so that those which name a common path have one
// number.
func (p *Patch) sharing() []int {
	group := make([]int, len(p.Files))
	owner := make(map[string]int, len(p.Files))
	var find func(int) int
	find = func(i int) int {
		if group[i] != i {
			group[i] = find(group[i])
		}
		return group[i]
	}
	for i, file := range p.Files {
		group[i] = i
		for _, path := range []string{file.Path, file.OldPath} {
			if path == "" {
				continue
			}
			if other, taken := owner[path]; taken {
				group[find(i)] = find(other)
			} else {
				owner[path] = i
			}
		}
	}
	for i := range group {
		group[i] = find(i)
	}
	return group
}
