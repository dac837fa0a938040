"""Jacobians forward, by what is less work, and sparse: the same numbers as by rows."""

import numpy as np
import pytest
from scipy import sparse

import gradtape as tf
from gradtape.engine.tape.coloring import coloring, count

RNG = np.random.default_rng(0)
GRID = RNG.normal(size=(6, 7))
LINE = RNG.normal(size=12)
STENCIL = np.array([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]]).reshape(3, 3, 1, 1)


def reaction_diffusion(u):
    around = tf.roll(u, 1, 0) + tf.roll(u, -1, 0) + tf.roll(u, 1, 1) + tf.roll(u, -1, 1)
    return around - 4 * u + u - u**3


def by_convolution(u):
    image = tf.reshape(u, (1, *u.shape, 1))
    return tf.nn.conv2d(image, tf.constant(STENCIL), 1, "SAME")[0, :, :, 0] * u


def by_slices(x):
    inner = x[2:] - 2 * x[1:-1] + x[:-2]
    return tf.concat([x[:1], inner * tf.exp(x[1:-1]), x[-1:] ** 2], 0)


def by_padding(x):
    y = tf.pad(x, [[1, 1]])
    return y[1:-1] * y[2:] - y[:-2]


def by_gathering(x):
    links = tf.constant([[0, 3], [5, 1], [2, 2], [11, 0]])
    ends = tf.gather(x, links)
    return tf.tensor_scatter_nd_add(tf.sin(x), [[1], [4]], ends[0] * ends[1])


def blocks(x):
    rows = tf.reshape(x, (4, 3, 1))
    matrices = tf.constant(np.random.default_rng(1).normal(size=(4, 3, 3)))
    return tf.nn.relu(matrices @ rows)


def dense_layer(x):
    return tf.tanh(tf.reshape(x, (3, 4)) @ tf.constant(np.random.default_rng(2).normal(size=(4, 2))))


def reductions(x):
    rows = tf.reshape(x, (3, 4))
    return tf.concat([tf.reduce_sum(rows, 1), tf.reduce_max(rows, 0), tf.reduce_mean(rows**2, 1)], 0)


def along_rows(x):
    return tf.nn.softmax(tf.reshape(x, (4, 3))) + tf.cumsum(tf.reshape(x, (4, 3)), 1)


def few_results(x):
    return tf.stack([tf.reduce_sum(x**2), x[0] * x[1]])


def many_results(x):
    return tf.exp(x[:2])[:, None] * tf.range(9, dtype=tf.float64)


PROGRAMS = [
    (reaction_diffusion, GRID), (by_convolution, GRID), (by_slices, LINE), (by_padding, LINE), (by_gathering, LINE),
    (blocks, LINE), (dense_layer, LINE), (reductions, LINE), (along_rows, LINE), (few_results, LINE),
    (many_results, LINE),
]  # fmt: skip
ALL = pytest.mark.parametrize("program, at", PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))


def recorded(program, at, **options):
    x = tf.Variable(at)
    with tf.GradientTape(**options) as tape:
        y = program(x)
    return tape, y, x


@ALL
@pytest.mark.parametrize("mode", ["forward", "auto"])
def test_columns_give_the_same_as_rows(program, at, mode):
    tape, y, x = recorded(program, at, persistent=True)
    np.testing.assert_allclose(tape.jacobian(y, x, mode=mode), tape.jacobian(y, x), rtol=1e-12, atol=1e-14)


@ALL
@pytest.mark.parametrize("mode", [None, "reverse", "forward"])
def test_a_sparse_one_has_the_entries_that_are_not_zero(program, at, mode):
    tape, y, x = recorded(program, at, persistent=True)
    dense = tape.jacobian(y, x).numpy().reshape(np.prod(y.shape), -1)
    found = tape.jacobian(y, x, sparse=True, mode=mode)
    assert isinstance(found, sparse.csr_array)
    assert found.shape == dense.shape
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("program, at", PROGRAMS[:6], ids=lambda p: getattr(p, "__name__", ""))
def test_its_pattern_is_exact(program, at):
    tape, y, x = recorded(program, at, persistent=True)
    dense = tape.jacobian(y, x).numpy()
    assert tape.jacobian(y, x, sparse=True).nnz == np.count_nonzero(dense)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_functions_are_looked_into(jit_compile):
    if jit_compile:
        pytest.importorskip("jax")
    tape, y, x = recorded(tf.function(reaction_diffusion, jit_compile=jit_compile), GRID, persistent=True)
    found = tape.jacobian(y, x, sparse=True)
    assert found.nnz == 5 * GRID.size
    np.testing.assert_allclose(found.toarray(), tape.jacobian(y, x).numpy().reshape(42, 42), rtol=1e-12)


def test_a_large_stencil_takes_few_sweeps():
    tape, y, x = recorded(reaction_diffusion, RNG.normal(size=(40, 50)))
    found = tape.jacobian(y, x, sparse=True)
    assert found.nnz == 5 * 2000
    assert count(coloring(found != 0)) <= 10
    with pytest.raises(RuntimeError, match="persistent"):  # the tape is used up, as by any question
        tape.gradient(y, x)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_half_precision(dtype):
    tape, y, x = recorded(lambda x: x[1:] * x[:-1], tf.cast(RNG.normal(size=600), dtype), persistent=True)
    found = tape.jacobian(y, x, sparse=True)
    assert found.nnz == 2 * 599
    np.testing.assert_array_equal(found.diagonal(), tf.cast(x[1:], tf.float32))


def test_several_sources_and_those_without_a_path():
    x, b, other = tf.Variable(LINE), tf.Variable(RNG.normal(size=4)), tf.Variable([1.0], dtype=tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reshape(x, (3, 4)) * b + b
    for dense, found in zip(tape.jacobian(y, [x, b]), tape.jacobian(y, [x, b], sparse=True), strict=True):
        np.testing.assert_allclose(found.toarray(), dense.numpy().reshape(12, -1))
    assert tape.jacobian(y, [x, other], sparse=True)[1] is None
    empty = tape.jacobian(y, other, sparse=True, unconnected_gradients="zero")
    assert (empty.shape, empty.nnz) == ((12, 1), 0)


def test_float32_rows_of_a_table_and_small_memory():
    table = tf.Variable(RNG.normal(size=(8, 2)), dtype=tf.float32)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.nn.embedding_lookup(table, [3, 1, 3]) ** 2
    dense = tape.jacobian(y, table).numpy().reshape(6, 16)
    np.testing.assert_array_equal(tape.jacobian(y, table, sparse=True).toarray(), dense)
    for options in ({}, {"mode": "forward"}, {"sparse": True}):
        found = tape.jacobian(y, table, max_bytes=64, **options)
        np.testing.assert_array_equal(found.toarray() if options.get("sparse") else found.numpy().reshape(6, 16), dense)


def test_a_forward_jacobian_is_differentiable():
    x = tf.Variable([0.5, 1.5], dtype=tf.float64)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = tf.concat([x**3, tf.sin(x)], 0)
        total = tf.reduce_sum(tape.jacobian(y, x, mode="forward"))
    np.testing.assert_allclose(outer.gradient(total, x), 6 * x.numpy() - np.sin(x.numpy()))


def test_bad_questions():
    tape, y, x = recorded(by_slices, LINE, persistent=True)
    with pytest.raises(ValueError, match="mode must be one of"):
        tape.jacobian(y, x, mode="sideways")
    z = tf.Variable([1 + 2j])
    with tf.GradientTape(persistent=True) as tape:
        w = z * z
    for options in ({"sparse": True}, {"mode": "forward"}):
        with pytest.raises(ValueError, match="real numbers"):
            tape.jacobian(w, z, **options)
    np.testing.assert_allclose(tape.jacobian(w, z, mode="auto"), tape.jacobian(w, z))
