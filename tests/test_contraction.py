"""Contractions: Jacobians in one product, orders of contraction, ellipses."""

import numpy as np
import pytest

import gradtape as tf

rng = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...ij,...jk", [(2, 1, 2, 3), (4, 3, 2)]),
        ("ij,jk,kl,lm,mn,no->io", [(2, 3), (3, 2), (2, 4), (4, 2), (2, 3), (3, 2)]),
        ("abcdefg,g->bdfaceg", [(1, 2, 1, 2, 1, 2, 3), (3,)]),
        ("ii...,...->i...", [(3, 3, 2), (2,)]),
    ],
)
def test_einsum_is_numpys(equation, shapes):
    arrays = [rng.normal(size=shape) for shape in shapes]
    got = tf.einsum(equation, *map(tf.constant, arrays)).numpy()
    np.testing.assert_allclose(got, np.einsum(equation, *arrays), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_random_products_without_a_sum_are_numpys(seed):
    rng = np.random.default_rng(seed)
    for _ in range(25):
        letters = list("abcde"[: rng.integers(6)])
        first = [c for c in letters if rng.random() < 0.6]
        second = [c for c in letters if c not in first or rng.random() < 0.4]
        sizes = dict(zip(letters, rng.integers(0 if rng.random() < 0.1 else 1, 4, len(letters)), strict=True))
        names = ["".join(rng.permutation(axes)) for axes in (first, second, letters)]
        equation = "{},{}->{}".format(*names)
        a, b = (rng.normal(size=[sizes[c] for c in axes]) for axes in names[:2])
        found = tf.einsum(equation, a, b).numpy()
        np.testing.assert_array_equal(found, np.einsum(equation, a, b), err_msg=equation)


def test_einsum_contracts_in_a_cheap_order():
    from gradtape.api.math.contraction import _plan

    _, pairs, _ = _plan("ij,jk,kl->il", ((100, 100), (100, 100), (100, 1)))
    assert pairs[0][2] == "jk,kl->jl"


def test_einsum_of_python_lists():
    assert tf.einsum("ij,jk", [[1, 2]], [[3], [4]]).numpy().tolist() == [[11]]


@pytest.mark.parametrize("shapes", [((5, 4), (4, 3)), ((2, 5, 4), (4, 3)), ((130, 128), (128, 2))])
def test_jacobians_of_a_dense_layer(shapes):
    x, w = (tf.constant(rng.normal(size=shape)) for shape in shapes)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        y = tf.tanh(x @ w)[:1]
    for source in (x, w):
        jacobian = tape.jacobian(y, source).numpy()
        direction = rng.normal(size=source.shape)

        def layer(step, source=source, direction=direction):
            moved = [t.numpy() + (step * direction if t is source else 0) for t in (x, w)]
            return np.tanh(np.matmul(*moved))[:1]

        along = np.tensordot(jacobian, direction, len(source.shape))
        np.testing.assert_allclose(along, (layer(1e-6) - layer(-1e-6)) / 2e-6, rtol=1e-5, atol=1e-7)


def test_half_precision_is_summed_in_single():
    a = tf.constant(np.full((1, 4096), 1.0), tf.float16)
    assert float(tf.matmul(a, a, transpose_b=True)[0, 0]) == 4096.0


def test_matmul_says_what_does_not_fit():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2, 3\].*\[2, 3\]"):
        tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="matvec"):
        tf.zeros([2, 3]) @ tf.zeros([3])


def test_narrow_matrices_with_a_wide_result():
    a = tf.constant([[1, 2]], tf.bfloat16)
    assert tf.matmul(a, a, transpose_b=True, output_type=tf.float32).dtype is tf.float32


@pytest.mark.parametrize("examples", [3, 70])
def test_columns_times_rows_small_and_large(examples):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(examples, 1, 600)), rng.normal(size=(examples, 1, 7))
    found = tf.matmul(a, b, transpose_a=True)
    np.testing.assert_array_equal(found, a[:, 0, :, None] * b[:, 0, None, :])
    np.testing.assert_array_equal(tf.matmul(a[:1], b, transpose_a=True), a[:1, 0, :, None] * b[:, 0, None, :])
