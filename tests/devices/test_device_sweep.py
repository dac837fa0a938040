"""A sweep over attributes, sizes, axes, dtypes and layouts: what a device computes, eagerly and in functions.

With `make test-gpu` it runs all cases, and so it does with `GRADTAPE_ALL_CASES=1` on PyTorch's CPU device, else a
sample there. Values, gradients and second derivatives equal the host's as far as their dtype allows: the error against
the host's float64 result may be a few times the host's.
"""

import contextlib
import itertools
import os
import zlib

import ml_dtypes
import numpy as np
import pytest
from stand_in import MODULE, ON_GPU, on_host
from sweep_cases import CASES, FAMILIES

import gradtape as tf
from gradtape.core.dtypes import of_numpy
from gradtape.core.tensor import wrap
from gradtape.engine.registry.devices import on_device, send_to_device

_HAS_ALL = ON_GPU or bool(os.environ.get("GRADTAPE_ALL_CASES"))
_STEP = 1 if _HAS_ALL else 101  # a prime, so that every attribute is among the cases
_WIDE = {"complex64": "complex128", "complex128": "complex128"}
_REAL = {"complex64": "float32", "complex128": "float64"}
_CLOSE = {"float64": 1e-8, "float32": 1e-4, "float16": 2e-2, "bfloat16": 1.5e-1}
_ALL_LAYOUTS = ("transposed", "reversed", "offset", "broadcast")


def _weighed(ys):
    """A number that depends on every entry."""
    total = 0.0
    for y in ys:
        weights = tf.constant(np.cos(np.arange(int(tf.size(y)))).reshape(y.shape), tf.float64)
        if y.dtype.is_complex:
            y = tf.math.real(y) + 2.0 * tf.math.imag(y)
        total += tf.reduce_sum(tf.cast(y, tf.float64) * weights)
    return total


def derivatives(case, sources):
    """Returns the values of a case, the gradients of a sum of them, and the second derivatives."""
    with contextlib.ExitStack() as stack:
        outer = stack.enter_context(tf.GradientTape()) if case.order > 1 else None
        if outer is not None:
            outer.watch(sources)
        with tf.GradientTape() as tape:
            tape.watch(sources)
            ys = [y for y in tf.nest.flatten(case.function(*sources)) if y.dtype.is_floating or y.dtype.is_complex]
            loss = _weighed(ys)
        slopes = [tf.convert_to_tensor(g) for g in tape.gradient(loss, sources) if g is not None]
        total = _weighed(slopes)
    seconds = [] if outer is None or not slopes else outer.gradient(total, sources)
    return [*ys, *slopes, *[tf.convert_to_tensor(g) for g in seconds if g is not None]]


def _outcome(compute, *arguments):
    """Returns the arrays that a computation gives, or the exception that it raises."""
    try:
        return [np.asarray(y.numpy()) for y in compute(*arguments)]
    except Exception as error:
        return error


def _arrays(name, case, dtype):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    arrays = [np.asarray(draw(rng)) for draw in case.draws]
    if dtype.startswith("complex"):
        arrays = [x + 0.5j * rng.normal(size=x.shape) for x in arrays]
    return [x.astype(tf.as_dtype(dtype).as_numpy_dtype) for x in arrays]


def _here(x):
    return wrap(x if x.ndim else x[()], of_numpy(x.dtype))


def _there(x):
    return send_to_device(MODULE, _here(x))


def _real(x):
    """Returns the parts of an array in float64."""
    if x.dtype.kind == "c":
        return np.stack([x.real, x.imag], -1).astype(np.float64)
    return x.astype(np.float64)


def assert_alike(got, host, truth, dtype):
    """Compares results with those of the host, and with those that the host computes in float64."""
    if isinstance(host, Exception) or isinstance(got, Exception):
        assert type(got) is type(host), (got, host)
        return
    assert [(x.shape, x.dtype) for x in got] == [(x.shape, x.dtype) for x in host]
    # Some functions return float32 for every dtype, and their gradients are rounded to it on the way.
    real = max([_REAL.get(name, name) for name in (dtype, *(x.dtype.name for x in host))], key=_CLOSE.get)
    limits = ml_dtypes.finfo(real)
    # What cancels may leave rounding errors of the other numbers.
    noise = 64 * float(limits.eps) * max([1.0, *(float(np.abs(_real(z)).max(initial=0.0)) for z in host)])
    noise = noise if np.isfinite(noise) else 0.0
    for number, (x, y, z) in enumerate(zip(got, host, truth, strict=True)):
        x, y, z = map(_real, (x, y, z))
        with np.errstate(all="ignore"):
            finite = np.isfinite(x) & np.isfinite(y)
            largest = np.abs(z[np.isfinite(z)]).max(initial=0.0)
            error = np.abs(y - z)[finite].max(initial=0.0)
            allowed = _CLOSE[real] * largest + noise + 4 * error
            is_edge = ~(np.abs(z) < float(limits.max) / 4)  # where one may overflow and the other not
            bad = np.where(finite, np.abs(x - z) > allowed, ~((x == y) | (np.isnan(x) & np.isnan(y)) | is_edge))
        if bad.any():
            at = tuple(int(i[0]) for i in np.nonzero(bad)) if bad.ndim else ()
            raise AssertionError(
                f"result {number} of {len(host)}: {int(bad.sum())} of {bad.size} entries, first at {at}: {x[at]}, on "
                f"the host {y[at]}, in float64 {z[at]}"
            )


def _expected(case, arrays, dtype):
    """Returns what the host computes in this dtype, and in float64."""
    with on_host(), tf.device("/CPU:0"):
        host = _outcome(derivatives, case, list(map(_here, arrays)))
        wide = _WIDE.get(dtype, "float64")
        if isinstance(host, Exception) or wide == dtype:
            return host, host
        return host, _outcome(derivatives, case, [_here(x.astype(wide)) for x in arrays])


_ALL = [(name, dtype) for name, case in CASES.items() for dtype in case.dtypes]


@pytest.mark.parametrize(("name", "dtype"), _ALL[::_STEP])
def test_eager(name, dtype, gpu):
    case = CASES[name]
    arrays = _arrays(name, case, dtype)
    host, truth = _expected(case, arrays, dtype)
    if isinstance(host, Exception) and dtype in ("float64", "complex128"):
        raise host
    got = _outcome(derivatives, case, list(map(_there, arrays)))
    assert_alike(got, host, truth, dtype)


# A compilation takes long: each case is compiled in one of its dtypes.
_COMPILED = [(name, case.dtypes[i % len(case.dtypes)]) for i, (name, case) in enumerate(CASES.items())]


@pytest.mark.parametrize(("name", "dtype"), _COMPILED if _HAS_ALL else _COMPILED[::223])
def test_function(name, dtype, gpu):
    case = CASES[name]
    arrays = _arrays(name, case, dtype)
    host, truth = _expected(case, arrays, dtype)
    compiled = tf.function(lambda *sources: derivatives(case, list(sources)), jit_compile=True, autograph=False)
    got = _outcome(compiled, *map(_there, arrays))
    assert_alike(got, host, truth, dtype)


def _view(x, layout):
    """Returns a device tensor of the value of an array in this layout."""
    if not x.ndim:
        return _there(x)
    if layout == "reversed":
        return tf.reverse(_there(np.flip(x).copy()), list(range(x.ndim)))
    if layout == "transposed":
        buffer = MODULE.from_host(x.T.copy()).permute(tuple(reversed(range(x.ndim))))
    elif layout == "offset":
        key = tuple(slice(2, 2 + n) for n in x.shape)
        buffer = MODULE.from_host(np.pad(x, [(2, 1)] * x.ndim))[key]
    else:
        buffer = MODULE.from_host(np.ascontiguousarray(x[:1])).expand(x.shape)
    return on_device(MODULE, buffer, of_numpy(x.dtype))


_VIEWED = [name for name, case in CASES.items() if "float32" in case.dtypes]
# Matrices with equal rows have no inverse.
_LAYOUTS = [
    (name, layout)
    for name, layout in zip(_VIEWED, itertools.cycle(_ALL_LAYOUTS), strict=False)
    if layout != "broadcast" or name not in FAMILIES["linear_algebra"]
]


@pytest.mark.parametrize(("name", "layout"), _LAYOUTS[::_STEP])
def test_views(name, layout, gpu):
    case = CASES[name]
    arrays = _arrays(name, case, "float32")
    if layout == "broadcast":
        arrays = [np.ascontiguousarray(np.broadcast_to(x[:1], x.shape)) if x.ndim else x for x in arrays]
    host, truth = _expected(case, arrays, "float32")
    got = _outcome(derivatives, case, [_view(x, layout) for x in arrays])
    assert_alike(got, host, truth, "float32")
