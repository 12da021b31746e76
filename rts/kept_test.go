package rts

import (
	"slices"
	"strings"
	"testing"
)

// TestKeeping holds which calls make what a function keeps for others.
func TestKeeping(t *testing.T) {
	const source = `
class Memo:
    def make(self, key): return 1
    def get(self, key):
        if key not in self._seen:
            self._seen[key] = self.make(
                key)
        log(key)
        return self._seen[key]
    def cached(self, kind):
        made = self._cache.get(kind)
        if made is None:
            made = build(kind)
            self._cache[kind] = made
        return made
    def lazy(self):
        if self._value is not None:
            return self._value
        self._value = load()
        return self._value
    def tried(self):
        try:
            return self._tree
        except AttributeError:
            self._tree = parse(self.text)
        return self._tree
    def grouped(self, key):
        return self._groups.setdefault(key, collect(key))
    @classmethod
    def one(cls):
        with cls._lock:
            if cls._one is None:
                cls._one = cls()
                cls._one.fill()
        return cls._one

_table = None
def table():
    global _table
    if _table is None:
        _table = Table()
    return _table
_known = {}
def known(name):
    try:
        return _known[name]
    except KeyError:
        _known[name] = resolve(name)
        return _known[name]

class Plain:
    def __init__(self, value=None):
        self.value = None
        if self.value is None:
            self.value = load()
    def renew(self):
        if self.field:
            self.field = copy(self.field)
        self.count = count(self)
def local(values, out):
    seen = {}
    for v in values:
        if v not in seen:
            seen[v] = work(v)
        if v not in out:
            out[v] = work(v)
    seen.setdefault(1, work(2))
    return seen
`
	keeping := Keeping([]byte(source))
	for symbol, want := range map[string]string{
		"Memo.get": "make", "Memo.cached": "get build", "Memo.lazy": "load", "Memo.tried": "parse", "Memo.grouped": "setdefault collect", "Memo.one": "cls fill Memo",
		"table": "Table", "known": "resolve", "Plain.__init__": "", "Plain.renew": "", "local": "", "Memo.make": "",
	} {
		got := slices.Clone(keeping[symbol])
		slices.Sort(got)
		names := strings.Fields(want)
		slices.Sort(names)
		if !slices.Equal(got, names) {
			t.Errorf("%s: got %q, want %q", symbol, got, names)
		}
	}
	for _, c := range []struct {
		symbol, name string
		want         bool
	}{{"Memo.make", "make", true}, {"Table.__init__", "Table", true}, {"Table.fill", "Table", false}, {"make", "mak", false}, {"__init__", "__init__", false}} {
		if AnswersTo(c.symbol, c.name) != c.want {
			t.Errorf("%s answers to %s: want %v", c.symbol, c.name, c.want)
		}
	}
}
