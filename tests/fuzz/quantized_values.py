"""Quantized values against exact arithmetic: a value lies within half a step of what its integer stands for.

A seed determines floats (empty, 0-d, or a view), a range or one range per slice, a dtype and a mode. The integers are
moved by functions of arrays, branches and loops, and must be those that NumPy moves; converted back, they must be the
affine function of the integers in double precision. Simulated quantization is compared with rounding, and its gradient
with the mask of the values in the range.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gradtape as tf

quantization = tf.quantization
_DTYPES = ("quint8", "qint8", "qint16", "quint16", "qint32")
_SHAPES = [(), (1,), (5,), (0,), (2, 3), (3, 0), (2, 3, 2)]


class Case(NamedTuple):
    """Floats, the range of each slice along `axis`, and how they are converted."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    dtype: str
    mode: str
    axis: int | None
    narrow: bool
    to_even: bool


def disagreements(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    if rng.random() < 0.3:
        return _simulated(rng)
    return run_case(seed)[0]


def run_case(seed: int) -> tuple[list[str], list[Any]]:
    """Returns the differences, and the integers and floats of the case."""
    rng = np.random.default_rng(seed)
    case = _drawn(rng)
    options = {"mode": case.mode, "narrow_range": case.narrow, "axis": case.axis}
    rounds = "HALF_TO_EVEN" if case.to_even else "HALF_AWAY_FROM_ZERO"
    dtype = getattr(tf, case.dtype)

    def convert(x: Any) -> Any:
        found = quantization.quantize(x, case.low, case.high, dtype, round_mode=rounds, **options)
        return (*found, quantization.dequantize(*found, **options))

    given = tf.constant(case.x)
    if case.x.ndim and rng.random() < 0.3:
        given = tf.constant(case.x[::-1])[::-1]
    output, low, high, back = (tf.function(convert) if rng.random() < 0.3 else convert)(given)
    integers = output.numpy().astype(np.int64)
    problems = _values(case, integers, *(np.asarray(v).astype(np.float64) for v in (low, high, back)))
    problems += _moved(rng, output, case)
    if case.mode == "MIN_FIRST" and case.axis is None and case.x.ndim:
        problems += _joined(rng, case, output, low, high, back)
    return [f"{case}: {problem}" for problem in problems], [integers, low.numpy(), high.numpy(), back.numpy()]


def _drawn(rng: np.random.Generator) -> Case:
    x = np.asarray(rng.normal(size=_SHAPES[int(rng.integers(len(_SHAPES)))]) * 2).astype("float32")
    mode = str(rng.choice(["MIN_COMBINED", "MIN_FIRST", "SCALED"]))
    dtype = str(rng.choice(_DTYPES))
    axis = int(rng.integers(x.ndim)) if x.ndim and mode == "SCALED" and rng.random() < 0.4 else None
    ends = np.sort(rng.normal(size=(2, *(() if axis is None else (x.shape[axis],)))) * rng.choice([0.01, 1, 3]), 0)
    if rng.random() < 0.3:
        ends = np.round(ends)  # zero as an end, or an empty range
    is_scaled = mode == "SCALED"
    narrow = is_scaled and dtype in ("qint8", "qint16") and rng.random() < 0.3
    return Case(x, *ends.astype("float32"), dtype, mode, axis, narrow, is_scaled and rng.random() < 0.5)


def _spread(case: Case, bound: np.ndarray) -> np.ndarray:
    """Returns one number per slice in a shape that broadcasts with the values."""
    if case.axis is None:
        return bound
    return bound.reshape([-1 if k == case.axis else 1 for k in range(case.x.ndim)])


def _values(case: Case, integers: np.ndarray, low: np.ndarray, high: np.ndarray, back: np.ndarray) -> list[str]:
    """Compares the integers and the floats with the affine function of the range."""
    least, most = _limits(case.dtype)
    least += case.narrow
    problems = []
    if back.shape != case.x.shape or integers.shape != case.x.shape or low.shape != case.low.shape:
        return [f"shapes {integers.shape}, {back.shape} and {low.shape}"]
    if np.any(low > 0) or np.any(high < 0) or np.any(low >= high):
        problems.append(f"the range {low}, {high} lacks zero or is empty")
    low, high = _spread(case, low), _spread(case, high)
    is_scaled = case.mode == "SCALED"
    if is_scaled:
        step = np.maximum(high / most, low / least) if least < 0 else high / most
        exact = integers * step
    else:
        step = (high - low) / (most - least)
        start = low if case.mode == "MIN_COMBINED" else np.round(low / step) * step
        offset = 2.0 ** (np.iinfo("int64").bits // 2) if least == -(2**31) else -2.0 * least if least < 0 else 0
        exact = (integers + (offset / 2 if case.mode == "MIN_COMBINED" else -least)) * step + start
    # Single precision has 24 bits, which is less than a step of qint32.
    size = np.maximum(np.abs(low), np.abs(high))
    rounding = 4e-7 * size
    # Where the range starts between two steps, `quantize` and `dequantize` may round the start to different ones.
    is_half = case.mode == "MIN_FIRST" and np.any(np.abs(low / step % 1 - 0.5) < 0.01)
    if not np.all(np.abs(back - exact) <= step * (1.001 if is_half else 1e-3) + rounding):
        problems.append(f"the integers {integers.tolist()} stand for {exact.tolist()}, not {back.tolist()}")
    wanted = np.clip(case.x.astype(np.float64), low, high)
    if case.dtype == "qint32":  # the greatest float32 is more than the greatest integer, and wraps
        wanted, back = (np.where(wanted >= high * (1 - 1e-6), 0, v) for v in (wanted, back))
    steps = 0.501 if is_scaled else 1.501 if is_half else 1.001
    if not np.all(np.abs(wanted - back) <= step * steps + 2 * rounding):
        problems.append(f"{back.tolist()} instead of {wanted.tolist()}, with steps of {step}")
    if integers.size and (integers.min() < least or integers.max() > most):
        problems.append(f"the integers {integers.tolist()} are outside of {least} to {most}")
    return problems


def _limits(dtype: str) -> tuple[int, int]:
    info = np.iinfo(dtype.replace("q", ""))
    return int(info.min), int(info.max)


def _moved(rng: np.random.Generator, x: Any, case: Case) -> list[str]:
    """Compares functions that move quantized values with NumPy's on the integers."""
    moves: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], np.ndarray]]] = {
        "identity": (tf.identity, lambda a: a),
        "reshape": (lambda x: tf.reshape(x, [-1]), np.ravel),
        "transpose": (tf.transpose, np.transpose),
        "expand_dims": (lambda x: tf.expand_dims(x, 0), lambda a: a[None]),
        "view": (lambda x: x[..., None][..., 0], lambda a: a),
        "cond": (lambda x: tf.cond(tf.size(x) > 3, lambda: tf.identity(x), lambda: tf.identity(x)), lambda a: a),
        "while": (lambda x: tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.transpose(y)), [0, x],
                                          [tf.TensorShape([]), tf.TensorShape([None] * case.x.ndim)])[1], lambda a: a),
    }  # fmt: skip
    if case.x.ndim:
        at = rng.integers(0, case.x.shape[0], 3) if case.x.shape[0] else np.zeros(0, int)
        moves |= {
            "slice": (lambda x: x[1:], lambda a: a[1:]),
            "gather": (lambda x: tf.gather(x, at), lambda a: a[at]),
            "concat": (lambda x: tf.concat([x, x], 0), lambda a: np.concatenate([a, a])),
        }
    name = str(rng.choice(sorted(moves)))
    function, reference = moves[name]
    wanted = reference(x.numpy())
    for call in (function, tf.function(function)):
        found = call(x)
        if found.dtype != x.dtype or found.numpy().tolist() != wanted.tolist():
            return [f"{name} gives {found.dtype} {found.numpy().tolist()} instead of {wanted.tolist()}"]
    return []


def _joined(rng: np.random.Generator, case: Case, x: Any, low: Any, high: Any, back: Any) -> list[str]:
    """Compares a concatenation with that of the floats."""
    other = quantization.quantize(case.x * 2, -1.0, 2.0, getattr(tf, case.dtype), mode="MIN_FIRST")
    axis = int(rng.integers(case.x.ndim))
    found = quantization.quantized_concat(axis, [x, other[0]], [low, other[1]], [high, other[2]])
    wanted = np.concatenate([back, quantization.dequantize(*other, mode="MIN_FIRST")], axis)
    own = quantization.dequantize(*found, mode="MIN_FIRST").numpy()
    step = float(found.output_max - found.output_min) / (_limits(case.dtype)[1] - _limits(case.dtype)[0])
    same = own.shape == wanted.shape and np.all(np.abs(own - wanted) <= 2 * step + 1e-5)
    return [] if same else [f"joined along {axis}: {own.tolist()} instead of {wanted.tolist()}"]


def _simulated(rng: np.random.Generator) -> list[str]:
    """Compares `fake_quant_with_min_max_vars` and its gradient with rounding between nudged ends."""
    shape = _SHAPES[int(rng.integers(len(_SHAPES)))]
    per_channel = bool(shape) and rng.random() < 0.5
    x = np.asarray(rng.normal(size=shape) * 2).astype("float32")
    ends = np.sort(rng.normal(size=(2, *shape[-1:])) if per_channel else rng.normal(size=2), 0).astype("float32")
    ends[1] += 0.5
    bits, narrow = int(rng.integers(2, 9)), bool(rng.integers(2))
    name = "fake_quant_with_min_max_vars" + "_per_channel" * per_channel
    given, low, high = tf.constant(x), tf.constant(ends[0]), tf.constant(ends[1])
    with tf.GradientTape() as tape:
        tape.watch([given, low, high])
        y = getattr(quantization, name)(given, low, high, num_bits=bits, narrow_range=narrow)
        loss = tf.reduce_sum(y * 3)
    gradients = tape.gradient(loss, [given, low, high])
    least, most = np.float64(narrow), np.float64(2**bits - 1)
    bottom, top = ends.astype(np.float64)
    step = (top - bottom) / (most - least)
    zero = np.clip(np.floor(least - bottom / step + 0.5), least, most)
    nudged, end = (least - zero) * step, (most - zero) * step
    inside = (x >= nudged) & (x <= end)
    exact = np.floor((np.clip(x, nudged, end) - nudged) / step + 0.5) * step + nudged
    axes = tuple(range(x.ndim - per_channel))
    wanted = [3.0 * inside, 3.0 * (x < nudged).sum(axes), 3.0 * (x > end).sum(axes)]
    problems = []
    if y.shape != x.shape or not np.all(np.abs(y.numpy() - exact) <= 1.01 * step):
        problems.append(f"{y.numpy().tolist()} instead of {exact.tolist()}")
    near = np.minimum(np.abs(x - nudged), np.abs(x - end)) < 1e-5 * step  # rounding decides whether it is inside
    if not near.any() and any(not np.allclose(a, b) for a, b in zip(gradients, wanted, strict=True)):
        problems.append(f"gradients {[g.numpy().tolist() for g in gradients]} instead of {wanted}")
    return [f"{name} {bits} {narrow} of {x.tolist()} in {ends.tolist()}: {problem}" for problem in problems]
