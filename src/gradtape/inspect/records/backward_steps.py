"""Runs the backward sweep of a reading record by record: the cotangents, and what each record adds to its inputs'.

Cotangents are forgotten as soon as no later step needs them, so that memory stays that of a sweep.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...engine.registry.cotangents import materialize
from ...engine.run import dispatch
from ...engine.run.namespace import raw
from ...engine.tape.backprop import SparseCotangents, joined, sweep
from .reading import Reading, as_array


class BackwardStep(NamedTuple):
    """The step of one position: its cotangent, and the cotangent that its record passes to each position it read.

    The cotangent is None if nothing flows back to the position. `passed` is empty for leaves and for further outputs
    of an op, whose record takes its step at the first output; it has no entry for inputs that are not on the path.
    """

    position: int
    cotangent: Any
    passed: dict[int, Any]


def backward_steps(reading: Reading) -> Iterator[BackwardStep]:
    """Yields a step for each position of the path, from the target back."""
    log, m, on_path = reading.log, reading.namespace, set(reading.path)
    grads = SparseCotangents({at: g.array if m is raw else g for at, g in reading.seeds.items()})
    for at in reversed(reading.path):
        record = reading.records[at]
        own = grads[at]
        if _is_cotangent(own):
            own = grads[at] = _run(materialize, m, own)
        inputs = {p for p in record[1] if p in on_path} if type(record) is tuple else ()
        before = {p: grads.pop(p, None) for p in inputs}
        _run(_sweep_one, log, grads, on_path, m, at)
        passed = {}
        for p, earlier in before.items():
            g = grads[p]
            if g is not None and earlier is not None:
                g = _run(materialize, m, g)
                grads[p] = _run(joined, m, earlier, g, p, set())
            elif g is None and earlier is not None:
                grads[p] = earlier
            elif g is not None:
                g = grads[p] = _run(materialize, m, g)
            passed[p] = None if g is None else as_array(g)
        yield BackwardStep(at, as_array(own) if _is_cotangent(own) else None, passed)
        if type(record) is tuple:
            for output in range(at, at + len(record[3] or (None,))):
                grads.pop(output, None)


def _sweep_one(log: Any, grads: SparseCotangents, on_path: set[int], m: Any, at: int) -> None:
    sweep(log, grads, on_path, m=m, order=(at,), need=on_path, release=False, hooks={})


def _is_cotangent(g: Any) -> bool:
    """Whether this is a cotangent; the sweep marks a record that only its further outputs have reached."""
    return g is not None and type(g) is not object


def _run(function: Any, *args: Any) -> Any:
    """Calls a function outside of all tapes; not a block around the `yield`, which would leave the caller there."""
    with dispatch.recorded_by(()):
        return function(*args)
