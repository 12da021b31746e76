"""Lets the functions of the tree tell by themselves that they are called.

CPython 3.11 only: after every place where it is entered (RESUME: the begin, and
behind each yield and await) a code object gets the like of

    if not mark: mark()

mark is a constant of its own, a list that is empty until the function was called.
A function that was met costs two instructions more, where a trace function costs a
call. Nothing else of it changes: names, lines, positions, exceptions, flags. What
is written to .pyc files is what the compiler made.

Code that a program makes by other ways than imports has no marks.
"""

import operator
import sys
import types

POSSIBLE = sys.implementation.name == "cpython" and sys.version_info[:2] == (3, 11)


class Mark(list):
    """Whether a function was called in the present context. Called, it says so."""

    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    met = None  # what to do: met(mark, frame)

    def __call__(self):
        self.append(True)
        Mark.met(self, sys._getframe(1))

    def __reduce_ex__(self, protocol):  # a function that is pickled by value says nothing where it is read
        return operator.attrgetter, ("__class__",)


def marked(code):
    return bool(code.co_consts) and type(code.co_consts[-1]) is Mark


# --- putting marks into code ------------------------------------------------------

if POSSIBLE:
    import opcode

    OP = opcode.opmap
    RESUME, EXTENDED = OP["RESUME"], OP["EXTENDED_ARG"]
    JUMPS = frozenset(opcode.hasjrel)
    BACKWARD = frozenset(op for name, op in OP.items() if op in JUMPS and "BACKWARD" in name)
    CACHES = opcode._inline_cache_entries


def mark(code):
    """The code with marks in it and in all code within; itself where it has them."""
    if marked(code):
        return code
    consts = tuple(mark(c) if type(c) is types.CodeType else c for c in code.co_consts)
    text = code.co_code
    inserted = _prologue(len(consts))
    entered = [at // 2 + 1 for at in range(0, len(text), 2) if text[at] == RESUME]  # units after which it goes
    if not entered:
        return code.replace(co_consts=consts)
    return _rebuilt(code, text, entered, inserted).replace(co_consts=consts + (Mark(),), co_stacksize=code.co_stacksize + 3)


def _load(const):
    unit = bytes([OP["LOAD_CONST"], const & 0xFF])
    while const > 0xFF:
        const >>= 8
        unit = bytes([EXTENDED, const & 0xFF]) + unit
    return unit


def _prologue(const):
    load = _load(const)
    call = bytes([OP["PUSH_NULL"], 0]) + load
    for name in ("PRECALL", "CALL"):
        call += bytes([OP[name], 0]) + bytes(2 * CACHES[OP[name]])
    call += bytes([OP["POP_TOP"], 0])
    return load + bytes([OP["POP_JUMP_FORWARD_IF_TRUE"], len(call) // 2]) + call


class _Places:
    """Where the units of some code come to stand. In front of those in entered go
    length units, which a jump to one of them skips. prefix counts the
    EXTENDED_ARGs that an instruction needs more; a jump to it goes to them."""

    def __init__(self, size, entered, length):
        self.size, self.entered, self.length = size, set(entered), length
        self.prefix = {}
        self.place()

    def place(self):
        self.start, self.at, moved = [], [], 0  # by unit: with its prefix, without
        for unit in range(self.size + 1):
            if unit in self.entered:
                moved += self.length
            self.start.append(unit + moved)
            moved += self.prefix.get(unit, 0)
            self.at.append(unit + moved)


def _jumps(text):
    """(unit, first unit with its EXTENDED_ARGs, op, target unit) of every jump."""
    unit, arg, first = 0, 0, None
    while unit < len(text) // 2:
        op = text[2 * unit]
        arg = arg << 8 | text[2 * unit + 1]
        if op == EXTENDED:
            first = unit if first is None else first
            unit += 1
            continue
        after = unit + 1 + CACHES[op]
        if op in JUMPS:
            yield unit, unit if first is None else first, op, after - arg if op in BACKWARD else after + arg
        unit, arg, first = after, 0, None


def _rebuilt(code, text, entered, inserted):
    placed = _Places(len(text) // 2, entered, len(inserted) // 2)
    written = _written(list(_jumps(text)), placed) if len(entered) > 1 else {}  # no jump goes over the begin
    out, done = [], 0
    for stop in sorted(placed.entered | set(written)):
        out.append(text[2 * done : 2 * stop])
        done = max(done, stop)
        if stop in placed.entered:
            out.append(inserted)
        if stop in written:
            unit, new = written[stop]
            out.append(new)
            done = unit + 1
    out.append(text[2 * done :])
    return code.replace(co_code=b"".join(out), co_linetable=_lines(code.co_linetable, placed), co_exceptiontable=_exceptions(code.co_exceptiontable, placed))


def _written(jumps, placed):
    """The jumps with their new distances, which may need room that makes others
    longer: first unit -> last unit, bytes."""
    args, settled = {}, False
    while not settled:
        settled = True
        for unit, first, op, target in jumps:
            after = placed.at[unit] + 1 + CACHES[op]
            arg = args[first] = after - placed.start[target] if op in BACKWARD else placed.start[target] - after
            more = (max(arg.bit_length(), 1) - 1) // 8 - (unit - first)
            if more > placed.prefix.get(first, 0):
                placed.prefix[first], settled = more, False
        placed.place()
    written = {}
    for unit, first, op, _ in jumps:
        arg, count = args[first], unit - first + placed.prefix.get(first, 0)
        written[first] = unit, b"".join(bytes([EXTENDED, arg >> 8 * i & 0xFF]) for i in range(count, 0, -1)) + bytes([op, arg & 0xFF])
    return written


def _lines(table, placed):
    """The table of positions: what is put in has those of what stands before it."""
    grown = {unit - 1: placed.length for unit in placed.entered}
    for unit, more in placed.prefix.items():
        grown[unit] = grown.get(unit, 0) + more
    out, at, unit = bytearray(), 0, 0
    while at < len(table):
        end = at + 1
        while end < len(table) and not table[end] & 0x80:
            end += 1
        length = (table[at] & 7) + 1
        out += table[at:end]
        more = sum(grown.get(u, 0) for u in range(unit, unit + length))
        while more > 0:
            out += _same(table[at:end], min(more, 8))
            more -= 8
        at, unit = end, unit + length
    return bytes(out)


def _same(entry, length):
    """An entry of the same position as one before it, for length units."""
    kind, rest = entry[0] >> 3 & 15, entry[1:]
    if 10 <= kind <= 12:  # 0 to 2 lines further
        kind = 10
    elif kind in (13, 14):  # a number of lines further, as a signed varint
        stop = 0
        while rest[stop] & 0x40:
            stop += 1
        rest = b"\0" + rest[stop + 1 :]
    return bytes([0x80 | kind << 3 | length - 1]) + rest


def _exceptions(table, placed):
    numbers, value, fresh = [], 0, True
    for byte in table:
        value = (0 if fresh else value << 6) | byte & 0x3F
        fresh = not byte & 0x40
        if fresh:
            numbers.append(value)
    out = bytearray()
    for i in range(0, len(numbers), 4):
        start, length, target, depth = numbers[i : i + 4]
        begin, end = placed.start[start], placed.start[start + length]
        for j, number in enumerate((begin, end - begin, placed.start[target], depth)):
            septets = [number & 0x3F]
            while number > 0x3F:
                number >>= 6
                septets.append(number & 0x3F | 0x40)
            septets.reverse()
            if j == 0:
                septets[0] |= 0x80
            out += bytes(septets)
    return bytes(out)


# --- where code comes from --------------------------------------------------------


def install(ours):
    """From now on marks what is imported and holds ours(code)."""
    import importlib._bootstrap_external as loaders
    from _pytest.assertion import rewrite

    own_code = loaders.SourceLoader.get_code
    plain = {}  # id of marked code -> it, what the compiler made

    def given(code):
        if type(code) is not types.CodeType or not ours(code):
            return code
        new = mark(code)
        plain[id(new)] = new, code
        return new

    def get_code(self, fullname):
        code = own_code(self, fullname)
        return mark(code) if type(code) is types.CodeType and ours(code) else code

    loaders.SourceLoader.get_code = get_code
    read, rewritten, write = rewrite._read_pyc, rewrite._rewrite_test, rewrite._write_pyc

    def read_marked(*args, **kwargs):
        return given(read(*args, **kwargs))

    def rewrite_marked(*args, **kwargs):
        stat, code = rewritten(*args, **kwargs)
        return stat, given(code)

    def write_plain(*args, **kwargs):
        return write(*(plain.pop(id(a), (a, a))[1] for a in args), **kwargs)

    rewrite._read_pyc, rewrite._rewrite_test, rewrite._write_pyc = read_marked, rewrite_marked, write_plain
