"""vectorized_map: computed at once, equivalent to a loop; with tapes inside, outside and both."""

import logging

import numpy as np
import pytest

import gradtape as tf

A = tf.constant(np.random.default_rng(0).normal(size=(4, 3, 3)))


def agree(fn, elems):
    together = tf.vectorized_map(fn, elems, fallback_to_while_loop=False)
    loop = [fn(tf.nest.map_structure(lambda x, i=i: x[i], elems)) for i in range(len(tf.nest.flatten(elems)[0]))]
    expected = tf.nest.map_structure(lambda *rows: np.stack([r.numpy() for r in rows]), *loop)
    tf.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9), together, expected)


@pytest.mark.parametrize(
    "fn",
    [
        lambda a: a @ a + tf.reduce_sum(a),
        lambda a: tf.transpose(a) * a[0],
        lambda a: (a, {"sum": tf.reduce_sum(a, axis=1)}),
        lambda a: tf.concat([a, A[0]], axis=0),
        lambda a: tf.where(a > 0, tf.exp(a), -a),
        lambda a: tf.vectorized_map(lambda row: row * tf.reduce_sum(row) + a[0], a),
        lambda a: tf.stack(tf.unstack(a), axis=1),
        lambda a: tf.map_fn(lambda row: row * 2.0, a),
    ],
)
def test_like_a_loop(fn):
    agree(fn, A)


def test_nested_elements():
    agree(lambda e: e["x"] @ e["y"], {"x": A, "y": A + 1.0})


def test_tapes_inside():
    def gradient(a):
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = tf.reduce_sum(tf.sin(a) @ a)
        return tape.gradient(y, a)

    def jacobian(a):
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = tf.reduce_sum(a * a * a, axis=0)
        return tape.jacobian(y, a)

    def hessian(a):
        with tf.GradientTape() as outer:
            outer.watch(a)
            g = gradient(a)
        return outer.jacobian(g, a)

    for fn in (gradient, jacobian, hessian):
        agree(fn, A)


def test_tapes_outside():
    w = tf.constant(np.random.default_rng(1).normal(size=(3,)))

    def loss(mapping):
        with tf.GradientTape() as outer:
            outer.watch([A, w])
            with tf.GradientTape() as tape:
                tape.watch([A, w])
                y = mapping(lambda a: tf.tanh(tf.linalg.matvec(a, w)), A)
            g = tape.gradient(y, [A, w])
            total = tf.reduce_sum(g[0] ** 2) + tf.reduce_sum(g[1] ** 2)
        return [*g, *outer.gradient(total, [A, w])]

    for a, b in zip(loss(tf.vectorized_map), loss(tf.map_fn), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def test_variables_are_watched_and_shared():
    v = tf.Variable(2.0, dtype=tf.float64)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.vectorized_map(lambda a: v * v * a, A))
    np.testing.assert_allclose(tape.gradient(y, v), 4 * np.sum(A.numpy()))


def test_per_example_gradients():
    w = tf.Variable([1.0, 2.0])
    x = tf.constant([[1.0, 0.0], [0.0, 3.0]])

    def grad(row):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(w * row) ** 2
        return tape.gradient(y, w)

    assert tf.vectorized_map(grad, x).numpy().tolist() == [[2.0, 0.0], [0.0, 36.0]]


def test_values_fall_back_to_a_loop(caplog):
    x = tf.constant([1.0, 2.0, 3.0])

    def fn(a):
        return a * 2.0 if a > 1.0 else -a

    with caplog.at_level(logging.WARNING, logger="gradtape"):
        assert tf.vectorized_map(fn, x).numpy().tolist() == [-1.0, 4.0, 6.0]
    assert "once for each element" in caplog.text
    caplog.clear()
    assert tf.vectorized_map(lambda a: a * float(a), x, warn=False).numpy().tolist() == [1.0, 4.0, 9.0]
    assert not caplog.text
    with pytest.raises(TypeError, match=r"Use tf.where"):
        tf.vectorized_map(fn, x, fallback_to_while_loop=False)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(fn, x, warn=False)
    assert tape.gradient(y, x).numpy().tolist() == [-1.0, 2.0, 2.0]
    assert tf.vectorized_map(fn, tf.zeros([0]), warn=False).dims == (0,)


def test_a_first_axis_of_one_serves_all():
    y = tf.vectorized_map(lambda e: e[0] * e[1], (tf.ones([3, 2]), tf.constant([[2.0, 3.0]])))
    assert y.numpy().tolist() == [[2.0, 3.0]] * 3
    one = tf.constant([[2.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(one)
        y = tf.vectorized_map(lambda e: e[0] * e[1], (tf.ones([3, 2]), one))
    assert tape.gradient(y, one).numpy().tolist() == [[3.0, 3.0]]


def test_results_that_do_not_depend_on_the_elements():
    x = tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b, c = tf.vectorized_map(lambda e: (x * x, 7, None), tf.ones([3]))
    assert a.numpy().tolist() == [25.0] * 3 and b.numpy().tolist() == [7] * 3 and c is None
    assert float(tape.gradient(a, x)) == 30.0


def test_scalars_are_refused():
    with pytest.raises(ValueError, match="1\\+ dimensional"):
        tf.vectorized_map(lambda a: a, tf.constant(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2, 3\]"):
        tf.vectorized_map(lambda e: e[0], (tf.ones([2]), tf.ones([3])))


def test_an_exception_leaves_no_batch_behind():
    with pytest.raises(ZeroDivisionError):
        tf.vectorized_map(lambda a: 1 / 0, A)
    assert tf.vectorized_map(lambda a: a, A).dims == A.dims


def test_every_element_draws_random_numbers_of_its_own():
    x = tf.zeros([3])
    a = tf.vectorized_map(lambda e: e + tf.random.uniform([2]), x)
    b = tf.vectorized_map(lambda e: tf.vectorized_map(lambda f: tf.random.normal([]), tf.ones([2])), x)
    for drawn in (a, b):
        assert drawn.dims == (3, 2) and len(set(drawn.numpy().ravel().tolist())) == 6
    same = tf.vectorized_map(lambda e: tf.random.stateless_uniform([2], [1, 2]), x)
    assert len(set(same.numpy().ravel().tolist())) == 2


def test_recomputed_random_numbers_of_every_element():
    x = tf.ones([4])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(tf.recompute_grad(lambda a: a * tf.random.uniform([])), x)
    np.testing.assert_array_equal(tape.gradient(y, x), y)


def test_a_jacobian_in_which_no_row_enters_keeps_the_batch_around_it():
    @tf.custom_gradient
    def f(x):
        return 2.0 * x, lambda g: x * x

    def jacobian(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.jacobian(y, x)

    agree(jacobian, A[0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: tf.cond(n > 0, lambda: x * 2.0, lambda: x + 1.0),
        lambda x, n: tf.switch_case(n, [lambda: x, lambda: -x, lambda: x * x]),
        lambda x, n: tf.case([(n < 1, lambda: x), (n < 2, lambda: -x)], default=lambda: x * x),
        lambda x, n: tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * y), (0, x))[1],
        lambda x, n: tf.roll(x, [n, -1], axis=[0, 0]),
        lambda x, n: tf.py_function(lambda y: y * 3.0, [x], tf.float32),
    ],
)
def test_decisions_that_differ_between_elements_need_no_fallback(function):
    x, n = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]), tf.constant([0, 1, 2])
    found = tf.vectorized_map(lambda pair: function(*pair), (x, n), fallback_to_while_loop=False)
    assert found.numpy().tolist() == tf.stack([function(*pair) for pair in zip(x, n, strict=True)]).numpy().tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int32"])
def test_large_batches_of_broadcast_elementwise_ops(dtype):
    rng = np.random.default_rng(1)
    shapes = (40, 8), (8,), (), (40, 1), (30, 40, 8), (1, 1)
    values = [tf.constant((4 * rng.uniform(1, 2, shape)).astype(dtype)) for shape in shapes]
    wide = tf.constant((4 * rng.uniform(1, 2, (240, 40, 8))).astype(dtype))  # more elements than any threshold
    for function in (lambda x, y: x * y, lambda x, y: y - x, lambda x, y: (-x) * y + x):
        for y in values:
            found = tf.vectorized_map(lambda x, f=function, y=y: f(x, y), wide, fallback_to_while_loop=False)
            x = wide[:, None] if len(y.shape) == 3 else wide
            np.testing.assert_allclose(found, function(x.numpy(), y.numpy()), rtol=1e-2 if dtype == "float16" else 1e-6)


def test_a_large_jacobian_by_rows_is_that_by_columns():
    w = tf.Variable(np.random.default_rng(2).normal(size=24).astype(np.float32))
    x = tf.linspace(-4.0, 4.0, 200)
    found = []
    for mode in ("reverse", "forward"):
        with tf.GradientTape() as tape:
            apart = (x[:, None] - w[8:16]) * tf.exp(-w[16:])
            y = tf.reduce_sum(w[:8] * tf.exp(-0.5 * apart**2), 1)
        found.append(tape.jacobian(y, w, mode=mode))
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)
