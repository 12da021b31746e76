"""Base's behaviour behind head's names: what head declares and base does not
stands in while the tests run, and raises a mark when it is used.

Nothing of head's is run: its sources are read as syntax. Functions and methods
mark when called, classes when an instance is made, everything else on any use.
A mark that a test swallows still counts, and so does a process of its own that a
test starts, in which nothing stands in.

Standard library only; Python 3.7 and later.
"""

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import re
import sys
import types

import touchstone_tree
from touchstone_tree import settings


class Reached(BaseException):
    """A stand-in was used."""


class State:
    """What was reached, as far as nobody has asked yet."""

    def __init__(self):
        self.name = ""
        self.tainted = ""  # something swallowed a mark: later results may come from it
        self.running = False  # a test is: whoever asks now, asks for it

    def take(self):
        name, self.name = self.name, ""
        return name


state = State()


def reached(name):
    state.name = state.name or name
    raise Reached("reached %s, which base does not have" % name)


def of(exc):
    """What a phase that raised an exception, or none, reached; "" for nothing."""
    marked = isinstance(exc, Reached)
    name = state.take() or state.tainted
    if name and not marked and name != OTHER:
        state.tainted = state.tainted or name
    if not name and (marked or isinstance(exc, TypeError) and "BaseException" in str(exc)):
        return "a name"  # marked before, in what many tests share; or caught or raised a stand-in
    return name


# --- what stands in -------------------------------------------------------------


def function(name):
    def stand_in(*args, **kwargs):
        reached(name + "()")

    stand_in.__name__ = stand_in.__qualname__ = name.rpartition(".")[2]
    return stand_in


class Value:
    """Anything but a function or a class. Every use of it marks."""

    __slots__ = ("_touchstone_name",)

    def __init__(self, name):
        object.__setattr__(self, "_touchstone_name", name)

    def __getattribute__(self, name):
        if not _framework_asks():
            reached(object.__getattribute__(self, "_touchstone_name"))
        if name == "__class__":
            return Value
        raise AttributeError(name)


def _framework_asks():
    """Whether pytest, which looks at every name of a test module, is the one who
    asks, and not the tests or what they test."""
    if state.running:
        return False
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if touchstone_tree.own(file) is not None and not FRAMEWORK.search(file):
            return False
        if FRAMEWORK.search(file):
            return True
        frame = frame.f_back
    return False


FRAMEWORK = re.compile(r"[/\\](_pytest|pluggy|hypothesis|xdist)[/\\]|[/\\](touchstone_\w+|pytest|unittest[/\\]mock)\.py$")
# What looking at a name does to it, and what it gets.
LOOKS = {"__repr__": lambda v: "<stand-in>", "__str__": lambda v: "<stand-in>", "__hash__": id, "__eq__": lambda a, b: a is b, "__ne__": lambda a, b: a is not b}


def _marking(operation):
    def method(self, *args):
        if operation in LOOKS and _framework_asks():
            return LOOKS[operation](self, *args)
        reached(object.__getattribute__(self, "_touchstone_name"))

    method.__name__ = operation
    return method


OPERATIONS = (
    "call str repr bytes format bool hash len iter next reversed contains getitem setitem delitem eq ne lt le gt ge add radd sub rsub mul rmul "
    "truediv rtruediv floordiv rfloordiv mod rmod pow rpow and rand or ror xor rxor lshift rshift neg pos abs invert int float index complex round "
    "enter exit await aiter anext fspath setattr delattr get set matmul rmatmul instancecheck subclasscheck"
)
for _name in OPERATIONS.split():
    setattr(Value, "__%s__" % _name, _marking("__%s__" % _name))


def new_class(name, node, namespace):
    """A class of that name, with those bases that base has, of which nobody can
    make an instance."""

    def __new__(cls, *args, **kwargs):
        reached(name + "()")

    bases = tuple(_resolve(b, namespace) for b in node.bases)
    try:
        made = types.new_class(name, bases, {}, lambda body: body.update(__new__=__new__, __module__=namespace.get("__name__", "")))
    except Exception:  # a base that base does not have, or one with rules of its own
        return Value(name)
    members(made, node, name)
    return made


def _resolve(node, namespace):
    if isinstance(node, ast.Name):
        builtins = namespace.get("__builtins__", {})
        builtins = builtins if isinstance(builtins, dict) else vars(builtins)
        return namespace.get(node.id, builtins.get(node.id))
    if isinstance(node, ast.Attribute):
        return getattr(_resolve(node.value, namespace), node.attr, None)
    return None


FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def members(owner, node, name):
    """Adds to a class what head's class of that name has beyond it."""
    for inner, child in declared(node.body):
        if inner.startswith("__") or hasattr(owner, inner):
            continue
        full = name + "." + inner
        static = isinstance(child, FUNCTION) and any(getattr(d, "id", "") in ("staticmethod", "classmethod") for d in child.decorator_list)
        plain = isinstance(child, FUNCTION) and not child.decorator_list
        try:
            setattr(owner, inner, staticmethod(function(full)) if static else function(full) if plain else Value(full))
        except Exception:
            continue  # a class that takes no attributes: its users miss the name


def declared(body):
    """(name, node) of what a body declares, also under if, try and with."""
    for node in body:
        if isinstance(node, FUNCTION + (ast.ClassDef,)):
            yield node.name, node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                if alias.name != "*":
                    yield alias.asname or alias.name.partition(".")[0], node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        yield part.id, node
        else:
            for field in ("body", "orelse", "finalbody"):
                for found in declared(getattr(node, field, None) or ()):
                    yield found
            for handler in getattr(node, "handlers", ()):
                for found in declared(handler.body):
                    yield found


def complete(module, tree):
    """Adds to a module what head's source declares beyond it."""
    namespace = vars(module)
    for name, node in declared(tree.body):
        if name not in namespace and not (name.startswith("__") and name.endswith("__")):
            namespace[name] = made(name, node, module)
        elif isinstance(node, ast.ClassDef) and isinstance(namespace.get(name), type) and getattr(namespace[name], "__module__", "") == module.__name__:
            members(namespace[name], node, name)


def made(name, node, module):
    if isinstance(node, FUNCTION):
        return function(name) if not node.decorator_list else Value(name)
    if isinstance(node, ast.ClassDef):
        return new_class(name, node, vars(module))
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return _imported(name, node, module)
    return Value(name)


def _imported(name, node, module):
    """What head imports, where base has it too."""
    for alias in node.names:
        if (alias.asname or alias.name.partition(".")[0]) != name:
            continue
        try:
            if isinstance(node, ast.Import):
                found = importlib.import_module(alias.name)
                return found if alias.asname else sys.modules[name]
            origin = importlib.util.resolve_name("." * node.level + (node.module or ""), module.__package__ or "") if node.level else node.module
            return getattr(importlib.import_module(origin), alias.name)
        except Exception:
            return Value(name)
    return Value(name)


# --- modules --------------------------------------------------------------------


class Finder(importlib.abc.MetaPathFinder):
    """Completes base's modules as they are loaded, and makes those that only
    head has."""

    def __init__(self, trees):
        self.trees = trees  # dotted name -> (syntax, whether a package)
        self.busy = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.trees or name in self.busy:
            return None
        self.busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, AttributeError, ValueError):
            spec = None
        finally:
            self.busy.discard(name)
        tree, package = self.trees[name]
        if spec is None:
            return importlib.machinery.ModuleSpec(name, Empty(tree), is_package=package)
        if touchstone_tree.own(spec.origin or "") is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = Completing(spec.loader, tree)
        return spec


class Empty(importlib.abc.Loader):
    """Loads a module that only head has."""

    def __init__(self, tree):
        self.tree = tree

    def exec_module(self, module):
        complete(module, self.tree)


class Completing(importlib.abc.Loader):
    """Loads base's module, then adds what head's has beyond it."""

    def __init__(self, loader, tree):
        self.loader, self.tree = loader, tree

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        complete(module, self.tree)


def install():
    """Puts the stand-ins of settings["ahead"] (path -> head's source) in place."""
    trees = {}
    for path, source in settings["ahead"].items():
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for name, _ in touchstone_tree.module_names(path):
            trees[name] = tree, path.endswith("/__init__.py")
    sys.meta_path.insert(0, Finder(trees))
    for name, (tree, _) in trees.items():
        module = sys.modules.get(name)
        if module is not None and touchstone_tree.own(getattr(module, "__file__", None) or "") is not None:
            complete(module, tree)
    if hasattr(sys, "addaudithook"):
        sys.addaudithook(_watch)


OTHER = "another process"
PROCESSES = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn")


def _watch(event, args):
    if event in PROCESSES:
        state.name = state.name or OTHER


active = bool(settings.get("ahead"))
