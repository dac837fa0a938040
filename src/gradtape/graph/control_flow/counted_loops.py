"""Detects counted loops: `while i < n: ...; i += 1` has a known trip count.

Such a loop needs no condition. Where its body reads row `i` of a tensor, the loop can scan the rows; where it writes
row `i` of one, the loop can emit the rows.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ...core import errors
from ...core.tensor import Tensor
from ...engine.run.namespace import ops
from ..ir.graph import Graph, Node, Value, maker
from ..passes.rewriting import Uses


class RoundLimit(threading.local):
    """A limit on the iterations of a loop and its nested loops together, for programs not trusted to terminate.

    Every thread that runs the program counts its own iterations.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._left = 0
        self._depth = 0  # nesting depth of the running iterations

    def counted(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap `run`, one iteration of a loop that starts now, so that it counts toward the limit."""
        if not self._depth:
            self._left = self.most

        def run_round(*given: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise errors.ResourceExhaustedError(
                    f"a loop goes round more than {self.most} times, the limit for a program from a file. If the file "
                    "is to be trusted, load it with a larger max_rounds"
                )
            self._depth += 1
            try:
                return run(*given)
            finally:
                self._depth -= 1

        return run_round


class Rounds(NamedTuple):
    """How a loop's inputs are divided, and its trip count: `count`, else the scanned rows or the condition decide."""

    carried: int
    scanned: int
    count: int | None = None  # type: ignore[assignment]  # a tuple has a method of this name
    reverse: bool = False
    limit: RoundLimit | None = None  # for a loop loaded from a file

    def divided(self, inputs: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """Split the inputs into carried, scanned and fixed ones."""
        middle = self.carried + self.scanned
        return inputs[: self.carried], inputs[self.carried : middle], inputs[middle:]

    def limited(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap `run`, one iteration, so that it raises once the limit is exceeded."""
        return run if self.limit is None else self.limit.counted(run)


Staged = tuple[list[Tensor], "Rounds", Graph]  # the inputs of a loop, their division, and its body


class Put(NamedTuple):
    """A carried tensor whose rows the body wrote one per iteration, from row `start`; the loop now emits the rows."""

    at: int  # its index among the carried inputs
    before: Tensor
    start: int

    def after(self, rows: Tensor) -> Tensor:
        """Returns the tensor's value after the loop."""
        end = self.start + rows.dims[0]
        if self.start == 0 and end == self.before.dims[0]:
            return rows
        return ops.concat(self.before[: self.start], rows, self.before[end:], axis=0)


def counted(inputs: list[Tensor], rounds: Rounds, body: Graph, test: Graph) -> tuple[Staged, list[Put]] | None:
    """Convert the loop to one with a known trip count and no condition; None if it is not a counted loop."""
    counter = _counter(test, rounds.carried)
    if counter is None or type(inputs[counter[0]]) is not Tensor:
        return None
    at, limit = counter
    step = _step(body, at)
    if step is None or step <= 0:
        return None
    start = inputs[at].array.item()
    count = max(0, math.ceil((limit - start) / step))
    rounds = rounds._replace(count=count)
    if step != 1:
        return (inputs, rounds, body), []
    staged = _handed_rows(inputs, rounds, body, at) if start == 0 else (inputs, rounds, body)
    return _emitting_rows(*staged, at, start)


def put_back(outputs: Sequence[Tensor], carried: int, puts: list[Put]) -> tuple[list[Tensor], list[Tensor]]:
    """Returns the carried and the emitted outputs, with each `Put` rebuilt from its rows, which are emitted last."""
    split = len(outputs) - len(puts)
    whole = list(outputs[:carried])
    for put, rows in zip(puts, outputs[split:], strict=True):
        whole.insert(put.at, put.after(rows))
    return whole, list(outputs[carried:split])


def _counter(test: Graph, carried: int) -> tuple[int, int] | None:
    """Returns the carried index and the constant of a condition `x < n`, or None."""
    node = maker(test.nodes, test.outputs[0])
    if node is None or node.op.name != "less" or any(n.effect for n in test.nodes):
        return None
    x, limit = node.inputs
    if limit.constant is None or limit.shape or not x.dtype.is_integer or x not in test.inputs[:carried]:
        return None
    return test.inputs.index(x), limit.constant.item()


def _step(body: Graph, at: int) -> int | None:
    """Returns the constant by which the body increments the counter, or None."""
    node = maker(body.nodes, body.outputs[at])
    if node is None or node.op.name != "add":
        return None
    x, step = node.inputs
    return step.constant.item() if x is body.inputs[at] and step.constant is not None and not step.shape else None


def _takes_row(node: Node) -> bool:
    along = (node.attrs.get("axis", 0), node.attrs.get("batch", 0))
    return node.op.name in ("gather_rows", "gather") and along == (0, 0)


def _is_row_number(body: Graph, value: Value, counter: Value) -> bool:
    """Whether a value equals a non-negative counter: the counter itself, or `where(i < 0, i + n, i)`."""
    if value is counter:
        return True
    node = maker(body.nodes, value)
    if node is None or node.op.name != "where" or node.inputs[2] is not counter:
        return False
    test = maker(body.nodes, node.inputs[0])
    if test is None or test.op.name != "less" or test.inputs[0] is not counter:
        return False
    zero = test.inputs[1].constant
    return zero is not None and not zero.any()


def _handed_rows(inputs: list[Tensor], rounds: Rounds, body: Graph, counter: int) -> Staged:
    """Replace `x[counter]` by a scanned row, where `x` is fixed and has one row per iteration."""
    first = rounds.carried + rounds.scanned
    i = body.inputs[counter]
    rows: dict[Value, Value] = {}
    found: dict[Value, Value] = {}
    nodes = []
    for node in body.nodes:
        node = node.on(found)
        if _takes_row(node) and _is_row_number(body, node.inputs[1], i):
            x = node.inputs[0]
            if x in body.inputs[first:] and x.shape[0] == rounds.count:
                found[node.outputs[0]] = rows.setdefault(x, Value(x.shape[1:], x.dtype))
                continue
        nodes.append(node)
    if not rows:
        return inputs, rounds, body
    further = (*body.inputs[:first], *rows.values(), *body.inputs[first:])
    changed = replace(body.substituted(nodes, found), inputs=further)
    of = dict(zip(body.inputs, inputs, strict=True))
    given = [*inputs[:first], *(of[x] for x in rows), *inputs[first:]]
    return _narrowed(given, rounds._replace(scanned=rounds.scanned + len(rows)), changed)


def _narrowed(inputs: list[Tensor], rounds: Rounds, body: Graph) -> Staged:
    """Remove the scanned and fixed inputs that the body does not use."""
    used = Uses(body).count
    keep = [k < rounds.carried or used[v] > 0 for k, v in enumerate(body.inputs)]
    scanned = sum(keep[rounds.carried : rounds.carried + rounds.scanned])
    body = replace(body, inputs=tuple(v for v, k in zip(body.inputs, keep, strict=True) if k))
    return [x for x, k in zip(inputs, keep, strict=True) if k], rounds._replace(scanned=scanned), body


def _emitting_rows(
    inputs: list[Tensor], rounds: Rounds, body: Graph, counter: int, start: int
) -> tuple[Staged, list[Put]]:
    """Replace `x = put_row(x, counter, row)` by an emitted row, where `x` is carried and not read otherwise."""
    i = body.inputs[counter]
    used = Uses(body).count
    puts: list[Put] = []
    rows: list[Value] = []
    for at, x in enumerate(body.inputs[: rounds.carried]):
        node = maker(body.nodes, body.outputs[at])
        if node is None or node.op.name != "put_row" or node.inputs[:2] != (x, i):
            continue
        fits = 0 <= start <= x.shape[0] - (rounds.count or 0)
        if fits and used[x] == used[node.outputs[0]] == 1:
            puts.append(Put(at, inputs[at], start))
            rows.append(node.inputs[2])
    gone = {put.at for put in puts}
    if not gone:
        return (inputs, rounds, body), []
    made = {body.outputs[at] for at in gone}
    changed = replace(
        body,
        inputs=tuple(v for at, v in enumerate(body.inputs) if at not in gone),
        nodes=tuple(node for node in body.nodes if made.isdisjoint(node.outputs)),
        outputs=(*(v for at, v in enumerate(body.outputs) if at not in gone), *rows),
    )
    kept = [x for at, x in enumerate(inputs) if at not in gone]
    return (kept, rounds._replace(carried=rounds.carried - len(gone)), changed), puts
