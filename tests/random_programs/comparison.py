"""Runs a program in every mode and finds where the results diverge.

The effect of rounding is measured: the program also runs eagerly with every value of a statement perturbed by some
units in the last place. Where that changes a result, so may another order of summation; where it creates or removes
infinities and NaNs, nothing is reported.
"""

from __future__ import annotations

import linecache
import logging
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
from tensorflow_process import ProgramProcess

import gradtape as tf

from .other_processes import outcome as outcome_of_process
from .program import Program

_RELATIVE = {"float64": 1e-9, "complex128": 1e-9, "float32": 3e-5, "complex64": 3e-5, "float16": 5e-3, "bfloat16": 5e-2}
_AMPLIFIED = 60  # times the effect of perturbing values by a few units in the last place
_MOVED = 6  # number of perturbed runs

Outcome = list[Any]  # for each call: the resulting arrays and the variables, or an exception

WAYS: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: f, "function": tf.function, "xla": lambda f: tf.function(f, jit_compile=True),
}  # fmt: skip


def loaded(source: str, name: str) -> dict[str, Any]:
    """Returns the names that the source defines; its source is available to `inspect`."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, Any] = {}
    exec(compile(source, name, "exec"), scope)
    return scope


def run(program: Program, way: str) -> Outcome:
    """Returns the result of each call, up to the first that fails."""
    scope = loaded(program.source(), f"<random program {program.seed}>")
    return outcome(scope, WAYS[way])


def outcome(scope: dict[str, Any], compiled: Any, *jitter: Any) -> Outcome:
    """The same for a loaded program."""
    results: Outcome = []
    logger = logging.getLogger("gradtape")
    level = logger.level
    logger.setLevel(logging.ERROR)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            step, variables = scope["build"](tf, compiled, *jitter)
            for xs in scope["calls"](tf):
                ys = step(*xs)
                results.append(
                    [None if y is None else np.asarray(tf.convert_to_tensor(y).numpy()) for y in [*ys, *variables]]
                )
        except Exception as error:
            results.append(error)
        finally:
            logger.setLevel(level)
    return results


class _Jitter:
    """Perturbs values by up to four units in the last place; optionally flushes subnormal ones."""

    def __init__(self, seed: int, flush: bool) -> None:
        self._rng, self._flush = np.random.default_rng(seed), flush

    def __call__(self, x: Any) -> Any:
        if not (x.dtype.is_floating or x.dtype.is_complex):
            return x
        real = x.dtype.real_dtype
        limits = ml_dtypes.finfo(real.as_numpy_dtype)
        noise = 1 + self._rng.uniform(-4, 4, [int(n) for n in x.shape]) * float(limits.eps)
        moved = x * tf.cast(tf.constant(noise, tf.float64), x.dtype)
        if self._flush and x.dtype.is_floating:
            # A kernel may also flush the factors of a normal result: `gelu(x)` is x times a subnormal number near -13.
            moved = tf.where(tf.abs(moved) < 64 * float(limits.tiny), tf.zeros_like(moved), moved)
        return moved

    def gradient(self, x: Any) -> Any:
        """Returns `x`; perturbs its gradient."""
        if not (x.dtype.is_floating or x.dtype.is_complex):
            return x
        return tf.custom_gradient(lambda value: (tf.identity(value), self))(x)


def moved_runs(program: Program) -> list[Outcome]:
    """Returns eager runs with perturbed values."""
    scope = loaded(program.source(jitter=True), f"<moved program {program.seed}>")
    return [outcome(scope, WAYS["eager"], _Jitter(i, flush=i == 0)) for i in range(_MOVED)]


def disagreements(
    program: Program, ways: tuple[str, ...] = ("function", "xla"), processes: Mapping[str, ProgramProcess] | None = None
) -> list[str]:
    """Describes where these modes differ from the eager one; a mode in `processes` is eager in that process."""
    expected = run(program, "eager")
    moved: list[Outcome] = []
    found = []
    for way in ways:
        if processes and way in processes:
            got = outcome_of_process(processes[way], program.source()) or []
            # Ops without a kernel or gradient in TensorFlow are not compared with it.
            got = got[:-1] if way == "tensorflow" and got and isinstance(got[-1], Exception) else got
            results = expected[: len(got)]
        else:
            got, results = run(program, way), expected
        rounding = "of the program" if not program.wild else "of the result" if way == "numpy" else "none"
        words = compared(got, results, [], rounding)
        if words:
            moved = moved or moved_runs(program)
            words = compared(got, results, moved, rounding)
        if words:
            found.append(f"{way}: {words}")
    return found


def compared(got: Outcome, expected: Outcome, moved: list[Outcome], rounding: str = "of the program") -> str:
    """Returns where two outcomes diverge first; empty if they agree.

    Zeros may represent an eager None: a call under a tape and a loop in a graph are one op, as in TensorFlow, and
    unconnected outputs have the derivative 0. A result that is exactly 0 in one order of summation may be as small as
    rounding errors in another: relative to the largest number of a tame program, or of the result in another library.
    """
    for call, want in enumerate(expected):
        neighbours = [m[call] if call < len(m) else Exception() for m in moved]
        failed = isinstance(want, Exception)
        if any(isinstance(n, Exception) != failed for n in neighbours):
            return ""
        if call >= len(got):
            return f"call {call}: missing"
        mine = got[call]
        if isinstance(mine, Exception) != failed:
            return f"call {call}: {_shown(mine)}, eager: {_shown(want)}"
        if failed:
            return ""
        largest = max([1.0, *[_largest(z) for z in want if z is not None]]) if rounding == "of the program" else 0.0
        for i, (y, z) in enumerate(zip(mine, want, strict=True)):
            if z is None and y is not None and not y.any():
                continue
            if rounding == "of the result":
                largest = 1.0 if z is None else max(1.0, _largest(z))
            words = _difference(y, z, [n[i] for n in neighbours], 16 * largest, rounding == "of the program")
            if words:
                return f"call {call}, result {i} of {len(want)}: {words}"
    return ""


def _shown(value: Any) -> str:
    return f"{type(value).__name__}: {str(value)[:200]}" if isinstance(value, Exception) else "no exception"


def _largest(x: Any) -> float:
    """Returns the largest finite magnitude in an array of floats."""
    if x.dtype.kind in "biu":
        return 0.0
    size = np.abs(x.astype(np.complex128))
    return float(size[np.isfinite(size)].max(initial=0.0))


def _difference(got: Any, want: Any, neighbours: list[Any], noise: float, tame: bool) -> str:
    if any((n is None) != (want is None) or (n is not None and n.shape != want.shape) for n in neighbours):
        return ""
    if got is None or want is None:
        return "" if got is want else f"{_brief(got)}, eager: {_brief(want)}"
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape}, eager: {want.dtype}{want.shape}"
    if want.dtype.kind in "biu":
        bad = got != want
        for n in neighbours:
            bad &= n == want
    else:
        bad = _far(got, want, neighbours, noise, tame)
    if not bad.any():
        return ""
    at = tuple(int(i[0]) for i in np.nonzero(bad)) if bad.ndim else ()
    moved = [n[at] for n in neighbours]
    return f"{int(bad.sum())} of {bad.size} entries, first at {at}: {got[at]}, eager: {want[at]}; moved: {moved}"


def _far(got: Any, want: Any, neighbours: list[Any], noise: float, tame: bool) -> Any:
    name = want.dtype.name
    limits = ml_dtypes.finfo(want.dtype if want.dtype.kind != "c" else want.real.dtype)
    if want.dtype.kind == "c":
        parts = [np.stack([z.real, z.imag], -1) for z in (got, want, *neighbours)]
        magnitude = np.abs(want)[..., None]
    else:
        parts = [z.astype(np.float64) for z in (got, want, *neighbours)]
        magnitude = np.abs(parts[1])
    y, z, *others = parts
    with np.errstate(all="ignore"):
        allowed = (
            _RELATIVE[name] * np.where(np.isfinite(magnitude), magnitude, 0)
            + 16 * float(limits.tiny)
            + noise * float(limits.eps)
        )
        unstable = np.zeros(z.shape, bool)
        for n in others:
            unstable |= np.isfinite(n) != np.isfinite(z)
            unstable |= np.isnan(n) != np.isnan(z)
            allowed = np.maximum(allowed, np.where(np.isfinite(n) & np.isfinite(z), _AMPLIFIED * np.abs(n - z), 0))
        alike = (y == z) | (np.isnan(y) & np.isnan(z)) | (np.abs(y - z) <= allowed)
        # At the limits of a dtype, one mode may overflow and the other may not.
        edge = np.where(np.isfinite(y), np.abs(y), np.abs(z)) > float(limits.max) * 0.5
        bad = ~(alike | unstable | (edge & ~np.isnan(y) & ~np.isnan(z)))
        if not tame:  # for wild numbers, a sum that overflows is infinite or NaN depending on the order of its terms
            bad &= np.isfinite(y) | np.isfinite(z)
    return bad.any(-1) if want.dtype.kind == "c" else bad


def _brief(x: Any) -> str:
    return "None" if x is None else f"{x.dtype}{x.shape}"
