"""The elementwise family: y[i] = f(a[i], b[i], ...), broadcast, from a kernel and the partial derivatives.

The vjp multiplies the cotangent by the partial derivative and sums over the axes along which the argument was
broadcast; the jvp multiplies and adds; batching aligns ranks. Calls on one or two plain tensors take a fast path.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from ...backends.arrays import kind_of
from ...backends.numpy import blocks
from ...backends.torch import elementwise as by_torch
from ...backends.torch.library import IS_ENABLED
from ...core import dtypes
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ..run import dispatch
from ..run.dispatch import run
from ..run.namespace import raw
from ..run.protocols import Attrs, Operand, OpNamespace, Tensors
from .arguments import match_dtypes
from .batching import align_ranks
from .cotangents import pending_sum
from .devices import elementwise_device_first
from .examples import aligned_rows
from .formula import Formula, compile_in_place, neutral, symbolic, trace_formula
from .op import Kernel, Op, Sample, SingleInputRule, bind, kernel_arguments, sample
from .rules import Residuals, compile_rule, parameters

_PLAIN = dtypes.BOOL | dtypes.INT | dtypes.FLOAT
_IS_COMPLEX = {"": "g.dtype.is_complex", "array": "g.dtype.kind == 'c'"}  # by the form of cotangents

ONE = "g"
NEG = "-g"


class Mask(NamedTuple):
    """A partial derivative that is 1 where the formula is true, else 0.

    It selects rather than multiplies, so that a dead branch gives 0 even for g = inf.
    """

    formula: Callable[..., Any]


class ZeroWins(NamedTuple):
    """A partial derivative that may be infinite: a cotangent of exactly 0 stays 0."""

    formula: Callable[..., Any]


Partial = Callable[..., Any] | str | Mask | ZeroWins | None  # a partial derivative: see `elementwise`


def _is_small(op: Op) -> str:
    """Source of whether the cotangent `g` of an op is too small for several cores."""
    return f"type(g) is not ndarray or g.size < {by_torch.vjp_min_elements(op.name)}"


def _formula(partial: Partial) -> Any:
    return partial.formula if isinstance(partial, Mask | ZeroWins) else partial


def _product(i: int, partial: Partial, saved: Residuals, arrays: str, conjugate: bool) -> str:
    """Source of the product of the cotangent `g` and partial derivative `i`, conjugated for complex values."""
    if partial is None or isinstance(partial, str):
        return str(partial)
    call = saved.call(f"p{i}", _formula(partial), arrays)
    if "g" in parameters(_formula(partial)):
        return call
    if isinstance(partial, Mask):
        return f"m.masked({call}, g)"
    if conjugate:
        call = f"m.conj({call})"
    return f"m.multiply_no_nan({call}, g)" if isinstance(partial, ZeroWins) else f"g * {call}"


def unbroadcast(m: OpNamespace, g: Operand, shape: tuple[int, ...]) -> Any:
    """Sums a cotangent over the axes along which an argument of `shape` was broadcast."""
    given = tuple(g.shape)
    if given == shape:
        return g
    extra = len(given) - len(shape)
    if shape and given[extra:] == shape:  # the common case of a bias
        return m.sum(g, axis=tuple(range(extra)), keepdims=False)
    stretched = tuple(i + extra for i, n in enumerate(shape) if n == 1 and given[i + extra] != 1)
    axes = (*range(extra), *stretched)
    return m.reshape(m.sum(g, axis=axes, keepdims=False) if axes else g, shape=shape)


def _shapes(inputs: Sequence[Any]) -> tuple[tuple[int, ...], ...] | None:
    """Returns the inputs' shapes, or None if they are equal and nothing is broadcast."""
    shapes = tuple([x.dims for x in inputs])
    return None if shapes.count(shapes[0]) == len(shapes) else shapes


def elementwise(
    name: str,
    kernel: Kernel,
    *,
    args: str | None = None,
    on: int = dtypes.FLOATING,
    same: Sequence[int] | None = None,
    domain: tuple[float, float] = (-2.0, 2.0),
    samples: Sequence[Sample] = (),
    kinks: bool = False,
    to: DType | None = None,
    otherwise: Callable[..., Any] | None = None,
    **partials: Any,
) -> Op:
    """`y[i] = f(a[i], b[i], ...)`. The partial derivative `d<arg>` may name `m`, `y`, any argument and any attribute.

    A partial derivative is a formula, `ONE`, `NEG`, a `Mask`, `ZeroWins`, or None for a nondifferentiable argument; a
    formula that names `g` is its product with the cotangent `g`. `args` names the arguments where the kernel is an
    operator or the name of an array function; `on` says which kinds of dtype the op accepts, `same` which arguments
    must agree in dtype (default: all), `to` the result's dtype. `otherwise` is called first for values that are not
    plain tensors of these kinds; it may return NotImplemented.
    """
    attrs: tuple[str, ...] = ()
    if args is not None:
        names = tuple(args.split())
    elif isinstance(kernel, str):
        raise TypeError(f"{name}: needs `args`, the names of the arguments of {kernel!r}")
    else:
        names, attrs = kernel_arguments(kernel)
    if set(partials) != {f"d{a}" for a in names}:
        raise TypeError(f"{name}: needs the partials {[f'd{a}' for a in names]}, got {sorted(partials)}")
    ordered = [partials[f"d{a}"] for a in names]
    shapes: Any = ((3, 4), (4,), ())
    op = Op(
        name, kernel, family="elementwise", args=names, kinds=on, domain=domain, kinks=kinks,
        samples=samples or [sample(*shapes[: len(names)])], rules=list(map(_formula, ordered)),
    )  # fmt: skip
    op.nondifferentiable_args = tuple(i for i, partial in enumerate(ordered) if partial is None)
    op.rows = aligned_rows
    matching = tuple(range(len(names))) if same is None else tuple(same)
    fast_path = not attrs and len(matching) == len(names) <= 2
    _differentiate_elementwise(op, ordered, fast_path)
    op.batch = _batch_elementwise(op, fast_path)

    def general(*values: Any, **attributes: Any) -> Any:
        try:
            if otherwise is not None:
                result = otherwise(*values)
                if result is not NotImplemented:
                    return result
            inputs = match_dtypes(op, values, matching)
        except (TypeError, ValueError) as error:
            refused = error
        else:
            return run(op, inputs, attributes)
        return dispatch.delegate_to_operands(op, values, refused, attributes)

    if not fast_path:
        op.call = general
    else:
        kinds = op.kinds & _PLAIN
        other = op.call_on_device = elementwise_device_first(op, general, kinds, to)
        least = by_torch.min_elements(name)
        op.call = dispatch.fast_path(op, len(names), "elementwise", kinds, other, to, _large(op), least)
    return op.publish()


def _differentiate_elementwise(op: Op, partials: Sequence[Partial], fast_path: bool) -> None:
    """Sets the rules of `op`."""
    if all(p is None for p in partials):
        return
    formulas = [_formula(p) for p in partials if callable(_formula(p))]
    saved = Residuals(op.args, formulas)
    names = {f"p{i}": _formula(p) for i, p in enumerate(partials)}
    names |= {"sum_to_shapes": _sum_to_shapes, "sum_both_to_shapes": _sum_both_to_shapes, "ndarray": ndarray}
    several = len(partials) > 1

    def keeper() -> Any:
        if len(partials) == 2:
            return saved.keeper("None if (sa := xs[0].dims) == (sb := xs[1].dims) else (sa, sb)")
        return saved.keeper("shapes(xs)", shapes=_shapes) if several else saved.keeper()

    op.defer("keep", keeper)
    op.kept = saved.names
    large = functools.cache(lambda conjugate: _LargeVjp(op, saved, partials, names, conjugate))
    if fast_path:
        op.first = _single_input_rule(op, 0, partials, saved, names, large)
        if several:
            op.second = _single_input_rule(op, 1, partials, saved, names, large)
            op.defer("keep_both", lambda: _keep_both(op.args, saved.names))

    def cotangents(arrays: str, conjugate: bool) -> str:
        """Source of the cotangents of all arguments."""
        products = [_product(i, p, saved, arrays, conjugate) for i, p in enumerate(partials)]
        asked = [f"({text}) if parents[{i}] >= 0 else None" for i, text in enumerate(products)] if several else products
        result = f"({', '.join(asked)},)"
        if len(partials) == 2:
            return f"{result} if s[-1] is None else sum_both_to_shapes(m, s[-1], {', '.join(asked)})"
        return f"{result} if s[-1] is None else sum_to_shapes(m, s[-1], {result})" if several else result

    def vjp(arrays: str) -> Any:
        if arrays == "buffer":
            return _vjp_device(op, saved, partials, names)
        result = cotangents(arrays, False)
        if op.kinds & dtypes.COMPLEX:
            conjugated = cotangents(arrays, True)
            if conjugated != result:
                result = f"({conjugated}) if {_IS_COMPLEX[arrays]} else ({result})"
        if arrays:
            result = f"({result}) if {_is_small(op)} else large({_IS_COMPLEX[arrays]})(m, g, s, parents)"
        return compile_rule("m, g, s, parents", result, large=large, **names)

    op.defer_vjp(vjp)

    def jvp_of() -> Any:
        tangents = [
            None if p is None else compile_rule("m, g, s", _product(i, p, saved, "", False), **names)
            for i, p in enumerate(partials)
        ]

        def jvp(m: OpNamespace, inputs: Tensors, y: Tensor, attrs: Attrs, ts: Sequence[Tensor | None]) -> Any:
            s = op.keep(inputs, y, attrs)
            terms = [f(m, t, s) for f, t in zip(tangents, ts, strict=True) if f is not None and t is not None]
            if not terms:
                return None
            total = sum(terms[1:], terms[0])
            return total if tuple(total.shape) == y.dims else m.broadcast_to(total, shape=y.dims)

        return jvp

    op.defer("jvp", jvp_of)


class _LargeVjp:
    """`vjp_raw` for large arrays: computes each product on all cores where the arrays' layouts allow it."""

    def __init__(
        self, op: Op, saved: Residuals, partials: Sequence[Partial], names: dict[str, Any], conjugate: bool
    ) -> None:
        self._name, self._residuals, self._partials = op.name, saved.names, partials
        self._tensors = [i for i, name in enumerate(saved.names) if saved.is_tensor(name)]
        products = [_product(i, partial, saved, "array", conjugate) for i, partial in enumerate(partials)]
        self._rules = [compile_rule("m, g, s", product, **names) for product in products]
        self._in_place: dict[tuple[int, np.dtype[Any]], Any] = {}
        self._by_torch: dict[tuple[int, str], Any] = {}  # by the dtype's character, whose hash is faster

    def __call__(self, m: OpNamespace, g: Operand, s: tuple[Any, ...], parents: tuple[int, ...]) -> tuple[Any, ...]:
        return _each_cotangent(m, g, s, parents, self._partials, lambda i: self.cotangent(i, g, s))

    def cotangent(self, i: int, g: Any, s: Sequence[Any]) -> Any:
        """Returns the product of `g` and partial derivative `i`."""
        # A value that no requested cotangent needs was not saved; `g` is passed as a placeholder.
        arrays = [g, *[g if s[k] is None else s[k].array for k in self._tensors]]
        key = (i, g.dtype.char)
        if key not in self._by_torch:
            self._by_torch[key] = self._torch_kernel(i, g.dtype)
        kernel = self._by_torch[key]
        if kernel is not None and not by_torch.is_slower(self._name, arrays, is_vjp=True):
            value = kernel(*arrays)
            if value is not None:
                return value
        value = blocks.run(self._writer(i, g.dtype) or blocks.into(self._product(i, s)), arrays, g.dtype)
        return self._product(i, s)(*arrays) if value is None else value

    def _product(self, i: int, s: Sequence[Any], m: Any = raw) -> Callable[..., Any]:
        """Returns product `i` as a function of `g` and the saved arrays."""

        def run(g: Operand, *arrays: Any) -> Any:
            filled = list(s)
            for k, array in zip(self._tensors, arrays, strict=True):
                filled[k] = SimpleNamespace(array=array)
            return self._rules[i](m, g, filled)

        return run

    def _formula(self, i: int, dtype: np.dtype[Any], m: Any) -> Formula | None:
        """Traces product `i`; None if it is not a formula or has residuals that are not tensors."""
        if len(self._tensors) < len(self._residuals):
            return None
        return trace_formula(self._product(i, self._residuals, m), [dtype] * (1 + len(self._tensors)))

    def _writer(self, i: int, dtype: np.dtype[Any]) -> Any:
        if (i, dtype) not in self._in_place:
            self._in_place[i, dtype] = compile_in_place(self._formula(i, dtype, raw))
        return self._in_place[i, dtype]

    def _torch_kernel(self, i: int, dtype: np.dtype[Any]) -> Any:
        if not IS_ENABLED or dtype.char not in by_torch.DTYPES:
            return None
        return by_torch.vjp_kernel(self._name, self._residuals, self._formula(i, dtype, symbolic))


def _each_cotangent(
    m: OpNamespace, g: Operand, s: tuple[Any, ...], parents: tuple[int, ...], partials: Sequence[Partial],
    cotangent: Callable[[int], Any],
) -> tuple[Any, ...]:  # fmt: skip
    """The cotangents of the arguments on the tape: `cotangent(i)`, or `g` for a partial derivative of 1."""
    found = tuple([
        None if parent < 0 or partial is None else g if partial == ONE else cotangent(i)
        for i, (parent, partial) in enumerate(zip(parents, partials, strict=True))
    ])  # fmt: skip
    return _sum_to_shapes(m, s[-1], found) if len(partials) > 1 and s[-1] is not None else found


def _vjp_device(op: Op, saved: Residuals, partials: Sequence[Partial], names: dict[str, Any]) -> Any:
    """Returns `vjp_device`: each product is one kernel launch if the library has a kernel of it, or it is a formula."""
    tensors = [i for i, name in enumerate(saved.names) if saved.is_tensor(name)]
    rules = {
        (i, conjugate): compile_rule("m, g, s", _product(i, partial, saved, "buffer", conjugate), **names)
        for i, partial in enumerate(partials)
        for conjugate in (False, True)
    }

    def fuse(m: OpNamespace, i: int, s: Sequence[Any], given: Sequence[Any]) -> Any:
        """Fuses product `i` of arrays of the dtypes `given` into one kernel, a function of the cotangent and of `s`.

        None if it is not a formula.
        """
        is_float = given[0].kind in "fV"  # ml_dtypes reports kind V for bfloat16
        own = m.product_kernel(op.name, saved.names) if len(partials) == 1 and is_float else None
        if own is not None:
            return _on_residuals(own, saved)

        def product(g: Operand, *arrays: Any) -> Any:
            filled = list(s)
            for k, array in zip(tensors, arrays, strict=True):
                filled[k] = SimpleNamespace(buffer=array)
            return rules[i, kind_of(g) == "c"](symbolic, g, filled)

        formula = trace_formula(product, given) if len(tensors) == len(saved.names) else None
        kernel = None if formula is None or len(formula.steps) < 2 else m.fuse(formula)
        return None if kernel is None else _on_residuals(kernel, saved)

    products: dict[Any, Sequence[Any]] = {}  # `f(m, g, s)` for each argument, by the dtypes

    def products_of(key: Any, m: OpNamespace, g: Operand, s: Sequence[Any]) -> Sequence[Any]:
        given = [m.dtype_of(x) for x in (g, *[s[k].buffer for k in tensors])]
        found: list[Any] = []
        for i, partial in enumerate(partials):
            if partial is None or partial == ONE:
                found.append(_nothing if partial is None else _unchanged)
            else:
                found.append(fuse(m, i, s, given) or rules[i, kind_of(g) == "c"])
        products[key] = found
        return found

    def vjp(m: OpNamespace, g: Operand, s: tuple[Any, ...], parents: tuple[int, ...]) -> tuple[Any, ...]:
        key = (m, g.dtype, *[s[k].buffer.dtype for k in tensors])
        functions = products.get(key) or products_of(key, m, g, s)
        if len(functions) == 1:
            return (functions[0](m, g, s),)
        if len(functions) > 2:
            pairs = zip(functions, parents, strict=True)
            found = tuple([f(m, g, s) if parent >= 0 else None for f, parent in pairs])
            return found if s[-1] is None else _sum_to_shapes(m, s[-1], found)
        first, second = functions
        of_a = first(m, g, s) if parents[0] >= 0 else None
        of_b = second(m, g, s) if parents[1] >= 0 else None
        return (of_a, of_b) if s[-1] is None else _sum_both_to_shapes(m, s[-1], of_a, of_b)

    return vjp


def _nothing(m: OpNamespace, g: Operand, s: Sequence[Any]) -> None:
    """The cotangent of an argument without a derivative."""


def _unchanged(m: OpNamespace, g: Operand, s: Sequence[Any]) -> Operand:
    """The cotangent if the partial derivative is 1."""
    return g


def _on_residuals(kernel: Callable[..., Any], saved: Residuals) -> Callable[..., Any]:
    """Returns `f(m, g, s)`, which calls `kernel` on the cotangent and on the saved arrays and attributes."""
    values = "".join(f", {saved.lookup(name, 'buffer')}" for name in saved.names)
    return compile_rule("m, g, s", f"kernel(g{values})", kernel=kernel)


def _sum_to_shapes(m: OpNamespace, shapes: Sequence[tuple[int, ...]], cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sums the cotangents of broadcast arguments to the arguments' shapes."""
    pairs = zip(cotangents, shapes, strict=True)
    return tuple([g if g is None or g.shape == shape else _sum_to_shape(m, g, shape) for g, shape in pairs])


def _sum_both_to_shapes(
    m: OpNamespace, shapes: Sequence[tuple[int, ...]], ga: Operand | None, gb: Operand | None
) -> tuple[Any, Any]:
    """Same as `_sum_to_shapes` for two arguments, the common case."""
    a, b = shapes
    if ga is not None and ga.shape != a:
        ga = _sum_to_shape(m, ga, a)
    if gb is not None and gb.shape != b:
        gb = _sum_to_shape(m, gb, b)
    return ga, gb


def _sum_to_shape(m: OpNamespace, g: Operand, shape: tuple[int, ...]) -> Any:
    pending = pending_sum(m, g, shape)
    return unbroadcast(m, g, shape) if pending is None else pending


def _keep_both(args: tuple[str, ...], kept: tuple[str, ...]) -> Any:
    """Compiles `keep` for the fast path with two arguments on the tape, both plain tensors."""
    a, b = args
    fields = "".join(f"{name}, " for name in kept)
    same = f"type(y.array) is not ndarray or (sa := {a}.array.shape) == (sb := {b}.array.shape)"
    return compile_rule(f"{a}, {b}, y", f"({fields} None if {same} else (sa, sb),)", ndarray=ndarray)


def _single_input_rule(
    op: Op, i: int, partials: Sequence[Partial], saved: Residuals, names: dict[str, Any],
    large: Callable[[bool], _LargeVjp],
) -> SingleInputRule:  # fmt: skip
    """Returns the rule of the op in argument `i` alone, if that is not broadcast; the op itself handles other cases."""
    formula = _formula(partials[i])
    kept = Residuals(op.args, [formula] if callable(formula) else [], bare=True)
    alone = SingleInputRule(op, i)

    def keep() -> Any:
        value = kept.names[0] if kept.bare else f"({', '.join(kept.names)})"
        if len(op.args) == 1:
            return compile_rule(f"{op.args[0]}, y", value)
        same = f"type(y.array) is not ndarray or y.array.shape == {op.args[i]}.array.shape"
        return compile_rule(f"{', '.join(op.args)}, y", f"{value} if {same} else NotImplemented", ndarray=ndarray)

    def spread(value: Any) -> tuple[Any, ...]:
        if len(op.args) == 1:
            return (value,) if kept.bare else value
        found = dict(zip(kept.names, (value,) if kept.bare else value, strict=True))
        return (*map(found.get, saved.names), *[None] * (len(op.args) - 1))

    def vjp_large(g: Operand, value: Any) -> Any:
        return large(False).cotangent(i, g, spread(value))

    def vjp(arrays: str) -> Any:
        product = _product(i, partials[i], kept, arrays, False)
        if arrays and product != ONE:
            product = f"{product} if {_is_small(op)} else large(g, s)"
        return compile_rule("m, g, s", product, large=vjp_large, **names)

    alone.spread = spread
    alone.defer("keep", keep)
    alone.defer_vjp(vjp)
    return alone


def _large(op: Op) -> Callable[..., Any]:
    """Returns `f(dtype, *arrays)`, which runs PyTorch's kernel, or NumPy's in blocks.

    In a block, the steps of a formula overwrite one another.
    """
    kernel = op.numpy

    @functools.cache
    def writer(dtype: np.dtype[Any]) -> Any:
        formula = trace_formula(kernel, [dtype]) if len(op.args) == 1 else None
        return compile_in_place(formula) or blocks.into(kernel)

    kernels: dict[str, Any] = {}  # PyTorch's, or None, by the character of a dtype

    def torch_kernel(dtype: np.dtype[Any]) -> Any:
        if not IS_ENABLED or dtype.char not in by_torch.DTYPES:
            return None
        formula = trace_formula(bind(op.kernel, neutral), [dtype] * len(op.args))
        return by_torch.forward_kernel(op.name, formula, len(op.args))

    def large(dtype: DType, *arrays: Any) -> Any:
        given = arrays[0].dtype
        if given.char not in kernels:
            kernels[given.char] = torch_kernel(given)
        compute = kernels[given.char]
        if compute is not None and not by_torch.is_slower(op.name, arrays):
            value = compute(*arrays)
            if value is not None:
                return value
        value = blocks.run(writer(arrays[0].dtype), arrays, dtype.numpy)
        return kernel(*arrays) if value is None else value

    return large


def _batch_elementwise(op: Op, fast_path: bool) -> Any:
    """Returns the batching rule; the fast path has the kernels of large arrays, which batches often are."""
    if fast_path:
        return lambda m, size, inputs, flags, attrs: op.call(*align_ranks(m, inputs, flags))
    return lambda m, size, inputs, flags, attrs: run(op, align_ranks(m, inputs, flags), attrs)
