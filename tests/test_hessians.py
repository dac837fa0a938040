"""Second derivatives from one tape: the same as from two, without side effects."""

import numpy as np
import pytest
from scipy import sparse

import gradtape as tf
from gradtape.engine.derivatives import jacobian_modes
from gradtape.engine.derivatives.coloring import coloring, count, symmetric_coloring

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 2))


def energy(x):
    return tf.reduce_sum(tf.exp(x[:, 0] * x[:, 1]) + tf.sin(x[:, :1] @ tf.transpose(x[:, 1:])))


def chain(x):
    return tf.reduce_sum((x[1:] - x[:-1]) ** 4 + tf.cos(x[1:]))


def reference(function, at):
    x = tf.Variable(at)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = function(x)
        gradient = inner.gradient(y, x)
    return outer.jacobian(gradient, x).numpy()


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("options", [{}, {"persistent": True}, {"trace": True}], ids=str)
def test_a_hessian_from_one_tape(wrap, options):
    x = tf.Variable(X)
    with tf.GradientTape(**options) as tape:
        y = wrap(energy)(x)
    found = tape.hessian(y, x)
    assert found.shape == (3, 2, 3, 2)
    np.testing.assert_allclose(found, reference(energy, X), rtol=1e-9, atol=1e-12)


def test_a_sparse_one():
    at = RNG.normal(size=30)
    x = tf.Variable(at)
    with tf.GradientTape() as tape:
        y = chain(x)
    found = tape.hessian(y, x, sparse=True)
    assert isinstance(found, sparse.csr_array)
    assert found.nnz == 30 + 2 * 29
    np.testing.assert_allclose(found.toarray(), reference(chain, at), rtol=1e-9, atol=1e-12)


def arrow(x):
    return tf.reduce_sum(x[0] * tf.sin(x[1:]) + x[1:] ** 3) + tf.exp(x[0])


def grid(x):
    u = tf.reshape(x, (5, 6))
    return tf.reduce_sum(tf.sin(u[1:] * u[:-1])) + tf.reduce_sum(tf.cos(u[:, 1:] - u[:, :-1]))


def scattered(x):
    pairs = tf.constant(np.random.default_rng(5).integers(0, 30, (40, 2)))
    ends = tf.gather(1.0 * x, pairs)
    return tf.reduce_sum(ends[:, 0] ** 2 * ends[:, 1])


@pytest.mark.parametrize("function, most", [(chain, 3), (arrow, 2), (grid, 6), (scattered, 12)])
def test_symmetry_saves_sweeps_and_every_entry_is_right(function, most):
    at = RNG.normal(size=30)
    x = tf.Variable(at)
    with tf.GradientTape(persistent=True) as tape:
        y = function(x)
    found = tape.hessian(y, x, sparse=True)
    np.testing.assert_allclose(found.toarray(), reference(function, at), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found.toarray(), found.T.toarray())
    pattern = found != 0
    colors = symmetric_coloring(pattern.tocsr())
    assert count(colors) <= min(most, count(coloring(pattern)))
    assert_star_coloring(pattern.toarray(), colors)
    some = tape.hessian(y, x, sparse=True, max_bytes=500)
    np.testing.assert_allclose(some.toarray(), found.toarray(), rtol=1e-12)


def assert_star_coloring(pattern, colors):
    """Neighbors differ, and no path of four has only two colors."""
    links = [set(np.flatnonzero(row)) - {i} for i, row in enumerate(pattern)]
    for b, around in enumerate(links):
        for c in around:
            assert colors[b] != colors[c]
            for a in around - {c}:
                for d in links[c] - {a, b}:
                    assert len({colors[v] for v in (a, b, c, d)}) > 2


def test_a_sparse_one_as_a_tensor():
    x = tf.Variable(X)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(x[1:] ** 2 * x[:-1])
        z = x[1:] * 2.0
    found = tape.hessian(y, x, sparse="tensor")
    assert isinstance(found, tf.SparseTensor)
    np.testing.assert_allclose(tf.sparse.to_dense(found), tape.hessian(y, x))
    jacobian = tape.jacobian(z, x, sparse="tensor")
    assert jacobian.shape == (2, 2, 3, 2)
    np.testing.assert_allclose(tf.sparse.to_dense(jacobian), tape.jacobian(z, x))
    assert tape.jacobian(y, x, sparse="tensor").shape == (3, 2)
    with pytest.raises(ValueError, match="got 'scipy'"):
        tape.hessian(y, x, sparse="scipy")


def mixed(x, b, c):
    return energy(x * b[:2]) + tf.reduce_sum(tf.sin(b[1:] * b[:-1])) + c**3 * b[0] * x[0, 1]


def of_several(function, *sources):
    """Returns the blocks of the Hessian: from two tapes, and from differences of the gradient."""
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            y = function(*sources)
        gradients = inner.gradient(y, sources)
    nested = [[outer.jacobian(g, x) for x in sources] for g in gradients]

    def gradient(i):
        with tf.GradientTape() as tape:
            y = function(*sources)
        return tape.gradient(y, sources)[i].numpy()

    def difference(i, x, place):
        before, shift = x.numpy(), np.zeros(x.shape)
        shift[place] = 1e-6
        x.assign(before + shift)
        above = gradient(i)
        x.assign(before - shift)
        below = gradient(i)
        x.assign(before)
        return (above - below) / 2e-6

    for i, row in enumerate(nested):
        for j, block in enumerate(row):
            columns = [difference(i, sources[j], place) for place in np.ndindex(*sources[j].shape)]
            differences = np.stack(columns, -1).reshape(block.shape)
            np.testing.assert_allclose(block, differences, rtol=1e-6, atol=1e-7)
    return nested


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_a_nest_of_sources_has_a_nest_of_blocks(wrap):
    x, b, c = tf.Variable(X), tf.Variable([0.5, -1.0, 2.0], dtype=tf.float64), tf.Variable(1.5, dtype=tf.float64)
    expected = of_several(mixed, x, b, c)
    with tf.GradientTape(persistent=True) as tape:
        y = wrap(mixed)(x, b, c)
    found = tape.hessian(y, {"x": x, "others": (b, c)})
    listed = tape.hessian(y, [x, b, c])
    blocks = [[row["x"], *row["others"]] for row in (found["x"], *found["others"])]
    for i, source in enumerate((x, b, c)):
        for j, other in enumerate((x, b, c)):
            assert blocks[i][j].shape == listed[i][j].shape == source.shape + other.shape
            np.testing.assert_allclose(blocks[i][j], expected[i][j], rtol=1e-9, atol=1e-12)
            np.testing.assert_array_equal(blocks[i][j], listed[i][j])
    np.testing.assert_allclose(tape.hessian(y, [x])[0][0], expected[0][0], rtol=1e-9, atol=1e-12)


def test_a_nest_inside_a_function():
    x, b = tf.Variable(X), tf.Variable([0.5, -1.0, 2.0], dtype=tf.float64)
    c = tf.Variable(1.5, dtype=tf.float64)

    @tf.function
    def blocks():
        with tf.GradientTape() as tape:
            y = mixed(x, b, c)
        return tape.hessian(y, [x, b])

    for row, expected in zip(blocks(), of_several(mixed, x, b, c), strict=False):
        for block, nested in zip(row, expected, strict=False):
            np.testing.assert_allclose(block, nested, rtol=1e-9, atol=1e-12)


def test_a_nest_of_sparse_blocks_takes_the_sweeps_of_one_matrix():
    u, v = tf.Variable(RNG.normal(size=(2, 10))), tf.Variable(RNG.normal(size=20))
    lone, linear = tf.Variable(1.0, dtype=tf.float64), tf.Variable(2.0, dtype=tf.float64)

    def function(u, v):
        flat = tf.reshape(u, [-1])
        return tf.reduce_sum(tf.exp(flat * v)) + chain(v) + tf.reduce_sum(u[:, 1:] * u[:, :-1] ** 2)

    expected = of_several(function, u, v)
    with tf.GradientTape(persistent=True) as tape:
        y = function(u, v) + linear
    sources = [u, linear, v, lone]
    dense = tape.hessian(y, sources)
    found = tape.hessian(y, sources, sparse=True)
    tensors = tape.hessian(y, sources, sparse="tensor")
    for i in range(4):
        for j in range(4):
            if i % 2 or j % 2:
                assert dense[i][j] is found[i][j] is tensors[i][j] is None
                continue
            block = expected[i // 2][j // 2]
            assert found[i][j].shape == (20, 20)
            assert found[i][j].nnz == np.count_nonzero(block)
            assert tensors[i][j].shape == block.shape
            np.testing.assert_allclose(found[i][j].toarray(), tf.reshape(block, (20, 20)), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(tf.sparse.to_dense(tensors[i][j]), block, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(dense[i][j], block, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found[0][2].toarray(), found[2][0].toarray().T)
    some = tape.hessian(y, (u, v), sparse=True, max_bytes=500)
    np.testing.assert_allclose(some[1][0].toarray(), found[2][0].toarray(), rtol=1e-12)


def test_sparse_blocks_of_sources_that_do_not_meet_have_no_entries():
    x, z = tf.Variable([1.0, 2.0]), tf.Variable([3.0], dtype=tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(x**3) + tf.cast(tf.reduce_sum(z**3), tf.float32)
    dense, found = tape.hessian(y, [x, z]), tape.hessian(y, [x, z], sparse=True)
    assert dense[0][1] is None
    assert (found[0][1].nnz, found[0][1].shape, found[0][1].dtype) == (0, (2, 1), np.float64)
    assert (found[0][0].dtype, found[1][1].dtype) == (np.float32, np.float64)
    assert found[0][0].toarray().tolist() == [[6.0, 0.0], [0.0, 12.0]]
    assert found[1][1].toarray().tolist() == [[18.0]]


@pytest.mark.parametrize("shape", [(4,), (4, 3), (4, 2, 2)])
def test_the_hessian_of_each_example(shape):
    x = tf.Variable(RNG.normal(size=shape))
    w = tf.Variable(RNG.normal(size=shape[1:]))

    def losses_of(x):
        return tf.reduce_sum(tf.reshape(tf.sin(x * w) * tf.exp(x) * tf.reduce_sum(x**2), (1, -1)), 1)

    with tf.GradientTape(persistent=True) as tape:
        losses = tf.concat([losses_of(x[i : i + 1]) for i in range(4)], 0)
    found = tape.batch_hessian(losses, x)
    assert found.shape == (4, *shape[1:], *shape[1:])
    for i in range(4):
        alone = reference(losses_of, x[i : i + 1].numpy()).reshape(found[i].shape)
        np.testing.assert_allclose(found[i], alone, rtol=1e-9)
    np.testing.assert_allclose(tape.batch_hessian(losses, x, max_bytes=1), found, rtol=1e-12)


@pytest.mark.parametrize("shape", [(5, 12), (5, 3, 4), (5,), (0, 4)], ids=str)
def test_sparse_hessians_of_examples(shape):
    x = tf.Variable(RNG.normal(size=shape))
    with tf.GradientTape(persistent=True) as tape:
        rows = tf.reshape(x, (shape[0], int(np.prod(shape[1:]))))
        losses = tf.reduce_sum(tf.sin(rows[:, :1] * rows) + rows**3, 1)
    dense = tape.batch_hessian(losses, x)
    found = tape.batch_hessian(losses, x, sparse=True)
    size = int(np.prod(shape[1:]))
    assert isinstance(found, sparse.csr_array)
    assert found.shape == (shape[0] * size, size)
    np.testing.assert_allclose(found.toarray(), tf.reshape(dense, found.shape), rtol=1e-9, atol=1e-12)
    assert found.nnz <= shape[0] * (3 * size - 2)  # an arrowhead matrix per example
    tensor = tape.batch_hessian(losses, x, sparse="tensor")
    assert tensor.shape == (*shape, *shape[1:])
    np.testing.assert_allclose(tf.sparse.to_dense(tensor), dense, rtol=1e-9, atol=1e-12)


def test_sparse_hessians_of_examples_need_the_sweeps_of_one(monkeypatch):
    x = tf.Variable(RNG.normal(size=(50, 40)))
    with tf.GradientTape(persistent=True) as tape:
        losses = tf.reduce_sum(x[:, :1] * tf.sin(x), 1)
        linear = tf.reduce_sum(2.0 * x, 1)
    swept = []
    original = jacobian_modes._rows_of_colors

    def counted(*given):
        sweep = original(*given)
        return lambda seeds: swept.append(seeds[0].size) or sweep(seeds)

    monkeypatch.setattr(jacobian_modes, "_rows_of_colors", counted)
    assert tape.batch_hessian(losses, x, sparse=True).nnz == 50 * (3 * 40 - 2)
    assert swept == [2]
    assert tape.batch_hessian(linear, x, sparse=True).nnz == 0


def test_losses_that_depend_on_others_rows_are_noticed(caplog):
    x = tf.Variable(X)
    with tf.GradientTape(persistent=True) as tape:
        others = tf.reduce_sum(tf.reverse(x, [0]) ** 2, 1)  # their sum has no second derivatives between rows
        mixed = tf.reduce_sum(x * tf.reduce_mean(x, 0), 1)
    for losses in (others, mixed):
        with pytest.raises(ValueError, match="depend on other rows"):
            tape.batch_hessian(losses, x, check_rows=True)
        with pytest.raises(ValueError, match="depend on other rows"):
            tape.batch_hessian(losses, x, check_rows=True, sparse=True)
        found = tape.batch_hessian(losses, x)
        assert "sum over the batch" in caplog.text
        caplog.clear()
        np.testing.assert_allclose(tape.batch_hessian(losses, x, sparse=True).toarray(), tf.reshape(found, (6, 2)))
        assert "sum over the batch" in caplog.text
        caplog.clear()
        assert tape.batch_hessian(losses, x, check_rows=False).shape == (3, 2, 2)
        assert tape.batch_hessian(losses, x, check_rows=False, sparse=True).shape == (6, 2)
        assert not caplog.text
    with pytest.raises(ValueError, match="a loss, and a row of the source, for each example"):
        tape.batch_hessian(tf.reduce_sum(mixed), x)
    other = tf.Variable(X)
    assert tape.batch_hessian(mixed, other) is None


def test_an_outer_tape_sees_the_hessians_of_examples():
    x = tf.Variable([[0.5], [1.5]], dtype=tf.float64)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            losses = tf.reduce_sum(x**4, 1)
        total = tf.reduce_sum(tape.batch_hessian(losses, x))
    np.testing.assert_allclose(outer.gradient(total, x), 24 * x.numpy())


def test_products_with_the_hessian_need_no_hessian():
    x, b = tf.Variable(X), tf.Variable(RNG.normal(size=2))
    v, w = RNG.normal(size=(3, 2)), RNG.normal(size=2)

    def loss():
        return energy(x * b) + tf.reduce_sum(b**3)

    with tf.GradientTape() as tape:
        y = loss()
    found = tape.hvp(y, {"x": x, "b": b}, {"x": v, "b": w})
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = loss()
        gradients = inner.gradient(y, [x, b])
    expected = outer.gradient(gradients, [x, b], output_gradients=[tf.constant(v), tf.constant(w)])
    np.testing.assert_allclose(found["x"], expected[0], rtol=1e-9)
    np.testing.assert_allclose(found["b"], expected[1], rtol=1e-9)


def test_the_gauss_newton_product():
    x = tf.constant(RNG.normal(size=(5, 3)))
    w = tf.Variable(RNG.normal(size=(3, 2)))
    v = RNG.normal(size=(3, 2))
    labels = tf.constant([0, 1, 1, 0, 1])
    with tf.GradientTape(persistent=True) as tape:
        logits = tf.tanh(x @ w)
        loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    found = tape.ggnvp(loss, logits, w, v).numpy()
    jacobian = tape.jacobian(logits, w).numpy().reshape(10, 6)
    curvature = tape.hessian(loss, logits).numpy().reshape(10, 10)
    np.testing.assert_allclose(found.ravel(), jacobian.T @ curvature @ jacobian @ v.ravel(), rtol=1e-9)


def test_the_gauss_newton_product_over_a_nest():
    x = tf.constant(RNG.normal(size=(5, 3)))
    w, b, unused = tf.Variable(RNG.normal(size=(3, 2))), tf.Variable(RNG.normal(size=2)), tf.Variable(1.0)
    v, u = RNG.normal(size=(3, 2)), RNG.normal(size=2)
    with tf.GradientTape(persistent=True) as tape:
        outputs = tf.tanh(x @ w + b)
        loss = tf.reduce_sum(outputs**4)
    found = tape.ggnvp(loss, outputs, {"w": w, "rest": [b, unused]}, {"w": v, "rest": [u, 1.0]})
    jacobian = np.concatenate([tape.jacobian(outputs, s).numpy().reshape(10, -1) for s in (w, b)], 1)
    curvature = tape.hessian(loss, outputs).numpy().reshape(10, 10)
    expected = jacobian.T @ curvature @ jacobian @ np.concatenate([v.ravel(), u])
    np.testing.assert_allclose(np.concatenate([tf.reshape(found["w"], [-1]), found["rest"][0]]), expected, rtol=1e-9)
    assert found["rest"][1] is None


def test_nothing_is_left_of_a_question():
    x = tf.Variable(X)
    with tf.GradientTape(persistent=True) as tape:
        y = energy(x)
    count = len(tape._log.ops)
    first = tape.gradient(y, x).numpy()
    hessian = tape.hessian(y, x)
    assert len(tape._log.ops) == count
    assert tape.gradient(hessian, x) is None  # as for any value created outside the block
    np.testing.assert_array_equal(tape.gradient(y, x), first)
    with pytest.raises(ValueError, match="has the shape of its source"):
        tape.hvp(y, x, np.ones(3))
    np.testing.assert_allclose(tape.hvp(y, x, np.ones((3, 2))), hessian.numpy().reshape(6, 6).sum(1).reshape(3, 2))


def test_an_outer_tape_sees_it():
    x = tf.Variable(2.0, dtype=tf.float64)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = x**4
        second = tape.hessian(y, x)
    assert float(second) == 48.0
    assert float(outer.gradient(second, x)) == 48.0


def test_without_a_path_and_used_up():
    x, other = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.hessian(y, other) is None
    with pytest.raises(RuntimeError, match="persistent"):
        tape.hvp(y, x, 1.0)
    with tf.GradientTape() as tape:
        y = 3.0 * x
    assert tape.hvp(y, x, 1.0) is None


def test_variables_that_only_a_rule_reads_are_not_left_on_the_tape():
    scale = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x):
        return 3.0 * x, lambda g: g * scale

    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = scaled(x) ** 2
    assert float(tape.hvp(y, x, 1.0)) == 18.0
    assert tape.watched_variables() == (x,)
    assert tape.gradient(y, scale) is None
    assert float(tape.gradient(y, x)) == 36.0


def test_a_single_example_depends_on_no_other(caplog):
    x = tf.Variable([[0.3, -1.2, 0.7]])
    with tf.GradientTape(persistent=True) as tape:
        losses = tf.reduce_sum(tf.nn.softmax(x * x), 1)  # constant: its derivatives are rounding errors
    tape.batch_hessian(losses, x, check_rows=True)
    tape.batch_jacobian(losses[:, None], x, check_rows=True)
    assert not caplog.records
