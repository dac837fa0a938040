"""`keras.ops.numpy` on gradtape: names and signatures, gradients, traces, batches, dtypes."""

import importlib
import inspect

import numpy as np
import pytest
from case_groups import check_together, in_batches

import gradtape as tf

keras = tf.keras
ops = keras.ops
frontend = importlib.import_module("keras.src.ops.numpy")
backend = importlib.import_module("keras_gradtape.src.ops.numpy")
# These have one implementation for all backends.
SHARED = {"get_item", "view_as_complex", "view_as_real"}

RNG = np.random.default_rng(0)
A, B = RNG.uniform(0.3, 0.9, (3, 4)), RNG.uniform(0.3, 0.9, (3, 4))
V, W = RNG.uniform(0.3, 0.9, 5), RNG.uniform(0.3, 0.9, 3)
S, C = RNG.uniform(0.3, 0.9, (4, 4)), RNG.uniform(0.3, 0.9, (2, 3, 4))
HOLES = np.where(np.arange(12).reshape(3, 4) % 5 == 2, np.nan, A)

UNARY = """abs absolute angle arccos arcsin arcsinh arctan arctanh cbrt ceil cos cosh deg2rad exp exp2 expm1 fabs floor
i0 log log10 log1p log2 negative rad2deg real reciprocal round sign sin sinc sinh sqrt square tan tanh trunc nan_to_num
amax amin average cumprod cumsum max mean median min prod ptp std sum var nanmax nanmean nanmedian nanmin nanprod nanstd
nansum nanvar nancumprod nancumsum corrcoef diag diagflat diagonal diff fliplr flip flipud ravel rot90 sort trace
transpose trapezoid tril triu copy""".split()
BINARY = """add arctan2 divide divide_no_nan fmax fmin fmod hypot logaddexp logaddexp2 maximum minimum mod multiply
power subtract true_divide append dot inner kron outer tensordot vdot""".split()

CASES = {
    **{name: (getattr(ops, name), A if name not in ("trace", "tril") else S) for name in UNARY},
    **{name: (getattr(ops, name), A, B) for name in BINARY if name not in ("dot", "tensordot")},
    "arccosh": (lambda x: ops.arccosh(x + 1.5), A),
    "average_weighted": (lambda x, w: ops.average(x, axis=0, weights=w), A, W),
    "array_split": (lambda x: ops.concatenate(ops.array_split(x, 2, axis=1)[::-1], axis=1), A),
    "bincount": (lambda w: ops.bincount(np.array([0, 2, 2, 1, 0]), weights=w), V),
    "broadcast_to": (lambda x: ops.broadcast_to(x, (2, 3, 4)), A),
    "clip": (lambda x: ops.clip(x, 0.4, 0.7), A),
    "concatenate": (lambda x, y: ops.concatenate([x, y], axis=1), A, B),
    "correlate": (lambda x, y: ops.correlate(x, y, mode="same"), V, W),
    "cross": (lambda x, y: ops.cross(x, y, axis=0), A, B),
    "cumprod_axis": (lambda x: ops.cumprod(x, axis=1), A),
    "dot": (ops.dot, C, S),
    "dstack": (lambda x, y: ops.dstack([x, y]), A, B),
    "einsum": (lambda x, y: ops.einsum("bij,jk->bki", x, y), C, S),
    "expand_dims": (lambda x: ops.expand_dims(x, (0, -1)), A),
    "full": (lambda x: ops.full((2, 3), x, "float64"), W),
    "geomspace": (lambda x, y: ops.geomspace(x, y, 5, dtype="float64"), W, W * 2),
    "heaviside": (lambda x, y: ops.heaviside(x - x, y), W, W[::-1].copy()),
    "hstack": (lambda x, y: ops.hstack([x, y]), A, B),
    "ldexp": (lambda x: ops.ldexp(x, np.array([1, 2, 3, -1])), A),
    "linspace": (lambda x, y: ops.linspace(x, y, 5, axis=-1), A, B),
    "logspace": (lambda x, y: ops.logspace(x, y, 5, endpoint=False), W, W * 2),
    "matmul": (ops.matmul, C, S),
    "matmul_vector": (ops.matmul, S, S[0]),
    "meshgrid": (lambda x, y: ops.stack(ops.meshgrid(x, y)), V, W),
    "moveaxis": (lambda x: ops.moveaxis(x, 0, -1), C),
    "nanquantile": (lambda x: ops.nanquantile(x + HOLES * 0, [0.2, 0.7], axis=1), A),
    "pad_constant": (lambda x: ops.pad(x, ((1, 0), (2, 1)), constant_values=3.0), A),
    "pad_reflect": (lambda x: ops.pad(x, ((1, 0), (2, 1)), mode="reflect"), A),
    "percentile": (lambda x: ops.percentile(x, 35.0, axis=(0, 1)), A),
    "quantile": (lambda x: ops.quantile(x, [0.2, 0.7], axis=0, keepdims=True), A),
    "quantile_nearest": (lambda x: ops.quantile(x, 0.3, axis=1, method="nearest"), A),
    "repeat": (lambda x: ops.repeat(x, 2, axis=0), A),
    "repeat_each": (lambda x: ops.repeat(x, [1, 0, 3], axis=0), A),
    "reshape": (lambda x: ops.reshape(x, (-1, 2)), A),
    "roll": (lambda x: ops.roll(x, (1, 2), axis=(0, 1)), A),
    "select": (lambda x, y: ops.select([A > 0.8, A > 0.5], [x, y], default=1.5), A, B),
    "slogdet": (lambda x: ops.slogdet(x)[1], S),
    "split": (lambda x: ops.stack(ops.split(x, [1, 3], axis=1)[1:2]), A),
    "squeeze": (lambda x: ops.squeeze(x[None]), A),
    "stack": (lambda x, y: ops.stack([x, y], axis=-1), A, B),
    "swapaxes": (lambda x: ops.swapaxes(x, 0, -1), C),
    "take": (lambda x: ops.take(x, np.array([[0, -1], [2, 2]]), axis=1), A),
    "take_rows": (lambda x: ops.take(x, np.array([1, -1, 1]), axis=0), A),
    "take_along_axis": (lambda x: ops.take_along_axis(x, np.array([[0, -1], [1, 2], [3, 3]]), axis=1), A),
    "tensordot": (lambda x, y: ops.tensordot(x, y, axes=((1,), (0,))), A, S),
    "tile": (lambda x: ops.tile(x, (2, 1, 2)), A),
    "trapezoid_over": (lambda y, x: ops.trapezoid(y, x, axis=1), A, np.cumsum(B, axis=1)),
    "unique": (lambda x: ops.unique(x), W),
    "vander": (lambda x: ops.vander(x, 4), W),
    "vectorize": (lambda x: ops.vectorize(lambda row: ops.sum(row) * row, signature="(n)->(n)")(x), A),
    "where": (lambda x, y: ops.where(A > 0.6, x, y), A, B),
}  # fmt: skip
LATER = {  # not in Keras 3.15
    "copysign": (lambda x, y: ops.copysign(x, y - 0.6), A, B),
    "column_stack": (lambda x, y: ops.column_stack([x, y]), A, W),
    "cov": (lambda x: ops.cov(x), A),
    "float_power": (lambda x, y: ops.float_power(x, y), A, B),
}
CASES |= {name: case for name, case in LATER.items() if hasattr(ops, name)}
BY_VALUE = {"bincount", "unique"}  # the shape of their result depends on values


def _close(found, expected):
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-12, atol=1e-12)


def test_names_and_signatures():
    for name, function in vars(frontend).items():
        if not inspect.isfunction(function) or function.__module__ != "keras.src.ops.numpy":
            continue
        if name.startswith("_") or name in SHARED or hasattr(frontend, f"_{name}"):
            continue
        if name in ("shape_equal", "broadcast_shapes", "reduce_shape"):
            continue
        assert inspect.signature(getattr(backend, name)) == inspect.signature(function), name


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    function, *inputs = CASES[name]
    inputs = [tf.constant(x) for x in inputs]
    assert function(*inputs).dtype == "float64"
    exact, numeric = tf.test.compute_gradient(function, inputs, delta=1e-5)
    for found, expected in zip(exact, numeric, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", [name for name in CASES if name not in BY_VALUE])
def test_traced_and_batched(name):
    function, *inputs = CASES[name]
    inputs = [tf.constant(x) for x in inputs]
    expected = function(*inputs)
    _close(tf.function(function)(*inputs), expected)
    twice = [tf.stack([x, x * 0.99]) for x in inputs]
    found = tf.vectorized_map(lambda xs: function(*xs), tuple(twice))
    _close(found[0], expected)
    _close(found[1], function(*(x[1] for x in twice)))


@pytest.mark.parametrize("mode", ["valid", "same", "full"])
@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (2, 6), (6, 2), (5, 5)])
def test_correlate(sizes, mode):
    x, y = (RNG.normal(size=n) for n in sizes)
    np.testing.assert_allclose(ops.correlate(x, y, mode), np.correlate(x, y, mode), rtol=1e-12)


def test_many_values_are_found():
    x, sought = np.arange(100) % 37, np.arange(0, 80, 2)
    np.testing.assert_array_equal(ops.isin(x, sought), np.isin(x, sought))
    np.testing.assert_array_equal(ops.isin(x, sought, invert=True), np.isin(x, sought, invert=True))


@pytest.mark.parametrize("arguments", [{}, {"bins": 4, "range": (-1, 1)}, {"bins": 1, "range": (0, 0)}])
def test_histogram(arguments):
    for x in (RNG.normal(size=50), np.ones(3)):
        for found, expected in zip(ops.histogram(x, **arguments), np.histogram(x, **arguments), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6)


COMPILED = in_batches({name: case for name, case in CASES.items() if name not in BY_VALUE}, 15)


@pytest.mark.parametrize("cases", COMPILED.values(), ids=COMPILED)
def test_compiled(cases, quick_xla):
    check_together(check_compiled, cases)


def check_compiled(cases):
    """Values and gradients of all cases are those of the eager functions, computed by one program."""

    def value_and_gradients(function, *xs):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = function(*xs)
            loss = tf.reduce_sum(y * y)
        gradients = tape.gradient(loss, xs, unconnected_gradients="zero")
        return (y, *(tf.convert_to_tensor(g) for g in gradients))

    def program(inputs):
        return {name: value_and_gradients(cases[name][0], *inputs[name]) for name in cases}

    inputs = {name: [tf.constant(x) for x in arrays] for name, (_, *arrays) in cases.items()}
    found, expected = tf.function(program, jit_compile=True)(inputs), program(inputs)
    for name in cases:
        for a, b in zip(found[name], expected[name], strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-9, atol=1e-12, err_msg=name)


def test_nan_is_left_out():
    x = tf.constant(HOLES)
    for name in ("max", "mean", "median", "min", "prod", "std", "sum", "var", "argmax", "cumsum", "cumprod"):
        for axis in (None, 0, 1):
            found = getattr(ops, f"nan{name}")(x, axis=axis)
            np.testing.assert_allclose(found, getattr(np, f"nan{name}")(HOLES, axis=axis), rtol=1e-12)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = ops.nanmean(x) + ops.nanvar(x)
    assert np.isfinite(np.asarray(tape.gradient(y, x))).all()


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("float32", 1.5, "float32"), ("float16", 2, "float16"), ("int32", 1.5, "float32"), ("bool", 1, "int32"),
        ("int8", 1, "int8"), ("int8", "uint8", "int16"), ("uint32", "int32", "int32"), ("bool", "bool", "bool"),
        ("float64", "float32", "float64"), ("int64", "int32", "int64"), ("bfloat16", "float16", "float32"),
        ("int64", "float32", "float32"), ("complex64", "float32", "complex64"),
    ],
)  # fmt: skip
def test_promotion(first, second, expected):
    a = tf.cast(tf.constant([1, 0]), first)
    b = tf.cast(tf.constant([1, 1]), second) if isinstance(second, str) else second
    assert ops.add(a, b).dtype == ops.add(b, a).dtype == expected
    assert ops.multiply(a, b).dtype == expected
    assert ops.add(keras.KerasTensor((2,), first), b).dtype == expected, "before there are values, too"
    assert keras.backend.result_type(a.dtype, second if isinstance(second, str) else type(second)) == expected


def test_the_default_dtype_is_for_what_has_none():
    x = tf.constant([1.0])
    before = keras.config.floatx()
    keras.config.set_floatx("float64")
    try:
        assert ops.exp(tf.constant([1])).dtype == ops.divide(tf.constant([1]), 2).dtype == "float64"
        assert ops.add(x, 1.5).dtype == ops.divide(1, x).dtype == ops.exp(x).dtype == "float32"
    finally:
        keras.config.set_floatx(before)


def test_numbers_beyond_a_dtype_wrap_around():
    assert int(ops.add(tf.constant([200], tf.uint8), 100)[0]) == 44


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "mean", "median",
                                  "linear_ramp"])  # fmt: skip
def test_padding(mode):
    np.testing.assert_allclose(ops.pad(A, ((1, 2), (3, 2)), mode=mode), np.pad(A, ((1, 2), (3, 2)), mode=mode))


@pytest.mark.parametrize("mode", ["REFLECT", "Symmetric", "CONSTANT"])
def test_padding_as_tensorflow_spells_it(mode):
    np.testing.assert_allclose(ops.pad(A, ((1, 2), (3, 2)), mode), np.pad(A, ((1, 2), (3, 2)), mode.lower()))


def test_bfloat16_neighbours():
    x = tf.constant([1.0, -1.0, 0.0, 0.0, 2.0, np.inf], tf.bfloat16)
    y = tf.constant([2.0, 2.0, 1.0, -1.0, 2.0, 0.0], tf.bfloat16)
    np.testing.assert_array_equal(ops.nextafter(x, y), np.nextafter(np.asarray(x), np.asarray(y)))


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.reshape(A, (5, -1)),
        lambda: ops.squeeze(A, 0),
        lambda: ops.max(np.zeros((0, 3)), axis=0),
        lambda: ops.split(A, 3, axis=1),
        lambda: ops.pad(A, 1, mode="edge", constant_values=1.0),
        lambda: ops.mean(A, axis=2),
        lambda: ops.searchsorted(A, W),
        lambda: ops.searchsorted(np.arange(3.0), W, side="LEFT"),
        lambda: ops.matmul(A, B),
        lambda: ops.quantile(A, 0.5, method="guess"),
    ],
)
def test_bad_input(call):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        call()
