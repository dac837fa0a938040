"""Finds code that did not run: a loop of zero iterations, or a branch not taken, that would have used a source.

There is no op for it: the syntax tree has the uses of the source's name, and a traced tape knows the lines that ran.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from typing import NamedTuple

from ...core.protocols import Line
from .messages import syntax_tree

_BLOCKS = ast.For | ast.While | ast.If | ast.AsyncFor
_NOT_READ = {"assign", "assign_add", "assign_sub", "shape", "dtype", "name", "trainable", "device", "ndim", "rank"}


# Functions that take functions and may not call them, and the explanation if they do not.
_CALLERS = {
    "cond": "calls it, and that branch was not taken",
    "case": "calls it, and that branch was not taken",
    "switch_case": "calls it, and that branch was not taken",
    "while_loop": "iterates, and it ran zero times",
    "map_fn": "receives elements, and it received none",
    "scan": "receives elements, and it received none",
    "foldl": "receives elements, and it received none",
    "foldr": "receives elements, and it received none",
}
_Block = tuple[ast.For | ast.While | ast.If | ast.AsyncFor | ast.Call, list[ast.stmt]]


class SkippedUse(NamedTuple):
    """A use of a name that did not run: its line, the statement that skipped it, and the condition to run it."""

    use: int
    line: Line
    condition: str


def find_skipped_use(
    name: str, asked_at: Line | None, ran: Container[tuple[str, int]], never_read: bool
) -> SkippedUse | None:
    """Finds the first use of `name`, in a tape's block or a function that ran, that a loop or branch skipped.

    `asked_at` is the line that computes the gradient, in whose file the name refers to the source; `ran` contains files
    and lines. If the source was `never_read` while the tape was recording, no function that reads it was called.
    """
    tree = None if asked_at is None else syntax_tree(asked_at[0])
    if tree is None or asked_at is None:
        return None
    file, _, function = asked_at
    for scope in ast.walk(tree):
        if not _is_recorded(scope, file, ran):
            continue
        for use, blocks in _uses(scope, name, (), tree):
            for block, body in blocks:
                lines = range(body[0].lineno, (body[-1].end_lineno or 0) + 1) if body else ()
                if (body or never_read) and not any((file, n) in ran for n in lines):
                    return SkippedUse(use.lineno, (file, block.lineno, function), _condition(block, body))
    return None


def _is_recorded(scope: ast.AST, file: str, ran: Container[tuple[str, int]]) -> bool:
    """Whether a node is the block of a tape, or a function with recorded lines."""
    if isinstance(scope, ast.With):
        return any("GradientTape" in ast.unparse(item.context_expr) for item in scope.items)
    if isinstance(scope, ast.FunctionDef):
        return any((file, n) in ran for n in range(scope.lineno, (scope.end_lineno or 0) + 1))
    return False


def _uses(
    node: ast.AST, name: str, blocks: tuple[_Block, ...], tree: ast.Module
) -> Iterator[tuple[ast.expr, tuple[_Block, ...]]]:
    """Yields the expressions that read `name`, each with the enclosing loops and branches, the outermost first."""
    if isinstance(node, ast.Attribute) and node.attr in _NOT_READ and ast.unparse(node.value) == name:
        return
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and ast.unparse(node) == name:
        yield node, blocks
        return
    inside: set[int] = set()
    if isinstance(node, _BLOCKS):
        for body in (node.body, node.orelse):
            inside.update(map(id, body))
            for statement in body:
                yield from _uses(statement, name, (*blocks, (node, body)), tree)
    elif isinstance(node, ast.Call) and _called_name(node) in _CALLERS:
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if isinstance(argument, ast.Lambda):
                inside.add(id(argument))
                yield from _uses(argument.body, name, (*blocks, (node, [])), tree)
            elif isinstance(argument, ast.Name):
                for each in ast.walk(tree):
                    if isinstance(each, ast.FunctionDef) and each.name == argument.id:
                        for statement in each.body:
                            yield from _uses(statement, name, (*blocks, (node, each.body)), tree)
    for child in ast.iter_child_nodes(node):
        if id(child) not in inside:
            yield from _uses(child, name, blocks, tree)


def _called_name(node: ast.Call) -> str:
    return ast.unparse(node.func).rpartition(".")[2]


def _condition(block: ast.For | ast.While | ast.If | ast.AsyncFor | ast.Call, body: list[ast.stmt]) -> str:
    if isinstance(block, ast.Call):
        return f"`{ast.unparse(block.func)}` in line {block.lineno} {_CALLERS[_called_name(block)]}"
    if isinstance(block, ast.If):
        taken = "true" if body is block.body else "false"
        return f"`{ast.unparse(block.test)}` in line {block.lineno} is {taken}, and that branch was not taken"
    if isinstance(block, ast.While):
        return f"the loop `while {ast.unparse(block.test)}` in line {block.lineno} runs, and it ran zero times"
    return f"the loop over `{ast.unparse(block.iter)}` in line {block.lineno} runs, and it ran zero times"
