package gate

import (
	"cmp"
	"slices"
	"strings"
)

// How much of two tests must agree for the one to count as the other, from 0
// to 1: of their text and of their names, which say what is tested; or nearly
// all of a text that is long enough to be told by itself. Two short tests are
// always alike in their text alone.
const (
	alikeText  = 0.7
	alikeName  = 0.5
	sameText   = 0.9
	longerThan = 40 // words and signs
)

// maxPairs bounds how many pairs of removed and added tests are compared.
const maxPairs = 200_000

// heirs finds, for rows that base has and head has not, the row that took the
// place of each: the same test moved or renamed, the plain test that became
// parametrised, the renamed test whose text is mostly kept, and the parameter
// or part whose name changed. What has an heir is not lost: it was changed in
// the open, like any modified test. text gives a row's source on a state.
func heirs(m *Matrix, text func(StateName, Row) string) map[Key]Key {
	h := &heritage{m: m, text: text, heir: make(map[Key]Key), byDigest: make(map[string]Key), groups: make(map[Key]*group)}
	h.sort()
	h.moved()
	h.rewritten()
	h.reparametrised()
	return h.heir
}

// group is one test with its parameters and parts, as far as they differ
// between the two sides.
type group struct {
	key           Key // of the test without parameters
	base, head    *Row
	onHead        bool // head has the test
	gone, arrived []Row
	words         words // of its text
}

type heritage struct {
	m        *Matrix
	text     func(StateName, Row) string
	heir     map[Key]Key
	byDigest map[string]Key // rows that only head has
	groups   map[Key]*group
	order    []Key
}

// sort puts every row into its group.
func (h *heritage) sort() {
	for _, key := range h.m.Keys() {
		head, onHead := h.m.Seen(key, Head)
		base, onBase := h.m.Seen(key, Base)
		if !onBase {
			base, onBase = h.m.Seen(key, HeadBaseTests) // a part that only a run of base's version names
		}
		g := h.group(groupOf(h.m, key))
		g.onHead = g.onHead || onHead
		switch {
		case onHead && !onBase:
			g.arrived = append(g.arrived, head)
			if head.Digest != "" && head.Parent == "" {
				h.byDigest[key.Runner+"\x00"+head.Digest] = key
			}
		case onBase && !onHead:
			g.gone = append(g.gone, base)
		}
		if onHead && g.head == nil {
			g.head = &head
		}
		if onBase && g.base == nil {
			g.base = &base
		}
	}
}

func (h *heritage) group(key Key) *group {
	g := h.groups[key]
	if g == nil {
		g = &group{key: key}
		h.groups[key] = g
		h.order = append(h.order, key)
	}
	return g
}

// groupOf names the test that a row is a parameter or a part of.
func groupOf(m *Matrix, key Key) Key {
	row := m.Row(key)
	for row.Parent != "" {
		above := Key{key.Runner, row.Parent}
		key, row = above, m.Row(above)
	}
	if i := strings.IndexByte(key.ID, '['); i > 0 && strings.HasSuffix(key.ID, "]") {
		key.ID = key.ID[:i]
	}
	return key
}

// moved finds tests with the same source under another id; their parts and
// parameters moved with them.
func (h *heritage) moved() {
	for _, key := range h.order {
		g := h.groups[key]
		for _, row := range g.gone {
			to, ok := h.byDigest[row.Runner+"\x00"+row.Digest]
			if !ok || row.Digest == "" {
				continue
			}
			if row.Parent != "" {
				if part := (Key{to.Runner, to.ID + partOf(row, key)}); h.on(part) {
					to = part
				}
			}
			h.heir[row.Key()] = to
		}
	}
}

func (h *heritage) on(key Key) bool {
	_, ok := h.m.Seen(key, Head)
	return ok
}

// rewritten pairs the tests that vanished whole with new ones of nearly the
// same text, the most alike first.
func (h *heritage) rewritten() {
	var from, to []*group
	for _, key := range h.order {
		switch g := h.groups[key]; {
		case len(g.gone) > 0 && !g.onHead && !h.all(g.gone):
			g.words = wordsOf(h.text(Base, *g.base))
			from = append(from, g)
		case len(g.arrived) > 0 && g.base == nil:
			g.words = wordsOf(h.text(Head, *g.head))
			to = append(to, g)
		}
	}
	if len(from)*len(to) > maxPairs {
		return
	}
	taken := make(map[*group]bool)
	for _, p := range matches(from, to) {
		if !taken[p.from] && !taken[p.to] {
			taken[p.from], taken[p.to] = true, true
			for _, row := range p.from.gone {
				h.heir[row.Key()] = p.to.head.Key()
			}
		}
	}
}

// match is a vanished test and a new one that may be the same.
type match struct {
	from, to *group
	score    float64
}

// matches lists the pairs that are alike, the most alike first, those of one
// file before others.
func matches(from, to []*group) []match {
	var list []match
	for _, f := range from {
		for _, t := range to {
			score := f.words.likeness(t.words)
			named := nameWords(ownName(f.key.ID)).likeness(nameWords(ownName(t.key.ID))) >= alikeName && score >= alikeText
			if f.key.Runner != t.key.Runner || !named && (score < sameText || f.words.total() < longerThan) {
				continue
			}
			if f.base.File == t.head.File {
				score++
			}
			list = append(list, match{f, t, score})
		}
	}
	slices.SortStableFunc(list, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	return list
}

func (h *heritage) all(rows []Row) bool {
	return !slices.ContainsFunc(rows, func(row Row) bool { _, ok := h.heir[row.Key()]; return !ok })
}

// reparametrised pairs parameters and parts that vanished from a test that
// stands on with those that it gained, the most alike names first. A plain test
// that gained parameters lives on in them.
func (h *heritage) reparametrised() {
	for _, key := range h.order {
		g := h.groups[key]
		if !g.onHead || len(g.gone) == 0 || len(g.arrived) == 0 {
			continue
		}
		free := slices.Clone(g.arrived)
		for _, row := range g.gone {
			if row.Key() == g.key { // the plain test
				h.heir[row.Key()] = g.arrived[0].Key()
				continue
			}
			if len(free) == 0 {
				break
			}
			best, score := -1, alikeName
			for i, candidate := range free {
				if s := likeParts(partOf(row, key), partOf(candidate, key)); s >= score {
					best, score = i, s
				}
			}
			if best >= 0 {
				h.heir[row.Key()] = free[best].Key()
				free = slices.Delete(free, best, best+1)
			}
		}
	}
}

// likeParts is how alike two names of parameters or parts are. Values that a
// framework joins with dashes are compared each with the one in its place:
// (2, 3, 6) and (3, 6, 9) share most of their words and are two cases.
func likeParts(a, b string) float64 {
	was, is := strings.Split(strings.Trim(a, "[]"), "-"), strings.Split(strings.Trim(b, "[]"), "-")
	if len(was) != len(is) || len(was) < 2 || !strings.HasPrefix(a, "[") || !strings.HasPrefix(b, "[") {
		return nameWords(a).likeness(nameWords(b))
	}
	total := 0.0
	for i := range was {
		if was[i] == is[i] {
			total++
		} else {
			total += nameWords(was[i]).likeness(nameWords(is[i]))
		}
	}
	return total / float64(len(was))
}

// partOf is what tells a row from others of its group.
func partOf(row Row, group Key) string { return strings.TrimPrefix(row.ID, group.ID) }

// ownName is a test's id without its file, package and class.
func ownName(id string) string {
	if i := strings.LastIndex(id, "::"); i >= 0 {
		id = id[i:]
	} else if i := strings.LastIndex(id, " > "); i >= 0 {
		id = id[i:]
	} else if i := strings.LastIndexByte(id, '.'); i >= 0 {
		id = id[i:]
	}
	return id
}

// nameWords are the words of a name, without the one that every test's name has.
func nameWords(id string) words {
	w := make(words)
	start, small := 0, false
	for i, c := range id {
		upper := c >= 'A' && c <= 'Z'
		if !wordRune(c) || c == '_' || upper && small {
			w.add(strings.ToLower(id[start:i]))
			start = i
			if !upper {
				start += len(string(c))
			}
		}
		small = c >= 'a' && c <= 'z'
	}
	w.add(strings.ToLower(id[start:]))
	delete(w, "test")
	return w
}

// words counts the words and signs of a text.
type words map[string]int

func wordsOf(text string) words {
	w := make(words)
	for _, field := range strings.FieldsFunc(text, func(c rune) bool { return c <= ' ' }) {
		start := 0
		for i, c := range field {
			if !wordRune(c) {
				w.add(field[start:i])
				w.add(string(c))
				start = i + len(string(c))
			}
		}
		w.add(field[start:])
	}
	return w
}

func wordRune(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c > 0x7f
}

func (w words) add(word string) {
	if word != "" {
		w[word]++
	}
}

func (w words) total() int {
	total := 0
	for _, n := range w {
		total += n
	}
	return total
}

// likeness is Dice's coefficient of the two multisets, 0 when either is empty.
func (w words) likeness(other words) float64 {
	common, total := 0, w.total()+other.total()
	for word, n := range w {
		common += min(n, other[word])
	}
	if total == 0 {
		return 0
	}
	return 2 * float64(common) / float64(total)
}
