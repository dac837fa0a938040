"""The cell magic `%%tape`: runs a notebook cell under a tape and explains the gradients of its result.

`record_cell` does the work and knows nothing of IPython; `load` registers the magic with a shell.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core import nest
from ...core.tensor import Tensor
from ...core.tracebacks import at_boundary
from ...engine.registry.cotangents import materialize
from ...engine.run.namespace import ops
from ...engine.tape.validation import is_watchable, native
from ...inspect.causes.reasons import Reason
from ...inspect.costs.overview import Overview, overview
from ...inspect.records.html import render_list, render_table
from ...inspect.records.tables import Printable, Table
from ..tape import GradientTape


@dataclass(frozen=True)
class SourceGradient:
    """The shape and the norm of the gradient for one source, or None for both; and why it is what it is."""

    shape: tuple[int, ...] | None
    norm: float | None
    reason: Reason


@dataclass(frozen=True, repr=False)
class RecordedCell(Printable):
    """What a cell has recorded, and the gradients of its target; holds no tensor, as notebooks keep what they show.

    Without a target there are no gradients, and `remark` says what to do.
    """

    title: str
    gradients: list[SourceGradient]
    overview: Overview
    remark: str = ""

    def tables(self) -> list[Table]:
        """Returns the gradients with the reasons of missing ones, then the recorded ops."""
        gradients = self._gradients()
        gradients.notes = [*map(str, self.missing), *gradients.notes]
        return [gradients, *self.overview.tables()]

    @property
    def missing(self) -> list[Reason]:
        """Why gradients are None: a reason for each source without one."""
        return [g.reason for g in self.gradients if g.norm is None]

    def _repr_html_(self) -> str:
        """Returns what notebooks show."""
        reasons = render_list(list(map(str, self.missing))) if self.missing else ""
        return render_table(self._gradients()) + reasons + "".join(map(render_table, self.overview.tables()))

    def _gradients(self) -> Table:
        notes = [self.remark] if self.remark else []
        table = Table(self.title, ["source", "shape", ">gradient norm"], notes=notes)
        for g in self.gradients:
            shape, norm = "" if g.shape is None else str(list(g.shape)), "None" if g.norm is None else f"{g.norm:.3g}"
            table.rows.append([g.reason.source.strip("`"), shape, norm])
        return table


def record_cell(
    source: str, namespace: dict[str, Any], target: str = "", sources: Sequence[str] = (), file: str = "<cell>"
) -> RecordedCell:
    """Runs a cell under a traced, persistent tape, which the cell knows as `tape`, and explains the gradients.

    Args:
      source: the cell's program.
      namespace: the variables of the notebook, which the program reads and changes.
      target: the expression to differentiate. Defaults to the value of the last line: an expression, or an assignment.
      sources: the expressions to differentiate by. Defaults to the variables and watched tensors that the cell reads.
      file: the file name under which Python knows the program.

    >>> names = {"tf": tf, "w": tf.Variable(3.0), "b": tf.Variable(1.0)}
    >>> found = record_cell("loss = w**2 + tf.stop_gradient(b)", names)
    >>> [(g.reason.source, g.norm) for g in found.gradients]
    [('`w`', 6.0), ('`b`', None)]
    >>> found.missing[0].cause.value
    'stop_gradient'
    """
    tree = ast.parse(source, file)
    last = tree.body[-1] if tree.body else None
    value: Any = None
    tape = namespace["tape"] = GradientTape(persistent=True, trace=True)
    with tape:
        if not target and isinstance(last, ast.Expr):
            exec(compile(ast.Module(tree.body[:-1], []), file, "exec"), namespace)
            value = eval(compile(ast.Expression(last.value), file, "eval"), namespace)
        else:
            exec(compile(tree, file, "exec"), namespace)
            target = target or _last_name(last)
            value = eval(compile(target, file, "eval"), namespace) if target else None
    name = f"`{target}`" if target else "The last expression"
    seen = overview(tape)
    if not _is_differentiable(value):
        remark = f"{name} is of type {type(value).__name__}, and not a floating-point tensor"
        remark = f"{remark if target or value is not None else 'The last line has no value'}. Name one: %%tape loss"
        return RecordedCell("The cell has no target", [], seen, remark)
    asked_for = [x for each in sources for x in _leaves(eval(each, namespace))]
    flat = list({id(native(x)): x for x in asked_for or _used(tree, namespace, tape)}.values())  # each once
    # The names of the sources are those of the notebook: `explain` takes them from the code that calls it.
    asked = {"_tape": tape, "_target": value, "_sources": flat}
    reasons = eval(compile("_tape.explain(_target, _sources)", file, "eval"), namespace, asked).reasons
    found = [_measured(g, reason) for g, reason in zip(tape.gradient(value, flat), reasons, strict=True)]
    norms = [g.norm for g in found if g.norm is not None]
    remark = "" if found else "The cell reads no variable and watches no tensor. Name the sources: %%tape loss x"
    if not np.all(np.isfinite(norms)):
        remark = "Some gradients are not finite: tape.diagnose() says where that began."
    title = f"{name} = {_value_text(value)}: {len(norms)} of {len(found)} sources have a gradient"
    return RecordedCell(title, found, seen, remark)


def load(shell: Any) -> None:
    """Registers `%%tape` with an IPython shell."""

    @at_boundary
    def tape(line: str, cell: str) -> RecordedCell:
        """Runs the cell under a tape: `%%tape [TARGET [SOURCE ...]]`, expressions without spaces."""
        target, *sources = line.split() or [""]
        source = "\n" + shell.transform_cell(cell)  # after the line of the magic, as the notebook numbers lines
        file = shell.compile.cache(source, len(shell.history_manager.input_hist_parsed) - 1)  # the number of the cell
        return record_cell(source, shell.user_ns, target, sources, file)

    shell.register_magic_function(tape, "cell", "tape")


def _last_name(last: ast.stmt | None) -> str:
    """Returns the name that the last statement assigns; empty if it assigns none, or several."""
    targets = last.targets if isinstance(last, ast.Assign) else [getattr(last, "target", None)]
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _is_differentiable(value: Any) -> bool:
    flat = nest.flatten(value)
    return bool(flat) and all(is_watchable(x) and native(x).dtype.differentiable for x in flat)


def _used(tree: ast.Module, namespace: dict[str, Any], tape: GradientTape) -> Iterator[Any]:
    """Yields the variables and watched tensors that the cell names, then the variables that its functions read."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    names.sort(key=lambda node: (node.lineno, node.col_offset))
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    for name in dict.fromkeys(node.id for node in names):
        for leaf in _leaves(namespace.get(name)):
            if not isinstance(leaf, Tensor):
                yield leaf
            elif name not in stored and tape._required_log().position(leaf) is not None:
                yield leaf
    yield from tape.watched_variables()


def _leaves(value: Any) -> list[Any]:
    """Returns the variables and tensors of a structure, or the trainable variables of a model."""
    if not isinstance(value, type) and isinstance(owned := getattr(value, "trainable_variables", None), list | tuple):
        value = owned
    return [x for x in nest.flatten(value) if is_watchable(x)]


def _value_text(value: Any) -> str:
    """Returns a scalar as a number, and anything larger by its shape."""
    shapes = [tuple(native(x).dims) for x in nest.flatten(value)]
    return f"{float(value):.6g}" if shapes == [()] else ", ".join(f"tensor of shape {list(shape)}" for shape in shapes)


def _measured(gradient: Any, reason: Reason) -> SourceGradient:
    if gradient is None:
        return SourceGradient(None, None, reason)
    array = np.asarray(materialize(ops, gradient).numpy())
    return SourceGradient(array.shape, float(np.linalg.norm(array.astype(np.complex128).ravel())), reason)
