"""Follows a value through the names of a program, in its syntax tree: whether one line may use what another computed.

A value that NumPy or Python computes has no tracer. The analysis ignores the order of statements and what functions do
with their arguments; where it knows too little, such as across functions, it answers that the value may be used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...core.protocols import Line
from .messages import syntax_tree

_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module


def may_flow(start: Line | None, end: Line | None) -> bool:
    """Whether the statement in line `end` may use a value that the statement in line `start` computes."""
    tree = None if start is None or end is None or start[0] != end[0] else syntax_tree(start[0])
    if tree is None or start is None or end is None:
        return True
    (scope, first), (other, last) = _statement(tree, start[1]), _statement(tree, end[1])
    if first is None or last is None or first is last or scope is not other:
        return True
    # A call such as `tf.print(x.numpy())` does not change a module.
    modules = {alias.asname or alias.name for alias in ast.walk(tree) if isinstance(alias, ast.alias)}
    flows = [(_loaded(each), _stored(each) - modules) for each in _statements(scope)]
    found = _stored(first) - modules
    while True:
        more = set().union(*(stored for loaded, stored in flows if not found.isdisjoint(loaded))) - found
        if not more:
            return not found.isdisjoint(_loaded(last))
        found |= more


def _statement(tree: ast.Module, line: int) -> tuple[_SCOPES, ast.stmt | None]:
    """Returns the innermost statement on a line, and the function, class or module that it belongs to."""
    scope: _SCOPES = tree
    found: ast.stmt | None = None
    inside = [each for each in ast.walk(tree) if isinstance(each, ast.stmt)]
    inside = [each for each in inside if each.lineno <= line <= (each.end_lineno or 0)]
    for each in sorted(inside, key=lambda each: (each.lineno, -(each.end_lineno or 0))):  # the outermost first
        if isinstance(each, _SCOPES):
            scope, found = each, None
        else:
            found = each
    return scope, found


def _statements(scope: ast.AST) -> Iterator[ast.stmt]:
    """Yields the statements of a function or module, without those of the functions and classes in it."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, _SCOPES):
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from _statements(child)


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes of a statement, without those of the statements in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield child
            yield from _expressions(child)


def _loaded(statement: ast.stmt) -> set[str]:
    """Returns the names that a statement reads; `x += …` reads `x`."""
    names = [node for node in _expressions(statement) if isinstance(node, ast.Name)]
    target = {_root(statement.target)} if isinstance(statement, ast.AugAssign) else set()
    return {node.id for node in names if isinstance(node.ctx, ast.Load)} | target


def _stored(statement: ast.stmt) -> set[str]:
    """Returns the names that a statement binds or whose objects it changes: `x = …`, `x[i] = …`, `x.append(…)`."""
    found = {
        _root(node)
        for node in _expressions(statement)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
    }
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        found.add(_root(call.func))
    return found - {""}


def _root(node: ast.expr) -> str:
    """Returns the first name of an expression such as `x.y[i]`; empty if it does not begin with one."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
