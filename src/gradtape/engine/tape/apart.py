"""Gradients of single examples, and of single losses, from one sweep.

The cotangent of example `i` is zero wherever the values of other examples stand. So the cotangents of all examples fit
into one array: an `ExampleTensor`, whose rows belong to one example after the other. The sweep goes on as it does for
the sum of the losses, until a rule adds up over the examples, as a weight's does: that op runs on the rows of each
example by themselves, and what it gives has an axis of examples in front, a `BatchedTensor`. An op that this module
does not know gets the cotangents of all examples apart, which takes more work and is right for every op.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ..registry.batching import BatchedTensor, Lookalike, StandIn, leave
from ..registry.cotangents import finished
from ..run import dispatch
from ..run.namespace import ops
from .log import Log

logger = logging.getLogger("gradtape")
_unknown: set[str] = set()

# What an op does with the rows of examples.
KEEPS = "keeps"  # every row of the output belongs to the example that the rows it came from belong to
ADDS_UP = "adds up"  # the output is a sum over examples; inputs with as many rows are of the examples too
Verdict = str | None
_FEW_BYTES = 1 << 24  # gradients of examples of which only norms are asked for are made as many at a time


class _Examples:
    """How many examples there are, at which level they stand apart, and whether sums over them wait."""

    def __init__(self, count: int, sums_wait: bool) -> None:
        self.count = count
        self.apart_at = dispatch.next_level()
        self.level = dispatch.next_level()
        self.sums_wait = sums_wait


class ExampleTensor(Lookalike):
    """The cotangents of all examples in one array: its first axis has the rows of one after the other."""

    __slots__ = ("examples",)

    def __init__(self, value: Tensor, examples: _Examples) -> None:
        super().__init__(value, examples.level)
        self.examples = examples

    def interpret(self, op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Runs `op` on all rows at once, on those of each example, or on the examples apart."""
        flags = list(map(self._is_alike, inputs))
        simple = not any(isinstance(x, StandIn) and not flag for x, flag in zip(inputs, flags, strict=True))
        verdict = _verdict(op, inputs, flags, attrs) if simple else None
        values = [x.value if flag else x for x, flag in zip(inputs, flags, strict=True)]  # type: ignore[attr-defined]
        if verdict is KEEPS:
            result = dispatch.run(op, values, attrs)
            return tuple(map(self._like, result)) if type(result) is tuple else self._like(result)
        if verdict is ADDS_UP:
            return self._added_up(op, values, attrs)
        if op.name not in _unknown:
            _unknown.add(op.name)
            logger.info("gradients of single examples: op %s gets the examples apart", op.name)
        apart = [x.apart() if flag else x for x, flag in zip(inputs, flags, strict=True)]  # type: ignore[attr-defined]
        return dispatch.run(op, apart, attrs)

    def _like(self, value: Tensor) -> Tensor:
        return ExampleTensor(value, self.examples)

    def _added_up(self, op: Any, values: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        shared = _SHARED_INPUTS.get(op.name, ())
        kept = _KEPT_OUTPUTS.get(op.name, ())
        own = [x if k in shared else self._of_each(x) for k, x in enumerate(values)]
        if self.examples.sums_wait and not kept:
            return WaitingSum(op, own, attrs, self.examples)
        result = dispatch.run(op, own, attrs)
        if type(result) is not tuple:
            return result
        return tuple(self._together(y) if k in kept else y for k, y in enumerate(result))

    def _of_each(self, x: Tensor) -> BatchedTensor:
        """The rows of each example by themselves."""
        count = self.examples.count
        shape = (count, x.dims[0] // count, *x.dims[1:])
        return BatchedTensor(ops.reshape(x, shape=shape), self.examples.apart_at)

    def _together(self, x: BatchedTensor) -> Tensor:
        return self._like(ops.reshape(x.value, shape=(x.size * x.dims[0], *x.dims[1:])))

    def apart(self) -> BatchedTensor:
        """The cotangent of each example, with zeros in the rows of the others."""
        count = self.examples.count
        own = np.repeat(np.eye(count, dtype=self.dtype.numpy), self.dims[0] // count, axis=1)
        mask = Tensor(own.reshape(count, self.dims[0], *(1,) * (len(self.dims) - 1)), self.dtype)
        return BatchedTensor(ops.mul(mask, self.value), self.examples.apart_at)


class WaitingSum(StandIn):
    """A sum over examples that was not made yet: of the gradients of each, only the norms may be asked for."""

    __slots__ = ("_attrs", "_inputs", "_op", "examples")

    def __init__(self, op: Any, inputs: list[Any], attrs: dict[str, Any], examples: _Examples) -> None:
        self._op, self._inputs, self._attrs, self.examples = op, inputs, attrs, examples
        one = self._of(0, 1)
        super().__init__(one.value, examples.level)

    @property
    def dims(self) -> tuple[int, ...]:
        return self.value.dims[1:]

    def _of(self, start: int, stop: int) -> BatchedTensor:
        """The results of some of the examples."""
        own = [
            BatchedTensor(x.value[start:stop], x.level) if type(x) is BatchedTensor else x for x in self._inputs
        ]
        found: BatchedTensor = dispatch.run(self._op, own, self._attrs)
        return found

    def made(self) -> BatchedTensor:
        """Those of all."""
        return self._of(0, self.examples.count)

    def interpret(self, op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Who computes with it needs it."""
        made = [x.made() if type(x) is WaitingSum else x for x in inputs]
        apart = [x.apart() if type(x) is ExampleTensor else x for x in made]
        return dispatch.run(op, apart, attrs)

    def square_norms(self) -> Tensor:
        """The squared norm of what each example gives, a few examples at a time."""
        together = max(1, _FEW_BYTES // max(1, math.prod(self.dims) * self.dtype.size))
        ranges = [(i, min(i + together, self.examples.count)) for i in range(0, self.examples.count, together)]
        return ops.concat(*[_square_norms(self._of(*span).value) for span in ranges], axis=0)


def _rows(x: Tensor) -> int:
    return x.dims[0] if x.dims else -1


def _verdict(op: Any, inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any]) -> Verdict:
    if op.family == "elementwise":
        return _of_elementwise(inputs, flags)
    judge = _JUDGES.get(op.name)
    return None if judge is None else judge(inputs, flags, attrs)


def _of_elementwise(inputs: Sequence[Tensor], flags: Sequence[bool]) -> Verdict:
    """An example's rows meet the same rows of others, or one that all have in common."""
    rank = max(len(x.dims) for x in inputs)
    mine = {x.dims[0] for x, flag in zip(inputs, flags, strict=True) if flag and len(x.dims) == rank}
    aligned = all(len(x.dims) == rank for x, flag in zip(inputs, flags, strict=True) if flag) and len(mine) == 1
    rows = next(iter(mine), 0)
    return KEEPS if aligned and all(len(x.dims) < rank or x.dims[0] in (1, rows) for x in inputs) else None


def _of_sum(inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any]) -> Verdict:
    axes = range(len(inputs[0].dims)) if attrs.get("axis") is None else attrs["axis"]
    return ADDS_UP if any(axis % max(1, len(inputs[0].dims)) == 0 for axis in axes) else KEEPS


def _of_reshape(inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any]) -> Verdict:
    """What an example has stays together, as its numbers follow each other, if there are whole rows of it again."""
    count = inputs[0].examples.count  # type: ignore[attr-defined]
    shape = attrs["shape"]
    return KEEPS if shape and shape[0] > 0 and shape[0] % count == 0 else None


def _of_transpose(inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any]) -> Verdict:
    return KEEPS if attrs["perm"] and attrs["perm"][0] == 0 else None


def _of_broadcast(inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any]) -> Verdict:
    shape, dims = attrs["shape"], inputs[0].dims
    return KEEPS if len(shape) == len(dims) and shape[0] == dims[0] else None


def _of_contraction(equation: str | None, flags: Sequence[bool]) -> Verdict:
    """The letter of the examples is the first of all that have it; it stays first, or is summed over."""
    if equation is None or all(flags):
        return None
    given, output = equation.split("->")
    mine, other = sorted(given.split(","), key=lambda letters: letters != given.split(",")[flags.index(True)])
    examples = mine[0]
    if examples in other[1:] or examples in output[1:]:
        return None
    return KEEPS if output[:1] == examples else ADDS_UP if examples in other[:1] else None


def _of_matmul(inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any]) -> Verdict:
    ranks = [len(x.dims) for x in inputs]
    mine = inputs[flags.index(True)].dims
    if max(ranks) > 2:  # the examples are one of the axes that matrices are stacked along
        others = [x.dims[0] for x in inputs if len(x.dims) == max(ranks)]
        return KEEPS if len(mine) == max(ranks) and mine[0] == max(others) else None
    a = "zx" if attrs.get("transpose_a") else "xz"
    b = "yz" if attrs.get("transpose_b") else "zy"
    return _of_contraction(f"{a},{b}->xy", flags)


def _of_contract(inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any]) -> Verdict:
    return _of_contraction(attrs["equation"], flags)


def _of_scatter(inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any]) -> Verdict:
    """Values of the examples go to rows of a table that all have in common."""
    plain = not attrs.get("axis") and not attrs.get("batch") and flags[0] and not flags[1]
    return ADDS_UP if plain and _rows(inputs[1]) == _rows(inputs[0]) else None


def _along(
    new_axes: int,
) -> Callable[[Sequence[Tensor], Sequence[bool], dict[str, Any]], Verdict]:
    """Of an op that puts rows side by side, along an axis there is, or a new one."""

    def judge(inputs: Sequence[Tensor], flags: Sequence[bool], attrs: dict[str, Any]) -> Verdict:
        rank = len(inputs[0].dims) + new_axes
        return KEEPS if rank > 1 and attrs["axis"] % rank != 0 else None

    return judge


def _first(verdict: Verdict) -> Callable[[Sequence[Tensor], Sequence[bool], dict[str, Any]], Verdict]:
    """Of an op whose first argument is the cotangent, and whose first axis is that of examples."""
    return lambda inputs, flags, attrs: verdict if flags[0] and not any(flags[1:]) else None


_JUDGES: dict[str, Callable[[Sequence[Tensor], Sequence[bool], dict[str, Any]], Verdict]] = {
    "sum": _of_sum,
    "reshape": _of_reshape,
    "transpose": _of_transpose,
    "broadcast_to": _of_broadcast,
    "matmul": _of_matmul,
    "contract": _of_contract,
    "scatter_add": _of_scatter,
    "concat": _along(new_axes=0),
    "stack": _along(new_axes=1),
    "cast": _first(KEEPS),
    "identity": _first(KEEPS),
    "identity_n": lambda inputs, flags, attrs: KEEPS,
    "conv_input": _first(KEEPS),
    "conv": _first(KEEPS),
    "conv_filter": lambda inputs, flags, attrs: None if all(flags) else ADDS_UP,
    "max_pool_back": _first(KEEPS),
    "window_spread": _first(KEEPS),
    "window_sum": _first(KEEPS),
    "layer_norm_back": _first(ADDS_UP),
    "channel_affine_back": _first(ADDS_UP),
}
# By position: inputs that all examples have in common, and outputs that are not sums over the examples.
_SHARED_INPUTS = {"layer_norm_back": (2,), "channel_affine_back": (2, 3)}
_KEPT_OUTPUTS = {"layer_norm_back": (0,), "channel_affine_back": (0,)}


class GradientsApart:
    """The part of a tape that answers `gradient(per=...)`."""

    _vjp: Callable[[Log, list[Any], list[Any], list[Any]], list[Any]]

    def _gradients_apart(self, log: Log, targets: list[Any], sources: list[Any], per: str, norms: bool) -> list[Any]:
        """For each source the gradients of all examples, or losses, stacked, or their norms; None without a path."""
        if per == "loss":
            found = self._gradients_of_losses(log, targets, sources)
        else:
            found = self._gradients_of_examples(log, targets, sources, norms)
        return [g if g is None or not norms else ops.sqrt(_square_norms(g)) for g in found]

    def _gradients_of_examples(self, log: Log, targets: list[Any], sources: list[Any], norms: bool) -> list[Any]:
        count = targets[0].dims[0]
        if not count:
            return [Tensor(np.zeros((0, *s.dims), s.dtype.numpy), s.dtype) for s in sources]
        examples = _Examples(count, sums_wait=norms)
        seeds = [ExampleTensor(Tensor(np.ones(t.dims, t.dtype.numpy), t.dtype), examples) for t in targets]
        return [None if g is None else _stacked(g, examples, norms) for g in self._vjp(log, targets, seeds, sources)]

    def _gradients_of_losses(self, log: Log, targets: list[Any], sources: list[Any]) -> list[Any]:
        count, level = len(targets), dispatch.next_level()
        seeds = []
        for k, t in enumerate(targets):
            rows = np.zeros((count, *t.dims), t.dtype.numpy)
            rows[k] = 1
            seeds.append(BatchedTensor(Tensor(rows, t.dtype), level))
        found = self._vjp(log, targets, seeds, sources)
        return [None if g is None else leave(finished(ops, g), level, count) for g in found]


def _stacked(g: Any, examples: _Examples, waiting: bool) -> Any:
    """The gradients of all examples, their axis first; those that wait stay so, if `waiting`."""
    g = finished(ops, g)
    if type(g) is WaitingSum:
        return g if waiting else leave(g.made(), examples.apart_at, examples.count)
    return leave(g.apart() if type(g) is ExampleTensor else g, examples.apart_at, examples.count)


def _square_norms(g: Any) -> Tensor:
    if type(g) is WaitingSum:
        return g.square_norms()
    return ops.sum(ops.square(g), axis=tuple(range(1, len(g.dims))), keepdims=False)


def nothing_apart(targets: Sequence[Any], source: Any, per: str, norms: bool) -> Tensor:
    """What stands for gradients with respect to a source without a path, where zeros are asked for."""
    count = len(targets) if per == "loss" else targets[0].dims[0]
    return Tensor(np.zeros((count,) if norms else (count, *source.dims), source.dtype.numpy), source.dtype)


def check_apart(per: Any, norms: bool, targets: Sequence[Any], output_gradients: Any) -> None:
    """Raises if gradients cannot be had apart in that way."""
    if per not in (None, "example", "loss"):
        raise ValueError(f"gradient: per must be None, 'example' or 'loss', got {per!r}")
    if per is None:
        raise ValueError("gradient(norms=True) is for gradients apart: say per='example' or per='loss'")
    if output_gradients is not None:
        raise ValueError(f"gradient(per={per!r}) takes no output_gradients: weigh the losses instead")
    counts = {t.dims[0] if t.dims else -1 for t in targets}
    if per == "example" and (len(counts) != 1 or -1 in counts):
        given = ", ".join(str(list(t.dims)) for t in targets)
        raise ValueError(
            "gradient(per='example') needs a loss for each example, along the first axis, got targets of shape "
            f"{given}. Leave the mean over the batch away: reduction=None in Keras' losses"
        )
