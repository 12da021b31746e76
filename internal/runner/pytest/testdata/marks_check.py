"""Checks that marks change nothing of code but what they add.

usage: python3.11 marks_check.py MARKS FILE_OR_DIR...
Every code object of the sources is compared, instruction by instruction, with its
marked like: operations, what jumps lead to, positions, ranges of exceptions.
"""

import dis
import importlib.util
import os
import sys
import types

spec = importlib.util.spec_from_file_location("marks", sys.argv[1])
marks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(marks)


def instructions(code):
    """(name, argument, positions) of each, jumps by the number of what they lead
    to; exceptions as numbers too; how many marks there are."""
    mark = code.co_consts[-1] if marks.marked(code) else None
    found, at, begins, added = [], {}, None, 0
    listed = list(dis.get_instructions(code, show_caches=False))
    i = 0
    while i < len(listed):
        one = listed[i]
        if begins is None:
            begins = one.offset
        if one.opname == "EXTENDED_ARG":
            i += 1
            continue
        if mark is not None and one.opname == "LOAD_CONST" and one.argval is mark:
            names = []
            while one.opname != "POP_TOP":
                names += [one.opname] if one.opname != "EXTENDED_ARG" else []
                i += 1
                one = listed[i]
            assert names == ["LOAD_CONST", "POP_JUMP_FORWARD_IF_TRUE", "PUSH_NULL", "LOAD_CONST", "PRECALL", "CALL"], names
            added += 1
            begins, i = None, i + 1
            continue
        at[begins] = len(found)
        found.append(one)
        begins, i = None, i + 1
    ends = sorted(at)

    def to(offset):
        return at[offset] if offset in at else next((at[o] for o in ends if o >= offset), len(found))

    def what(one):
        if one.opcode in marks.JUMPS:
            assert one.argval in at, (code, one)
            return at[one.argval]
        if isinstance(one.argval, types.CodeType):
            return one.argval.co_name
        return one.argval if one.arg is not None and one.opcode in dis.hasconst else one.arg

    words = [(one.opname, what(one), tuple(one.positions or ())) for one in found]
    ranges = [(to(e.start), to(e.end), at[e.target], e.depth, e.lasti) for e in dis._parse_exception_table(code)]
    return words, ranges, added, sum(one.opname == "RESUME" for one in found)


def same(a, b):
    return a is b or type(a) is type(b) and (a == b or repr(a) == repr(b))


def compare(code, marked):
    assert code.co_consts == () or len(marked.co_consts) >= len(code.co_consts)
    before, after = instructions(code), instructions(marked)
    assert len(before[0]) == len(after[0]), code
    for x, y in zip(before[0], after[0]):
        assert x[0] == y[0] and same(x[1], y[1]) and x[2] == y[2], (code, x, y)
    assert before[1] == after[1], (code, before[1], after[1])
    assert after[2] == after[3] == before[3], (code, after[2:], before[2:])
    for name in ("co_name", "co_qualname", "co_flags", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount", "co_firstlineno", "co_filename"):
        assert getattr(code, name) == getattr(marked, name), (code, name)
    hash(marked)
    count = 1
    for x, y in zip(code.co_consts, marked.co_consts):
        if isinstance(x, types.CodeType):
            count += compare(x, y)
    return count


def main():
    count = 0
    for top in sys.argv[2:]:
        files = [top] if os.path.isfile(top) else [os.path.join(d, f) for d, _, names in os.walk(top) for f in names if f.endswith(".py")]
        for file in files:
            try:
                with open(file, "rb") as source:
                    code = compile(source.read(), file, "exec", dont_inherit=True)
            except (SyntaxError, ValueError, UnicodeError):
                continue
            count += compare(code, marks.mark(code))
    print(count)


main()
