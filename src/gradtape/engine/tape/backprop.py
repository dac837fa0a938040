"""The reverse sweep: propagates cotangents from the targets back to the sources, record by record.

A log is in order of execution, so a backward pass over it visits every value after all its uses. Each position holds an
op, the positions of the op's inputs (-1 for an input that is not on the tape), and the residuals of the op's `vjp`; see
`Log`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...backends.numpy.blocks import add
from ...backends.numpy.floating_point import REPORTS, run_silently
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ..registry.cotangents import (
    DEFERRED,
    PendingHalves,
    PendingSum,
    accumulate,
    combined,
    is_half_precision,
    materialize,
    zeros,
)
from ..registry.devices import DeviceOps
from ..run.convert import to_tensor
from ..run.namespace import Namespace, ops, raw
from .log import Log

_OTHER_OUTPUT = object()  # placeholder cotangent of an unused first output when another output has a cotangent


class SparseCotangents(dict[int, Any]):
    """Cotangents by position, for sweeps that visit few records of a long tape: a missing position reads as None."""

    def __missing__(self, position: int) -> None:
        return None


def sweep(
    log: Log, grads: list[Any] | SparseCotangents, wanted: set[int], *, m: Namespace | DeviceOps, order: Iterable[int],
    need: set[int] | None, release: bool, hooks: Mapping[int, list[Callable[[Any], Any]]],
) -> None:  # fmt: skip
    """Propagates the targets' cotangents in `grads` (by position) to the `wanted` positions, in place.

    `order` yields positions from high to low; `need`, if given, holds the only positions worth computing. With
    `release`, the residuals of each record are freed as soon as the sweep has passed it.
    """
    log_ops, log_parents, kept, multi_output = log.ops, log.parents, log.saved, log.multi_output
    owned: set[int] = set()  # see `joined`
    arrays, there = m is raw, type(m) is DeviceOps
    cotangents: Any
    for i in order:
        g = grads[i]
        if g is None:
            continue
        if hooks and i in hooks and g is not _OTHER_OUTPUT:
            g = grads[i] = _hooked(g, hooks[i], arrays)
        op, parents = log_ops[i], log_parents[i]
        if op is None:
            if parents is None:
                if isinstance(g, PendingSum):
                    grads[i] = g.value()
            elif grads[parents[0]] is None:
                grads[parents[0]] = _OTHER_OUTPUT
            continue
        if multi_output and i in multi_output:
            g = of_all_outputs(m, _taken(grads, i, len(multi_output[i]), wanted), multi_output[i], op.takes_none)
        else:
            if type(g) in DEFERRED:
                g = materialize(m, g)
            if i not in wanted:
                grads[i] = None
        saved = None  # free the last record's residuals before this one's may be rematerialized: see `budgets`
        saved = kept[i]
        if release:
            kept[i] = None
        if type(parents) is int:  # a `SingleInputRule`
            if need is not None and parents not in need:
                continue
            vjp = op.vjp_raw if arrays else op.vjp_device if there else op.vjp
            try:
                gp = vjp(m, g, saved)
            except REPORTS:
                gp = run_silently(vjp, m, g, saved)
            if grads[parents] is None:
                grads[parents] = gp
                continue
            parents, cotangents = (parents,), (gp,)
        else:
            if need is not None:
                parents = tuple(p if p in need else -1 for p in parents)
            cotangents = None
            if op.joint is not None and not hooks and (arrays or there):
                inner = inner_of(log, op, parents, wanted)
                cotangents = None if inner is None else joint_cotangents(op, m, g, saved, kept[inner])
            if cotangents is None:
                vjp = op.vjp_raw if arrays else op.vjp_device if there else op.vjp
                try:
                    cotangents = vjp(m, g, saved, parents)
                except REPORTS:
                    if not op.is_repeatable:
                        raise
                    cotangents = run_silently(vjp, m, g, saved, parents)
        nth = 0
        for p in parents:  # creating a `zip` costs more than the rest of the loop
            gp = cotangents[nth]
            nth += 1
            if gp is None or p < 0:
                continue
            before = grads[p]
            if before is None:
                grads[p] = gp
            else:
                grads[p] = joined(m, before, gp, p, owned)
                before = None


def inner_of(log: Log, op: Any, parents: tuple[int, ...], wanted: set[int]) -> int | None:
    """The position of the inner op of a joint rule; None if the rule does not apply to these records.

    An output of the inner op that is `wanted` needs its own cotangent. Other uses of it do not matter: their cotangents
    are added to that of the source when the sweep reaches the inner op.
    """
    inner, source, outputs, _ = op.joint
    first = parents[outputs[0]]
    if first < 0 or log.ops[first] is not inner or log.parents[first] != (parents[source],):
        return None
    for nth, argument in enumerate(outputs, first):
        if parents[argument] != nth or nth in wanted:
            return None
    return first if type(log.saved) is list else None  # a log with a budget may recompute what is read


def joint_cotangents(op: Any, m: Namespace | DeviceOps, g: Any, saved: Any, inner_saved: Any) -> Any:
    """Applies a joint rule to bare arrays: the cotangents of the op's arguments, or None."""
    attribute = "array" if m is raw else "buffer"
    residuals = [[getattr(x, attribute, x) for x in values] for values in (saved, inner_saved)]
    try:
        return op.joint.vjp(m, g, *residuals)
    except REPORTS:
        return run_silently(op.joint.vjp, m, g, *residuals)


def joined(m: Namespace | DeviceOps, before: Any, gp: Any, position: int, owned: set[int]) -> Any:
    """Adds two cotangents of one position, each of which may be None.

    `owned` holds the positions whose cotangent is a sum allocated here, which may be accumulated in place.
    """
    if before is None or gp is None:
        return gp if before is None else before
    if type(before) in DEFERRED or type(gp) in DEFERRED:
        return combined(m, before, gp, position in owned)
    if position in owned:
        return accumulate(m, before, gp)
    if is_half_precision(m, before):
        return PendingHalves(m, before, gp)
    total = add(before, gp)
    if m.is_bare:
        owned.add(position)
    return total


def between(log: Log, targets: Iterable[int], wanted: set[int]) -> list[int]:
    """The positions on a path from a target back to a wanted position, in increasing order."""
    stack = list(targets)
    reached = set(stack)
    while stack:
        parents = log.parents[stack.pop()]
        for p in (parents,) if type(parents) is int else parents or ():
            if p >= 0 and p not in reached:
                reached.add(p)
                stack.append(p)
    leading: set[int] = set()
    path = []
    for i in sorted(reached):
        parents = log.parents[i]
        if i in wanted or any(p in leading for p in ((parents,) if type(parents) is int else parents or ())):
            leading.add(i)
            path.append(i)
    return path


def _hooked(g: Any, hooks: list[Callable[[Any], Any]], arrays: bool) -> Any:
    g = materialize(raw if arrays else ops, g)
    tensor = Tensor(g) if arrays else g
    for hook in hooks:
        changed = hook(tensor)
        if changed is not None:
            changed = to_tensor(changed, hint=tensor.dtype)
            if changed.shape != tensor.shape or changed.dtype is not tensor.dtype:
                raise ValueError(
                    f"a gradient hook was given a gradient of shape {tensor.shape} and dtype {tensor.dtype.name} but "
                    f"returned shape {changed.shape} and dtype {changed.dtype.name}; it must keep both"
                )
            tensor = changed
    return tensor.array if arrays else tensor


def _taken(grads: list[Any] | SparseCotangents, first: int, count: int, wanted: set[int]) -> list[Any]:
    """Removes and returns the cotangents of an op's outputs; wanted ones stay in `grads` too."""
    found = []
    for i in range(first, first + count):
        g = grads[i]
        if i not in wanted or g is _OTHER_OUTPUT:
            grads[i] = None
        found.append(None if g is _OTHER_OUTPUT else g)
    return found


def of_all_outputs(
    m: Namespace | DeviceOps, cotangents: Iterable[Any], outputs: Iterable[tuple[tuple[int, ...], DType]],
    takes_none: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """The cotangents of all outputs of an op, as its rule takes them; unused outputs get zeros, or None."""
    return tuple([
        materialize(m, g) if g is not None else None if takes_none else zeros(m, shape, dtype)
        for g, (shape, dtype) in zip(cotangents, outputs, strict=True)
    ])  # fmt: skip
