"""`broadcast_view` against NumPy's `broadcast_to`, and broadcasting of short rows against NumPy's."""

import ml_dtypes
import numpy as np
import pytest

import gradtape as tf
from gradtape.backends.arrays import broadcast_view


@pytest.mark.parametrize("dtype", ["f", "d", "e", "F", "i", "?", ml_dtypes.bfloat16, object])
def test_it_is_numpys_view(dtype):
    rng = np.random.default_rng(0)
    for _ in range(40):
        shape = tuple(rng.integers(0, 4, rng.integers(0, 4)).tolist())
        dims = tuple(n if rng.random() < 0.5 else 1 for n in shape[rng.integers(0, len(shape) + 1) :])
        x = rng.integers(0, 9, dims).astype(dtype)
        for given in (x, x[..., ::-1] if dims else x, x.copy(order="F")):
            expected, view = np.broadcast_to(given, shape), broadcast_view(given, shape)
            assert view.dtype == expected.dtype and view.shape == shape and not view.flags.writeable
            np.testing.assert_array_equal(view, expected)


@pytest.mark.parametrize(("dims", "shape"), [((2,), (3,)), ((1, 2), (2,)), ((3, 1), (2, 4)), ((0,), (2,))])
def test_shapes_that_do_not_match_raise_numpys_error(dims, shape):
    with pytest.raises(ValueError, match=r"broadcast|more dimensions"):
        broadcast_view(np.ones(dims), shape)


@pytest.mark.parametrize("width", [1, 2, 3, 8, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.int32])
@pytest.mark.parametrize(
    ("first", "second"),
    [((20, 1), (1, 20)), ((1, 20), (20, 1)), ((20, 20), (20, 1)), ((3, 1), (1, 3)), ((1, 1), (30, 17)), ((2, 9), (9,))],
)
def test_rows_that_are_repeated(first, second, width, dtype):
    rng = np.random.default_rng(0)
    for last in ((width, width), (width, 1), (1, width)):
        shapes = (*first, last[0]), (*second, last[1])
        a, b = ((10 * rng.normal(size=shape)).astype(dtype) for shape in shapes)
        np.testing.assert_array_equal(tf.constant(a) - tf.constant(b), a - b, strict=True)
        np.testing.assert_array_equal(tf.constant(a) * tf.constant(b), a * b, strict=True)
        x = tf.constant(a)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * tf.constant(b), axis=-1)
        if dtype != np.int32:
            found = tape.gradient(y, x)
            expected = np.broadcast_to(np.conj(b), (a * b).shape)
            axes = tuple(range(expected.ndim - a.ndim))
            axes += tuple(i for i in range(-a.ndim, 0) if a.shape[i] == 1 < expected.shape[i])
            np.testing.assert_allclose(found, expected.sum(axes).reshape(a.shape), rtol=1e-4, atol=1e-4)


def test_rows_that_do_not_broadcast_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tf.ones((20, 20, 3)) - tf.ones((20, 20, 2))
    assert (tf.ones((20, 20, 0)) - tf.ones((20, 20, 1))).shape == (20, 20, 0)
