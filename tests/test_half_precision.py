"""Half precision: every op rounds its result once, however many terms it sums; so does its derivative.

The samples of every op are stretched: each size that occurs in a sample's shapes and attributes becomes 10,000,
wherever the op accepts it. On ones and on random numbers, values and derivatives in float16 and bfloat16 are those in
float64, rounded. A sum that is rounded after every term stagnates: at 2048 in float16, at 256 in bfloat16.
"""

import itertools
import math
import zlib

import ml_dtypes
import numpy as np
import pytest
from case_groups import check_cases

import gradtape as tf
from gradtape import ops
from gradtape.core import dtypes
from gradtape.engine.registry.op import registry

ops.load_all()
LONG = 10_000
HALVES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
MOST_ELEMENTS = 1 << 18
MOST_STRETCHINGS = 1  # of each size in a sample
MOST_PLACES = 3  # that change together

MOST_OUTPUTS = 10

SIZES = {"shape", "size", "sizes", "count"}  # the attributes that hold sizes of arrays

# Results of constant ops are positions, masks and copies; random numbers are not sums.
OPS = [op for op in registry.values() if op.kinds & dtypes.FLOAT and not op.random and op.family != "constant"]
# Ops that are not run, each with the reason. That they are computed in float32 is checked for those of several steps.
DECOMPOSITIONS = {
    "cholesky", "eigh", "eigvalsh", "eig", "eigvals", "svd", "singular_values", "qr", "lu", "expm", "sqrtm", "inv",
    "det", "slogdet", "solve", "triangular_solve", "banded_solve", "pinv", "hermitian",
}  # fmt: skip
NOT_RUN = {
    **dict.fromkeys(DECOMPOSITIONS, "of matrices; float32 is what LAPACK has"),
    **dict.fromkeys(("igamma", "igammac", "igamma_by_a", "betainc", "gamma_density"), "milliseconds per number"),
    **dict.fromkeys(("scaled_dot_product_attention", "scaled_dot_product_attention_back"), "10,000 by 10,000 weights"),
    **dict.fromkeys(("max_pool_back", "max_pool_pick"), "sum as many numbers as a window has"),
    "place": "its samples have indices of a few places",
}


def occurrences(sample):
    """Yields each size, and where it occurs: `(input, axis)` or `(attribute, index)`, or `(attribute, None)`."""
    places = {}
    for i, given in enumerate(sample.inputs):
        for axis, n in enumerate(np.shape(given) if not isinstance(given, tuple) else given):
            places.setdefault(n, []).append((i, axis))
    for name in SIZES & sample.attrs.keys():
        value = sample.attrs[name]
        if type(value) is int:
            places.setdefault(value, []).append((name, None))
        elif type(value) is tuple:
            for index, n in enumerate(value):
                if type(n) is int:
                    places.setdefault(n, []).append((name, index))
    return {n: found for n, found in places.items() if n > 0 and any(type(where) is int for where, _ in found)}


def stretched(sample, chosen, size):
    """Returns the sample with another size at the chosen places."""
    inputs, attrs = list(sample.inputs), dict(sample.attrs)
    for where, index in chosen:
        if type(where) is int:
            given = inputs[where]
            shape = list(given if isinstance(given, tuple) else np.shape(given))
            shape[index] = size
            inputs[where] = tuple(shape) if isinstance(given, tuple) else np.take(
                given, np.arange(size) % np.shape(given)[index], axis=index
            )
        elif index is None:
            attrs[where] = size
        else:
            attrs[where] = (*attrs[where][:index], size, *attrs[where][index + 1 :])
    return sample._replace(inputs=tuple(inputs), attrs=attrs)


def arrays_of(op, sample, dtype, ones):
    """Returns the arguments: random numbers of the op's domain, or ones, of half precision, in `dtype`."""
    rng = np.random.default_rng(zlib.crc32(op.name.encode()))
    low, high = sample.domain or op.domain
    low = max(low, min(0.25, high / 4))
    for given in sample.inputs:
        if isinstance(given, tuple):
            one = 1.0 if low <= 1 <= high else (low + high) / 2
            x = np.full(given, one) if ones else rng.uniform(low, min(high, 1.0) if low < 1 else high, given)
        else:
            x = np.asarray(given)
        yield x.astype(np.float16).astype(ml_dtypes.bfloat16).astype(dtype) if x.dtype.kind == "f" else x


def computed(op, sample, dtype, ones):
    """Returns the values of an op that are floats, and the derivatives of their weighted sum."""
    xs = [tf.constant(x) for x in arrays_of(op, sample, dtype, ones)]
    sources = [x for x in xs if x.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        ys = op(*xs, **sample.attrs)
        ys = [y for y in (ys if type(ys) is tuple else (ys,)) if y.dtype.is_floating]
    gradients = []
    if op.vjp is not None and sources:
        rng = np.random.default_rng(1)
        gs = [tf.cast(tf.constant(rng.uniform(0.25, 1, y.shape), tf.float32), y.dtype) for y in ys]
        gradients = tape.gradient(ys, sources, gs)
    return [tf.convert_to_tensor(y).numpy() for y in (*ys, *gradients) if y is not None]


def elements(sample):
    return sum(math.prod(given) if isinstance(given, tuple) else np.size(given) for given in sample.inputs)


def stretchings(op):
    """Yields the samples of an op that have one long size."""
    for sample in op.samples:
        for n, places in occurrences(sample).items():
            subsets = itertools.chain.from_iterable(
                itertools.combinations(places, count) for count in range(1, min(len(places), MOST_PLACES) + 1)
            )
            found = 0
            for chosen in subsets:
                if not any(type(where) is int for where, _ in chosen) or found == MOST_STRETCHINGS:
                    continue
                if elements(stretched(sample, chosen, LONG)) > MOST_ELEMENTS:
                    continue
                size = n + 31
                try:
                    results = computed(op, stretched(sample, chosen, size), np.float64, False)
                except Exception:  # these sizes do not fit together
                    continue
                if op.name == "conv" and not results[0].size:  # the filter is larger than the image
                    continue
                growth = LONG / size
                most = max((math.prod(y.shape) * growth ** y.shape.count(size) for y in results), default=0)
                if len(results) > MOST_OUTPUTS or most > MOST_ELEMENTS:
                    continue
                found += 1
                yield f"{sample.inputs} {sample.attrs} {chosen}", stretched(sample, chosen, LONG)


def assert_rounded_once(op, got, want, dtype):
    """Compares where the rounded result is finite."""
    roundings = 64 if op.family == "elementwise" else 8  # elementwise formulas round after each step
    tolerance = roundings * float(ml_dtypes.finfo(dtype).eps)
    for y, z in zip(got, want, strict=True):
        y, z = (np.asarray(a).astype(np.float64) for a in (y, np.asarray(z).astype(dtype)))
        finite = np.isfinite(z)
        scale = np.abs(z[finite]).max(initial=0.01)  # sums that cancel are not smaller than their terms' roundings
        np.testing.assert_allclose(y[finite], z[finite], rtol=tolerance, atol=tolerance * scale)


def cases(op):
    for name, sample in stretchings(op):
        for dtype, array_type in HALVES.items():
            if dtype == "float16" or op.kinds & dtypes.NARROW:
                yield f"{name} {dtype}", (op, sample, array_type, dtype == "float16" and op.family != "elementwise")


def check(op, sample, dtype, ones):
    with np.errstate(all="ignore"):
        want = computed(op, sample, np.float64, ones)
        assert_rounded_once(op, computed(op, sample, dtype, ones), want, dtype)


@pytest.mark.parametrize("op", [op for op in OPS if op.name not in NOT_RUN], ids=lambda op: op.name)
def test_sums_round_once(op):
    found = dict(cases(op))
    # One of another family would be tested for nothing.
    assert found or op.family == "elementwise", "no size of its samples can be stretched: add a sample"
    check_cases(check, found)


def test_ops_that_are_not_run():
    for name in NOT_RUN:
        op = registry[name]
        assert op.family == "elementwise" or op.moves_data or op.numpy is not op.wide


IDS, MANY = np.zeros(LONG, np.int32), 3000


def along(axis, rank):
    return [LONG if i == axis else 2 for i in range(rank)]


# Functions, and the shapes of their argument, ones: sums of several ops, and derivatives that add up.
FUNCTIONS = {
    "broadcast": (lambda x: tf.ones([LONG, 3], x.dtype) * x, [3]),
    "bias_add": (lambda x: tf.nn.bias_add(tf.ones([LONG, 3], x.dtype), x), [3]),
    "broadcast_to": (lambda x: tf.broadcast_to(x, [2, LONG, 3]), [2, 1, 3]),
    "tile": (lambda x: tf.tile(x, [LONG, 1]), [1, 3]),
    "gather": (lambda x: tf.gather(x, IDS), [2, 3]),
    "gather_nd": (lambda x: tf.gather_nd(x, IDS[:, None]), [2, 3]),
    "segment_mean": (lambda x: tf.math.segment_mean(x, IDS), [LONG, 2]),
    "unsorted_segment_sum": (lambda x: tf.math.unsorted_segment_sum(x, IDS, 1), [LONG, 2]),
    "sparse_segment_sum": (lambda x: tf.sparse.segment_sum(x, tf.range(LONG), IDS), [LONG, 2]),
    "scatter_nd": (lambda x: tf.scatter_nd(IDS[:, None], x, [2]), [LONG]),
    "tensor_scatter_nd_add": (lambda x: tf.tensor_scatter_nd_add(x[:2], IDS[:, None], x), [LONG]),
    "einsum": (lambda x: tf.einsum("ij,ij->j", x, x), [LONG, 2]),
    "tensordot": (lambda x: tf.tensordot(x, x, 1), [LONG]),
    "matmul": (lambda x: tf.ones([2, LONG], x.dtype) @ x, [LONG, 3]),
    "trace": (lambda x: tf.linalg.trace(tf.linalg.diag(x)), [2000]),
    "conv1d": (lambda x: tf.nn.conv1d(tf.ones([1, LONG, 1], x.dtype), x, 1, "SAME"), [3, 1, 2]),
    "avg_pool1d": (lambda x: tf.nn.avg_pool1d(x, LONG, LONG, "VALID"), [1, LONG, 2]),
    "norm": (lambda x: tf.norm(x, axis=0), [LONG, 2]),
    "l2_loss": (tf.nn.l2_loss, [LONG]),
    "resize": (lambda x: tf.image.resize(x, [100, 100]), [1, 1, 1, 2]),
    "add_n": (lambda x: tf.add_n([x[0]] * 300 + [x[1] * 2] * 300), [2]),
}  # fmt: skip
for _axis in range(3):
    for _name in ("sum", "mean", "variance", "std", "logsumexp", "euclidean_norm", "prod"):
        _f = getattr(tf.math, f"reduce_{_name}")
        FUNCTIONS[f"{_name} {_axis}"] = (lambda x, f=_f, axis=_axis: f(x, axis), along(_axis, 3))
    FUNCTIONS[f"moments {_axis}"] = (lambda x, axis=_axis: tf.nn.moments(x, [axis])[0], along(_axis, 3))
    FUNCTIONS[f"cumsum {_axis}"] = (lambda x, axis=_axis: tf.cumsum(x, axis), along(_axis, 3))


def all_functions(dtype):
    results = {}
    for name, (f, shape) in FUNCTIONS.items():
        x = tf.ones(shape, dtype)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        results[name] = y, tf.convert_to_tensor(tape.gradient(y, x))
    return results


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("way", ["eager", "function", "xla"])
def test_functions_round_once(way, dtype, quick_xla):
    """The expected numbers are those of float64; elements that cancel, of a variance of ones, are zero."""
    f = all_functions if way == "eager" else tf.function(all_functions, jit_compile=way == "xla")
    got, want = f(dtype), all_functions("float64")
    tolerance = 8 * float(ml_dtypes.finfo(HALVES[dtype]).eps)

    def compare(name):
        for y, z in zip(got[name], want[name], strict=True):
            z = z.numpy().astype(HALVES[dtype]).astype(np.float64)
            finite = np.isfinite(z)
            y, z = y.numpy().astype(np.float64)[finite], z[finite]
            np.testing.assert_allclose(y, z, rtol=tolerance, atol=tolerance * np.abs(z).max(initial=1e-3))

    check_cases(compare, {name: (name,) for name in FUNCTIONS})


@pytest.mark.parametrize("dtype", HALVES)
def test_cotangents_of_many_uses_are_added_in_float32(dtype):
    def gradient(f):
        x = tf.ones([2], dtype)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            first = tape.gradient(y, x)
        return np.asarray(first, float), outer.gradient(first, x)

    rounded = float(HALVES[dtype](MANY))
    np.testing.assert_array_equal(gradient(lambda x: tf.add_n([x * 1 for _ in range(MANY)]))[0], rounded)
    np.testing.assert_array_equal(gradient(lambda x: tf.add_n([x[0] * 1 for _ in range(MANY)]))[0], [rounded, 0])
    mixed, _ = gradient(lambda x: tf.add_n([x[i % 2] + x[1] for i in range(MANY)]))
    np.testing.assert_array_equal(mixed, np.array([MANY / 2, MANY * 1.5], HALVES[dtype]).astype(float))
    square, second = gradient(lambda x: tf.add_n([x * x for _ in range(MANY // 2)]))
    np.testing.assert_array_equal(square, rounded)
    np.testing.assert_array_equal(np.asarray(second, float), rounded)


@pytest.mark.parametrize("dtype", HALVES)
def test_updates_of_one_row_are_added_in_float32(dtype):
    ones, wanted = tf.ones([LONG], dtype), np.array([LONG, 0], HALVES[dtype])
    slices = tf.IndexedSlices(ones, tf.constant(IDS), tf.constant([2]))
    np.testing.assert_array_equal(tf.convert_to_tensor(slices), wanted)
    variable = tf.Variable(tf.zeros([2], dtype))
    np.testing.assert_array_equal(variable.scatter_add(slices), wanted)
    variable.assign([0, 0])
    np.testing.assert_array_equal(variable.scatter_nd_add(IDS[:, None], ones), wanted)
    np.testing.assert_array_equal(variable.scatter_nd_sub(IDS[:, None], ones), [0, 0])


def test_sums_overflow_only_where_the_rounded_result_does():
    x = tf.constant(np.tile([[60000.0], [60000.0], [-60000.0], [-60000.0]], (100, 8)), tf.float16)
    assert np.isfinite(tf.reduce_sum(x, 0)).all()
    assert np.isinf(tf.reduce_sum(tf.fill([400, 2], tf.constant(60000.0, tf.float16)), 0)).all()
