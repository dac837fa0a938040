"""Loops that are written with a test but count: `while i < n: ...; i += 1` goes round a known number of times.

Such a loop needs no test, and where its body takes row `i` of a tensor it can be handed the rows one by one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..tensor import Tensor
from .graph import Graph, Node, Value


class Rounds(NamedTuple):
    """How a loop's inputs are divided, and how often it goes round: `count` times, or until its test fails."""

    carried: int
    scanned: int
    count: int | None = None  # type: ignore[assignment]  # a tuple has a method of this name
    reverse: bool = False

    def divided(self, inputs: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """The inputs carried, scanned and fixed."""
        middle = self.carried + self.scanned
        return inputs[: self.carried], inputs[self.carried : middle], inputs[middle:]


Staged = tuple[list[Tensor], "Rounds", Graph]  # what a loop is run on, and its body


def counted(inputs: list[Tensor], rounds: Rounds, body: Graph, test: Graph) -> Staged | None:
    """The loop as one that goes round a known number of times, without its test; None if it is not one."""
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
    return _handed_rows(inputs, rounds, body, at) if (start, step) == (0, 1) else (inputs, rounds, body)


def _made(graph: Graph, value: Value) -> Node | None:
    return next((node for node in graph.nodes if value in node.outputs), None)


def _counter(test: Graph, carried: int) -> tuple[int, int] | None:
    """Which carried value the test compares with which constant: `x < n`."""
    node = _made(test, test.outputs[0])
    if node is None or node.op.name != "less" or any(n.effect for n in test.nodes):
        return None
    x, limit = node.inputs
    if limit.constant is None or limit.shape or not x.dtype.is_integer or x not in test.inputs[:carried]:
        return None
    return test.inputs.index(x), limit.constant.item()


def _step(body: Graph, at: int) -> int | None:
    """By how much the body moves the counter on."""
    node = _made(body, body.outputs[at])
    if node is None or node.op.name != "add":
        return None
    x, step = node.inputs
    return step.constant.item() if x is body.inputs[at] and step.constant is not None and not step.shape else None


def _handed_rows(inputs: list[Tensor], rounds: Rounds, body: Graph, counter: int) -> Staged:
    """With `gather_rows(x, counter)` a row that the body is handed, where x is fixed and has one for each round."""
    first = rounds.carried + rounds.scanned
    i = body.inputs[counter]
    rows: dict[Value, Value] = {}
    found: dict[Value, Value] = {}
    nodes = []
    for node in body.nodes:
        node = node._replace(inputs=tuple(found.get(v, v) for v in node.inputs))
        if node.op.name == "gather_rows" and node.inputs[1] is i:
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
    kept = rounds._replace(scanned=rounds.scanned + len(rows))
    used = {v for node in changed.nodes for v in node.inputs} | set(changed.outputs)
    keep = [k < first + len(rows) or v in used for k, v in enumerate(changed.inputs)]
    narrowed = replace(changed, inputs=tuple(v for v, k in zip(changed.inputs, keep, strict=True) if k))
    return [x for x, k in zip(given, keep, strict=True) if k], kept, narrowed
