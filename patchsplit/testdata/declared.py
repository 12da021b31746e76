"""Print what Python's own parser says that files declare, as JSON lines.

One line a file: its path and a list of [owner, name], where "" stands for the
module, for functions, classes, assignments, attributes of self and parameters.
"""
import ast
import json
import sys


def targets(node):
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        for part in ast.walk(target):
            if isinstance(part, ast.Subscript):
                break
            yield part


def visit(node, owner, inside, self_name, found):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if inside != "function":
                found.append([owner, child.name])
            names = [a.arg for a in child.args.posonlyargs + child.args.args + child.args.kwonlyargs]
            first = names[0] if inside == "class" and names else None
            for name in names[1:] if first else names:
                found.append([child.name, name])
            visit(child, owner if inside == "class" else "", "function", first, found)
        elif isinstance(child, ast.ClassDef):
            if inside != "function":
                found.append([owner, child.name])
            visit(child, child.name, "class", None, found)
        elif isinstance(child, (ast.Assign, ast.AnnAssign)):
            for part in targets(child):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and inside != "function":
                    found.append([owner, part.id])
                elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and isinstance(part.value, ast.Name) and self_name and part.value.id == self_name:
                    found.append([owner, part.attr])
        elif isinstance(child, (ast.Import, ast.ImportFrom)) and inside != "function":
            for alias in child.names:
                if alias.name != "*":
                    dotted = isinstance(child, ast.Import)
                    found.append([owner, alias.asname or (alias.name.split(".")[0] if dotted else alias.name)])
        elif not isinstance(child, (ast.Lambda, ast.expr)):
            visit(child, owner, inside, self_name, found)


for path in sys.argv[1:]:
    with open(path, "rb") as source:
        tree = ast.parse(source.read())
    found = []
    visit(tree, "", "module", None, found)
    print(json.dumps({"path": path, "names": found}))
