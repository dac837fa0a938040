"""Names ops and values in messages: as the user wrote them or, if that is unknown, by TensorFlow's name.

An instruction knows the columns of its expression, so `tf.round(x)` is read from the source, whatever op computes it.
Graph nodes only know their line; there the expression is searched for in the line's syntax tree.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from types import ModuleType
from typing import Any

from ...core.extension_points import public_names
from ...core.operators import ARITHMETIC, EQUALITIES, ORDERINGS
from ...core.protocols import Line
from ...core.tensor import Tensor
from ...core.tracebacks import CONVERTED
from ...engine.run.namespace import ops
from ...engine.run.source_lines import LineReference, line_at
from ...engine.tape.validation import native

Where = LineReference | Line | None
_LONGEST = 60  # characters quoted of an expression
_FEW = 2  # names that are listed in full
_UNNAMED = "a variable without a name"

_OPERATORS = {row.op: row.syntax for row in ARITHMETIC + ORDERINGS + EQUALITIES}


def phrase(op: Any, where: Where, short: bool = False) -> str:
    """Returns an op as the user wrote it, preceded by the op's name if the expression is not a TensorFlow call.

    The `short` form omits the arguments of a call.
    """
    named = public_names().public_name(op.name)
    text = expression(where, op)
    if text is None:
        return named
    if short:
        text = _drop_arguments(text)
    return f"`{text}`" if _is_tensorflow(text) else f"{named} in `{text}`"


def user_of(op: Any, where: Where) -> str:
    """Returns the expression that used a value, or the name of the op."""
    text = expression(where, op)
    return public_names().public_name(op.name) if text is None else f"`{text}`"


def line_of(where: Where) -> Line | None:
    """Resolves a reference to a source line."""
    return None if where is None else where if len(where) == 3 else line_at(where)


def expression(where: Where, op: Any = None) -> str | None:
    """Returns the program's expression at a location, shortened if it is long; None if it is unknown."""
    if where is None:
        return None
    text = _at_instruction(*where) if len(where) == 2 else None
    if text is None and (len(where) == 3 or CONVERTED in where[0].co_consts):  # the head of a statement has no columns
        line = line_of(where)
        assert line is not None
        text = _on_line(line[0], line[1], None if op is None else op.name)
    return None if text is None else _shorten(text)


def _at_instruction(code: Any, instruction: int) -> str | None:
    """Returns the source text that an instruction was compiled from."""
    position = next(islice(code.co_positions(), instruction // 2, None), None)
    if position is None or None in position:
        return None
    first, last, start, stop = position
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(first, last + 1)]
    if not all(lines):
        return None
    lines[-1] = lines[-1][:stop]
    lines[0] = lines[0][start:]
    text = " ".join(line.decode(errors="replace").strip() for line in lines)
    node = _parse_expression(text) if len(lines) > 1 else None
    return text if node is None else ast.unparse(node)


# Raised for text that is not Python, has null bytes or is nested too deeply: recordings may contain any text.
_NOT_PARSED = (SyntaxError, ValueError, RecursionError, MemoryError)


def _parse_expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except _NOT_PARSED:
        return None


@lru_cache(32)
def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except _NOT_PARSED:
        return None


def syntax_tree(file: str) -> ast.Module | None:
    """Returns the syntax tree of a source file, or None if it cannot be parsed."""
    return _tree("".join(linecache.getlines(file)))


@lru_cache(32)
def _expressions(source: str) -> list[ast.expr]:
    """Returns the expressions in a program."""
    tree = _tree(source)
    return [] if tree is None else [node for node in ast.walk(tree) if isinstance(node, ast.expr)]


def _on_line(file: str, number: int, op: str | None) -> str | None:
    """Returns the only expression on a line that can have run the op, or None."""
    source = "".join(linecache.getlines(file))
    here = [node for node in _expressions(source) if node.lineno <= number <= (node.end_lineno or 0)]
    found = [node for node in here if _runs(node, op)]
    if not found:
        # Perhaps a composite function such as tf.clip_by_value, or the call of a model, if there is only one.
        found = [node for node in here if isinstance(node, ast.Call) and not hasattr(ops, _called_name(node))]
    texts = {ast.get_source_segment(source, node) for node in found}
    return texts.pop() if len(texts) == 1 else None


def _runs(node: ast.expr, op: str | None) -> bool:
    """Whether an expression calls the op by one of its names, or is its operator."""
    if op is None:
        return False
    if isinstance(node, ast.Call):
        return _called_name(node) == op or _called_name(node) in public_names().names_of(op)
    operator = _OPERATORS.get(op)
    if operator is None:
        return False
    if isinstance(node, ast.Compare):
        return any(isinstance(each, operator) for each in node.ops)
    return isinstance(node, ast.BinOp) and isinstance(node.op, operator)


def _is_tensorflow(text: str) -> bool:
    """Whether an expression is a call of a public TensorFlow function, or an operator."""
    node = _parse_expression(text.replace("(…)", "()"))
    return node is not None and (not isinstance(node, ast.Call) or public_names().is_public(_called_name(node)))


def _called_name(node: ast.Call) -> str:
    """Returns the last component of the called name."""
    return ast.unparse(node.func).rpartition(".")[2]


def _shorten(text: str) -> str:
    """Shortens an expression so that it fits into a sentence."""
    if len(text) <= _LONGEST:
        return text
    node = _parse_expression(text)
    if isinstance(node, ast.Call) and len(called := ast.unparse(node.func)) < _LONGEST:
        return f"{called}(…)"
    return f"{text[:_LONGEST]}…"


def _drop_arguments(text: str) -> str:
    node = _parse_expression(text)
    return f"{ast.unparse(node.func)}(…)" if isinstance(node, ast.Call) and (node.args or node.keywords) else text


# `frame` below is the user's frame that calls `tape.gradient(target, sources)`.


def names_of_sources(sources: Sequence[Any], frame: Any) -> list[str]:
    """Returns the user's names of the sources: those of variables, otherwise the expressions in the calling code."""
    written: list[str] | None = None
    names = []
    for i, source in enumerate(sources):
        name = _path(source) or _local_name(source, frame) or _own_name(source)
        if name is None:
            if written is None:
                written = _source_expressions(frame, len(sources))
            name = written[i] if i < len(written) else _name_inside(source, frame) or f"source {i}"
        names.append(name)
    return names


def name_of_variable(variable: Any, frame: Any) -> str:
    """Returns the user's name of a variable."""
    name = _path(variable) or _local_name(variable, frame) or _own_name(variable) or _name_inside(variable, frame)
    return name or _UNNAMED


def quote_name(name: str) -> str:
    """Quotes a name that `name_of_variable` returned, unless it is a description."""
    return name if name == _UNNAMED else f"`{name}`"


def describe_variable(variable: Any) -> str:
    """Describes a variable by the name that its creator gave it, if there is one."""
    name = _own_name(variable)
    return "a variable" if name is None else f"the variable {name!r}"


def _name_inside(value: Any, frame: Any) -> str | None:
    """Returns the name of a value that is an attribute or item of a named object: `self.weight`."""
    for names in () if frame is None else (frame.f_locals, frame.f_globals):
        for name, holder in names.items():
            if name.startswith("_") or isinstance(holder, ModuleType | type):
                continue
            if isinstance(holder, list | tuple):
                inside = {f"[{i}]": each for i, each in enumerate(holder)}
            elif isinstance(holder, dict):
                inside = {f"[{key!r}]": each for key, each in holder.items()}
            else:
                inside = {f".{key}": each for key, each in getattr(holder, "__dict__", {}).items()}
            found = next((key for key, each in inside.items() if each is value), None)
            if found is not None:
                return f"{name}{found}"
    return None


def name_of_target(targets: Sequence[Any], frame: Any) -> str:
    """Returns the user's name of the target: its variable's name there, or the expression."""
    if len(targets) == 1 and (name := _local_name(targets[0], frame)) is not None:
        return f"`{name}`"
    call = _call_of(frame)
    argument = None if call is None else _argument(call, 0, "target")
    return "the target" if argument is None else f"`{_shorten(ast.unparse(argument))}`"


def _path(source: Any) -> str | None:
    """Returns the path of a Keras variable, which includes its layers."""
    path = getattr(source, "path", None) or getattr(native(source), "path", None)
    return path if isinstance(path, str) else None


def is_in_layer(variable: Any) -> bool:
    """Whether a variable belongs to Keras: a layer's weight or state."""
    return _path(variable) is not None


def _own_name(source: Any) -> str | None:
    name = None if isinstance(source, Tensor) else getattr(native(source), "name", None)
    return None if not name or name.startswith("Variable") else str(name).partition(":")[0]


def _local_name(value: Any, frame: Any) -> str | None:
    for names in () if frame is None else (frame.f_locals, frame.f_globals):
        for name, each in names.items():
            if each is value and not name.startswith("_"):
                return str(name)
    return None


def _call_of(frame: Any) -> ast.Call | None:
    """Returns the syntax tree of the call that a frame is executing."""
    text = None if frame is None else _at_instruction(frame.f_code, frame.f_lasti)
    node = None if text is None else _parse_expression(text)
    return node if isinstance(node, ast.Call) else None


def _argument(call: ast.Call, at: int, name: str) -> ast.expr | None:
    named = [keyword.value for keyword in call.keywords if keyword.arg == name]
    if named or not any(isinstance(part, ast.Starred) for part in call.args):
        return named[0] if named else call.args[at] if at < len(call.args) else None
    return None


def _source_expressions(frame: Any, count: int) -> list[str]:
    """Returns the sources as written in the call: the elements of a list display, or `list[i]`."""
    call = _call_of(frame)
    argument = None if call is None else _argument(call, 1, "sources")
    if argument is None:
        return []
    parts = list(_parts(argument))
    if len(parts) == count:
        return [ast.unparse(part) for part in parts]
    text = ast.unparse(argument)
    return [text] if count == 1 else [f"{text}[{i}]" for i in range(count)]


def locate_sources(frame: Any) -> tuple[str, Line | None, Line | None]:
    """Returns the sources as written in the call, its line, and the line of the last assignment to their name."""
    call = _call_of(frame)
    argument = None if call is None else _argument(call, 1, "sources")
    asked_at = None if frame is None else line_at((frame.f_code, frame.f_lasti))
    if argument is None or asked_at is None:
        return "the sources", asked_at, None
    text = ast.unparse(argument)
    tree = syntax_tree(asked_at[0]) if isinstance(argument, ast.Name | ast.Attribute) else None
    given = [
        node.lineno
        for node in (() if tree is None else ast.walk(tree))
        if isinstance(node, ast.Assign) and text in map(ast.unparse, node.targets) and node.lineno <= asked_at[1]
    ]
    return text, asked_at, (asked_at[0], max(given), asked_at[2]) if given else None


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.List | ast.Tuple):
        for part in node.elts:
            yield from _parts(part)
    elif isinstance(node, ast.Dict):
        for part in node.values:
            yield from _parts(part)
    else:
        yield node


def join_names(names: Sequence[str]) -> str:
    """Joins names in a sentence: up to two in full, otherwise the first and the number of others."""
    if len(names) > 1 and set(names) == {_UNNAMED}:
        return f"{len(names)} variables without names"
    if len(names) <= _FEW:
        return " and ".join(names)
    return f"{names[0]} and {len(names) - 1} more"
