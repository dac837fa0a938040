"""`broadcast_view` against NumPy's `broadcast_to`."""

import ml_dtypes
import numpy as np
import pytest

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
