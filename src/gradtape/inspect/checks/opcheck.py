"""Checks everything an op declares against its samples: values, derivatives, batching, dtypes, shapes.

Each check takes an op and one of its samples and raises AssertionError. The test suite runs all checks on all ops; call
`check_op(op)` for an op of your own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backends.numpy.floating_point import run_silently
from ...core import dtypes
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ...engine.derivatives.jacobians import jacobians
from ...engine.derivatives.per_example import Examples, ExampleTensor, stacked
from ...engine.registry.batching import BatchedTensor
from ...engine.registry.cotangents import PendingSum
from ...engine.registry.op import Op, Sample, sample
from ...engine.run import dispatch
from ...engine.run.namespace import ops, raw
from ...engine.tape.forward import transposed_rule
from ...engine.tape.tape import Tape
from ...graph.executors.numpy.executor import compile_graph
from ...graph.ir.effects import Changed, guard
from ...graph.trace.derivative import Derivative
from ...graph.trace.trace import Trace

_STEP = 1e-6


def draw(op: Op, case: Sample, dtype: Any = None, lead: int | None = None, seed: int = 0) -> list[Any]:
    """Draws read-only input arrays for a sample; `lead` adds a leading batch axis of that size."""
    rng = np.random.default_rng(seed)
    dtype = _default_dtype(op) if dtype is None else dtype
    low, high = case.domain or op.domain
    arrays = []
    for given in case.inputs:
        if isinstance(given, tuple):
            array = rng.uniform(low, high, given if lead is None else (lead, *given))
            if np.dtype(dtype).kind == "c":
                array = array + 1j * rng.uniform(-0.5, 0.5, array.shape)
            array = np.array(array, dtype=dtype)
        else:
            array = np.array(given)
            if array.dtype == np.float64:
                array = array.astype(dtype)
            if lead is not None:
                array = np.stack([array] * lead)
        array.flags.writeable = False
        arrays.append(array)
    return arrays


def _tensors(arrays: Sequence[Any]) -> list[Tensor]:
    return [Tensor(a) for a in arrays]


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if type(value) is tuple else (value,)


def _array(x: Any) -> Any:
    if isinstance(x, PendingSum):
        return x.value()
    if isinstance(x, IndexedSlices):
        dense = np.zeros([int(n) for n in getattr(x.dense_shape, "array", x.dense_shape)], _array(x.values).dtype)
        np.add.at(dense, _array(x.indices), _array(x.values))
        return dense
    return x.array if isinstance(x, Tensor) else x


def _is_float(x: Any) -> bool:
    return np.asarray(_array(x)).dtype.kind in "fc"


def _inner(a: Any, b: Any) -> float:
    return float(np.real(np.vdot(_array(a), _array(b))))


def _noise(x: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    array = np.asarray(_array(x))
    noise = rng.standard_normal(array.shape)
    if array.dtype.kind == "c":
        noise = noise + 1j * rng.standard_normal(array.shape)
    return noise.astype(array.dtype)


class _Setting:
    """An op at one sample point: inputs, outputs, a cotangent for each output and a tangent for each input."""

    def __init__(self, op: Op, case: Sample, dtype: Any) -> None:
        self.op, self.attrs = op, case.attrs
        self.arrays = draw(op, case, dtype)
        self.inputs = _tensors(self.arrays)
        self.several = type(run_silently(op.numpy, *self.arrays, **self.attrs)) is tuple
        self.record_op, self.outputs = self._run()
        self.tangents = [
            _noise(a, 10 + i) if _is_float(a) and i not in op.nondifferentiable_args else None
            for i, a in enumerate(self.arrays)
        ]
        self.cotangents = tuple(_noise(y, 20 + i) for i, y in enumerate(_tuple(self.outputs)))
        self.g = self.cotangents if self.several else self.cotangents[0]
        self.parents = tuple(0 if t is not None else -1 for t in self.tangents)

    def _run(self) -> tuple[Any, Any]:
        """Returns the op as it is recorded, and its outputs."""
        tape = Tape(persistent=True)
        with tape:
            fresh = _tensors(self.arrays)
            tape.watch([x for x in fresh if x.dtype.differentiable])
            outputs = self.op(*fresh, **self.attrs)
        assert tape._log is not None
        recorded = [r for r in tape._log.records if type(r) is tuple]
        return (recorded[-1][0] if recorded else self.op), outputs

    def vjp(self, m: Any) -> tuple[Any, ...]:
        op = self.record_op
        saved = op.keep(self.inputs, self.outputs, self.attrs)
        if m is raw:
            return run_silently(op.vjp_raw, raw, self.g, saved, self.parents)
        g = tuple(map(Tensor, self.g)) if self.several else Tensor(self.g)
        return op.vjp(ops, g, saved, self.parents)

    def jvp(self) -> Any:
        ts = [None if t is None else Tensor(t) for t in self.tangents]
        jvp = self.record_op.jvp or transposed_rule(self.record_op)
        return _tuple(jvp(ops, self.inputs, self.outputs, self.attrs, ts))


def _default_dtype(op: Op) -> Any:
    """Returns float64, or complex128 for an op on complex numbers alone."""
    return np.complex128 if op.kinds & dtypes.FLOATING == dtypes.COMPLEX else np.float64


def _dtypes_of(op: Op) -> list[Any]:
    default = _default_dtype(op)
    is_both = op.kinds & dtypes.COMPLEX and op.family != "opaque" and default is np.float64
    return [default, np.complex128] if is_both else [default]


def _differentiable(op: Op) -> bool:
    return op.vjp is not None


def check_value(op: Op, case: Sample) -> None:
    """The op on tensors equals its kernel on arrays, does not modify its inputs, and accepts any strides."""
    arrays = draw(op, case)
    with_strides = [np.repeat(np.asarray(a)[..., None], 2, axis=-1)[..., 0] if np.ndim(a) else a for a in arrays]
    expected = _tuple(run_silently(op.numpy, *arrays, **case.attrs))
    for given in (arrays, with_strides):
        got = _tuple(op(*_tensors(given), **case.attrs))
        assert len(got) == len(expected)
        for y, want in zip(got, expected, strict=True):
            assert y.dims == np.shape(want), f"{op.name}: shape {y.dims}, the kernel's is {np.shape(want)}"
            assert y.dtype.numpy == want.dtype, f"{op.name}: dtype {y.dtype}, the kernel's is {want.dtype}"
            if not op.random:
                np.testing.assert_array_equal(np.asarray(y.array), np.asarray(want)) if want.dtype == object else (
                    np.testing.assert_allclose(y.array, want, rtol=1e-12, atol=1e-14)
                )


def check_forward(op: Op, case: Sample) -> None:
    """The JVP equals the numeric directional derivative."""
    if not _differentiable(op) or op.random:
        return
    for dtype in _dtypes_of(op):
        at = _Setting(op, case, dtype)
        if max(at.parents) < 0:
            continue

        def moved(step: float, at: _Setting = at) -> tuple[Any, ...]:
            xs = [a if t is None else a + step * t for a, t in zip(at.arrays, at.tangents, strict=True)]
            return _tuple(run_silently(op.numpy, *xs, **case.attrs))

        for y, t, plus, minus in zip(_tuple(at.outputs), at.jvp(), moved(_STEP), moved(-_STEP), strict=True):
            if not _is_float(y):
                continue
            numeric = (plus - minus) / (2 * _STEP)
            got = np.zeros_like(numeric) if t is None else _array(t)
            assert np.shape(got) == np.shape(numeric), f"{op.name}: tangent of shape {np.shape(got)}"
            np.testing.assert_allclose(got, numeric, rtol=2e-5, atol=2e-7 * (1 + np.abs(numeric).max(initial=0)))


def check_adjoint(op: Op, case: Sample) -> None:
    """⟨vjp g, t⟩ = ⟨g, jvp t⟩, on arrays and on tensors; cotangents have their input's shape and dtype."""
    if not _differentiable(op):
        return
    for dtype in _dtypes_of(op):
        at = _Setting(op, case, dtype)
        if max(at.parents) < 0:
            continue
        forward = sum(
            _inner(g, t) for g, t, y in zip(at.cotangents, at.jvp(), _tuple(at.outputs), strict=True)
            if t is not None and _is_float(y)
        )  # fmt: skip
        scale = 1 + sum(np.abs(_array(t)).sum() for t in at.jvp() if t is not None)
        for m in (raw, ops):
            cotangents = at.vjp(m)
            backward = 0.0
            for x, g, t in zip(at.arrays, cotangents, at.tangents, strict=True):
                if g is None or t is None:
                    continue
                g = _array(g)
                assert np.shape(g) == np.shape(x), f"{op.name}: cotangent of shape {np.shape(g)} for {np.shape(x)}"
                assert g.dtype == x.dtype, f"{op.name}: cotangent of dtype {g.dtype} for {x.dtype}"
                backward += _inner(g, t)
            np.testing.assert_allclose(backward, forward, rtol=1e-9, atol=1e-10 * scale)


def check_second_order(op: Op, case: Sample) -> None:
    """The gradient of ⟨vjp g, u⟩ by a nested tape equals its numeric derivative."""
    if not _differentiable(op) or op.random:
        return
    arrays = draw(op, case)
    floats = [i for i, a in enumerate(arrays) if _is_float(a) and i not in op.nondifferentiable_args]
    g = [_noise(y, 20 + i) for i, y in enumerate(_tuple(run_silently(op.numpy, *arrays, **case.attrs)))]
    u = {i: _noise(arrays[i], 30 + i) for i in floats}
    v = {i: _noise(arrays[i], 40 + i) for i in floats}

    def vjp_along_u(values: Sequence[Any], outer: Tape | None) -> tuple[Any, list[Tensor]]:
        """Returns Σ ⟨vjp g, u⟩ as a tensor, and the inputs it was computed from."""
        xs = _tensors(values)
        if outer is not None:
            outer.watch([xs[i] for i in floats])
        with Tape() as inner:
            inner.watch([xs[i] for i in floats])
            ys = [y for y in _tuple(op(*xs, **case.attrs))]
        pairs = [(y, gy) for y, gy in zip(ys, g, strict=True) if _is_float(y)]
        grads = inner.vjp([y for y, _ in pairs], [Tensor(gy) for _, gy in pairs], [xs[i] for i in floats])
        total: Any = 0.0
        for i, grad in zip(floats, grads, strict=True):
            if grad is not None:
                if isinstance(grad, IndexedSlices):
                    grad = ops.scatter_add(grad.values, grad.indices, shape=np.shape(values[i]))
                product = grad * Tensor(u[i])
                product = ops.real(product) if product.dtype.is_complex else product
                total = total + ops.sum(product, axis=tuple(range(np.ndim(values[i]))), keepdims=False)
        return total, xs

    with Tape() as outer:
        total, xs = vjp_along_u(arrays, outer)
    if not isinstance(total, Tensor):
        return
    found = outer.vjp([total], [None], [xs[i] for i in floats])
    exact = sum(_inner(h, v[i]) for i, h in zip(floats, found, strict=True) if h is not None)

    def along(step: float) -> float:
        moved = [a + step * v[i] if i in v else a for i, a in enumerate(arrays)]
        value, _ = vjp_along_u(moved, None)
        return float(_array(value)) if isinstance(value, Tensor) else value

    numeric = (along(1e-5) - along(-1e-5)) / 2e-5
    np.testing.assert_allclose(exact, numeric, rtol=2e-4, atol=1e-5 * (1 + abs(numeric)))


def check_batching(op: Op, case: Sample) -> None:
    """One vectorized run equals a stacked loop, whichever inputs are batched."""
    if op.random:
        return
    size = 3
    count = len(case.inputs)
    single = draw(op, case)
    many = draw(op, case, lead=size, seed=1)
    masks = itertools.product([False, True], repeat=count) if count <= 3 else [(True,) * count]
    for flags in masks:
        if not any(flags):
            continue
        level = dispatch.next_level()
        mixed = [
            BatchedTensor(Tensor(b), level) if flag else Tensor(a)
            for a, b, flag in zip(single, many, flags, strict=True)
        ]
        got = _tuple(op(*mixed, **case.attrs))
        members = [[b[i] if flag else a for a, b, flag in zip(single, many, flags, strict=True)] for i in range(size)]
        loop = [_tuple(run_silently(op.numpy, *member, **case.attrs)) for member in members]
        for k, y in enumerate(got):
            want = np.stack([member[k] for member in loop])
            value = y.value.array if isinstance(y, BatchedTensor) else np.stack([y.array] * size)
            assert value.shape == want.shape, f"{op.name}, batched {flags}: shape {value.shape}, expected {want.shape}"
            if want.dtype == object:
                np.testing.assert_array_equal(value, want)
            else:
                np.testing.assert_allclose(value, want, rtol=1e-9, atol=1e-11)


def check_jacobian(op: Op, case: Sample) -> None:
    """`tape.jacobian`, which batches the VJP, equals the stacked gradients of the entries."""
    if not _differentiable(op) or op.random:
        return
    xs = _tensors(draw(op, case))
    floats = [x for x in xs if x.dtype.differentiable]
    with Tape(persistent=True) as tape:
        tape.watch(floats)
        ys = [y for y in _tuple(op(*xs, **case.attrs)) if y.dtype.differentiable]
    for y in ys:
        n = int(np.prod(y.dims))
        if n > 40:
            continue
        for x, jacobian in zip(floats, jacobians(tape, y, floats), strict=True):
            if jacobian is None:
                continue
            units = [1, 1j] if y.dtype.is_complex and not x.dtype.is_complex else [1]
            rows = np.zeros((n, *x.dims), jacobian.dtype.numpy)
            for i, unit in itertools.product(range(n), units):
                seed = np.zeros(n, y.dtype.numpy)
                seed[i] = unit
                (grad,) = tape.vjp([y], [Tensor(seed.reshape(y.dims))], [x])
                rows[i] += 0 if grad is None else unit * _array(grad)
            want = rows.reshape((*y.dims, *x.dims))
            np.testing.assert_allclose(jacobian.array, want, rtol=1e-9, atol=1e-11)


def check_examples(op: Op, case: Sample) -> None:
    """Per-example cotangents computed together equal those computed one by one: see `Op.rows`."""
    if not _differentiable(op) or op.random or op.backward_may_raise:
        return
    setting = _Setting(op, case, _default_dtype(op))
    outputs = _tuple(setting.outputs)
    saved = setting.record_op.keep(setting.inputs, setting.outputs, setting.attrs)
    rows = {y.dims[0] if y.dims and y.dtype.is_floating else 0 for y in outputs}
    for each in (1, 2):  # rows per example
        if len(rows) != 1 or 0 in rows or max(rows) % each:
            continue
        count = max(rows) // each

        def back(gs: Any) -> Any:
            return setting.record_op.vjp(ops, gs if setting.several else gs[0], saved, setting.parents)

        examples = Examples(count, sums_wait=False)
        found = back(tuple([ExampleTensor(Tensor(g), examples) for g in setting.cotangents]))
        for i in range(count):
            own = np.arange(max(rows)) // each == i
            alone = [np.where(own.reshape(-1, *(1,) * (g.ndim - 1)), g, 0) for g in setting.cotangents]
            for got, want in zip(found, back(tuple(map(Tensor, alone))), strict=True):
                if want is not None:
                    np.testing.assert_allclose(
                        _array(stacked(got, examples))[i], _array(want), rtol=1e-7, atol=1e-10, err_msg=op.name
                    )


def check_dtypes(op: Op, case: Sample) -> None:
    """Every floating dtype gives results of its own dtype, close to the float64 ones; so do the gradients."""
    if op.random:
        return
    exact = _tuple(run_silently(op.numpy, *draw(op, case), **case.attrs))
    takes_floats = any(isinstance(i, tuple) or np.asarray(i).dtype == np.float64 for i in case.inputs)
    if not takes_floats or not op.kinds & dtypes.FLOAT:
        return
    allowed = [dtypes.float32, dtypes.float16] + [dtypes.bfloat16] * bool(op.kinds & dtypes.NARROW)
    becomes_complex = any(y.dtype.kind == "c" for y in exact)  # and no complex dtype is narrower than complex64
    if "dtype" in case.attrs or op.family == "opaque" or becomes_complex:
        allowed = [dtypes.float32]
    for dtype in allowed:
        tolerance = {"float32": 1e-4, "float16": 3e-2, "bfloat16": 1e-1}[dtype.name]
        xs = _tensors(draw(op, case, dtype.numpy))
        with Tape() as tape:
            tape.watch([x for x in xs if x.dtype.differentiable])
            got = _tuple(op(*xs, **case.attrs))
        for y, want in zip(got, exact, strict=True):
            if _is_float(want) and "dtype" not in case.attrs:
                assert y.dtype.real_dtype is dtype, f"{op.name} on {dtype.name} gives {y.dtype.name}"
                scale = 1 + np.abs(np.where(np.isfinite(want), want, 0)).max(initial=0)
                np.testing.assert_allclose(
                    np.asarray(y.array).astype(want.dtype), want, rtol=tolerance, atol=tolerance * scale
                )
        target = [y for y in got if y.dtype.differentiable]
        for x, g in zip(xs, tape.vjp(target, [None] * len(target), xs), strict=True):
            if g is not None and x.dtype.differentiable:
                assert g.dtype is x.dtype, f"{op.name}: gradient of {x.dtype.name} has dtype {g.dtype.name}"


def check_shapes(op: Op, case: Sample) -> None:
    """An elementwise op also accepts scalars, empty tensors and every form of broadcasting."""
    if op.family != "elementwise" or not all(isinstance(i, tuple) for i in case.inputs):
        return
    count = len(case.inputs)
    shapes: list[tuple[Any, ...]] = [((),) * count, ((0, 3),) * count, ((1,),) * count]
    if count > 1:
        shapes += [((2, 1), (3,), (1, 1))[:count], ((0, 1), (3,), ())[:count], ((), (2, 2), (2, 1))[:count]]
    for shape in shapes:
        for check in (check_value, check_adjoint, check_batching):
            check(op, sample(*shape, domain=case.domain, **case.attrs))


def check_traced(op: Op, case: Sample) -> None:
    """The op in a graph, run with these and with other values, equals its kernel; tracing adds no value guards."""
    arrays = draw(op, case)
    trace = Trace(op.name)
    with trace.entered():
        outputs = _tuple(op(*[trace.input(x) for x in _tensors(arrays)], **case.attrs))
    graph = trace.graph(outputs).verify()
    assert not any(node.op is guard for node in graph.nodes), f"{op.name}: a traced run looks at a value"
    run = compile_graph(graph)
    for seed in range(2):
        given = draw(op, case, seed=seed)
        try:
            got = run(*given)
        except Changed:
            assert op.shaped_by_values, f"{op.name}: the shapes of its outputs depend on values; say shaped_by_values"
            continue
        _assert_same(op, got, _tuple(run_silently(op.numpy, *given, **case.attrs)))


def _assert_same(op: Op, got: Sequence[Any], expected: Sequence[Any]) -> None:
    assert len(got) == len(expected)
    for y, want in zip(got, expected, strict=True):
        assert np.shape(y) == np.shape(want), f"{op.name}: shape {np.shape(y)}, the kernel's is {np.shape(want)}"
        if want.dtype == object:
            np.testing.assert_array_equal(y, want)
        else:
            assert y.dtype == want.dtype, f"{op.name}: dtype {y.dtype}, the kernel's is {want.dtype}"
            np.testing.assert_allclose(y, want, rtol=1e-9, atol=1e-11)


def check_traced_gradient(op: Op, case: Sample) -> None:
    """The backward graph of the op, run with these and other values, equals its VJP; tracing adds no value guards."""
    if not _differentiable(op) or op.random or op.backward_may_raise:
        return
    at = _Setting(op, case, _default_dtype(op))
    if max(at.parents) < 0 or not any(y.dtype.differentiable for y in _tuple(at.outputs)):
        return
    trace = Trace(op.name)
    with trace.entered():
        outputs = _tuple(op(*[trace.input(x) for x in at.inputs], **case.attrs))
    graph = trace.graph(outputs)
    derivative = Derivative(graph, at.inputs, [p >= 0 for p in at.parents])
    assert not any(n.op is guard for n in derivative.joint.nodes), f"{op.name}: its traced gradient looks at a value"
    forward, backward = compile_graph(derivative.forward), compile_graph(derivative.backward)
    for seed in range(1 if op.shaped_by_values else 2):
        given = draw(op, case, seed=seed)
        try:
            kept = forward(*given)[len(outputs) :]
        except Changed:
            continue
        found = derivative.cotangents.of(backward(*kept, *at.cotangents))
        xs = _tensors(given)
        with Tape() as tape:
            tape.watch([x for x, p in zip(xs, at.parents, strict=True) if p >= 0])
            ys = [y for y in _tuple(op(*xs, **case.attrs))]
        pairs = [(y, Tensor(g)) for y, g in zip(ys, at.cotangents, strict=True) if y.dtype.differentiable]
        expected = tape.vjp([y for y, _ in pairs], [g for _, g in pairs], xs)
        for mine, its, p in zip(found, expected, at.parents, strict=True):
            if p >= 0 and its is not None:
                np.testing.assert_allclose(_array(mine), _array(its), rtol=1e-9, atol=1e-10)


CHECKS: tuple[Callable[[Op, Sample], None], ...] = (
    check_value, check_forward, check_adjoint, check_second_order, check_batching, check_jacobian, check_examples,
    check_dtypes, check_shapes, check_traced, check_traced_gradient,
)  # fmt: skip


def check_op(op: Op) -> None:
    """Runs every check on every sample of `op`; raises AssertionError for the first failure.

    The error names the check, what it checks, and the sample. Other errors, those of the op's own kernel and rules, get
    a note that does.

    >>> from gradtape.inspect import check_op
    >>> from gradtape.ops.elementwise.transcendental import tanh
    >>> check_op(tanh)
    """
    for number, case in enumerate(op.samples):
        for check in CHECKS:
            try:
                check(op, case)
            except Exception as error:
                law = " ".join(str(check.__doc__).split("\n\n")[0].split())
                where = f"{check.__name__} of op {op.name!r} fails at samples[{number}] = {case}\n{law}"
                if isinstance(error, AssertionError):
                    raise AssertionError(f"{where}\n{error}") from error
                error.add_note(where)
                raise
