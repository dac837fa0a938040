"""Ops under XLA: NumPy's results for every op, convolutions, pooling, indices, half precision."""

import ml_dtypes
import numpy as np
import pytest
from small_graphs import Builder
from test_xla import compiled

import gradtape as tf
from gradtape import ops
from gradtape.engine.registry.op import registry
from gradtape.graph.executors.xla import executor
from gradtape.graph.executors.xla.executor import compile_graph
from gradtape.inspect.checks.opcheck import draw

jax = pytest.importorskip("jax")
ops.load_all()

# Ops that NumPy computes in the middle of a compiled program: unsupported by XLA, or with shapes that depend on values.
ON_HOST = {
    "banded_solve", "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e", "bessel_k1", "bessel_k1e", "bessel_y0",
    "bessel_y1", "check_numerics", "combined_boxes", "drawn_boxes", "dynamic_partition", "dynamic_segment_sum",
    "expint", "isotonic", "logm", "nonzero", "random_binomial", "random_bounded_normal", "random_box",
    "random_candidates",
    "random_gamma", "random_gamma_grad", "random_poisson", "random_shuffle", "random_weighted_candidates", "sqrtm",
    "suppressed_boxes", "suppressed_overlaps", "unique", "unique_slices",
}  # fmt: skip


def is_string(x):
    return isinstance(x, np.ndarray) and x.dtype == object


@pytest.mark.parametrize(
    "op", [op for op in registry.values() if not any(is_string(x) for s in op.samples for x in s.inputs)],
    ids=lambda op: op.name,
)  # fmt: skip
def test_op(op, quick_xla):
    """All samples of an op, in single and double precision, as one program."""
    builder, arrays, outputs, single = Builder(), [], [], []
    for case in op.samples:
        for dtype in (np.float32, np.float64):
            given = draw(op, case, dtype)
            arrays += given
            made = builder.op(op, *map(builder.input, given), **case.attrs)
            made = made if isinstance(made, tuple) else (made,)
            outputs += made
            single += [dtype is np.float32] * len(made)
    program = compile_graph(builder.graph(*outputs))
    for y, value, in_single in zip(program(arrays), outputs, single, strict=True):
        expected = np.asarray(builder.array(value))
        assert y.shape == expected.shape
        assert y.dtype == expected.dtype
        if expected.dtype.kind in "iub":
            np.testing.assert_array_equal(y, expected)
            continue
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        y, expected = np.asarray(y).astype(wide), expected.astype(wide)
        if op.name == "eig":  # an eigenvector is determined up to its phase
            y, expected = abs(y), abs(expected)
        tolerance = 1e-5 if in_single else 1e-9
        np.testing.assert_allclose(y, expected, rtol=tolerance, atol=tolerance)
    assert program.on_host == ((op.name,) if op.name in ON_HOST else ())


@pytest.mark.parametrize("patches", [0, 1 << 30])
@pytest.mark.parametrize(
    ("image", "kernel", "attrs"),
    [
        ((2, 9, 8, 3), (3, 3, 3, 4), {"strides": 1, "padding": "SAME"}),
        ((2, 9, 8, 4), (2, 3, 4, 5), {"strides": 2, "padding": "VALID"}),
        ((2, 9, 8, 4), (2, 3, 2, 6), {"strides": 1, "padding": "SAME", "dilations": 2}),
        ((2, 6, 6, 3), (1, 1, 3, 4), {"strides": 1, "padding": "SAME"}),
    ],
)
def test_convolutions(image, kernel, attrs, patches, monkeypatch):
    monkeypatch.setattr("gradtape.graph.executors.xla.images._PATCHES", patches)
    rng = np.random.default_rng(0)
    x, w = (tf.constant(rng.standard_normal(shape).astype(np.float32)) for shape in (image, kernel))

    def both(x, w):
        with tf.GradientTape() as tape:
            tape.watch((x, w))
            y = tf.nn.conv2d(x, w, **attrs)
        return y, *tape.gradient(y, (x, w), output_gradients=tf.sin(y))

    program = compiled(both)
    program(x, w)
    for got, expected in zip(program(x, w), both(x, w), strict=True):
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("window", "strides", "padding"), [(2, 2, "VALID"), (3, 2, "SAME"), (2, 3, "SAME")])
@pytest.mark.parametrize("pool", ["max_pool2d", "avg_pool2d"])
def test_pooling(pool, window, strides, padding):
    x = tf.constant(np.random.default_rng(0).standard_normal((2, 8, 6, 3)).astype(np.float32))

    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(tf.nn, pool)(x, window, strides, padding)
        return y, tape.gradient(y, x, output_gradients=tf.sin(y))

    program = compiled(both)
    program(x)
    for got, expected in zip(program(x), both(x), strict=True):
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_indices_out_of_range_are_clipped_and_what_is_added_there_is_dropped():
    # TensorFlow's behavior with jit_compile=True. The first call traces, with values that NumPy checks.
    @tf.function(jit_compile=True)
    def f(x, i):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            whole, rows = tf.gather(x, i), tf.gather(tf.stack([x, x]), tf.stack([i, i]), batch_dims=1)
            columns = tf.gather(tf.stack([x, x]), i, axis=1)
        return whole, rows, columns, tf.convert_to_tensor(tape.gradient(whole, x))

    x = tf.constant([1.0, 2.0, 3.0])
    f(x, tf.constant([1, 0, 1, 2]))
    whole, rows, columns, slope = f(x, tf.constant([-1, 0, 7, 2]))
    assert whole.numpy().tolist() == [1.0, 1.0, 3.0, 3.0]
    assert rows.numpy().tolist() == columns.numpy().tolist() == [[1.0, 1.0, 3.0, 3.0]] * 2
    assert slope.numpy().tolist() == [1.0, 0.0, 1.0]


def _half_step(dtype):
    r = np.random.RandomState(0)
    w = tf.Variable(tf.cast(r.randn(16, 8), dtype))
    k = tf.Variable(tf.cast(r.randn(3, 3, 4, 4), dtype))
    d = tf.Variable(tf.cast(r.randn(3, 3, 4, 1), dtype))

    def step(x, image):
        with tf.GradientTape() as tape:
            y = tf.nn.softmax(tf.matmul(x, w)) + tf.einsum("bi,ij->bj", x, w)
            z = tf.nn.conv2d(tf.nn.depthwise_conv2d(image, d, [1, 1, 1, 1], "SAME"), k, 1, "SAME")
            _, s = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.tanh(s) * s), [0, tf.nn.gelu(z)])
            y = tf.cond(tf.reduce_sum(tf.cast(y, tf.float32)) > 0, lambda: tf.sinh(y), lambda: y)
            loss = tf.reduce_mean(tf.square(y)) + tf.reduce_mean(s)
        return [loss, *tape.gradient(loss, [w, k, d])]

    return step, (tf.cast(r.randn(4, 16), dtype), tf.cast(r.randn(2, 6, 6, 4), dtype))


@pytest.mark.parametrize("dtype", [tf.bfloat16, tf.float16], ids=lambda dtype: dtype.name)
def test_half_precision_is_right_and_is_not_computed_in_single(dtype):
    step, given = _half_step(dtype)
    compiled = tf.function(step, jit_compile=True)
    compiled(*given)
    expected = step(*given)
    for y, want in zip(compiled(*given), expected, strict=True):
        assert y.dtype is dtype
        y, want = np.asarray(y, np.float64), np.asarray(want, np.float64)
        np.testing.assert_allclose(y, want, atol=8 * float(np.finfo("f2").eps if dtype is tf.float16 else 2**-8)
                                   * abs(want).max())  # fmt: skip


@pytest.mark.parametrize("dtype", [tf.bfloat16, tf.float16], ids=lambda dtype: dtype.name)
def test_products_in_half_precision_take_halves_and_add_up_in_single(dtype):
    from gradtape.graph.executors.xla.lowering import Lowering

    step, given = _half_step(dtype)
    graph = tf.function(step, jit_compile=True).get_concrete_function(*given).graph
    run = executor._function(graph, Lowering(graph), [])
    with jax.enable_x64(True):
        values = (*(v for _, v in graph.variables), *graph.inputs)
        shapes = [jax.ShapeDtypeStruct(v.shape, v.dtype.numpy) for v in values]
        found = list(_equations(jax.make_jaxpr(run)(*shapes).jaxpr))
    # The sums of a depthwise convolution's gradient are products with ones, in single precision anyway.
    products = [e for e in found if e.primitive.name == "dot_general" and len(e.invars[0].aval.shape) > 1]
    convolutions = [e for e in found if e.primitive.name == "conv_general_dilated"]
    assert len(products) >= 4
    assert convolutions
    for equation in (*products, *convolutions):
        assert {v.aval.dtype for v in equation.invars} == {np.dtype(dtype.numpy)}
    assert any(e.outvars[0].aval.dtype == np.float32 for e in products)


@pytest.mark.parametrize("narrow", ["bfloat16", "float16"])
def test_casts_to_a_narrower_float_round(narrow):
    """By default XLA keeps more digits where the result is cast back, or computed with in a wider float."""
    x = tf.constant(np.random.default_rng(0).normal(size=100), tf.float32)

    def rounded(x):
        y = tf.cast(x, narrow)
        z = (y * tf.constant(1.1, narrow) + y) * y
        return tf.cast(y, x.dtype), tf.cast(z, x.dtype)

    def loop(x):
        return tf.while_loop(lambda i, *ys: i < 1, lambda i, *ys: (i + 1, *rounded(x)), (0, x, x))[1:]

    number = tf.as_dtype(narrow).as_numpy_dtype
    for f in (rounded, loop):
        (cast, computed), (y, z) = tf.function(f, jit_compile=True)(x), rounded(x)
        assert cast.numpy().tolist() == y.numpy().tolist()
        # A processor with instructions for float16 may round a product and a sum once, but then to this dtype.
        assert computed.numpy().tolist() == computed.numpy().astype(number).astype(np.float32).tolist()
        np.testing.assert_allclose(computed, z, rtol=4 * float(ml_dtypes.finfo(number).eps))


@pytest.mark.parametrize("name", ["reduce_max", "reduce_min", "segment_max", "unsorted_segment_min"])
def test_what_extremes_are_compared_with_is_computed_once_on_a_gpu(name, monkeypatch):
    """A fusion that repeats the sum rounds it in another way: no element would be the maximum, or none be counted."""
    from gradtape.graph.executors.xla.lowering import Lowering

    reduce = getattr(tf.math, name)
    others = {"segment_max": ([0, 0, 1],), "unsorted_segment_min": ([0, 0, 1], 2)}.get(name, ())

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = reduce(tf.reduce_sum(tf.abs(x), 1), *others)
        return tape.gradient(y, x)

    graph = tf.function(gradient).get_concrete_function(tf.zeros([3, 4])).graph
    for backend, times in (("cpu", 0), ("gpu", 1)):
        monkeypatch.setattr(jax, "default_backend", lambda backend=backend: backend)
        found = jax.make_jaxpr(executor._function(graph, Lowering(graph), []))(jax.ShapeDtypeStruct((3, 4), np.float32))
        assert [e.primitive.name for e in _equations(found.jaxpr)].count("optimization_barrier") == times


@pytest.mark.parametrize("channels", [1, 4])
def test_filter_gradients_of_examples_are_products(channels):
    """As convolutions with a group for each example, or as sums for each filter, they take minutes to compile."""
    from gradtape.graph.executors.xla.lowering import Lowering

    w = tf.Variable(np.ones((3, 3, channels, 16), np.float32))
    d = tf.Variable(np.ones((3, 3, 16, 8), np.float32))

    def gradients(images):
        with tf.GradientTape() as tape:
            y = tf.nn.depthwise_conv2d(tf.nn.conv2d(images, w, 1, "SAME"), d, [1, 1, 1, 1], "SAME")
            losses = tf.reduce_sum(y, [1, 2, 3])
        return tape.gradient(losses, [w, d], per="example")

    counts = []
    for examples in (16, 32):
        graph = tf.function(gradients).get_concrete_function(tf.zeros([examples, 6, 6, channels])).graph
        values = (*(v for _, v in graph.variables), *graph.inputs)
        shapes = [jax.ShapeDtypeStruct(v.shape, v.dtype.numpy) for v in values]
        found = list(_equations(jax.make_jaxpr(executor._function(graph, Lowering(graph), []))(*shapes).jaxpr))
        assert not [e for e in found if e.params.get("feature_group_count", 1) > 1]
        assert {len(e.outvars[0].aval.shape) for e in found if e.primitive.name == "dot_general"} >= {3, 4}
        counts.append(len(found))
    assert counts[0] == counts[1]


def _equations(jaxpr):
    for equation in jaxpr.eqns:
        yield equation
        for value in equation.params.values():
            for inner in value if isinstance(value, tuple | list) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from _equations(inner)


def test_zeta_at_poles_and_of_large_arguments_has_the_values_of_numpy():
    exponents, places = [1.0, 1.5, 2.0, 3.0, 1e18, np.inf], [-2.0, -0.3, 0.0, 1e-30, 0.3, 1.0, 1.5, 1e9, 1e30, np.inf]
    s, q = map(tf.constant, np.float32(np.meshgrid(exponents, places)))
    np.testing.assert_allclose(compiled(tf.math.zeta)(s, q), tf.math.zeta(s, q), rtol=1e-5)
