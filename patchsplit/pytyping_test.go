package patchsplit

import "testing"

func TestAnnotationsOnly(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		want           bool
	}{
		{"parameters and results", "def f(a, b=1, *args, c=None, **kw):\n    return a\n", "def f(a: int, b: int = 1, *args: str, c: dict[str, int] | None = None, **kw: object) -> int:\n    return a\n", true},
		{"other annotations", "async def f(a: int) -> str:\n    pass\n", "async def f(a: str) -> bytes:\n    pass\n", true},
		{"a future import", "def f(a): pass\n", "from __future__ import annotations\n\n\ndef f(a: Later): pass\n", true},
		{"over several lines", "def f(a, b):\n    pass\n", "def f(\n    a: int,\n    b: Callable[[int], str],\n) -> None:\n    pass\n", true},
		{"another default", "def f(a=1): pass\n", "def f(a: int = 2): pass\n", false},
		{"a default that is a lambda", "def f(a=lambda: 1): pass\n", "def f(a=lambda: 2): pass\n", false},
		{"another parameter", "def f(a): pass\n", "def f(a, b: int): pass\n", false},
		{"another body", "def f(a): return a\n", "def f(a: int): return -a\n", false},
		{"another string as default", "def f(a='x'): pass\n", "def f(a: str = 'y'): pass\n", false},
		{"a call in an annotation", "def f(a: Dep(x)): pass\n", "def f(a: Dep(y)): pass\n", false},
		{"a call in an annotation that is a string", "def f(a: 'Dep(x)'): pass\n", "def f(a: 'Dep(y)'): pass\n", false},
		{"what Annotated hands to a framework", "def f(a: Annotated[str, x]): pass\n", "def f(a: Annotated[str, y]): pass\n", false},
		{"annotations beside a default that calls", "def f(a=g(1)): pass\n", "def f(a: int = g(1)) -> str: pass\n", true},
		{"a body on the same line", "def f(a): return g(a) if a else {(1): 2}\n", "def f(a): return h(a) if a else {(1): 2}\n", false},
		{"a field of a class", "class A:\n    x = 1\n", "class A:\n    x: int = 1\n", false},
		{"the name in a cast", "import typing as t\n\n\ndef f(a):\n    return t.cast('t.Union[A, B]', a)\n", "import typing as t\n\n\ndef f(a):\n    return t.cast('A | B', a)\n", true},
		{"the name in an imported cast", "from typing import Any, cast\nx = cast('A', y)\n", "from typing import Any, cast\nx = cast('B', y)\n", true},
		{"another cast than typing's", "from sql import cast\nx = cast('A', y)\n", "from sql import cast\nx = cast('B', y)\n", false},
		{"a method called cast", "from typing import cast\nx = frame[y].cast('A', cast(B, y))\n", "from typing import cast\nx = frame[y].cast('C', cast(B, y))\n", false},
		{"a method of what is called", "from typing import cast\nx = column(y).cast('A', z)\n", "from typing import cast\nx = column(y).cast('C', z)\n", false},
		{"another string beside a cast", "import typing as t\nx = t.cast('A', f('x'))\n", "import typing as t\nx = t.cast('A', f('y'))\n", false},
		{"a decorator", "def f(a): pass\n", "@cache\ndef f(a: int): pass\n", false},
	} {
		if got := AnnotationsOnly("a.py", []byte(c.old), []byte(c.new)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
