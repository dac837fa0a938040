"""Derivatives of third order of random programs, in eager mode, in functions and under XLA.

A seed determines a program of one or two tensors (float64, float32, float16, bfloat16 or complex128; control flow, user
rules, recomputation and functions inside), how each order is computed (reverse mode, forward mode or the contraction of
a Jacobian), and what is compiled: any of the program and the three derivatives, so that tapes nest inside of functions,
around them and across their borders, as functions of NumPy or of XLA, each called twice.

The results are compared with those of eager code. For float64 and complex128, the third derivative of eager code is
compared with finite differences of the second, in the direction that the last order contracts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gradtape as tf

from ._programs import TOLERANCES, Program, inputs

Function = Callable[..., list[Any]]
_STEPS = (1e-3, 5e-4)  # of finite differences: where these disagree, a kink is near or the numbers are too large
_DTYPES = {"float64": 0.5, "float32": 0.15, "complex128": 0.2, "float16": 0.1, "bfloat16": 0.05}
_NOT_ITS_DERIVATIVE = {"stop", "custom"}  # steps whose gradient is not the derivative of their value


def disagreements(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(list(_DTYPES), p=list(_DTYPES.values())))
    arrays = _inputs(rng, dtype)
    # Functions pass zeros back where eager code has no cotangent, as in TensorFlow, and such a rule makes them 0.5.
    program = Program(rng, [tf.constant(x) for x in arrays], int(rng.integers(1, 8)), without={"custom offset"})
    is_complex = dtype == "complex128"
    has_rules = any(step.name == "custom" for step in program.steps)
    modes = ["reverse"] if has_rules else ["reverse", "reverse", "forward", "jacobian"]
    kinds = [str(rng.choice(modes)) for _ in range(3)]
    if is_complex:
        kinds = ["reverse" if kind == "jacobian" else kind for kind in kinds]
    kinds[0] = "reverse" if kinds[0] == "jacobian" else kinds[0]
    compiler = _xla if rng.random() < 0.15 else _function
    compiled = rng.random(4) < 0.5
    compiled[int(rng.integers(4))] = True
    directions = [[_like(rng, x) for x in arrays] for _ in range(3)]
    sources = [tf.constant(x) for x in arrays]
    eager = _orders(program, kinds, directions, [_plain] * 4)
    mixed = _orders(program, kinds, directions, [compiler if c else _plain for c in compiled])
    where = f"{program} by {kinds}, {compiler.__name__} of {compiled.tolist()}, at {[x.tolist() for x in arrays]}"
    found: list[str] = []
    expected = [[np.asarray(y) for y in function(*sources)] for function in eager]
    if not all(np.all(np.isfinite(y)) for ys in expected for y in ys):
        return []
    scale = max([1.0, *[float(np.max(np.abs(y.astype("complex128")), initial=0)) for ys in expected for y in ys]])
    for call in range(2):
        for order in (1, 2, 3):
            answer = mixed[order](*sources)
            for k, (got, want) in enumerate(zip(answer, expected[order], strict=True)):
                if np.asarray(got).shape != want.shape or not _close(got, want, TOLERANCES[program.precision], scale):
                    found.append(f"call {call}, order {order}, source {k}: {np.asarray(got)}, eager {want}: {where}")
    if program.precision == "float64" and not any(step.name in _NOT_ITS_DERIVATIVE for step in program.steps):
        found += [f"{message}: {where}" for message in _finite_differences(eager, kinds[2], directions[2], sources)]
    return found


def _plain(function: Function) -> Function:
    return function


def _function(function: Function) -> Function:
    return tf.function(function, autograph=False)


def _xla(function: Function) -> Function:
    return tf.function(function, autograph=False, jit_compile=True)


def _inputs(rng: np.random.Generator, dtype: str) -> list[Any]:
    if dtype == "complex128":
        return [np.asarray(x + 1j * rng.normal(size=x.shape)) for x in inputs(rng, "float64")]
    arrays = inputs(rng, "float64")
    return [np.asarray(tf.cast(tf.constant(x), dtype)) for x in arrays]


def _like(rng: np.random.Generator, x: Any) -> Any:
    values = rng.normal(size=x.shape) + (1j * rng.normal(size=x.shape) if np.iscomplexobj(x) else 0)
    return tf.cast(tf.constant(values), x.dtype)


def _orders(program: Program, kinds: Sequence[str], directions: Any, compilers: Sequence[Any]) -> list[Function]:
    """Returns the program and its first three derivatives: functions of the sources to lists of the same shapes."""

    def value(*xs: Any) -> list[Any]:
        y = program(*xs)
        y = tf.math.real(y) + 2.0 * tf.math.imag(y) if y.dtype.is_complex else y
        total = tf.reduce_sum(y * tf.cast(tf.cos(tf.range(tf.cast(tf.size(y), tf.float64))), y.dtype))
        return [tf.cast(total, x.dtype) * tf.ones_like(x) for x in xs]

    functions = [compilers[0](value)]
    for kind, direction, compiler in zip(kinds, directions, compilers[1:], strict=True):
        functions.append(compiler(_KINDS[kind](functions[-1], direction)))
    return functions


def _inner(ys: Sequence[Any], direction: Sequence[Any]) -> Any:
    """Returns the real inner product of two lists of tensors."""
    return tf.add_n([tf.reduce_sum(tf.math.real(tf.math.conj(d) * y)) for y, d in zip(ys, direction, strict=True)])


def _reverse(function: Function, direction: Any) -> Function:
    def gradient(*xs: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(xs)
            total = _inner(function(*xs), direction)
        return [tf.convert_to_tensor(g) for g in tape.gradient(total, xs, unconnected_gradients="zero")]

    return gradient


def _forward(function: Function, direction: Any) -> Function:
    def product(*xs: Any) -> list[Any]:
        with tf.autodiff.ForwardAccumulator(list(xs), direction) as accumulator:
            ys = function(*xs)
        return [accumulator.jvp(y, unconnected_gradients="zero") for y in ys]

    return product


def _jacobian(function: Function, direction: Any) -> Function:
    def contraction(*xs: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(xs)
            ys = function(*xs)
            flat = tf.concat([tf.reshape(y, [-1]) for y in ys], 0)
        weights = tf.concat([tf.reshape(d, [-1]) for d in direction], 0)
        matrices = tape.jacobian(flat, xs, unconnected_gradients="zero")
        return [tf.tensordot(weights, matrix, 1) for matrix in matrices]

    return contraction


_KINDS = {"reverse": _reverse, "forward": _forward, "jacobian": _jacobian}


def _close(got: Any, want: Any, tolerance: float, scale: float) -> bool:
    got, want = (np.asarray(x).astype("complex128") for x in (got, want))
    return bool(np.all(np.abs(got - want) <= tolerance * (np.abs(want) + scale)))


def _finite_differences(functions: Sequence[Function], kind: str, direction: Any, sources: Any) -> list[str]:
    """Compares the third derivative with differences of the second along the direction."""
    wide, narrow = _STEPS
    values = {
        step: functions[2](*[x + step * tf.cast(d, x.dtype) for x, d in zip(sources, direction, strict=True)])
        for step in (-wide, -narrow, 0.0, narrow, wide)
    }

    def slopes(start: float, end: float) -> list[Any]:
        found = [(b - a) / (end - start) for a, b in zip(values[start], values[end], strict=True)]
        # In reverse mode, the gradient of <second, direction> is compared along the same direction.
        return [y.numpy() for y in (found if kind == "forward" else [_inner(found, direction)])]

    third = functions[3](*sources)
    got = third if kind == "forward" else [_inner(third, direction)]
    central = [slopes(-step, step) for step in _STEPS]
    # Twice the difference of the narrow slopes to both sides, less that of the wide ones: the jump of the third
    # derivative here, without what the fourth contributes.
    sides = [slopes(0.0, narrow), slopes(-narrow, 0.0), slopes(0.0, wide), slopes(-wide, 0.0)]
    for k, (g, a, b, *ends) in enumerate(zip(got, *central, *sides, strict=True)):
        exact = (4 * b - a) / 3
        size = 1.0 + np.max(np.abs(exact), initial=0)
        jump = 2 * (ends[0] - ends[1]) - (ends[2] - ends[3])
        smooth = all(np.max(np.abs(y), initial=0) < 1e-4 * size for y in (b - a, jump))
        if smooth and not _close(g, exact, 1e-4, size):
            return [f"third derivative {k}: {np.asarray(g)}, differences {exact}"]
    return []
