"""The repository that pytest runs in: paths, test code, and loaded files.

Standard library only; Python 3.7 and later.
"""

import fnmatch
import hashlib
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def _settings():
    with open(os.path.join(HERE, "settings.json"), encoding="utf-8") as file:
        return json.load(file)


def _above(start, below):
    for part in below.split("/"):
        if part not in ("", "."):
            start = os.path.dirname(start)
    return start


# dir, rows (None selects all), subjects, tests, patterns
settings = _settings()
# pytest is started in settings["dir"] of the work tree.
ROOT = _above(os.getcwd(), settings["dir"])
REAL_ROOT = os.path.realpath(ROOT)

_relative = {}


def reach_sources():
    """Lets a src directory that nobody installed be imported from.

    It goes to the end of the path: an installed package, whatever it is, is found
    before it.
    """
    sources = os.path.join(os.getcwd(), "src")
    if os.path.isdir(sources) and not os.path.exists(os.path.join(sources, "__init__.py")) and sources not in sys.path:
        sys.path.append(sources)


def relative(path):
    """A path below the work tree, with slashes; None outside of it.

    A link inside the tree keeps its own name: it is the one that was asked for.
    """
    path = str(path)
    if path not in _relative:
        _relative[path] = _below(os.path.abspath(path)) or _below(os.path.realpath(path))
    return _relative[path]


def _below(path):
    for root in (ROOT, REAL_ROOT):
        if path.startswith(root + os.sep):
            return path[len(root) + 1 :].replace(os.sep, "/")
    return None


INSTALLED = re.compile(r"(^|/)(site-packages|dist-packages)/|^(\.venv|venv|env|\.tox|\.nox)/")


def own(path):
    """Like relative, but None for what is installed inside the tree."""
    rel = relative(path) if os.path.isabs(str(path)) else None
    return None if rel is None or INSTALLED.search(rel) else rel


TEST_DIR = re.compile(r"(^|[_-])(tests?|testing|testsuite)($|[_-])")


def _test_roots():
    """Directories above the run's test files that are named as holding tests.

    A directory of that name elsewhere (numpy/testing) is production code.
    """
    roots = set()
    for unit in settings["tests"]:
        parts = unit.split("/")[:-1]
        roots.update("/".join(parts[: i + 1]) + "/" for i, part in enumerate(parts) if TEST_DIR.search(part))
    return tuple(sorted(roots))


_roots = _test_roots()


def is_test_code(rel):
    """Whether a file of the tree belongs to the tests rather than to what they test."""
    base = rel.rsplit("/", 1)[-1]
    return (
        rel in settings["tests"]
        or base == "conftest.py"
        or rel.startswith(_roots or "\0")
        or any(fnmatch.fnmatch(rel if "/" in p else base, "*" + p if "/" in p else p) for p in settings["patterns"])
    )


def loaded():
    """For each changed production file: which file this process loaded for it."""
    return [entry for entry in map(_loaded_for, settings["subjects"] or ()) if entry]


def _loaded_for(subject):
    stray = None
    for name, plausible in module_names(subject):
        file = getattr(sys.modules.get(name), "__file__", None)
        if not isinstance(file, str):
            continue
        in_tree = relative(file) == subject
        entry = {"subject": subject, "file": os.path.realpath(file), "sha256": _sha256(file), "in_tree": in_tree}
        if in_tree:
            return entry
        if plausible and not _standard(file):
            stray = stray or entry
    return stray


def _standard(file):
    return not INSTALLED.search(file) and os.path.realpath(file).startswith(os.path.realpath(os.path.dirname(os.__file__)) + os.sep)


def _sha256(file):
    try:
        with open(file, "rb") as source:
            return hashlib.sha256(source.read()).hexdigest()
    except OSError:
        return ""


NOT_IMPORTED = {"setup", "conftest", "noxfile", "tasks", "manage", "conf", "fabfile"}


def module_names(subject):
    """The dotted names under which a file may be imported, the likeliest first.

    Each with whether another file of that name would be loaded *in its place*:
    so only when the name starts where packages are imported from. A bundled
    copy (vendor/requests) is not replaced by the installed one.
    """
    if not subject.endswith(".py"):
        return []
    parts = subject[:-3].split("/")
    package = parts[-1] == "__init__"
    if package:
        parts.pop()
    if not parts:
        return []
    top = len(parts) - 1
    while top > 0 and os.path.exists(os.path.join(ROOT, *(parts[:top] + ["__init__.py"]))):
        top -= 1
    names = []
    for start in range(top, -1, -1):
        name = ".".join(parts[start:])
        if all(part.isidentifier() for part in parts[start:]):
            names.append((name, name not in NOT_IMPORTED and _import_root(parts[:start], start == top)))
    return names


def _import_root(parts, nearest):
    if not nearest:
        return False
    directory = os.path.join(ROOT, *parts)
    return (
        "/".join(parts) in ("", settings["dir"])
        or parts[-1] in ("src", "lib", "python")
        or any(os.path.exists(os.path.join(directory, name)) for name in ("pyproject.toml", "setup.py", "setup.cfg"))
    )
