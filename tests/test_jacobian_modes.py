"""Forward, automatic and sparse Jacobians: the same numbers as by rows."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import gradtape as tf
from gradtape.engine.derivatives.coloring import coloring, count

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
    with pytest.raises(RuntimeError, match="persistent"):  # the tape is released, as after any gradient
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


def by_gradients(tape, y, x):
    """Returns the Jacobian of real numbers, one `gradient` call per row."""
    rows = []
    for at in range(int(np.prod(y.shape))):
        seed = np.zeros(int(np.prod(y.shape)))
        seed[at] = 1
        seed = tf.cast(tf.reshape(seed, y.shape), y.dtype)
        rows.append(np.ravel(tape.gradient(y, x, output_gradients=seed, unconnected_gradients="zero")))
    return np.stack(rows)


def complex_of(u):
    return tf.complex(u, u**2)


THROUGH_COMPLEX = {
    "imag": lambda u: tf.math.imag(tf.complex(u, 2 * u)),
    "abs": lambda u: tf.abs(complex_of(u)) ** 2,
    "exp": lambda u: tf.math.real(tf.exp(tf.complex(tf.zeros_like(u), u))),
    "angle": lambda u: tf.math.angle(complex_of(u)),
    "conj": lambda u: tf.math.imag(tf.math.conj(complex_of(u)) * tf.constant(1 - 2j)),
    "fft": lambda u: tf.abs(tf.signal.fft(tf.reshape(complex_of(u), (3, 4)))) ** 2,
    "ifft": lambda u: tf.math.real(tf.signal.ifft(complex_of(u))),
    "rfft": lambda u: tf.math.imag(tf.signal.rfft(u)),
    "irfft": lambda u: tf.signal.irfft(complex_of(u)),
    "matmul": lambda u: tf.math.real(tf.reshape(complex_of(u), (4, 3)) @ tf.constant(RNG.normal(size=(3, 2)) + 1j)),
    "cast": lambda u: tf.cast(tf.cast(u[::-1], tf.complex64) * (1 + 2j), tf.float64),
}


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("program", THROUGH_COMPLEX)
def test_a_sparse_one_through_complex_numbers(program, mode):
    tape, y, x = recorded(THROUGH_COMPLEX[program], LINE, persistent=True)
    found = tape.jacobian(y, x, sparse=True, mode=mode)
    np.testing.assert_allclose(found.toarray(), by_gradients(tape, y, x), rtol=1e-6, atol=1e-12)


def test_a_sparse_hessian_through_complex_numbers():
    x = tf.Variable(LINE)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.abs(complex_of(x)) ** 4)
    found = tape.hessian(y, x, sparse=True)
    assert found.nnz == LINE.size
    np.testing.assert_allclose(found.toarray(), tape.hessian(y, x), rtol=1e-12)


def with_rule(rule):
    """The identity with a user-defined gradient."""
    return tf.custom_gradient(lambda x: (tf.identity(x), lambda dy: rule(dy, x)))


USERS_RULES = {
    "clipped by norm": lambda dy, x: tf.clip_by_norm(3.0 * dy, 1.0),
    "clipped by a large norm": lambda dy, x: tf.clip_by_norm(1e7 * dy, 1e6),
    "clipped": lambda dy, x: tf.clip_by_value(3.0 * dy, -1.0, 1.0),
    "positive": lambda dy, x: tf.where(dy > 0, 2.0 * dy, tf.zeros_like(dy)),
    "signs": lambda dy, x: tf.sign(dy) * x,
    "squares": lambda dy, x: dy * dy,
    "whatever it is": lambda dy, x: tf.ones_like(x),
    "something more": lambda dy, x: dy + x,
    "by value": lambda dy, x: dy if float(dy[0]) > 0.5 else 2.0 * dy,
    "by a chosen entry": lambda dy, x: tf.gather(dy, tf.argsort(dy)),
    "by a mask": lambda dy, x: tf.reduce_sum(tf.boolean_mask(dy, dy > 0)) * x,
}


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("rule", USERS_RULES)
def test_rules_that_are_not_linear_are_never_guessed(rule, mode):
    function = with_rule(USERS_RULES[rule])
    tape, y, x = recorded(lambda x: tf.sin(function(x)) * tf.roll(x, 1, 0), LINE, persistent=True)
    np.testing.assert_allclose(tape.jacobian(y, x, sparse=True, mode=mode).toarray(), by_gradients(tape, y, x))


def test_second_derivatives_of_a_users_rule_need_not_be_symmetric():
    product = tf.custom_gradient(lambda a, b: (a * b, lambda dy: (dy * b, tf.zeros_like(dy))))
    x = tf.Variable(LINE)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(product(x[1:], x[:-1]))
    found = tape.hessian(y, x, sparse=True)
    np.testing.assert_array_equal(found.toarray(), tape.hessian(y, x))
    assert found.nnz == 11


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_what_is_recomputed_is_looked_into(wrap):
    again = tf.recompute_grad(wrap(lambda x: tf.sin(x) * tf.roll(x, 1, 0)))
    tape, y, x = recorded(lambda x: again(x) ** 2, LINE, persistent=True)
    found = tape.jacobian(y, x, sparse=True)
    assert found.nnz == 24
    np.testing.assert_allclose(found.toarray(), by_gradients(tape, y, x))
    with tf.GradientTape(persistent=True) as tape:
        total = tf.reduce_sum(again(x) ** 2)
    np.testing.assert_allclose(tape.hessian(total, x, sparse=True).toarray(), tape.hessian(total, x), atol=1e-12)


def test_infinite_factors_are_in_every_row():
    x = tf.Variable([1.0, 0.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.sqrt(x)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(tape.jacobian(y, x, sparse=True).toarray(), by_gradients(tape, y, x))


def sparse_product(size):
    at = np.random.default_rng(3).integers(0, size, (4 * size, 2))
    at = np.unique(at, axis=0)
    matrix = tf.SparseTensor(at, np.random.default_rng(4).normal(size=len(at)), (size, size))
    return lambda x: tf.sparse.sparse_dense_matmul(matrix, x[:, None])


EXACT = {
    "sparse_dense_matmul": (sparse_product(600), 600),
    "max_pool": (lambda x: tf.nn.max_pool2d(tf.reshape(x, (1, 30, 20, 1)), 3, 1, "SAME"), 600),
    "avg_pool": (lambda x: tf.nn.avg_pool2d(tf.reshape(x, (1, 15, 20, 2)), 3, 1, "SAME"), 600),
    "cumsum": (tf.cumsum, 600),
    "cumsum of rows": (lambda x: tf.cumsum(tf.reshape(x, (12, 50)), 0), 600),
    "cumprod": (tf.math.cumprod, 40),
    "matmul": (lambda x: tf.reshape(x, (60, 10)) @ tf.constant(np.triu(np.ones((10, 10)))), 600),
}  # fmt: skip


@pytest.mark.parametrize("program", EXACT)
def test_patterns_of_ops_that_mix_entries_are_exact(program):
    function, size = EXACT[program]
    tape, y, x = recorded(function, np.random.default_rng(5).normal(size=size), persistent=True)
    dense = tape.jacobian(y, x).numpy().reshape(-1, size)
    found = tape.jacobian(y, x, sparse=True)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-12, atol=1e-14)
    assert found.nnz == np.count_nonzero(abs(dense) > 1e-15)


def test_a_fourier_transform_of_rows_mixes_rows_alone():
    function = lambda x: tf.abs(tf.signal.fft(tf.complex(tf.reshape(x, (150, 4)), tf.ones((150, 4), tf.float64))))  # noqa: E731
    tape, y, x = recorded(function, np.random.default_rng(5).normal(size=600), persistent=True)
    found = tape.jacobian(y, x, sparse=True)
    np.testing.assert_allclose(found.toarray(), tape.jacobian(y, x).numpy().reshape(600, 600), atol=1e-14)
    assert found.nnz == 4 * 600
    assert tape.jacobian(y, x, sparse=True) is not None
    assert tape.sweeps == 4


def test_auto_is_dense_where_that_is_less_work_and_sweeps_are_counted():
    for size, sweeps in ((20, 20), (1000, 2)):
        at = np.random.default_rng(6).normal(size=size)
        tape, y, x = recorded(lambda x: x * tf.roll(x, 1, 0), at, persistent=True)
        found = tape.jacobian(y, x, sparse="auto")
        assert isinstance(found, sparse.csr_array)
        assert (found.nnz, tape.sweeps) == (2 * size, sweeps)
        np.testing.assert_allclose(found.toarray(), tape.jacobian(y, x))
        assert tape.sweeps == size
        with tf.GradientTape(persistent=True) as tape:
            total = tf.reduce_sum(x**2 * tf.roll(x, 1, 0))
        found = tape.hessian(total, x, sparse="auto")
        assert isinstance(found, sparse.csr_array)
        assert tape.sweeps == size if size == 20 else tape.sweeps < 10
        np.testing.assert_allclose(found.toarray(), tape.hessian(total, x))
    x = tf.Variable(RNG.normal(size=(3, 2)))
    with tf.GradientTape(persistent=True) as tape:
        losses = x[:, 0] ** 2 * x[:, 1]
    found = tape.batch_hessian(losses, x, sparse="auto")
    assert isinstance(found, sparse.csr_array)
    np.testing.assert_allclose(found.toarray(), tape.batch_hessian(losses, x).numpy().reshape(6, 2))
    other = tf.Variable(np.zeros(3))
    assert tape.jacobian(losses, other, sparse="auto") is None
    assert tape.jacobian(losses, other, sparse="auto", unconnected_gradients="zero").shape == (3, 3)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_auto_goes_by_rows_through_rules_that_are_not_linear(wrap):
    function = with_rule(lambda dy, x: dy * tf.reduce_sum(dy))
    tape, y, x = recorded(wrap(lambda x: tf.concat([function(x), x], 0)), LINE, persistent=True)
    np.testing.assert_allclose(tape.jacobian(y, x, mode="auto"), by_gradients(tape, y, x))
    np.testing.assert_allclose(tape.jacobian(y, x, sparse="auto").toarray(), by_gradients(tape, y, x))


@pytest.mark.parametrize("sparse", [True, "auto"])
def test_a_source_without_entries_has_a_matrix_without_columns(sparse):
    x = tf.zeros([0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reshape(tf.concat([x, tf.ones([6])], 0), [2, 3])
    assert tape.jacobian(y, x, sparse=sparse).shape == (6, 0)


@pytest.mark.parametrize("max_bytes", [None, 1 << 16])
def test_rows_of_many_examples_equal_those_of_single_sweeps(max_bytes):
    x, labels = tf.Variable(RNG.normal(size=(150, 3))), tf.constant(RNG.integers(0, 4, 150))
    a, b = tf.Variable(RNG.normal(size=(3, 5))), tf.Variable(RNG.normal(size=5))
    table = tf.Variable(RNG.normal(size=(4, 5)))
    sources = [x, a, b, table]
    with tf.GradientTape(persistent=True) as tape:
        hidden = tf.nn.softmax(x @ a + b) * tf.gather(table, labels)
        apart = tf.reduce_sum(hidden, 1)
        together = apart - tf.reduce_mean(apart)  # combines the examples
        pairs = hidden[:, :2] * tf.reverse(hidden, [0])[:, 1:3]
    for y in (apart, together, pairs):
        expected = tape.jacobian(y, sources, experimental_use_pfor=False)
        for found, own in zip(tape.jacobian(y, sources, max_bytes=max_bytes), expected, strict=True):
            np.testing.assert_allclose(found, own, rtol=1e-9, atol=1e-12)


def test_rows_of_examples_in_chunks_take_little_memory():
    x, scale = tf.constant(RNG.normal(size=(1000, 8))), tf.Variable(RNG.normal(size=8))
    with tf.GradientTape(persistent=True) as tape:
        mean = tf.reduce_mean(tf.square(tf.tanh(x) * scale), 0)  # its derivative is an array for each row
        y = tf.reduce_sum(x * mean, 1)
    tracemalloc.start()
    found = tape.jacobian(y, scale, max_bytes=1 << 17)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 24  # at once: 64 MB for each array
    np.testing.assert_allclose(found, tape.jacobian(y, scale), rtol=1e-9, atol=1e-12)


def test_an_infinite_row_of_many_does_not_change_the_others():
    rate, x = tf.Variable(1.0), tf.Variable(np.arange(200, dtype=np.float32))
    with tf.GradientTape() as tape:
        y = tf.sqrt(rate * x)
    by_rate, by_x = (found.numpy() for found in tape.jacobian(y, [rate, x]))
    assert np.isnan(by_rate[0]) and np.isinf(by_x[0, 0])
    np.testing.assert_allclose(by_rate[1:], 0.5 * np.sqrt(x[1:]), rtol=1e-6)
    np.testing.assert_allclose(by_x[1:, 1:], np.diag(0.5 / np.sqrt(x[1:])), rtol=1e-6)
    assert np.all(by_x[1:, 0] == 0) and np.all(by_x[0, 1:] == 0)


def test_users_rules_see_the_cotangents_of_single_rows():
    @tf.custom_gradient
    def shifted(x):
        return x, lambda dy: dy + 1.0

    x = tf.Variable(RNG.normal(size=200))
    with tf.GradientTape() as tape:
        y = shifted(x * x)
    np.testing.assert_allclose(tape.jacobian(y, x), (np.eye(200) + 1) * 2 * x.numpy())


@pytest.mark.parametrize(
    "rule",
    [lambda dy: tf.constant(dy.numpy() * 3), lambda dy: dy * 3 if tf.reduce_sum(dy) > 0 else dy * 5],
    ids=["NumPy", "a condition"],
)
def test_rules_that_read_cotangents_get_those_of_one_row(rule):
    tripled = tf.custom_gradient(lambda x: (x * 3, rule))
    x = tf.Variable(RNG.normal(size=200))
    with tf.GradientTape(persistent=True) as tape:
        y = tripled(x * x)
    expected = np.diag(6 * x.numpy())
    np.testing.assert_allclose(tape.jacobian(y, x), expected)
    np.testing.assert_allclose(tape.gradient(y, x, per="example"), expected)
