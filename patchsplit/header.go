package patchsplit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

const devNull = "/dev/null"

// header is what stands above a section's body. Names in minus and plus are as
// written, with their prefix; the others never have one.
type header struct {
	minus, plus        string // "" when there is no such line
	from, to           string // of a rename or copy
	copied             bool
	created, deleted   bool
	oldMode, newMode   string
	indexOld, indexNew string
	score              string // of a rename or copy

	oldPath, path string // what it all comes to
}

func (h header) change() FileChange {
	change := FileChange{Path: h.path, OldMode: h.oldMode, NewMode: h.newMode}
	switch {
	case h.created:
		change.Status, change.OldMode = Added, ""
	case h.deleted:
		change.Status, change.NewMode = Deleted, ""
	case h.copied:
		change.Status, change.OldPath = Copied, h.oldPath
	case h.from != "":
		change.Status, change.OldPath = Renamed, h.oldPath
	default:
		change.Status = Modified
	}
	return change
}

// gitHeader reads "diff --git" and the lines after it, up to the body.
func (s *scanner) gitHeader() (header, error) {
	first := strings.TrimSuffix(s.peek(), "\n")
	names := string(first[len("diff --git "):])
	s.name = names
	if strings.HasSuffix(first, "\r") {
		return header{}, s.errorf("the diff's own lines end in CR LF, not only its content: write it in binary mode")
	}
	if len(names) > 2*maxName {
		return header{}, s.errorf("file names are longer than the limit of %d bytes", maxName)
	}
	s.next()
	var h header
	for seen := uint(0); !s.done(); {
		line := s.peek()
		key, value := headerLine(line)
		if key < 0 {
			break
		}
		if err := s.whole(); err != nil {
			return h, err
		}
		if seen&(1<<key) != 0 {
			return h, s.errorf("the header says %q twice", headerKeys[key])
		}
		seen |= 1 << key
		if err := h.take(headerKeys[key], value, line); err != nil {
			return h, s.errorf("%w", err)
		}
		s.pass(line)
	}
	if err := h.consistent(); err != nil {
		return h, s.errorf("%w", err)
	}
	if err := h.settle(names); err != nil {
		return h, s.errorf("%w", err)
	}
	s.name = h.path
	return h, nil
}

var headerKeys = []string{
	"index ", "--- ", "+++ ", "old mode ", "new mode ", "deleted file mode ", "new file mode ",
	"copy from ", "copy to ", "rename from ", "rename to ", "similarity index ", "dissimilarity index ",
}

// headerLine splits a header line into its key, by its place in headerKeys, and
// its value; -1 when the line is not one.
func headerLine(line string) (key int, value string) {
	if strings.HasPrefix(line, "@@") {
		return -1, "" // where nearly every header ends
	}
	for key, name := range headerKeys {
		if value, ok := strings.CutPrefix(line, name); ok {
			return key, strings.TrimSuffix(value, "\n")
		}
	}
	return -1, ""
}

var (
	fileModes = []string{"100644", "100664", "100755", "120000", "160000"}
	score     = lazyregexp.New(`^(100|[0-9]{1,2})%$`)
)

// take records one header line.
func (h *header) take(key, value string, line string) (err error) {
	switch key {
	case "--- ":
		h.minus, err = nameLine(line)
	case "+++ ":
		h.plus, err = nameLine(line)
	case "rename from ", "copy from ":
		h.copied = key == "copy from "
		h.from, err = bareName(value)
	case "rename to ", "copy to ":
		if h.copied != (key == "copy to ") || h.from == "" {
			return errors.New("the header mixes a rename with a copy")
		}
		h.to, err = bareName(value)
	case "similarity index ", "dissimilarity index ":
		if !score.MatchString(value) {
			return fmt.Errorf("%q is not a score in percent", value)
		}
		if key == "similarity index " {
			h.score = value
		}
	case "index ":
		return h.takeIndex(value)
	default:
		return h.takeMode(key, value)
	}
	return err
}

func (h *header) takeMode(key, value string) error {
	if !slices.Contains(fileModes, value) {
		return fmt.Errorf("%q is not a file mode that git knows", value)
	}
	switch key {
	case "old mode ":
		h.oldMode = value
	case "new mode ":
		h.newMode = value
	case "new file mode ":
		h.created, h.newMode = true, value
	case "deleted file mode ":
		h.deleted, h.oldMode = true, value
	}
	return nil
}

// takeIndex reads "1a2b3c4..5d6e7f8 100644"; the mode may be missing.
func (h *header) takeIndex(value string) error {
	ids, mode, moded := strings.Cut(value, " ")
	before, after, two := strings.Cut(ids, "..")
	if !two || !isObjectID(before) || !isObjectID(after) {
		return fmt.Errorf("%q is not two object ids and a mode", value)
	}
	h.indexOld, h.indexNew = before, after
	if !moded {
		return nil
	}
	if !slices.Contains(fileModes, mode) {
		return fmt.Errorf("%q is not a file mode that git knows", mode)
	}
	if h.oldMode != "" || h.newMode != "" {
		return fmt.Errorf("the header gives mode %s beside another mode", mode)
	}
	h.oldMode, h.newMode = mode, mode
	return nil
}

// isObjectID holds for an object id, whole or abbreviated.
func isObjectID(id string) bool {
	for i := range len(id) {
		if b := id[i]; (b < '0' || b > '9') && (b < 'a' || b > 'f') {
			return false
		}
	}
	return 4 <= len(id) && len(id) <= 64
}

func bareName(value string) (string, error) {
	if strings.HasPrefix(value, `"`) {
		name, rest, err := unquote(value)
		if err == nil && rest != "" {
			err = fmt.Errorf("%.80q stands after a quoted name", rest)
		}
		return name, err
	}
	return value, nil
}

// consistent refuses headers whose lines contradict each other, or that stop
// half way.
func (h *header) consistent() error {
	moved := h.from != ""
	switch {
	case (h.minus == "") != (h.plus == ""):
		return errors.New("the header has one of --- and +++: it was cut short")
	case moved != (h.to != ""):
		return errors.New("the header has one half of a rename or copy: it was cut short")
	case h.created && h.deleted:
		return errors.New("the header says both new and deleted")
	case moved && (h.created || h.deleted):
		return errors.New("the header says renamed or copied and also new or deleted")
	case moved && h.from == h.to:
		return fmt.Errorf("the header renames or copies %q to itself", h.from)
	case h.score != "" && !moved:
		return errors.New("the header has a similarity without a rename or copy")
	case (h.oldMode == "") != (h.newMode == "") && !h.created && !h.deleted:
		return errors.New("the header has one of old mode and new mode: it was cut short")
	case h.minus != "" && (h.minus == devNull) != h.created:
		return fmt.Errorf("--- %s disagrees with the header, which says new: %t", h.minus, h.created)
	case h.plus != "" && (h.plus == devNull) != h.deleted:
		return fmt.Errorf("+++ %s disagrees with the header, which says deleted: %t", h.plus, h.deleted)
	}
	return nil
}

// settle finds the one reading of the "diff --git" line that agrees with every
// other line that names a file, and refuses the header when there is none.
func (h *header) settle(names string) error {
	var few [4]namePair // most names hold no blank
	splits, err := nameSplits(names, few[:0])
	if err != nil {
		return err
	}
	for _, pair := range splits {
		for _, strip := range pair.prefixes() {
			if h.agrees(pair, strip) {
				h.oldPath, h.path = cut(pair.old, strip), cut(pair.new, strip)
				return h.check()
			}
		}
	}
	return fmt.Errorf("diff --git %s disagrees with the names below it", names)
}

func (h *header) check() error {
	if err := checkPath(h.oldPath); err != nil || h.oldPath == h.path {
		return err
	}
	return checkPath(h.path)
}

// agrees holds when a reading of the first line fits all other lines.
func (h *header) agrees(pair namePair, strip bool) bool {
	before, after := cut(pair.old, strip), cut(pair.new, strip)
	switch {
	case h.minus != "" && h.minus != devNull && h.minus != pair.old:
		return false
	case h.plus != "" && h.plus != devNull && h.plus != pair.new:
		return false
	case h.from != "":
		return before == h.from && after == h.to
	}
	return before == after && before != ""
}

// namePair is one reading of the two names on a "diff --git" line.
type namePair struct{ old, new string }

// prefixes says which readings of a pair to try: git's a/ and b/ (or i/, w/, …)
// stand before names that then differ; equal names were written --no-prefix.
func (p namePair) prefixes() []bool {
	if p.old == p.new {
		return []bool{false}
	}
	return []bool{true, false}
}

// cut takes the first directory off a name, as patch -p1 does.
func cut(name string, strip bool) string {
	if !strip {
		return name
	}
	_, rest, _ := strings.Cut(name, "/")
	return rest
}

// nameSplits adds every reading of the line to a list: names without quotes may
// hold blanks, so that any blank may be the border.
func nameSplits(line string, pairs []namePair) ([]namePair, error) {
	if strings.HasPrefix(line, `"`) {
		old, rest, err := unquote(line)
		if err != nil {
			return nil, err
		}
		now, err := bareName(strings.TrimPrefix(rest, " "))
		return append(pairs, namePair{old, now}), err
	}
	if i := strings.Index(line, ` "`); i > 0 {
		now, err := bareName(line[i+1:])
		return append(pairs, namePair{line[:i], now}), err
	}
	for i := strings.IndexByte(line, ' '); i >= 0; {
		pairs = append(pairs, namePair{line[:i], line[i+1:]})
		next := strings.IndexByte(line[i+1:], ' ')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return pairs, nil
}

// plainHeader reads the two lines that plain diff -u writes.
func (s *scanner) plainHeader() (header, error) {
	minus, err := nameLine(s.peek())
	if err != nil {
		return header{}, s.errorf("%w", err)
	}
	s.name = minus
	before := s.peek()
	s.next()
	plus, err := nameLine(s.peek())
	if err != nil {
		return header{}, s.errorf("%w", err)
	}
	after := s.peek()
	s.next()
	h := header{minus: minus, plus: plus}
	h.created = minus == devNull || stampedZero(before) && s.at("@@ -0,0 ")
	h.deleted = plus == devNull || stampedZero(after) && strings.Contains(s.peek(), " +0,0 @@")
	if h.created && h.deleted {
		return h, s.errorf("both names are %s", devNull)
	}
	h.path = plainName(minus, plus, h.created, h.deleted)
	h.oldPath = h.path
	s.name = h.path
	if err := h.check(); err != nil {
		return h, s.errorf("%w", err)
	}
	return h, nil
}

// plainName is the file that a plain diff's two names speak of: what they have
// in common behind one directory each (a/ and b/, old/ and new/); else the one
// without a suffix (x beside x.orig).
func plainName(minus, plus string, created, deleted bool) string {
	switch {
	case created && minus == devNull:
		return strings.TrimPrefix(plus, "b/")
	case deleted && plus == devNull:
		return strings.TrimPrefix(minus, "a/")
	}
	if old, now := cut(minus, true), cut(plus, true); old == now && old != "" && minus != plus {
		return now
	}
	if strings.HasPrefix(plus, minus) {
		return minus
	}
	return plus
}

// stampedZero holds for the time that GNU diff gives a file that is not there.
func stampedZero(line string) bool {
	_, stamp, _ := strings.Cut(line, "\t")
	return strings.HasPrefix(stamp, "1970-01-01 ") || strings.HasPrefix(stamp, "1969-12-31 ")
}
