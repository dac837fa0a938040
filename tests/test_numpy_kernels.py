"""NumPy's own kernels of ops give the results of the kernels for any array library, which are slow and obvious.

The arrays are random: of every size at which NumPy's kernels choose another way, empty, with and without special
values, in several dtypes and layouts.
"""

import zlib

import numpy as np
import pytest

from gradtape import ops
from gradtape.backends.arrays import NUMPY_KERNELS
from gradtape.core import dtypes
from gradtape.engine.registry.op import registry

ops.load_all()
OPS = {op.name: op for op in registry.values() if op.kernel in NUMPY_KERNELS}
SHAPES = [(5,), (3, 4), (2, 3, 4), (0, 3), (3, 0), (1, 1), (700, 128), (90, 7, 140), (20001, 5), (3, 30011)]
NO_HALVES = {"triangular_solve", "scaled_dot_product_attention", "scaled_dot_product_attention_back"}  # in general
FEW_HALVES = 1 << 10  # in longer arrays, the order of additions matters
DTYPES = {"float32": 2e-5, "float64": 1e-12, "float16": 1e-2, "complex128": 1e-12}


def axes(rng, shape):
    return tuple(np.flatnonzero(rng.random(len(shape)) < 0.5).tolist()) if rng.random() < 0.5 else (len(shape) - 1,)


def reduced(rng, shape):
    return [shape], {"axis": axes(rng, shape), "keepdims": bool(rng.integers(2))}


def along(rng, shape):
    return [shape], {"axis": int(rng.integers(len(shape)))}


def scanned(rng, shape):
    inputs, attrs = along(rng, shape)
    return inputs, attrs | {"exclusive": bool(rng.integers(2)), "reverse": bool(rng.integers(2))}


def twice(make):
    def both(rng, shape):
        inputs, attrs = make(rng, shape)
        return inputs * 2, attrs

    return both


def multiplied(rng, shape):
    a, b = (int(n) for n in rng.integers(1, 40, 2))
    lead = shape[:-2]
    turned = {f"transpose_{side}": bool(rng.integers(2)) for side in "ab"}
    first = (*lead, b, a) if turned["transpose_a"] else (*lead, a, b)
    second = (a, b) if turned["transpose_b"] else (b, a)
    return [first, second if rng.random() < 0.5 else (*lead, *second)], turned


def spread(rng, shape):
    kept = tuple(1 if rng.random() < 0.5 else n for n in shape)
    return [kept[int(rng.integers(len(shape) + 1)) :]], {"shape": shape}


def labelled(rng, shape):
    return [np.asarray(rng.integers(0, max(shape[-1], 1), shape[:-1])), shape], {}


MAKERS = {
    "sum": reduced, "max": reduced, "min": reduced, "logsumexp": reduced, "euclidean_norm": reduced,
    "moments": reduced, "softmax": along, "log_softmax": along, "cumulative_logsumexp": along,
    "softmax_back": twice(along), "log_softmax_back": twice(along), "cumsum": scanned, "matmul": multiplied,
    "broadcast_to": spread, "softmax_cross_entropy": lambda rng, shape: ([shape, shape], {}),
    "sparse_softmax_cross_entropy": labelled, "sparse_softmax_slope": labelled,
    "top_k": lambda rng, shape: ([shape], {"k": int(rng.integers(min(shape[-1], 9) + 1))}),
    "band_part": lambda rng, shape: ([shape], {"below": int(rng.integers(-1, 4)), "above": int(rng.integers(-1, 4))}),
    "one_hot": lambda rng, shape: (
        [rng.integers(-1, 40, shape), np.array(1.0), np.array(0.0)],
        {"depth": 40, "axis": int(rng.integers(len(shape) + 1))},
    ),
}  # fmt: skip
SPECIAL = {"max", "min", "logsumexp", "cumsum", "top_k", "band_part", "broadcast_to"}  # which allow inf and NaN


def laid_out(rng, x):
    """Returns the array in a random layout."""
    way = rng.integers(4) if x.ndim else 0
    if way == 1:
        return np.asfortranarray(x)
    if way == 2:
        return np.repeat(x, 2, axis=0)[::2]
    if way == 3:
        return np.ascontiguousarray(x[::-1])[::-1]
    return x


def arrays_of(rng, op, inputs, dtype, domain):
    for given in inputs:
        if isinstance(given, tuple):
            x = rng.uniform(*domain, given).astype(dtype)
            if dtype == "complex128":
                x += 1j * rng.uniform(*domain, given)
            if op.name in SPECIAL and rng.random() < 0.3:
                x[rng.random(given) < 0.1] = rng.choice([np.inf, -np.inf, np.nan, 0.0])
        else:
            x = given.astype(dtype) if given.dtype.kind == "f" else given
        yield laid_out(rng, x)


def cases(op, rng):
    for sample in op.samples:
        yield sample.inputs, sample.attrs, sample.domain or op.domain
    if op.name in MAKERS:
        for shape in SHAPES:
            is_matrix = len(shape) > 1 or op.name not in ("band_part", "matmul")
            if is_matrix and (shape[-1] or MAKERS[op.name] is not labelled):
                yield *MAKERS[op.name](rng, shape), op.domain


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_kernel(op, seed):
    rng = np.random.default_rng([zlib.crc32(op.name.encode()), seed])
    for inputs, attrs, domain in cases(op, rng):
        for dtype, tolerance in DTYPES.items():
            if not op.kinds & dtypes.FLOAT:
                dtype = "int64"
            elif dtype == "complex128" and not op.kinds & dtypes.COMPLEX:
                continue
            arrays = [*arrays_of(rng, op, inputs, dtype, domain)]
            if dtype == "float16" and (op.name in NO_HALVES or max(x.size for x in arrays) > FEW_HALVES):
                continue
            with np.errstate(all="ignore"):
                got = NUMPY_KERNELS[op.kernel](*[x.copy(order="K") for x in arrays], **attrs)
                want = op.kernel(np, *arrays, **attrs)
            both = zip(got, want, strict=True) if isinstance(got, tuple) else [(got, want)]
            for y, z in both:
                error = f"{[x.shape for x in arrays]} {dtype} {attrs}"
                assert (y.shape, y.dtype) == (z.shape, z.dtype), error
                scale = np.max(np.abs(z[np.isfinite(z)]), initial=0) if z.dtype.kind in "fc" else 0
                np.testing.assert_allclose(y, z, rtol=tolerance, atol=tolerance * scale, err_msg=error)
