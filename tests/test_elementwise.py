"""Elementwise functions beyond the recorded comparison: NumPy operands, dtypes, accuracy, messages."""

import ast
import inspect
import operator
import os
import random
import signal
import warnings

import numpy as np
import pytest
import scipy.special
from fuzz import range_ends, range_ends_composites

import gradtape as tf
from gradtape.backends.tuning import LARGE
from gradtape.core import dtypes, type_hints
from gradtape.core.operators import BINARY, REFLECTED, UNARY
from gradtape.core.tensor import Tensor
from gradtape.engine.registry.op import Op, registry
from gradtape.engine.run.namespace import ops, raw
from gradtape.ops import load_all
from gradtape.ops.elementwise import special


def test_numpy_on_the_left_keeps_the_gradient():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = np.array([3.0, 4.0]) * x + np.float32(2) * x - np.ones(2) / x
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [6.0, 6.25])


load_all()
WITH_PARTIALS = [name for name, op in registry.items() if op.first is not None and op.family == "elementwise"]


@pytest.mark.parametrize(
    ("name", "size"),
    [(name, (3, 4)) for name in WITH_PARTIALS]
    + [(name, (size,)) for name in ("add", "sub", "mul", "div", "tanh", "exp", "maximum") for size in (40_000, LARGE)],
)
def test_an_op_of_one_argument_has_the_same_cotangent(name, size):
    """The record for a single argument on the tape, against the rule for all of them."""
    op, rng = registry[name], np.random.default_rng(0)
    inputs = [Tensor(rng.uniform(*op.domain, size).astype(np.float32)) for _ in op.args]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        y, g = op(*inputs), rng.standard_normal(size, np.float32)
        for partial in filter(None, (op.first, op.second)):
            saved = partial.keep(*inputs, y)
            expected = op.vjp_raw(raw, g, op.keep(inputs, y, {}), partial.placed(5))[partial.index]
            if expected is None:  # without a derivative
                assert partial.index in op.nondifferentiable_args and partial.vjp_raw(raw, g, saved) is None
                continue
            np.testing.assert_array_equal(partial.vjp_raw(raw, g, saved), expected)
            on_tensors = partial.vjp(ops, Tensor(g), saved)
            np.testing.assert_allclose(getattr(on_tensors, "array", on_tensors), expected, rtol=1e-5, atol=1e-6)


def test_an_argument_that_is_broadcast_is_recorded_with_its_shape():
    b, x = tf.constant([1.0, 2.0]), np.float32([[3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(b)
        y, z = b * x, b * 2.0
    assert tape.gradient(y, b).numpy().tolist() == [8.0, 10.0]
    assert tape.gradient(z, b).numpy().tolist() == [2.0, 2.0]
    _, stretched, number = tape._log.records
    assert stretched[1] == number[1] == (0, -1)
    assert stretched[2][-1] == ((2,), (2, 2)) and number[2][-1] is None


def test_a_numpy_function_of_a_tensor_is_an_array():
    x = tf.constant([1.0, 2.0])
    assert isinstance(np.square(x), np.ndarray)


METHODS = [*(row.method for row in UNARY + BINARY), *(row.reflected for row in REFLECTED)]


@pytest.mark.parametrize("name", METHODS)
def test_tensors_have_the_operators(name):
    assert callable(getattr(Tensor, name))


def test_type_checkers_know_the_operators():
    tree = ast.parse(inspect.getsource(type_hints))
    classes = [c for c in ast.walk(tree) if isinstance(c, ast.ClassDef) and c.name in ("Operators", "TensorOperators")]
    declared = {f.name for c in classes for f in c.body if isinstance(f, ast.FunctionDef)}
    assert declared == {*METHODS, "__getitem__"}


@pytest.mark.parametrize("f", [operator.add, operator.mul, operator.truediv, operator.pow, operator.mod])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_python_numbers_take_the_tensors_dtype(f, dtype):
    if f is operator.mod and dtype == "complex64":
        pytest.skip("complex numbers have no remainder")
    x = tf.constant([1.5, 2.5], dtype=dtype)
    assert f(x, 2).dtype == f(2, x).dtype == f(x, 2.0).dtype == dtype


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,)])
def test_powers_agree_with_the_general_power(shape):
    x = np.random.default_rng(0).uniform(0.5, 2, shape)
    for n in (-1, 0, 0.5, 1, 2, 2.0, 3):
        y = tf.constant(x) ** n
        assert y.dtype == tf.float64 and y.shape == shape
        np.testing.assert_allclose(y.numpy(), x**n)


@pytest.mark.parametrize("a", [1e-3, 0.3, 1.0, 7.0, 300.0])
@pytest.mark.parametrize("ratio", [1e-3, 0.5, 1.0, 1.5, 10.0])
def test_igamma_by_a_is_the_difference_quotient(a, ratio):
    at, x = tf.constant(a, tf.float64), tf.constant(a * ratio, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(at)
        y = tf.math.igamma(at, x)
    h = 1e-4 * a
    values = [tf.math.igamma(at + k * h, x).numpy() for k in range(-2, 3)]
    numeric = (values[0] - 8 * values[1] + 8 * values[3] - values[4]) / (12 * h)
    np.testing.assert_allclose(tape.gradient(y, at).numpy(), numeric, rtol=1e-7, atol=1e-9 / a)


def test_squashing_functions_are_accurate_far_out():
    x = tf.constant([-700.0, -40.0, 40.0, 700.0], tf.float64)
    np.testing.assert_allclose(tf.sigmoid(x).numpy()[:2], np.exp([-700.0, -40.0]), rtol=1e-13)
    np.testing.assert_allclose(tf.math.softplus(x).numpy()[:2], np.exp([-700.0, -40.0]), rtol=1e-13)
    np.testing.assert_allclose(tf.math.log_sigmoid(x).numpy()[2:], -np.exp([-40.0, -700.0]), rtol=1e-13)


@pytest.mark.parametrize("count", [7, 3000, 200_000])
def test_erf_is_accurate_however_it_is_computed(count):
    x = np.concatenate([[0, -0.0, np.inf, -np.inf, np.nan], np.geomspace(1e-30, 30, count), -np.linspace(0, 6, count)])
    x = x.astype(np.float32)
    expected = scipy.special.erf(x.astype(np.float64))
    eager = tf.math.erf(tf.constant(x)).numpy()
    np.testing.assert_allclose(eager, expected, rtol=3e-7)
    np.testing.assert_array_equal(np.signbit(eager[:2]), [False, True])
    np.testing.assert_array_equal(tf.function(tf.math.erf)(tf.constant(x)).numpy(), eager)


def test_a_variable_is_taken_where_a_tensor_is():
    v = tf.Variable([1.0, 4.0])
    with tf.GradientTape() as tape:
        y = tf.sqrt(v) + tf.maximum(v, 2.0) * v
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), [2.5, 8.25])


def test_messages_name_what_was_given():
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a float tensor but is a double tensor"):
        tf.constant(1.0) + tf.constant(1.0, tf.float64)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs\. \[3\]"):
        tf.constant([1.0, 2.0]) * tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        tf.constant([1, 2]) // tf.constant([1, 0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="'T' of int32 is not in the list of allowed values"):
        tf.sin(tf.constant(1))


def test_large_arrays_divide_by_zero_without_a_warning():
    x = tf.zeros([2 * LARGE])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradtape\.")
        assert np.isneginf(tf.math.log(x).numpy()).all()
        assert np.isnan((x / x).numpy()).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:os.fork")  # from JAX, if another test has loaded it
def test_large_arrays_after_a_fork():
    x = tf.zeros([2 * LARGE])
    tf.exp(x)  # the threads exist
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns about forks in a threaded process
        child = os.fork()
    if not child:
        signal.alarm(20)  # the child must not wait for threads that do not exist
        os._exit(0 if tf.exp(x).numpy().all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_python_numbers_beside_tensors_keep_sign_and_nan():
    x = tf.constant(2.0)
    for _ in range(2):  # numbers are remembered
        assert np.signbit((x * -0.0).numpy())
        assert not np.signbit((x * 0.0).numpy())
        assert np.isnan((x * float("nan")).numpy())
        assert (x * 0.1).numpy() == np.float32(2.0) * np.float32(0.1)
        assert (tf.constant(2.0, tf.float64) * 0.1).numpy() == 0.2


ONE_ARGUMENT = [op.name for op in registry.values() if op.family == "elementwise" and len(op.args) == 1 and op.vjp]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_derivatives_of_many_numbers_are_those_of_few(name, dtype):
    """For many numbers, results overwrite earlier ones: see `formula`."""
    op = registry[name]
    if not op.kinds & dtypes.FLOAT or op.samples[0].attrs:
        pytest.skip("not for real numbers alone")
    rng = np.random.default_rng(0)
    values = rng.uniform(*op.domain, (4, LARGE // 4)).astype(dtype)
    weights = rng.standard_normal(values.shape).astype(dtype)
    weights[0, :3] = np.nan, np.inf, 0

    def gradient(x, g):
        x = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = op(x)
        before = x.numpy(), y.numpy()
        found = tape.gradient(y, x, output_gradients=tf.constant(g))
        for now, then in zip((x, y), before, strict=True):
            np.testing.assert_array_equal(now.numpy(), then)
        return None if found is None else found.numpy()

    found = gradient(values, weights)
    parts = [gradient(v, g) for v, g in zip(values, weights, strict=True)]
    if found is not None:
        assert found.dtype == dtype
        near = {"rtol": 1e-5, "atol": 1e-6} if dtype is np.float32 else {"rtol": 1e-12, "atol": 1e-13}
        np.testing.assert_allclose(found, np.stack(parts), **near)
        np.testing.assert_allclose(gradient(values.T, weights.T), found.T, **near)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_where_of_complex_numbers_has_a_gradient_in_a_function(jit_compile):
    def gradients(mask, x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = tf.where(mask, tf.complex(x, y), tf.complex(y, x))
            loss = tf.reduce_sum(tf.math.real(z) + 2.0 * tf.math.imag(z))
        return tape.gradient(loss, [x, y])

    given = tf.constant([True, False]), tf.constant(2.0), tf.constant([1.0, 2.0])
    for found in (gradients(*given), tf.function(gradients, jit_compile=jit_compile)(*given)):
        np.testing.assert_array_equal(found[0], 3.0)
        np.testing.assert_array_equal(found[1], [2.0, 1.0])


@pytest.mark.parametrize("shape", [(32,), (1, 32), (1, 1, 1, 32)])
def test_a_row_beside_a_large_array_may_have_axes_of_one(shape):
    rng = np.random.default_rng(0)
    x, row = rng.normal(size=(16, 26, 26, 32)), rng.normal(size=shape)
    np.testing.assert_array_equal(tf.constant(x) + row, x + row)
    np.testing.assert_array_equal(tf.constant(x) * row, x * row)
    np.testing.assert_array_equal(tf.constant(row) - x, row - x)


@pytest.mark.parametrize(("kind", "name"), sorted(range_ends.references()))
def test_the_ends_of_the_range_of_every_dtype(kind, name):
    for dtype in range_ends.COMPLEX_DTYPES if kind == "complex" else range_ends.REAL_DTYPES:
        assert range_ends.compare(kind, name, dtype, "eager", random.Random(0)) == []


# Straight lines, masks, and the derivatives of other ops, which are compared as such.
WITHOUT_ENDS = {
    "abs", "add", "asin_slope", "asinh_slope", "atan_slope", "atanh_slope", "beta_density", "gamma_density",
    "gelu_slope", "gelu_tanh_slope", "igamma_by_a", "leaky_relu", "leaky_slope", "masked", "maximum", "minimum", "mod",
    "mul", "neg", "nextafter", "power_0", "power_1", "power_2", "sign", "sub", "truncatemod", "where",
    "where_positive",
}  # fmt: skip
SMOOTH = {
    name for name, op in registry.items()
    if op.family == "elementwise" and op.vjp is not None and op.kinds & dtypes.FLOAT
}  # fmt: skip


def test_every_smooth_op_has_references_for_its_ends():
    assert {*SMOOTH} - {name for _, name in range_ends.references()} == WITHOUT_ENDS


@pytest.mark.parametrize("name", sorted(range_ends_composites.FUNCTIONS))
def test_composites_at_the_ends_of_the_range(name):
    for each, dtype in range_ends_composites.cases():
        if each == name:
            assert range_ends_composites.compare(name, dtype, "eager", random.Random(0)) == []


SPECIAL = [op for op in vars(special).values() if isinstance(op, Op)]


@pytest.mark.parametrize("op", SPECIAL, ids=lambda op: op.name)
def test_no_special_function_takes_a_step_per_unit_of_its_argument(op):
    """Values and two derivatives of numbers of every size: a sum over the integers below one would take days."""
    ends = [-np.inf, -1e300, -(1e12 + 0.25), -1e6 - 0.5, -1.5, -0.0, 1e-310, 0.5, 1e6 + 0.5, 1e12, 1e300, np.inf]
    ends = ends[::3] if len(op.args) == 3 else ends
    xs = [tf.constant(x.ravel()) for x in np.meshgrid(*[np.array(ends)] * len(op.args))]
    with tf.GradientTape() as outer:
        outer.watch(xs)
        with tf.GradientTape() as inner:
            inner.watch(xs)
            y = op(*xs, **op.samples[0].attrs)
        slopes = [g for g in inner.gradient(y, xs) if g is not None]
    if slopes:
        outer.gradient(slopes, xs)


# Errors of XLA's own functions, and of rules that XLA rearranges.
@pytest.mark.parametrize(
    ("kind", "name", "dtype"),
    [
        ("real", "erfcinv", "bfloat16"), ("real", "expint", "float16"), ("real", "digamma", "float32"),
        ("binary", "atan2", "float16"), ("binary", "xdivy", "float32"), ("binary", "igamma", "float32"),
        ("binary", "polygamma", "float64"),
        ("complex", "sinh", "complex64"), ("complex", "atanh", "complex64"), ("complex", "log1p", "complex64"),
    ],
)  # fmt: skip
def test_the_ends_of_the_range_under_xla(kind, name, dtype):
    assert range_ends.compare(kind, name, dtype, "xla", random.Random(0)) == []


@pytest.mark.parametrize("f", [tf.norm, tf.math.reduce_std, tf.math.reduce_euclidean_norm, tf.math.l2_normalize])
def test_squares_of_float16_do_not_overflow(f):
    x = np.float16([11, 2048, 100])
    wide = f(tf.constant(x, tf.float32)).numpy()
    np.testing.assert_allclose(f(tf.constant(x)).numpy(), wide, rtol=1e-3)


def test_a_masked_logit_of_float16_costs_nothing():
    labels, logits = tf.constant([[1, 0]], tf.float16), tf.constant([[60000, -65504]], tf.float16)
    assert tf.nn.softmax_cross_entropy_with_logits(labels, logits).numpy().tolist() == [0.0]


def test_densities_of_half_precision():
    """The derivatives of the incomplete gamma and beta functions are exponentials of differences of large numbers."""
    a = tf.constant([2048.0], tf.float16)
    for f in (lambda x: tf.math.igamma(a, x), lambda x: tf.math.betainc(a, a, x / 4096)):
        x = tf.constant([2048.0], tf.float16)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        np.testing.assert_allclose(tape.gradient(y, x).numpy(), 1 / np.sqrt(2 * np.pi * 2048) * (
            1.0 if f(x).numpy()[0] > 0.5 else np.sqrt(2)
        ), rtol=5e-3)


@pytest.mark.parametrize("mode", ["eager", "xla"])
def test_the_beta_density_has_twelve_digits(mode):
    """SciPy's `betaln` has nine at the first of these points, and XLA's `lgamma` eleven at the others."""
    points = [(0.06631025425594729, 962047.0527419737, 1e-7), (100.0, 1.0, 0.5), (3.5, 100.0, 0.0009765625)]
    a, b, x = (tf.constant(column, tf.float64) for column in zip(*points, strict=True))

    def density(a, b, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.math.betainc(a, b, x)
        return tape.gradient(y, x)

    if mode == "xla":
        density = tf.function(density, jit_compile=True)
    exact = [533919.49227335377, 1.5777218104420236e-28, 0.085011765134850398]
    np.testing.assert_allclose(density(a, b, x), exact, rtol=1e-12)


def test_the_exponent_one_half_is_no_square_root():
    x, half = tf.constant([-np.inf, -0.0, 4.0]), tf.constant(0.5)
    for y in (x**half, x ** tf.fill([3], 0.5), x**0.5, tf.function(lambda x, b: x**b)(x, half)):
        assert y.numpy().tolist() == [np.inf, 0, 2] and not np.signbit(y.numpy()).any()


@pytest.mark.parametrize("mode", ["eager", "xla"])
def test_spence_of_the_largest_numbers(mode):
    for dtype, x in (("float32", 3.4028234663852886e38), ("float64", 1.7976931348623157e308)):
        spence = tf.math.special.spence if mode == "eager" else tf.function(tf.math.special.spence, jit_compile=True)
        np.testing.assert_allclose(spence(tf.constant([x], dtype)), [-np.log(x) ** 2 / 2 - np.pi**2 / 6], rtol=1e-6)


@pytest.mark.parametrize("mode", ["eager", "function", "xla"])
def test_large_inputs_of_activations_have_slope_one(mode):
    for dtype, points in (("float16", [2048.0, 2050.0, 65504.0]), ("float32", [2.0**24, 2.0**24 + 2, 1e30])):
        for f in (tf.nn.silu, tf.nn.gelu, lambda x: tf.nn.gelu(x, approximate=True), tf.nn.softplus):

            def slope(x, f=f):
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = f(x)
                return tape.gradient(y, x)

            run = slope if mode == "eager" else tf.function(slope, jit_compile=mode == "xla")
            assert run(tf.constant(points, dtype)).numpy().tolist() == [1.0, 1.0, 1.0]
