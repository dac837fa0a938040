"""The contract of scans on the host, by NumPy and by PyTorch: terms are combined in order, from one end to the other.

So equal prefixes have equal results, and cumulative sums of non-negative numbers never decrease, at any size of array.
Programs for XLA and for a GPU combine terms in any order: they agree within rounding.
"""

import itertools

import numpy as np
import pytest
from case_groups import check_cases

import gradtape as tf
from gradtape import ops
from gradtape.engine.registry.op import registry

ops.load_all()
# `recurrence`, of the derivatives of products and logsumexps, combines by doubling.
SCANS = [op.name for op in registry.values() if getattr(op.kernel, "__module__", "").endswith(".scans")]
UFUNCS = {"cumsum": np.add, "cumprod": np.multiply, "cumulative_logsumexp": np.logaddexp}
DTYPES = [np.float16, np.float32, np.float64]
# Around the sizes from which PyTorch's kernels and blocks are used, and rows of even and odd lengths.
SHAPES = [(5,), (3, 9), (8191,), (8192,), (64, 128), (127, 65), (127, 258), (2, 16385), (40, 3, 274), (70001,)]
FLAGS = [{}, {"reverse": True}, {"exclusive": True}, {"exclusive": True, "reverse": True}]
FUNCTIONS = {
    "cumsum": tf.cumsum, "cumprod": tf.math.cumprod, "cumulative_logsumexp": tf.math.cumulative_logsumexp,
}  # fmt: skip


def cases():
    for shape, flags in itertools.product(SHAPES, FLAGS):
        for axis in range(len(shape)):
            yield f"{shape}, {axis=}, {flags}", (shape, axis, flags)


def terms(rng, name, shape, dtype):
    """Returns numbers whose results never decrease along an axis: at least the identity, and small enough."""
    if name == "cumprod":
        return (1 + rng.uniform(0, 1e-4, shape)).astype(dtype)
    return (rng.uniform(0, 1, shape) * 10.0 ** rng.integers(-3, 1, shape)).astype(dtype)


def in_order(ufunc, x, axis, dtype, exclusive=False, reverse=False):
    """Combines the terms in order in `dtype`, and rounds."""
    x = np.flip(np.moveaxis(x, axis, 0), 0) if reverse else np.moveaxis(x, axis, 0)
    y = ufunc.accumulate(x.astype(dtype), axis=0).astype(np.result_type(x, np.float32)).astype(x.dtype)
    if exclusive:
        first = np.full_like(y[:1], {np.add: 0, np.multiply: 1, np.logaddexp: -np.inf}[ufunc])
        y = np.concatenate([first, y[:-1]])
    return np.moveaxis(np.flip(y, 0) if reverse else y, 0, axis)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_terms_are_combined_in_order(name, dtype):
    function = FUNCTIONS[name]

    def check(shape, axis, flags):
        rng = np.random.default_rng(len(shape) + shape[-1])
        x = terms(rng, name, shape, dtype)
        y = function(tf.constant(x), axis, **flags).numpy()
        # The dtype of the partial results: NumPy's, or the wider one of PyTorch's kernels.
        wider = [np.float32 if dtype is np.float16 else dtype, np.float64]
        assert any(np.array_equal(y, in_order(UFUNCS[name], x, axis, d, **flags)) for d in wider), "another order"
        steps = np.diff(np.flip(y, axis) if flags.get("reverse") else y, axis=axis)
        exclusive = flags.get("exclusive", False)
        if name == "cumulative_logsumexp" and exclusive:  # the identity is the lowest number
            assert not (steps < 0).any(), "decreases"
        else:
            assert (steps >= 0).all(), "decreases"
        half = shape[axis] // 2
        end = slice(half, None) if flags.get("reverse") else slice(None, half)
        other, part = np.flip(x, axis).copy(), (*(slice(None),) * axis, end)
        other[part] = x[part]
        z = function(tf.constant(other), axis, **flags).numpy()
        np.testing.assert_array_equal(y[part], z[part], err_msg="equal prefixes")

    check_cases(check, dict(cases()))


def test_every_scan_is_tested():
    assert {*SCANS} == {*UFUNCS, "recurrence"}


@pytest.mark.parametrize("shape", [(4, 8), (64, 512), (512, 512)], ids=str)
def test_terms_after_large_ones_that_cancel(shape):
    x = np.ones(shape, np.float32)
    x[:, :2] = 1e8, -1e8
    wanted = np.concatenate([[1e8], np.arange(shape[1] - 1)])
    for way in (tf.cumsum, tf.function(tf.cumsum)):
        y = way(tf.constant(x), 1).numpy()
        np.testing.assert_array_equal(y, np.broadcast_to(wanted.astype(np.float32), shape))


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_xla_agrees_within_rounding(name, quick_xla):
    function = FUNCTIONS[name]
    compiled = tf.function(function, jit_compile=True)
    for dtype, shape, axis in itertools.product(DTYPES, [(3, 9), (40, 300)], [0, 1]):
        x = tf.constant(terms(np.random.default_rng(1), name, shape, dtype))
        want = function(x, axis).numpy().astype(np.float64)
        np.testing.assert_allclose(compiled(x, axis).numpy(), want, rtol=np.finfo(dtype).eps * shape[axis])
