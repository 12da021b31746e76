package patchsplit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// flat writes names as "name@owner" for comparison.
func flat(n Names) []string {
	var list []string
	for name, owners := range n.Added {
		for _, owner := range owners {
			list = append(list, name+"@"+owner)
		}
	}
	slices.Sort(list)
	return list
}

func TestDeclaredNames(t *testing.T) {
	for _, c := range []struct {
		name, path, old, new string
		added, changed       string // what must be there
		absent               string // what must not
	}{
		{
			name: "go top level", path: "pkg/a.go",
			old:   "package a\n\nfunc Old() {}\n\ntype T struct{ X int }\n",
			new:   "package a\n\nfunc Old() {}\n\nfunc New() {}\n\nconst K = 1\n\nvar V, W int\n\ntype T struct{ X, Y int; E }\n\nfunc (t *T) M() {}\n\ntype I interface{ Do() }\n\ntype G[P any] struct{}\n\nfunc (g *G[P]) H() {}\n",
			added: "New@a K@a V@a W@a Y@T E@T M@T I@a Do@I G@a H@G", absent: "Old@a X@T T@a",
		},
		{
			name: "go signatures", path: "a.go",
			old:     "package a\nfunc F(a int) {}\nfunc (t T) M(a, b int) error { return nil }\nfunc N(a int) {}\ntype I interface{ Do(int) }\n",
			new:     "package a\nfunc F(a, b int) {}\nfunc (t T) M(x int, y int) error { return nil }\nfunc N(b int) {}\ntype I interface{ Do(string) }\n",
			changed: "F I.Do Do",
		},
		{
			name: "go broken", path: "a.go", old: "package a\n", new: "package a\nfunc F() {}\nfunc (",
			added: "F@a",
		},
		{
			name: "rust signatures", path: "src/a.rs",
			old:     "pub fn f(a: i32) {}\npub fn same(a: i32) {}\nimpl<T> S<T> {\n    pub fn new(a: u8) -> Self { S }\n    fn g(&self) {}\n}\nstruct P { x: i32 }\nenum E { A, B(i32) }\nfn quoted() { \"fn z(a: i32)\"; }\n",
			new:     "pub fn f(a: i32, b: i32) {}\npub fn same(other: i32) {}\nimpl<T> S<T> {\n    pub fn new(a: u8, b: u8) -> Self { S }\n    fn g(&self) {}\n}\nimpl Q {\n    fn g(&self, late: u8) {}\n}\nstruct P { x: i32, y: i32 }\nenum E { A, B(i32) }\nfn quoted() { \"fn z(a: i32, b: i32)\"; }\n",
			changed: "f S.new new P", added: "late@ y@ Q@",
		},
		{
			name: "java signatures", path: "A.java",
			old:     "class A {\n  A(int a) { f(1); }\n  public static int f(int a) throws E, F { return g(a); }\n  int same(final List<String> a) { if (x(1)) { h(2); } return new B(1); }\n  abstract void none(int a);\n}\n",
			new:     "class A {\n  A(int a, int b) { f(1, 2); }\n  public static int f(int a, int b) throws E, F { return g(a, b); }\n  int same(List<String> other) { if (x(1, 2)) { h(2, 3); } return new B(1, 2); }\n  abstract void none(long a);\n}\n",
			changed: "A f none", added: "other@",
		},
		{
			name: "kotlin signatures", path: "A.kt",
			old:     "class A {\n  fun f(a: Int) = g(1)\n  fun same(a: Int): Int { return h(1) }\n}\n",
			new:     "class A {\n  fun f(a: Int, b: Int = 1) = g(1, 2)\n  fun same(a: Int): Int { return h(1, 2) }\n}\n",
			changed: "f",
		},
		{
			name: "php signatures", path: "A.php",
			old:     "<?php\nclass A {\n  public function f(int $a): int { return g(1); }\n  static function same($a) { h(1); }\n}\n",
			new:     "<?php\nclass A {\n  public function f(int $a, ?int $b = null): int { return g(1, 2); }\n  static function same($a) { h(1, 2); }\n}\n",
			changed: "f", added: "$b@",
		},
		{
			name: "c++ signatures", path: "a.hpp",
			old:     "namespace n {\nint f(int a);\nstruct S { S(int a) : x(a) {} void m(int a) const noexcept { g(1); } };\n}\n",
			new:     "namespace n {\nint f(int a, int b);\nstruct S { S(int a, int b) : x(a) {} void m(long a) const noexcept { g(1, 2); } };\n}\n",
			changed: "f S m",
		},
		{
			name: "ruby", path: "lib/a.rb",
			old:     "class A\n  def f(a) = 1\n  def self.same(a, b: 1); end\n  def initialize a\n  end\n  attr_reader :old\nend\n",
			new:     "class A\n  def f(a, b) = 1\n  def self.same(a,  b: 1); end\n  def initialize a, b\n  end\n  attr_accessor :old, :late\n  def new?; end\n  private def go!; end\nend\n",
			changed: "f initialize", added: "new?@ go!@ late@ late=@",
		},
		{
			name: "python module", path: "src/pkg/core.py",
			old:    "import os\nA = 1\ndef old(x): pass\n",
			new:    "import os\nimport json as j\nimport a.b\nfrom .util import helper, other as alias\nfrom m import (\n    one,  # why\n    two,\n)\nA = 1\nB: int = 2\nC = D = 3\n(E, F) = 1, 2\ndef old(x, y=1): z = 1\nasync def new(): pass\nclass K(Base): pass\ntype Alias = int\n__all__ = ['Listed']\nif True:\n    G = 1\nx == y\nx += 1\n",
			added:  "j@pkg.core a@pkg.core helper@pkg.core alias@pkg.core one@pkg.core two@pkg.core B@pkg.core C@pkg.core D@pkg.core E@pkg.core F@pkg.core new@pkg.core K@pkg.core y@old G@pkg.core Alias@pkg.core Listed@pkg.core",
			absent: "A@pkg.core os@pkg.core old@pkg.core z@pkg.core z@old x@pkg.core other@pkg.core why@pkg.core", changed: "old",
		},
		{
			name: "python class", path: "m.py",
			old:    "class C:\n    def f(self): pass\n",
			new:    "class C:\n    red = 1\n    size: int\n    def __init__(self, a, *args, b=None, **kw):\n        self.x = self.y = 1\n        self.z: int = 2\n        local = 1\n        if self.w == 1: pass\n    def f(self, q): pass\n    @property\n    def prop(self) -> int:\n        '''self.no = 1'''\n        return 1\nC.late = 1\n",
			added:  "red@C size@C size@C.__init__ __init__@C a@C a@__init__ a@C.__init__ b@C args@C kw@C x@C y@C z@C q@f q@C.f prop@C late@C",
			absent: "local@C w@C no@C f@C self@f", changed: "C.f f",
		},
		{
			name: "python new module", path: "src/pkg/sub/__init__.py", new: "",
			added: "pkg.sub@ sub@pkg",
		},
		{
			name: "python odd text", path: "m.py",
			old: "", new: "s = \"\"\"\nclass No: pass\n\"\"\"\nd = {\n'a': 1,\n}\n\tif x: pass\nt = 'it\\'s # no'  # def no(): pass\ndef f(a='x, y', b=(1, 2), *, c: 'int, str' = 3): pass\nlong = 1 + \\\n    2\r\nafter = 1\n",
			added: "s@m d@m t@m f@m a@f b@f c@f long@m after@m", absent: "No@m no@m y@f",
		},
		{
			name: "other languages", path: "a.ts", old: "export function old() { return 1 }", new: "export function old() { return fresh() }\nexport const fresh = () => 2",
			added: "fresh@ const@", absent: "old@",
		},
		{name: "a new module", path: "lib/fresh-one.js", new: "exports.a = 1", added: "fresh-one@ a@"},
		{name: "a new directory's module", path: "lib/fresh/index.ts", new: "export {}", added: "fresh@", absent: "index@"},
		{name: "not a new module", path: "lib/same.js", old: "x", new: "y", added: "y@", absent: "same@"},
	} {
		t.Run(c.name, func(t *testing.T) {
			old := []byte(c.old)
			if c.old == "" {
				old = nil
			}
			n := DeclaredNames(c.path, old, []byte(c.new))
			got := flat(n)
			for want := range strings.FieldsSeq(c.added) {
				if !slices.Contains(got, want) {
					t.Errorf("%s is not added; got %q", want, got)
				}
			}
			for unwanted := range strings.FieldsSeq(c.absent) {
				if slices.Contains(got, unwanted) {
					t.Errorf("%s is added", unwanted)
				}
			}
			want := strings.Fields(c.changed)
			slices.Sort(want)
			if changed := slices.Sorted(maps.Keys(n.Changed)); fmt.Sprint(changed) != fmt.Sprint(want) {
				t.Errorf("changed %q, want %q", changed, want)
			}
		})
	}
}

func TestMergeKnowsMoves(t *testing.T) {
	from := DeclaredNames("p/a.go", []byte("package p\nfunc F() {}\nfunc G() {}\n"), []byte("package p\nfunc G() {}\n"))
	to := DeclaredNames("p/b.go", []byte("package p\n"), []byte("package p\nfunc F() {}\nfunc H() {}\n"))
	elsewhere := DeclaredNames("q/b.go", []byte("package p\n"), []byte("package p\nfunc F2() {}\n"))
	var n Names
	for _, part := range []Names{to, from, elsewhere} {
		n.Merge(part)
	}
	if got := flat(n); fmt.Sprint(got) != "[F2@p H@p]" {
		t.Errorf("got %q: F only moved inside its package", got)
	}
}
