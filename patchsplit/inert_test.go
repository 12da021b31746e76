package patchsplit

import "testing"

func TestInert(t *testing.T) {
	for _, c := range []struct {
		name, path, old, new string
		want                 bool
	}{
		{"a Go comment", "a.go", "package a\n\n// F is old.\nfunc F() {}\n", "package a\n\n// F is new.\nfunc F() {\n}\n", true},
		{"Go code", "a.go", "package a\nvar x = 1\n", "package a\nvar x = 2\n", false},
		{"a Go string", "a.go", "package a\nvar x = \"// a\"\n", "package a\nvar x = \"// b\"\n", false},
		{"a Go directive", "a.go", "//go:build linux\n\npackage a\n", "//go:build darwin\n\npackage a\n", false},
		{"cgo", "a.go", "package a\n// int f();\nimport \"C\"\n", "package a\n// int g();\nimport \"C\"\n", false},
		{"broken Go", "a.go", "package a\nvar x = '\n", "package a\nvar x = '\n", false},
		{"a Python comment", "a.py", "def f():\n    return 1  # one\n", "# f\ndef f():\n    return 1\n", true},
		{"a Python docstring", "a.py", "def f():\n    \"\"\"Old.\"\"\"\n    return 1\n", "def f():\n    \"\"\"New\n    words.\"\"\"\n    return 1\n", true},
		{"a doctest", "a.py", "def f():\n    \"\"\"\n    >>> f()\n    1\n    \"\"\"\n", "def f():\n    \"\"\"\n    >>> f()\n    2\n    \"\"\"\n", false},
		{"Python indentation", "a.py", "if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n", false},
		{"a Python string", "a.py", "x = 'a'\n", "x = 'b'\n", false},
		{"a string that looks like a comment", "a.py", "x = '# a'\n", "x = '# b'\n", false},
		{"an overload", "a.py", "def f(a):\n    return a\n", "import typing as t\n\n\n@t.overload\ndef f(\n    a: int,\n) -> int: ...\n@t.overload\ndef f(a: str) -> str:\n    ...\ndef f(a):\n    return a\n", true},
		{"an overload of a library that dispatches to it", "a.py", "@overload\ndef f(a: int):\n    return 1\n", "@overload\ndef f(a: int):\n    return 2\n", false},
		{"a docstring that the program reads", "a.py", "\"\"\"Usage: a [--force]\"\"\"\nmain(__doc__)\n", "\"\"\"Usage: a [--now]\"\"\"\nmain(__doc__)\n", false},
		{"a TYPE_CHECKING block", "a.py", "x = 1\n", "if TYPE_CHECKING:\n    from a import b\nx = 1\n", true},
		{"an annotation that a framework may read", "a.py", "def f(a): pass\n", "def f(a: int): pass\n", false},
		{"code behind an overload", "a.py", "x = 1\n", "@overload\ndef f(a): ...\nx = 2\n", false},
		{"code behind a carriage return in a comment", "a.py", "x = 1\n# a\n", "x = 1\n# a\rx = 2\n", false},
		{"Windows line ends", "a.py", "x = 1\n", "# a\r\nx = 1\r\n", true},
		{"an encoding that reads comments as code", "a.py", "x = 1\n", "# coding: utf-7\n# +AAo-x = 2\nx = 1\n", false},
		{"the usual encoding", "a.py", "x = 1\n", "# -*- coding: utf-8 -*-\nx = 1\n", true},
		{"code behind a string inside a string", "a.py", "x = f\"{d[\"#\"]}\" + a\n", "x = f\"{d[\"#\"]}\" + b\n", false},
		{"an import from typing", "a.py", "def f(a):\n    return a\n", "from typing import Any\n\n\ndef f(a):\n    return a\n", true},
		{"an import from typing that takes a name", "a.py", "def f(a):\n    return a\nf(1)\n", "from typing import (\n    cast as f,\n)\ndef f(a):\n    return a\nf(1)\n", false},
		{"an import from typing that a program misses", "a.py", "from collections.abc import Mapping\nisinstance(a, Mapping)\n", "isinstance(a, Mapping)\n", false},
		{"an import whose name a program reads moves where only type checkers go", "a.py", "from typing import Any\nx: Any = 1\n", "if TYPE_CHECKING:\n    from typing import Any\nx: Any = 1\n", false},
		{"a stub", "a.pyi", "x: int\n", "x: str\n", true},
		{"another language", "a.js", "// a\n", "// b\n", false},
	} {
		if got := Inert(c.path, []byte(c.old), []byte(c.new)); got != c.want {
			t.Errorf("%s: Inert is %v", c.name, got)
		}
	}
	if Inert("a.go", nil, []byte("package a\n")) || Inert("a.py", []byte(""), nil) {
		t.Error("a new or deleted file is not inert")
	}
}
