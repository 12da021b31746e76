package patchsplit

import (
	"fmt"
	"io"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// Parse reads a diff: git's forms, or plain diff -u. A diff that is cut short,
// contradicts itself, names paths outside the tree or exceeds a limit is an
// error with line and file; so is one that stands for changes it does not
// carry. Mail headers and commit messages around the diff are kept.
//
// Every section is read twice, by the scanner here for its borders and its
// names and by go-gitdiff for its content; they have to agree.
func Parse(r io.Reader) (*Patch, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading diff: %w", err)
	}
	patch, ok := parsePieces(data, pieceCount(len(data), minPiece))
	if !ok {
		s := &scanner{data: data, line: 1}
		if patch, err = s.patch(); err != nil {
			return nil, err
		}
	}
	if len(patch.Files) == 0 && len(strings.TrimSpace(data)) > 0 {
		return nil, fmt.Errorf("reading diff: no file change in %d bytes: give the output of git diff or diff -u", len(data))
	}
	return patch, patch.once()
}

// patch reads all sections and the text around them.
func (s *scanner) patch() (*Patch, error) {
	patch := new(Patch)
	for {
		lead, err := s.text(len(patch.Files) == 0)
		if err != nil {
			return nil, err
		}
		if s.done() {
			patch.tail = lead
			return patch, nil
		}
		file, err := s.section()
		if err != nil {
			return nil, err
		}
		file.lead = lead
		if patch.Files = append(patch.Files, file); len(patch.Files) > maxFiles {
			return nil, s.errorf("more changed files than the limit of %d", maxFiles)
		}
	}
}

// section reads one file's section, which begins on the current line.
func (s *scanner) section() (*File, error) {
	s.name = ""
	start, line := s.pos, s.line
	var h header
	var err error
	if s.at("diff --git ") {
		s.git = true
		h, err = s.gitHeader()
	} else if s.git {
		return nil, s.errorf("--- and +++ without a diff --git line, in a diff that has them elsewhere: a header was damaged")
	} else {
		h, err = s.plainHeader()
	}
	if err != nil {
		return nil, err
	}
	body := s.pos
	file := s.file()
	file.FileChange, file.Line = h.change(), line
	if err := s.body(file, h); err != nil {
		return nil, err
	}
	file.raw = s.data[start:s.pos]
	return file, s.read(file, h, s.data[body:s.pos])
}

// text passes over what is not part of a file's section and refuses what looks
// like the rest of a damaged one, or stands for a change that is not there.
// Before the first section, and after a line of prose, anything but a hunk goes.
func (s *scanner) text(prose bool) (string, error) {
	start := s.pos
	for ; !s.done() && !s.atSection(); s.next() {
		line := s.peek()
		if err := s.refused(line); err != nil {
			return "", err
		}
		switch {
		case absent(line):
			return "", s.errorf("%.80q stands for a change that this diff does not carry: use git diff --binary, or diff -ruN", line)
		case prose || len(strings.TrimSpace(line)) == 0:
		case string(line) == "-- \n" || string(line) == "--\n": // a mail's signature
			prose = true
		case strings.IndexByte("+-@ \\", line[0]) >= 0:
			return "", s.errorf("%.60q stands outside every hunk: a hunk header miscounts its lines", line)
		default:
			prose = true
		}
	}
	return s.data[start:s.pos], nil
}

// refused knows the lines that never stand in text around a diff.
func (s *scanner) refused(line string) error {
	if err := s.whole(); err != nil {
		return err
	}
	for _, prefix := range []string{"diff --cc ", "diff --combined ", "@@@ "} {
		if strings.HasPrefix(line, prefix) {
			return s.errorf("this is a combined diff of a merge, which says nothing about either side: diff the merge against its first parent")
		}
	}
	if strings.HasPrefix(line, "@@ -") {
		return s.errorf("hunk without a file header")
	}
	return nil
}

var absences = lazyregexp.New(`^(Only in .+: .+|(Binary files|Files) .+ and .+ differ|Submodule .+ ([0-9a-f]{7,}\.\.|contains |\(new |\(submodule ).*|\* Unmerged path .+)\r?\n?$`)

func absent(line string) bool { return absences.MatchString(line) }

// atSection holds on the first line of a file's section.
func (s *scanner) atSection() bool {
	if s.at("diff --git ") {
		return true
	}
	return s.at("--- ") && strings.HasPrefix(s.after(), "+++ ")
}

// once refuses a path that is changed twice: such a diff is several patches,
// and its parts could not be applied in any order. A change of type is a
// deletion and an addition of one name.
func (p *Patch) once() error {
	if p.apart = p.ascends(); p.apart {
		return nil
	}
	p.apart = true
	taken := make(map[string]takers, len(p.Files))
	take := func(file *File, path string, now, before bool) error {
		by, known := taken[path]
		switch {
		case now && by.now != nil:
			return file.again(path, by.now)
		case before && by.before != nil:
			return file.again(path, by.before)
		}
		if now {
			by.now = file
		}
		if before {
			by.before = file
		}
		taken[path] = by
		p.apart = p.apart && !known && file.OldPath == ""
		return nil
	}
	for _, file := range p.Files {
		now, before := file.claims()
		var err error
		if now != "" {
			err = take(file, now, true, now == before)
		}
		if before != "" && before != now && err == nil {
			err = take(file, before, false, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takers are the sections that claim a name after the change, and before it.
type takers struct{ now, before *File }

func (f *File) again(path string, earlier *File) error {
	return fmt.Errorf("reading diff: line %d changes %q, which line %d has changed: give one patch at a time, as git diff A B makes it", f.Line, path, earlier.Line)
}

// ascends holds when each name stands once because they are in order, as git
// lists them.
func (p *Patch) ascends() bool {
	last := ""
	for _, file := range p.Files {
		if file.Path <= last || file.OldPath != "" {
			return false
		}
		last = file.Path
	}
	return true
}

// claims says which new and which old name a section takes for itself, "" for none.
func (f *File) claims() (now, before string) {
	switch f.Status {
	case Added, Copied:
		return f.Path, ""
	case Deleted:
		return "", f.Path
	case Renamed:
		return f.Path, f.OldPath
	}
	return f.Path, f.Path
}
