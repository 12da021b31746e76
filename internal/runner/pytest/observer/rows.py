"""What pytest collected: ids that are the same on every state, and digests.

Standard library and, where there is one, pytest only; Python 3.7 and later.
"""

import ast
import dataclasses
import hashlib
import os
import re

try:
    import pytest
except ImportError:  # unittest's rows say themselves in which classes they are
    pytest = None

from touchstone_tree import relative

ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
MAX_REPR = 100000


def steady(text):
    """Text without memory addresses."""
    return ADDRESS.sub("0x_", text)


def digest(*texts):
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def path_of(item):
    return str(getattr(item, "path", None) or getattr(item, "fspath", ""))


# --- ids ------------------------------------------------------------------------

_ids = {}  # by item
_collected = {}  # path -> {(classes, function name)} of its tests


def number(items):
    """Give every collected item its id; later ones of the same name get #2, #3.

    Called before anything reorders or deselects items: the numbers follow the
    order of collection.
    """
    count = {}
    for item in items:
        name = _plain_id(item)
        count[name] = count.get(name, 0) + 1
        _ids[item] = name if count[name] == 1 else "%s#%d" % (name, count[name])
        _collected.setdefault(path_of(item), set()).add((_classes(item), _function_name(item)))


def id_of(item):
    return _ids.get(item) or _plain_id(item)


def _plain_id(item):
    file, sep, rest = item.nodeid.partition("::")
    return steady((relative(path_of(item)) or file) + sep + rest)


def _classes(item):
    if hasattr(item, "touchstone_classes"):
        return item.touchstone_classes
    return tuple(node.name for node in item.listchain() if isinstance(node, pytest.Class))


def _function_name(item):
    return getattr(item, "originalname", None) or item.name.partition("[")[0]


# --- sources --------------------------------------------------------------------

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


class Source:
    """One Python file as syntax: its functions by class and name."""

    _cache = {}

    def __init__(self, path):
        self.path = path
        self.functions = {}
        self.tree = None
        self._around = None
        try:
            with open(path, "rb") as file:
                self.tree = ast.parse(file.read())
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return
        self._index(self.tree, ())

    @classmethod
    def of(cls, path):
        if path not in cls._cache:
            cls._cache[path] = cls(path)
        return cls._cache[path]

    def _index(self, node, classes):
        for body in _bodies(node):
            for child in body:
                if isinstance(child, FUNCTION):
                    self.functions.setdefault((classes, child.name), []).append(child)
                elif isinstance(child, ast.ClassDef):
                    self._index(child, classes + (child.name,))
                else:
                    self._index(child, classes)

    def named(self, classes, name, line):
        """The definition of that name; of several the one at the line, else the last."""
        nodes = self.functions.get((classes, name), ())
        for node in nodes:
            if first_line(node) <= line <= (getattr(node, "end_lineno", None) or node.lineno):
                return node
        return nodes[-1] if nodes else None

    def at(self, name, line):
        """The function definition of that name that starts at the line, however nested."""
        for node in ast.walk(self.tree) if self.tree else ():
            if isinstance(node, FUNCTION) and node.name == name and first_line(node) <= line <= node.body[0].lineno:
                return node
        return None

    def around(self):
        """A digest of the file without its tests: what they share."""
        if self._around is None:
            self._around = self._strip() if self.tree else ""
        return self._around

    def _strip(self):
        tests = _collected.get(self.path, set())
        gone = {id(node) for key in tests for node in self.functions.get(key, ())}
        kept = []
        for node in ast.walk(self.tree):
            for body in _bodies(node):
                kept.append((body, list(body)))
                body[:] = [child for child in body if id(child) not in gone]
        text = ast.dump(self.tree)
        for body, whole in kept:
            body[:] = whole
        return digest(text)


def _bodies(node):
    """The statement lists directly inside a statement."""
    for field in ("body", "orelse", "finalbody"):
        body = getattr(node, field, None)
        if isinstance(body, list):
            yield body
    for handler in getattr(node, "handlers", ()):
        yield handler.body


def first_line(node):
    return min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])


def _bare(node):
    """A test's syntax without what hands it parameters: those are in the rows."""
    text = getattr(node, "touchstone_bare", None)
    if text is None:
        decorators = [ast.dump(d) for d in node.decorator_list if not _parametrizes(d)]
        text = node.touchstone_bare = digest(type(node).__name__, ast.dump(node.args), *(decorators + [ast.dump(s) for s in node.body]))
    return text


def _parametrizes(decorator):
    return isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute) and decorator.func.attr == "parametrize"


# --- parameters -----------------------------------------------------------------


def _parameters(item):
    """The row's own parameters and the marks that only this case has, as text."""
    spec = getattr(item, "callspec", None)
    if spec is None:
        return ""
    parts = ["%s=%s" % (name, _text(spec.params[name], str(spec.id))) for name in sorted(spec.params)]
    for mark in getattr(spec, "marks", ()):
        parts.append(_text((mark.name, mark.args, sorted(mark.kwargs.items())), mark.name))
    return "\0".join(parts)


def _text(value, otherwise):
    try:
        text = _canonical(value, 4)
    except Exception:  # a repr of the tests' own may do anything
        text = otherwise
    return steady(text if len(text) <= MAX_REPR else digest(text))


def _canonical(value, depth):
    """Like repr, but the same in every process: sets are in no order there."""
    if depth == 0 or isinstance(value, (str, bytes, int, float, type(None))):
        return repr(value)
    if type(value) in (set, frozenset):
        return "{%s}" % ",".join(sorted(_canonical(v, depth - 1) for v in value))
    if type(value) in (list, tuple):
        return "%s(%s)" % (type(value).__name__, ",".join(_canonical(v, depth - 1) for v in value))
    if type(value) is dict:
        return "{%s}" % ",".join("%s:%s" % (_canonical(k, depth - 1), _canonical(v, depth - 1)) for k, v in value.items())
    if hasattr(value, "__code__"):
        return "%s(%s)" % (getattr(value, "__qualname__", "function"), _code_text(value.__code__))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return "%s(%s)" % (type(value).__name__, ",".join("%s=%s" % (f.name, _canonical(getattr(value, f.name, None), depth - 1)) for f in dataclasses.fields(value)))
    text = repr(value)
    # A set somewhere inside a foreign repr: its words in no order.
    return " ".join(sorted(re.split(r"[\s,(){}\[\]]+", text))) if "{" in text else text


def _code_text(code):
    constants = [_code_text(c) if hasattr(c, "co_code") else _canonical(c, 2) for c in code.co_consts]
    return digest(code.co_code.hex(), repr(code.co_names), *constants)


# --- rows -----------------------------------------------------------------------


def describe(item):
    """Everything the reader keeps of a row, as plain data."""
    path = path_of(item)
    unit = relative(path) or item.nodeid.partition("::")[0]
    row = {"id": id_of(item), "node": item.nodeid, "unit": unit, "file": unit, "name": steady(item.name), "line": 0, "end": 0, "digest": "", "context": ""}
    if getattr(item, "function", None) is None:
        location = getattr(item, "location", None)
        row["line"] = (location[1] or 0) + 1 if location else 0
        row["digest"] = _foreign(item, path)
        return row
    row["context"] = Source.of(path).around()
    source, node = _locate(item, path)
    if node is None:  # made by other code: any change around it may be one of it
        row["digest"] = digest(row["context"], _parameters(item))
        return row
    made = node.name != _function_name(item)
    row["digest"] = digest(_bare(node), _parameters(item), row["context"] if made else "")
    where = relative(source.path)
    if where:
        row.update(file=where, line=first_line(node), end=getattr(node, "end_lineno", None) or node.lineno)
    return row


def _locate(item, path):
    """The syntax of an item's function: by its name in its own file, else where
    its code says it comes from (inherited or made elsewhere)."""
    code = _code(item)
    own = Source.of(path)
    line = code.co_firstlineno if code is not None and os.path.abspath(code.co_filename) == path else 0
    node = own.named(_classes(item), _function_name(item), line)
    if node is not None or code is None:
        return own, node
    source = Source.of(code.co_filename)
    return source, source.at(code.co_name, code.co_firstlineno)


def _code(item):
    function = item.function
    for _ in range(100):  # a mock has a __wrapped__ without end
        inner = getattr(function, "__func__", None) or getattr(function, "__wrapped__", None)
        if not callable(inner):
            break
        function = inner
    code = getattr(function, "__code__", None)
    return code if hasattr(code, "co_filename") else None


def _foreign(item, path):
    """A digest for what is no Python function: a doctest, or a whole data file."""
    doctest = getattr(item, "dtest", None)
    if doctest is not None and getattr(doctest, "docstring", None):
        return digest(doctest.docstring)
    try:
        with open(path, "rb") as file:
            return digest(hashlib.sha256(file.read()).hexdigest(), steady(item.name))
    except OSError:
        return ""
