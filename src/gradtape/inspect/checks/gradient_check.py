"""Checks a function's derivatives against finite differences: reverse mode, forward mode, second order.

Everything is computed along random directions, in float64 if the function allows it; for a wrong gradient, the worst
entry is found by perturbing the inputs one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ...core import dtypes, errors, nest
from ...core.dtypes import DType
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ...engine.registry.cotangents import materialize
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...engine.run.signatures import signature_of
from ...engine.tape.forward import JvpAccumulator
from ...engine.tape.tape import Tape
from ...engine.tape.validation import as_cotangent, native
from ...graph.function.function import settings
from ..records.reading import array_in_run
from ..records.tables import Printable, Table
from ..records.wide import WideTensor, widen_arrays

_EXACT = (dtypes.float64, dtypes.complex128)
_ROUGH = {dtypes.float32: 1e-3, dtypes.complex64: 1e-3}  # the tolerance for results computed in each dtype
_MOST_ENTRIES = 400  # the largest argument whose entries are perturbed one by one


@dataclass(frozen=True)
class CheckRow:
    """One comparison: the derivative of the outputs along a random direction in one argument."""

    kind: str  # "reverse", "forward" or "second order"
    argument: str
    computed: float | None
    expected: float
    ok: bool
    note: str = ""


@dataclass(frozen=True, repr=False)
class GradientCheck(Printable):
    """The result of `check_gradients`. `ok` is True if every comparison holds."""

    function: str
    rows: list[CheckRow]
    dtype: str

    @property
    def ok(self) -> bool:
        """Whether every comparison holds."""
        return all(row.ok for row in self.rows)

    def assert_ok(self) -> None:
        """Raises AssertionError with the report if a comparison fails."""
        if not self.ok:
            raise AssertionError(str(self))

    def tables(self) -> list[Table]:
        """Returns the comparisons."""
        state = "right" if self.ok else "WRONG"
        table = Table(
            f"The derivatives of {self.function} are {state} (in {self.dtype})",
            ["", "mode", "argument", ">computed", ">by differences", "note"],
        )
        for r in self.rows:
            computed = "None" if r.computed is None else f"{r.computed:.8g}"
            table.rows.append(["✓" if r.ok else "✗", r.kind, r.argument, computed, f"{r.expected:.8g}", r.note])
        return [table]


def check_gradients(
    f: Callable[..., Any], *args: Any, orders: tuple[int, ...] = (1, 2), rtol: float | None = None, seed: int = 0
) -> GradientCheck:
    """Compares the derivatives of `f` at `args` with finite differences of its values.

    Args:
      f: a function of tensors, or nests of them, that returns tensors; non-floating values are not perturbed.
      args: where to check. They are cast to float64 if `f` accepts it. For a function that computes in a smaller
        dtype, as Keras models do, the differences are still taken in float64.
      orders: the orders of the derivatives: 1, 2 or both.
      rtol: the relative tolerance.
      seed: the seed of the random directions.

    Returns:
      A `GradientCheck`; its `assert_ok` raises an AssertionError if a derivative is wrong.

    >>> tf.inspect.check_gradients(lambda x: tf.reduce_sum(x * tf.exp(x)), [0.5, 2.0]).ok
    True
    >>> @tf.custom_gradient
    ... def wrong(x):
    ...     return x * x, lambda g: g * x
    >>> tf.inspect.check_gradients(wrong, [1.0, 3.0], orders=(1,)).ok
    False
    """
    return _Check(f, args, rtol, seed).report(orders)


class _Check:
    """A function at a point, with random weights for its results and random directions for its arguments.

    If the function computes in float64 when given float64, so does everything else. If it always computes in a smaller
    dtype, as a Keras model does, its derivatives are computed in that dtype, and differences of its values still in
    float64 by means of `WideTensor`; if even that is impossible, in the smaller dtype with a large step.
    """

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], rtol: float | None, seed: int) -> None:
        self.f = f
        self.args = [_tensors(a) for a in args]
        leaves = nest.flatten(self.args)
        self.moving = [i for i, x in enumerate(leaves) if isinstance(x, Tensor) and x.dtype.differentiable]
        if not self.moving:
            raise ValueError("check_gradients needs an argument with floating values, got none")
        self.leaves = leaves
        self.names = _names(f, self.args, self.moving)
        given = [np.asarray(leaves[i].array) for i in self.moving]
        self.said = [leaves[i].dtype for i in self.moving]  # the dtypes of the arguments passed to `f`
        self.wide = False  # whether differences are in float64 although `f` computes in less
        self.arrays = [_widen(a) for a in given]
        computed = self._computed_in()
        if computed not in _EXACT:
            self.wide = self._runs_wide()
            if not self.wide:
                self.arrays = given
        self.dtype = computed.name
        exact = computed in _EXACT
        self.note = "" if exact else f"f computes in {computed.name}"
        if not exact:
            self.note += ", differences are in float64" if self.wide else ": differences are rough"
        self.step = 1e-6 if exact or self.wide else 1e-2
        self.rtol = rtol if rtol is not None else 1e-5 if exact else _ROUGH.get(computed, 5e-2) if self.wide else 5e-2
        self.smallest = self.rtol * 1e-3  # the absolute tolerance
        rng = np.random.default_rng(seed)
        with dispatch.recorded_by(()):
            results = [np.asarray(y.array) for y in self.outputs(self.tensors(self.arrays))]
        alone = sum(y.size for y in results) == 1  # then show its derivative, not that of a multiple
        self.weights = [np.ones_like(y) if alone else _noise(rng, y) for y in results]
        self.directions = [_noise(rng, a) for a in self.arrays]
        self.others = [_noise(rng, a) for a in self.arrays]

    def _computed_in(self) -> DType:
        """Returns the narrowest dtype that `f` computes in; sets `said` to float64 if `f` accepts it."""
        given, self.said = self.said, [dtypes.of_numpy(a.dtype) for a in self.arrays]
        try:
            with dispatch.recorded_by(()):
                results = self.outputs(self.tensors(self.arrays))
        except (TypeError, ValueError, errors.InvalidArgumentError):
            self.said = given
            with dispatch.recorded_by(()):  # errors unrelated to the dtype propagate to the caller
                results = self.outputs(self.tensors(self.arrays))
        seen = {*self.said, *(y.dtype for y in results)}
        xs: list[Any] = widen_arrays(self.arrays, self.said)
        with suppress(Exception), dispatch.recorded_by(()):
            self.outputs(xs, eagerly=True)
            seen |= xs[0].seen
        smallest = max(seen, key=_rounding)
        if smallest not in _EXACT:
            self.said = given
        return smallest

    def _runs_wide(self) -> bool:
        try:
            with dispatch.recorded_by(()):
                results = self.outputs(widen_arrays(self.arrays, self.said), eagerly=True)
        except Exception:  # it needs plain tensors
            return False
        return any(type(y) is WideTensor for y in results)

    def tensors(self, arrays: list[Any]) -> list[Tensor]:
        return [Tensor(a.astype(dtype.numpy)) for a, dtype in zip(arrays, self.said, strict=True)]

    def outputs(self, tensors: list[Tensor], eagerly: bool = False) -> list[Tensor]:
        leaves = list(self.leaves)
        for i, x in zip(self.moving, tensors, strict=True):
            leaves[i] = x
        before = settings.run_eagerly
        settings.run_eagerly = before or eagerly  # graphs cannot be traced with wide tensors
        try:
            result = self.f(*nest.pack_sequence_as(self.args, leaves))
        finally:
            settings.run_eagerly = before
        found = [to_tensor(y) for y in nest.flatten(result) if y is not None]
        return [y for y in found if y.dtype.differentiable]

    def values(self, arrays: list[Any]) -> list[Any]:
        with dispatch.recorded_by(()):
            xs = widen_arrays(arrays, self.said) if self.wide else self.tensors(arrays)
            return [array_in_run(y) for y in self.outputs(xs, eagerly=self.wide)]

    def total(self, arrays: list[Any]) -> float:
        """Returns Σ ⟨weight, output⟩, the differentiated function."""
        return sum(_inner(w, y) for w, y in zip(self.weights, self.values(arrays), strict=True))

    def gradients(self, arrays: list[Any], wide: bool = False) -> list[Any]:
        xs = widen_arrays(arrays, self.said) if wide else self.tensors(arrays)
        with Tape() as tape:
            tape.watch(xs)
            ys = self.outputs(xs, eagerly=wide)
        found = tape.vjp(ys, list(map(as_cotangent, ys, self.weights)), xs)
        return [_dense(g) for g in found]

    def report(self, orders: tuple[int, ...]) -> GradientCheck:
        rows: list[CheckRow] = []
        if 1 in orders:
            rows += self.reverse()
            rows += self.forward()
        if 2 in orders:
            rows += self.second()
        return GradientCheck(getattr(self.f, "__name__", repr(self.f)), rows, self.dtype)

    def along(self, k: int, function: Callable[[list[Any]], float], directions: list[Any] | None = None) -> float:
        """Returns the derivative of `function` along a direction in argument `k`, by central differences."""
        step = self.step
        direction = (directions or self.directions)[k]

        def moved(sign: int) -> float:
            arrays = list(self.arrays)
            arrays[k] = (arrays[k] + sign * step * direction).astype(arrays[k].dtype)
            return function(arrays)

        return (moved(1) - moved(-1)) / (2 * step)

    def close(self, got: float, expected: float, size: float) -> bool:
        return abs(got - expected) <= self.rtol * (abs(expected) + size * 1e-2) + self.smallest

    def close_in_float64(self, k: int, expected: float, wide: list[Any] | None) -> bool:
        """Whether the rules, run in float64, agree to more digits than the function's dtype allows."""
        if wide is None or wide[k] is None or not np.isfinite(wide[k]).all():
            return True
        got, size = _inner(wide[k], self.directions[k]), float(np.abs(wide[k] * self.directions[k]).sum())
        return abs(got - expected) <= min(self.rtol, 1e-4) * (abs(expected) + size * 1e-2) + 1e-8

    def wide_gradients(self) -> list[Any] | None:
        if self.wide:
            with suppress(Exception):  # a user's rule may need plain tensors
                return self.gradients(self.arrays, wide=True)
        return None

    def reverse(self) -> list[CheckRow]:
        rows = []
        gradients = self.gradients(self.arrays)
        wide = self.wide_gradients()
        for k, (name, g) in enumerate(zip(self.names, gradients, strict=True)):
            expected = self.along(k, self.total)
            if g is None:
                ok = self.close(0.0, expected, 0.0)
                note = "" if ok else "the gradient is None: tape.explain says why"
                rows.append(CheckRow("reverse", name, None, expected, ok, note))
                continue
            got = _inner(g, self.directions[k])
            ok = self.close(got, expected, float(np.abs(g * self.directions[k]).sum()))
            ok = ok and self.close_in_float64(k, expected, wide)
            rows.append(CheckRow("reverse", name, got, expected, ok, self.note if ok else self.worst(k, g)))
        return rows

    def worst(self, k: int, g: Any) -> str:
        """Describes the entry of argument `k` whose derivative is most wrong."""
        x = self.arrays[k]
        if x.size > _MOST_ENTRIES:
            return f"too many entries ({x.size}) to look for the worst"
        error, text = -1.0, ""
        parts = {"": 1} if x.dtype.kind != "c" else {"by the real part ": 1, "by the imaginary part ": 1j}
        for index, (part, number) in product(np.ndindex(x.shape), parts.items()):
            unit = np.zeros_like(x)
            unit[index] = number
            directions = list(self.directions)
            directions[k] = unit
            expected, got = self.along(k, self.total, directions), _inner(g, unit)
            if abs(got - expected) > error:
                where = f"at {index} " if index else ""
                error, text = abs(got - expected), f"{where}{part}it is {got:.6g}, should be {expected:.6g}"
        return text

    def forward(self) -> list[CheckRow]:
        rows = []
        for k, name in enumerate(self.names):
            xs = self.tensors(self.arrays)
            try:
                with JvpAccumulator([(xs[k], self.tensors(self.directions)[k])]) as accumulator:
                    ys = self.outputs(xs)
                tangents = list(map(accumulator.tangent_of, ys))
            except (NotImplementedError, LookupError) as reason:
                rows.append(CheckRow("forward", name, None, self.along(k, self.total), True, f"not checked: {reason}"))
                continue
            pairs = [(w, _dense(t)) for w, t in zip(self.weights, tangents, strict=True) if t is not None]
            got = sum(_inner(w, t) for w, t in pairs)
            expected = self.along(k, self.total)
            size = sum(float(np.abs(w * t).sum()) for w, t in pairs)
            rows.append(CheckRow("forward", name, got, expected, self.close(got, expected, size), self.note))
        return rows

    def second(self) -> list[CheckRow]:
        """Checks the derivative of ⟨gradient, direction⟩ along another direction."""
        xs = self.tensors(self.arrays)
        with Tape() as outer:
            outer.watch(xs)
            with Tape() as inner:
                inner.watch(xs)
                ys = self.outputs(xs)
            first = inner.vjp(ys, list(map(as_cotangent, ys, self.weights)), xs)
            terms = []
            for g, direction in zip(first, self.tensors(self.directions), strict=True):
                if g is not None:
                    g = materialize(ops, g)
                    product = (ops.conj(g) if g.dtype.is_complex else g) * direction
                    product = ops.real(product) if product.dtype.is_complex else product
                    terms.append(ops.sum(product, axis=tuple(range(len(product.dims))), keepdims=False))
            total = sum(terms[1:], terms[0]) if terms else None
        found = [None] * len(xs) if total is None else outer.vjp([total], [None], xs)

        def slope(arrays: list[Any]) -> float:
            pairs = zip(self.gradients(arrays, self.wide), self.directions, strict=True)
            return sum(_inner(g, d) for g, d in pairs if g is not None)

        rows = []
        for k, (name, h) in enumerate(zip(self.names, map(_dense, found), strict=True)):
            got = 0.0 if h is None else _inner(h, self.others[k])
            size = 0.0 if h is None else float(np.abs(h * self.others[k]).sum())
            expected = self.along(k, slope, self.others)
            ok = abs(got - expected) <= 10 * self.rtol * (abs(expected) + size * 1e-2 + 1e-3)
            rows.append(CheckRow("second order", name, got, expected, ok, self.note))
        return rows


def _tensors(structure: Any) -> Any:
    """Converts an argument to tensors: a list of numbers to one tensor, a nest of tensors leaf by leaf."""

    def tensor(x: Any) -> Any:
        x = native(x)
        if not isinstance(x, Tensor) and hasattr(x, "_as_tensor"):
            return x._as_tensor()
        return x if isinstance(x, Tensor | str | bool | type(None)) else to_tensor(x)

    flat = nest.flatten(structure)
    if isinstance(structure, list | tuple) and all(isinstance(x, int | float | complex) for x in flat):
        return to_tensor(structure)
    return nest.map_structure(tensor, structure)


def _rounding(dtype: DType) -> float:
    """Returns the unit of rounding; dtypes unknown to NumPy count as the coarsest."""
    return 1.0 if dtype.narrow else float(np.finfo(dtype.numpy).eps)


def _widen(array: Any) -> Any:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _names(f: Callable[..., Any], args: list[Any], moving: list[int]) -> list[str]:
    try:
        known = list(signature_of(f).parameters)
    except (TypeError, ValueError):
        known = []
    names = []
    for i, arg in enumerate(args):
        name = known[i] if i < len(known) and len(known) >= len(args) else f"argument {i}"
        leaves = nest.flatten(arg)
        names += [name] if len(leaves) == 1 else [f"{name}, part {k}" for k in range(len(leaves))]
    return [names[i] for i in moving]


def _noise(rng: Any, like: Any) -> Any:
    noise = rng.standard_normal(like.shape)
    if like.dtype.kind == "c":
        noise = noise + 1j * rng.standard_normal(like.shape)
    return np.asarray(noise, dtypes.of_numpy(like.dtype).numpy)


def _inner(a: Any, b: Any) -> float:
    return float(np.real(np.vdot(_widen(a), _widen(b))))


def _dense(g: Any) -> Any:
    if g is None:
        return None
    if isinstance(g, IndexedSlices):
        with dispatch.recorded_by(()):
            g = materialize(ops, g)
    return array_in_run(g)
