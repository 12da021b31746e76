"""Print every small change of meaning of a Python file, as JSON lines.

usage: python3 mutate.py FILE
Each line: {"operator", "line", "start", "end", "text"}: bytes start..end of the
file become text. Not all of them compile. Documentation, annotations and what only type checkers read are left alone.
"""

import ast
import json
import sys

SWAPS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
    ast.And: "or", ast.Or: "and", ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "/", ast.Mod: "+",
}
SIGNS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
    ast.And: "and", ast.Or: "or", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
}


class Mutants(ast.NodeVisitor):
    def __init__(self, source):
        self.source = source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.tree = ast.parse(source)

    def begin(self, node):
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node):
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def put(self, operator, line, start, end, text):
        print(json.dumps({"operator": operator, "line": line, "start": start, "end": end, "text": text}))

    def replace(self, operator, node, text):
        self.put(operator, node.lineno, self.begin(node), self.end(node), text)

    def between(self, left, right, kind):
        """Swap the sign between two operands, where nothing else stands there."""
        start, end = self.end(left), self.begin(right)
        if kind in SWAPS and self.source[start:end].decode().strip() == SIGNS[kind]:
            self.put("operator", left.end_lineno, start, end, f" {SWAPS[kind]} ")

    def visit_Compare(self, node):
        if len(node.ops) == 1:
            self.between(node.left, node.comparators[0], type(node.ops[0]))
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        self.between(node.values[0], node.values[1], type(node.op))
        self.generic_visit(node)

    def visit_BinOp(self, node):
        self.between(node.left, node.right, type(node.op))
        self.generic_visit(node)

    def visit_Constant(self, node):
        if (text := other(node)) is not None:
            self.replace("constant", node, text)

    def visit_JoinedStr(self, node):
        pass

    def visit_If(self, node):
        if "TYPE_CHECKING" in ast.dump(node.test):
            return
        self.replace("condition", node.test, "not (" + ast.unparse(node.test) + ")")
        self.generic_visit(node)

    def visit_While(self, node):
        self.replace("condition", node.test, "not (" + ast.unparse(node.test) + ")")
        self.generic_visit(node)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Constant):
            return  # documentation
        self.replace("deletion", node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node):
        if not isinstance(node.value, ast.Constant):
            self.replace("deletion", node, "pass")
        self.visit(node.value)

    def visit_AugAssign(self, node):
        self.replace("deletion", node, "pass")
        self.visit(node.value)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_Return(self, node):
        if node.value is None:
            return
        self.replace("return", node.value, "0" if isinstance(node.value, ast.Constant) and node.value.value is None else "None")
        self.visit(node.value)

    def visit_FunctionDef(self, node):
        for default in node.args.defaults + [d for d in node.args.kw_defaults if d is not None]:
            if isinstance(default, ast.Constant):
                text = other(default)
                self.replace("default", default, "0" if text is None else text)
        for decorator in node.decorator_list:
            self.visit(decorator)
        if any("overload" in ast.dump(d) for d in node.decorator_list):
            return
        for statement in node.body:
            self.visit(statement)

    visit_AsyncFunctionDef = visit_FunctionDef


def other(constant):
    """Another constant of the same kind, None where there is none."""
    value = constant.value
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int):
        return str(value + 1)
    if isinstance(value, float):
        return repr(value + 1)
    if isinstance(value, str):
        return repr(value + "_") if value else '"_"'
    return None


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        mutants = Mutants(file.read())
    mutants.visit(mutants.tree)
