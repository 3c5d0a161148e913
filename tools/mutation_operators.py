"""The small faults that tools/mutate.py injects: each changes one expression or statement of a file."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

KERNEL_DECORATORS = {"kernel", "inner", "steady", "steady_inner"}


@dataclass(frozen=True)
class Fault:
    """One mutation of one place of a file."""

    file: str
    """Path in the repository."""
    line: int
    """First line of the mutated code, from 1."""
    column: int
    """Its first byte in that line, from 0."""
    end_line: int
    end_column: int
    operator: str
    """Name of the mutation in OPERATORS."""
    was: str
    """The code that is replaced."""
    became: str
    """What stands there instead."""
    compiled: bool = False
    """Whether the line belongs to a compiled kernel."""

    def applied(self, source: str) -> str:
        """Return the source of the file with the fault in it."""
        lines = source.encode().splitlines(keepends=True)
        first, last = lines[self.line - 1], lines[self.end_line - 1]
        changed = first[: self.column] + self.became.encode() + last[self.end_column :]
        return b"".join([*lines[: self.line - 1], changed, *lines[self.end_line :]]).decode()

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.operator}: {self.was!r} becomes {self.became!r}"


Mutations = Iterator[tuple[ast.AST, ast.AST]]
"""Pairs of the node that is replaced and the node that replaces it."""

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitXor: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
"""``|`` is left out: it is mostly the union of types."""
TWINS = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
    "argmin": "argmax", "argmax": "argmin", "ceil": "floor", "floor": "ceil", "zeros": "ones", "ones": "zeros",
}  # fmt: skip


def comparisons(node: ast.AST) -> Mutations:
    """Replace a comparison by its neighbour or its opposite."""
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            operators = [*node.ops[:i], COMPARISONS[type(operator)](), *node.ops[i + 1 :]]
            yield node, ast.Compare(node.left, operators, node.comparators)


def arithmetic(node: ast.AST) -> Mutations:
    """Replace an arithmetic operator by another."""
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not is_text(node.left):
        yield node, ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
    if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield node, ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value)


def conditions(node: ast.AST) -> Mutations:
    """Negate a condition, or exchange ``and`` and ``or``."""
    if isinstance(node, (ast.If, ast.IfExp, ast.While)) or (isinstance(node, ast.comprehension) and node.ifs):
        test = node.ifs[0] if isinstance(node, ast.comprehension) else node.test
        yield test, test.operand if is_not(test) else ast.UnaryOp(ast.Not(), test)
    if isinstance(node, ast.BoolOp):
        yield node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        for i in range(len(node.values)):
            rest = [*node.values[:i], *node.values[i + 1 :]]
            yield node, rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def constants(node: ast.AST) -> Mutations:
    """Change a number by one, or double it; exchange True and False."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield node, ast.Constant(not node.value)
        elif isinstance(node.value, int):
            yield node, ast.Constant(node.value + 1)
            if node.value > 0:
                yield node, ast.Constant(node.value - 1)
        elif isinstance(node.value, float):
            yield node, ast.Constant(2 * node.value if node.value else 1.0)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node, node.operand


def twins(node: ast.AST) -> Mutations:
    """Call a function's opposite: the largest for the smallest, all for any."""
    if isinstance(node, ast.Name) and node.id in TWINS:
        yield node, ast.Name(TWINS[node.id], ast.Load())
    if isinstance(node, ast.Attribute) and node.attr in TWINS:
        yield node, ast.Attribute(node.value, TWINS[node.attr], ast.Load())


def statements(node: ast.AST) -> Mutations:
    """Leave out a statement that has an effect, or leave a loop in the other way."""
    if (isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await))) or isinstance(
        node, (ast.AugAssign, ast.Delete, ast.Raise)
    ):
        yield node, ast.Pass()
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Attribute, ast.Subscript)):
        yield node, ast.Pass()
    if isinstance(node, ast.Continue):
        yield node, ast.Break()
    if isinstance(node, ast.Break):
        yield node, ast.Continue()


def calls(node: ast.AST) -> Mutations:
    """Leave out an argument that is given by name, exchange the first two, or pass on what ``sorted`` was to sort."""
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg is not None:
                yield node, ast.Call(node.func, node.args, [other for other in node.keywords if other is not keyword])
        if len(node.args) >= 2 and not any(isinstance(arg, ast.Starred) for arg in node.args[:2]):
            yield node, ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)
        if isinstance(node.func, ast.Name) and node.func.id in {"sorted", "abs", "reversed"} and node.args:
            yield node, node.args[0]


def slices(node: ast.AST) -> Mutations:
    """Leave out one end of a slice."""
    if isinstance(node, ast.Slice):
        if node.lower is not None:
            yield node, ast.Slice(None, node.upper, node.step)
        if node.upper is not None:
            yield node, ast.Slice(node.lower, None, node.step)


OPERATORS: dict[str, Callable[[ast.AST], Mutations]] = {
    operator.__name__: operator
    for operator in (comparisons, arithmetic, conditions, constants, twins, statements, calls, slices)
}


def segment(lines: list[bytes], line: int, column: int, end_line: int, end_column: int) -> str:
    """Return the source between two places; lines count from 1, columns are bytes from 0."""
    if line == end_line:
        return lines[line - 1][column:end_column].decode()
    inner = lines[line : end_line - 1]
    return b"".join([lines[line - 1][column:], *inner, lines[end_line - 1][:end_column]]).decode()


def is_not(node: ast.AST) -> bool:
    """Return whether an expression is a negation."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def is_text(node: ast.AST) -> bool:
    """Return whether an expression is plainly text, which has no difference and no quotient."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def mutable_nodes(tree: ast.Module) -> Iterator[tuple[ast.AST, bool]]:
    """Yield the nodes that may be mutated, each with whether it is in a compiled kernel.

    Left out: annotations, decorators, what is for type checkers alone, and messages of errors.
    """

    def walk(node: ast.AST, compiled: bool) -> Iterator[tuple[ast.AST, bool]]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = {getattr(d.func if isinstance(d, ast.Call) else d, "id", "") for d in node.decorator_list}
            compiled = compiled or bool(names & KERNEL_DECORATORS)
            children: list[ast.AST] = [*node.args.defaults, *(d for d in node.args.kw_defaults if d), *node.body]
        elif isinstance(node, ast.ClassDef):
            children = list(node.body)
        elif isinstance(node, ast.AnnAssign):
            children = [node.value] if node.value else []
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            children = list(node.orelse)
            yield from (pair for child in children for pair in walk(child, compiled))
            return
        elif isinstance(node, (ast.Raise, ast.JoinedStr)):
            children = []
        else:
            children = list(ast.iter_child_nodes(node))
        yield node, compiled
        for child in children:
            yield from walk(child, compiled)

    yield from walk(tree, False)


def faults_by_line(file: str, source: str) -> dict[int, list[Fault]]:
    """Return every fault that the operators can inject into a file, by the line on which it begins."""
    found: dict[int, list[Fault]] = defaultdict(list)
    lines = source.encode().splitlines(keepends=True)  # ast.get_source_segment splits them again for every node
    for node, compiled in mutable_nodes(ast.parse(source)):
        for name, operator in OPERATORS.items():
            for old, new in operator(node):
                became = ast.unparse(ast.fix_missing_locations(new))
                if not isinstance(old, (ast.stmt, ast.Slice, ast.Constant, ast.Name, ast.Attribute, ast.Call)):
                    became = f"({became})"
                place = (old.lineno, old.col_offset, old.end_lineno, old.end_col_offset)
                was = segment(lines, *place)
                found[old.lineno].append(Fault(file, *place, name, was, became, compiled))
    return found
