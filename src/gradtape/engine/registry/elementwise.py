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
from ...backends.numpy.memory import LEAST_ALIGNED, empty
from ...backends.torch import thresholds
from ...backends.torch.host_kernels import HostKernel
from ...backends.torch.library import IS_ENABLED
from ...backends.tuning import LARGE, TORCH_FORMULAS
from ...core import dtypes
from ...core.dtypes import DType
from ...core.protocols import Attrs, Operand, OpNamespace, Tensors
from ...core.tensor import Tensor
from ..run import dispatch
from ..run.dispatch import run
from ..run.namespace import raw
from .batching import align_ranks
from .cotangents import pending_sum
from .devices import device_first, elementwise_device_first
from .examples import aligned_rows
from .formula import Formula, compile_blocks, compile_outputs, neutral, symbolic, trace_formula
from .op import Kernel, Op, Sample, SingleInputRule, bind, keep_residual, kernel_arguments, match_dtypes, sample
from .rules import Residuals, compile_rule, parameters
from .shape_rules import broadcast_shape

_PLAIN = dtypes.BOOL | dtypes.INT | dtypes.FLOAT
_IS_COMPLEX = {"": "g.dtype.is_complex", "array": "g.dtype.kind == 'c'"}  # by the form of cotangents

ONE = "g"
NEG = "-g"


class Mask(NamedTuple):
    """A partial derivative of 1 where the formula is true, else 0. It selects: a dead branch gives 0 for g = inf."""

    formula: Callable[..., Any]


class ZeroWins(NamedTuple):
    """A partial derivative that may be infinite: a cotangent of exactly 0 stays 0."""

    formula: Callable[..., Any]


Partial = Callable[..., Any] | str | Mask | ZeroWins | None  # a partial derivative: see `elementwise`


def _is_small(op: Op) -> str:
    """Source of whether the cotangent `g` of an op is too small for several cores."""
    return f"type(g) is not ndarray or g.size < {min(thresholds.vjp_min_elements(op.name), LEAST_ALIGNED)}"


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


def _cotangents(products: Sequence[str]) -> str:
    """Source of the cotangents of all arguments, summed to their shapes, from that of the products."""
    if len(products) == 1:
        return f"({products[0]},)"
    asked = [f"({text}) if parents[{i}] >= 0 else None" for i, text in enumerate(products)]
    summed = [f"sum_to_shape(m, {text}, s[-1][{i}])" for i, text in enumerate(asked)]
    return f"({', '.join(asked)},) if s[-1] is None else ({', '.join(summed)},)"


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


def elementwise(
    name: str,
    kernel: Kernel,
    *,
    args: str | None = None,
    on: int = dtypes.FLOATING,
    same: Sequence[int] | None = None,
    domain: tuple[float, float] = (-2.0, 2.0),
    samples: Sequence[Sample] = (),
    to: DType | None = None,
    otherwise: Callable[..., Any] | None = None,
    with_slope: Callable[..., Any] | None = None,
    **partials: Any,
) -> Op:
    """`y[i] = f(a[i], b[i], ...)`. The partial derivative `d<arg>` may name `m`, `y`, any argument and any attribute.

    A partial derivative is a formula, `ONE`, `NEG`, a `Mask`, `ZeroWins`, or None for a nondifferentiable argument; a
    formula that names `g` is its product with the cotangent `g`. `args` names the arguments where the kernel is an
    operator or the name of an array function; `on` says which kinds of dtype the op accepts, `same` which arguments
    must agree in dtype (default: all), `to` the result's dtype. `otherwise` is called first for values that are not
    plain tensors of these kinds; it may return NotImplemented. `with_slope(xp, x)` returns the result and the
    derivative of an op of one argument, if both share steps: a tape keeps the derivative of a large NumPy array.
    """
    if args is None and isinstance(kernel, str):
        raise TypeError(f"{name}: needs `args`, the names of the arguments of {kernel!r}")
    names = kernel_arguments(kernel) if args is None else tuple(args.split())
    if set(partials) != {f"d{a}" for a in names}:
        raise TypeError(f"{name}: needs the partials {[f'd{a}' for a in names]}, got {sorted(partials)}")
    ordered = [partials[f"d{a}"] for a in names]
    shapes: Any = ((3, 4), (4,), ())
    op = Op(
        name, kernel, family="elementwise", args=names, kinds=on, domain=domain,
        samples=samples or [sample(*shapes[: len(names)])], rules=list(map(_formula, ordered)),
    )  # fmt: skip
    op.nondifferentiable_args = tuple(i for i, partial in enumerate(ordered) if partial is None)
    op.rows, op.shape_rule, op.result_dtype = aligned_rows, broadcast_shape, to
    matching = tuple(range(len(names))) if same is None else tuple(same)
    fast_path = not op.attributes and len(matching) == len(names) <= 2
    _differentiate_elementwise(op, ordered, fast_path, with_slope is not None)

    def batch(m: OpNamespace, size: int, inputs: Tensors, flags: Sequence[bool], attributes: Attrs) -> Any:
        aligned = align_ranks(m, inputs, flags)
        # The fast path has the kernels of large arrays, which batches often are.
        return op.call(*aligned) if fast_path else run(op, aligned, attributes)

    op.batch = batch

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
        op.call = device_first(op, general) if len(names) == 1 else general
    else:
        kinds = op.kinds & _PLAIN
        other = op.call_on_device = elementwise_device_first(op, general, kinds, to)
        least = min(thresholds.min_elements(name), LEAST_ALIGNED)
        op.large = _large(op)
        op.call = dispatch.fast_path(op, len(names), "elementwise", kinds, other, to, op.large, least)
        if with_slope is not None:
            op.call = keep_residual(op, HostKernel(_in_blocks(with_slope), TORCH_FORMULAS, 0, "f"))
    return op.publish()


def _in_blocks(with_slope: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that computes the two results of `with_slope(np, x)` in blocks."""
    program = functools.cache(lambda dtype: compile_outputs(functools.partial(with_slope, np), dtype))

    def run(x: Any) -> tuple[Any, ...] | None:
        try:
            results = empty(x.shape, x.dtype), empty(x.shape, x.dtype)
        except MemoryError:
            return None  # without the derivative, the result may fit
        blocks.in_blocks(program(x.dtype), [x], results, blocks.Frame(), blocks.CORES if x.size >= LARGE else 1)
        return results

    return run


def _differentiate_elementwise(op: Op, partials: Sequence[Partial], fast_path: bool, with_slope: bool) -> None:
    """Sets the rules of `op`; `with_slope` says that a record may have a residual, the derivative."""
    if all(p is None for p in partials):
        return
    formulas = [_formula(p) for p in partials if callable(_formula(p))]
    saved = Residuals(op.args, formulas)
    names = {f"p{i}": _formula(p) for i, p in enumerate(partials)}
    names |= {"sum_to_shape": _sum_to_shape, "ndarray": ndarray, "times": _times}
    several = len(partials) > 1

    def keeper() -> Any:
        shapes = ", ".join(f"xs[{i}].dims" for i in range(len(partials)))  # saved if an argument is broadcast
        others = " == ".join(f"s[{i}]" for i in range(1, len(partials)))
        residual = "attrs.get('residual')" if with_slope else ""
        return saved.keeper(f"None if (s := ({shapes}))[0] == {others} else s" if several else residual)

    op.defer("keep", keeper)
    op.kept = saved.names
    large = functools.cache(lambda conjugate: _LargeVjp(op, saved, partials, names, conjugate))
    if fast_path:
        op.first = _single_input_rule(op, 0, partials, saved, names, large)
        if with_slope:
            op.first.spread = lambda value: (value, None)
        if several:
            op.second = _single_input_rule(op, 1, partials, saved, names, large)
            op.defer("keep_both", lambda: _keep_both(op.args, saved.names))

    def vjp(arrays: str) -> Any:
        if arrays == "buffer":
            return _vjp_device(op, saved, partials, names)
        result, conjugated = (
            _cotangents([_product(i, p, saved, arrays, conjugate) for i, p in enumerate(partials)])
            for conjugate in (False, True)
        )
        if op.kinds & dtypes.COMPLEX and conjugated != result:
            result = f"({conjugated}) if {_IS_COMPLEX[arrays]} else ({result})"
        if arrays:
            result = f"({result}) if {_is_small(op)} else large({_IS_COMPLEX[arrays]})(m, g, s, parents)"
            result = f"({result}) if s[-1] is None else (times(g, s[-1]),)" if with_slope else result
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
        self._name, self._saved, self._partials = op.name, saved, partials
        self._least = thresholds.vjp_min_elements(op.name)
        products = [_product(i, partial, saved, "array", conjugate) for i, partial in enumerate(partials)]
        self._rules = [compile_rule("m, g, s", product, **names) for product in products]
        self._kernels = functools.cache(self._compile)

    def __call__(self, m: OpNamespace, g: Operand, s: tuple[Any, ...], parents: tuple[int, ...]) -> tuple[Any, ...]:
        found = tuple([
            None if parent < 0 or partial is None else g if partial == ONE else self.cotangent(i, g, s)
            for i, (parent, partial) in enumerate(zip(parents, self._partials, strict=True))
        ])  # fmt: skip
        if len(found) == 1 or s[-1] is None:
            return found
        return tuple([_sum_to_shape(m, g, shape) for g, shape in zip(found, s[-1], strict=True)])

    def cotangent(self, i: int, g: Any, s: Sequence[Any]) -> Any:
        """Returns the product of `g` and partial derivative `i`."""
        # A value that no requested cotangent needs was not saved; `g` is passed as a placeholder.
        arrays = [g, *[g if s[k] is None else s[k].array for k in self._saved.tensors]]
        kernel, write = self._kernels(i, *[a.dtype for a in arrays])
        if kernel is not None and g.size >= self._least and not thresholds.is_slower(self._name, arrays, is_vjp=True):
            value = kernel(*arrays)
            if value is not None:
                return value
        product = _of_arrays(self._rules[i], self._saved, s, raw)
        value = blocks.run(write or blocks.into(product), arrays, g.dtype)
        return product(*arrays) if value is None else value

    def _compile(self, i: int, dtype: np.dtype[Any], *others: np.dtype[Any]) -> tuple[Any, Any]:
        """Returns PyTorch's kernel of product `i`, and NumPy's steps for `blocks.run`; each may be None."""
        rule, saved, kernel = self._rules[i], self._saved, None
        given = [dtype, *others]
        if IS_ENABLED and dtype.char in thresholds.DTYPES:
            from ...backends.torch import elementwise as by_torch  # imported lazily: only large arrays need it

            kernel = by_torch.vjp_kernel(self._name, saved.names, _trace_product(rule, saved, symbolic, given))
        return kernel, compile_blocks(_trace_product(rule, saved, raw, given), dtype)


def _of_arrays(rule: Callable[..., Any], saved: Residuals, s: Sequence[Any], m: Any) -> Callable[..., Any]:
    """Returns a rule `f(m, g, s)` as a function of the cotangent and of the saved arrays."""

    def product(g: Operand, *arrays: Any) -> Any:
        filled = list(s)
        for k, array in zip(saved.tensors, arrays, strict=True):
            filled[k] = SimpleNamespace(array=array, buffer=array)
        return rule(m, g, filled)

    return product


def _trace_product(rule: Callable[..., Any], saved: Residuals, m: Any, given: Sequence[Any]) -> Formula | None:
    """Traces a rule on arrays of the dtypes `given`; None if it is no formula, or has residuals besides tensors."""
    if len(saved.tensors) < len(saved.names):
        return None
    return trace_formula(_of_arrays(rule, saved, saved.names, m), given)


def _vjp_device(op: Op, saved: Residuals, partials: Sequence[Partial], names: dict[str, Any]) -> Any:
    """Returns `vjp_device`: each product is one kernel launch if the library has a kernel of it, or it is a formula."""

    values = "".join(f", {saved.lookup(name, 'buffer')}" for name in saved.names)
    vjps: dict[Any, Callable[..., Any]] = {}  # by the dtypes

    def fuse(m: OpNamespace, product: str, given: Sequence[Any]) -> Callable[..., Any] | None:
        """Returns one kernel of a product of arrays of the dtypes `given`, as a function of the residuals, or None."""
        is_float = given[0].kind in "fV"  # ml_dtypes reports kind V for bfloat16
        own = m.product_kernel(op.name, saved.names) if len(partials) == 1 and is_float else None
        if own is not None:
            return own
        formula = _trace_product(compile_rule("m, g, s", product, **names), saved, symbolic, given)
        return None if formula is None or len(formula.steps) < 2 else m.fuse(formula)

    def build(m: OpNamespace, g: Operand, s: Sequence[Any]) -> Callable[..., Any]:
        given = [m.dtype_of(x) for x in (g, *[s[k].buffer for k in saved.tensors])]
        products = [_product(i, partial, saved, "buffer", kind_of(g) == "c") for i, partial in enumerate(partials)]
        kernels = {}
        for i, partial in enumerate(partials):
            kernel = fuse(m, products[i], given) if callable(_formula(partial)) else None
            if kernel is not None:
                kernels[f"kernel{i}"], products[i] = kernel, f"kernel{i}(g{values})"
        return compile_rule("m, g, s, parents", _cotangents(products), **names, **kernels)

    def vjp(m: OpNamespace, g: Operand, s: tuple[Any, ...], parents: tuple[int, ...]) -> tuple[Any, ...]:
        key = (m, g.dtype, *[s[k].buffer.dtype for k in saved.tensors])
        found = vjps.get(key)
        if found is None:
            found = vjps[key] = build(m, g, s)
        return found(m, g, s, parents)

    return vjp


def _times(g: Any, slope: Any) -> Any:
    product = blocks.run(_MULTIPLY, (g, slope), g.dtype)
    return g * slope if product is None else product


_MULTIPLY = blocks.SinglePass(np.multiply, (0, 1))


def _sum_to_shape(m: OpNamespace, g: Any, shape: tuple[int, ...]) -> Any:
    if g is None or g.shape == shape:
        return g
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
    """Returns `f(dtype, *arrays)`, which runs PyTorch's kernel, or NumPy's in blocks."""
    kernel, least = op.numpy, thresholds.min_elements(op.name)

    @functools.cache
    def kernels(dtype: np.dtype[Any], to: np.dtype[Any]) -> tuple[Any, Any]:
        """Returns PyTorch's kernel, or None, and NumPy's steps for `blocks.run`."""
        write = compile_blocks(trace_formula(kernel, [dtype] * len(op.args)), to) or blocks.into(kernel)
        if not IS_ENABLED or dtype.char not in thresholds.DTYPES:
            return None, write
        from ...backends.torch import elementwise as by_torch

        formula = trace_formula(bind(op.kernel, neutral), [dtype] * len(op.args))
        return by_torch.forward_kernel(op.name, formula, len(op.args)), write

    def large(dtype: DType, *arrays: Any) -> Any:
        compute, write = kernels(arrays[0].dtype, dtype.numpy)
        is_enough = arrays[0].size >= least or arrays[-1].size >= least
        if is_enough and compute is not None and not thresholds.is_slower(op.name, arrays):
            value = compute(*arrays)
            if value is not None:
                return value
        value = blocks.run(write, arrays, dtype.numpy)
        return kernel(*arrays) if value is None else value

    return large
