"""Compiles reverse sweeps for tape structures that recur, as those of the steps of a training loop do.

A compiled sweep is straight-line Python code, generated once: each position's cotangent and residuals are local
variables, and what `backprop.sweep` decides for every record is decided at code generation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...backends.numpy.floating_point import REPORTS
from ..registry.cotangents import DEFERRED, PendingSum, materialize
from ..registry.devices import DeviceOps
from ..registry.op import Op, SingleInputRule
from ..run.namespace import Namespace, raw
from ..run.source_lines import RULES
from .backprop import between, inner_of, joined, joint_cotangents, of_all_outputs
from .log import Log

# How often a structure must occur first. Code generation takes as long as it saves in 100 to 300 sweeps, but a loop
# that has come this far usually continues.
_TIMES = 30
_LONGEST = 2048  # records
_MOST_KNOWN = 64  # structures

Sweep = Callable[[Log, list[Any], Any], dict[int, Any]]  # of a log, its residuals and the target's cotangent
_times: dict[Any, int] = {}  # by structure: how often it has occurred
_made: dict[Any, Sweep] = {}


def repeated_sweep(log: Log, target: int, wanted: set[int], m: Namespace | DeviceOps) -> Sweep | None:
    """Returns a compiled sweep from the target's cotangent to the `wanted` ones; it empties the list of residuals.

    It computes with bare arrays: `m` is `raw` or a device's namespace. Returns None if the structure has not occurred
    often enough, or if a wanted position is not a leaf.
    """
    if len(log.ops) > _LONGEST or type(log.saved) is not list:  # a subclass that fetches residuals on access
        return None
    parents = log.parents
    for i in wanted:
        if parents[i] is not None:
            return None
    structure = m, target, frozenset(wanted), tuple(log.ops), tuple(parents), tuple(log.multi_output)
    found = _made.get(structure)
    if found is not None:
        return found
    times = _times.get(structure, 0) + 1
    if times <= _TIMES:
        # Other ops belong to a single call of a function or of a user's rule, and must not be kept alive.
        if all(op is None or type(op) is SingleInputRule or type(op) is Op for op in log.ops):
            if len(_times) >= _MOST_KNOWN:
                _times.clear()
            _times[structure] = times
        return None
    _times.pop(structure, None)
    if len(_made) >= _MOST_KNOWN:
        _made.clear()
    found = _made[structure] = _straight_line(log, target, wanted, m)
    return found


def _straight_line(log: Log, target: int, wanted: set[int], m: Namespace | DeviceOps) -> Sweep:
    """Generates and compiles the function."""
    # The module name makes NumPy attribute warnings to gradtape, which filters them.
    names: dict[str, Any] = {"__name__": __name__, "m": m, "joined": joined, "materialize": materialize}
    names |= {"DEFERRED": DEFERRED, "PendingSum": PendingSum, "of_all_outputs": of_all_outputs}
    names |= {"joint_cotangents": joint_cotangents, "REPORTS": REPORTS, "errstate": np.errstate}
    names |= {f"op{i}": op for i, op in enumerate(log.ops) if type(op) is Op and op.joint is not None}
    rule = "vjp_raw" if m is raw else "vjp_device"
    names |= {f"vjp{i}": getattr(op, rule) for i, op in enumerate(log.ops) if op is not None}
    exec(compile("\n    ".join(_lines(log, target, wanted)), RULES, "exec"), names)
    return names.pop("sweep")


class _Variables(dict[int, str]):
    """The local variables that hold cotangents, by position. They are None while they hold none.

    A variable is used again once the record of its position is done. One for each record would need a frame that fills
    the chunk of memory from which CPython takes frames: every call would get a new chunk from the system.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._free: list[str] = []

    def __missing__(self, position: int) -> str:
        if not self._free:
            self.names.append(f"g{len(self.names)}")
            self._free.append(self.names[-1])
        self[position] = self._free.pop()
        return self[position]

    def release(self, positions: range) -> str:
        """Returns the line after the record of these positions."""
        names = [self.pop(at) for at in positions if at in self]
        self._free += names
        return "".join(f"{name} = " for name in names) + "None"


def _lines(log: Log, target: int, wanted: set[int]) -> Iterator[str]:
    """Yields the lines of code."""
    path = between(log, [target], wanted)
    variables = _Variables()
    yield f"def sweep(log, saved, {variables[target]}):"
    records = list(_records(log, path, wanted, variables))
    others = sorted(set(range(len(log.ops))).difference(path))
    if others:
        yield f"for i in {tuple(others)}: saved[i] = None"
    yield "owned = set()"  # see `joined`
    yield "".join(f"{name} = " for name in variables.names[1:]) + "g = None"
    yield from records
    yield "saved.clear()"
    yield f"return {{{', '.join(f'{i}: {variables.get(i)}' for i in sorted(wanted))}}}"


def _records(log: Log, path: Sequence[int], wanted: set[int], variables: _Variables) -> Iterator[str]:
    """Yields the lines of all records, the last one first; `saved[7]` are the residuals of the one at position 7."""
    need = set(path)
    for i in reversed(path):
        op, parents = log.ops[i], log.parents[i]
        if op is None:
            if parents is None and i in variables:
                g = variables[i]
                yield f"if isinstance({g}, PendingSum): {g} = {g}.value()"
            continue
        outputs = range(i, i + (len(log.multi_output[i]) if i in log.multi_output else 1))
        given = [variables.get(at) for at in outputs]
        yield f"if {' or '.join(f'{g} is not None' for g in given if g is not None)}:"
        if i in log.multi_output:
            g = "g"
            yield f"    g = of_all_outputs(m, ({', '.join(map(str, given))},), log.multi_output[{i}], {op.takes_none})"
        else:
            g = variables[i]
            yield f"    if type({g}) in DEFERRED: {g} = materialize(m, {g})"
        if type(parents) is int:
            yield from _guarded(_taken(parents, variables, f"vjp{i}(m, {g}, saved[{i}])"))
        else:
            parents = tuple([p if p in need else -1 for p in parents])
            # A rule that its family did not generate may return more cotangents than requested, which `sweep` ignores.
            exact = op.family != "opaque"
            cotangents = f"vjp{i}(m, {g}, saved[{i}], {parents})"
            inner = None if op.joint is None else inner_of(log, op, parents, wanted)
            if inner is not None:
                cotangents = f"joint_cotangents(op{i}, m, {g}, saved[{i}], saved[{inner}]) or {cotangents}"
            first, *others = _all_taken(parents, variables, cotangents, exact)
            yield from _guarded(first)
            for line in others:
                yield f"    {line}"
        yield f"saved[{i}] = g = {variables.release(outputs)}"


def _guarded(line: str) -> Iterator[str]:
    """The lines that apply a rule, again without NumPy's reports of floating-point errors if one is an exception."""
    yield f"    try: {line}"
    yield "    except REPORTS:"
    yield f"        with errstate(all='ignore'): {line}"


def _taken(position: int, variables: _Variables, cotangent: str) -> str:
    """The line that stores or accumulates the cotangent of one argument."""
    if position in variables:
        return f"{variables[position]} = joined(m, {variables[position]}, {cotangent}, {position}, owned)"
    return f"{variables[position]} = {cotangent}"


def _all_taken(parents: tuple[int, ...], variables: _Variables, cotangents: str, exact: bool) -> Iterator[str]:
    """The lines that store or accumulate the cotangents of all arguments; an argument at -1 is not on the tape.

    With `exact`, the rule returns exactly one cotangent for each argument.
    """
    new = [p for p in parents if p >= 0]
    if exact and len(set(new)) == len(new) and variables.keys().isdisjoint(new):
        yield "".join(f"{variables[p]}, " if p >= 0 else "_, " for p in parents) + f"= {cotangents}"
        return
    yield f"gs = {cotangents}"
    for nth, p in enumerate(parents):
        if p >= 0:
            yield _taken(p, variables, f"gs[{nth}]")
    yield "del gs"
