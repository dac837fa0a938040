"""Equality of bits: the same random program gives the same bytes whatever surrounds it.

A program of `random_programs` (any dtype, mode of differentiation and size of arrays) runs in eager mode and in
functions of NumPy or, for some, of XLA. Each run builds it anew and calls it with the same values. Compared with the
first run, byte by byte, are the results, the gradients and the variables of

- a second run in the same process, after another program has run;
- runs whose inputs are views at other offsets into larger arrays, by elements and by single bytes;
- runs in two threads at once;
- a run in another process, which hashes strings differently and has run other programs.
"""

from __future__ import annotations

import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from random_programs.comparison import WAYS, loaded, outcome
from random_programs.generator import generate
from tensorflow_process import ProgramProcess

import gradtape as tf

_PROGRAM_SECONDS = 120
# Defines a function that moves an input `offset` bytes into a larger array.
_OFFSETS = """

def at_offset(tf, x, offset):
    array = x.numpy()
    if array.dtype.kind not in "biufc" or not array.size:
        return x
    buffer = np.zeros(array.nbytes + 128, np.uint8)
    start = -buffer.ctypes.data % 64 + offset
    view = buffer[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return tf.convert_to_tensor(view)
"""
_ELSEWHERE = """
import linecache
linecache.cache["<program>"] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), "<program>")
exec(compile(SOURCE, "<program>", "exec"))
compiled = {"eager": lambda f: f, "function": tf.function, "xla": lambda f: tf.function(f, jit_compile=True)}[WAY]
result = []
try:
    step, variables = build(tf, compiled)
    for xs in calls(tf):
        ys = [*step(*xs), *variables]
        result.append([None if y is None else np.asarray(tf.convert_to_tensor(y).numpy()) for y in ys])
except Exception as error:
    result.append(Exception(str(error)[:300]))
"""
_OTHER_WORK = generate(0).source()


def disagreements(seed: int) -> list[str]:
    draw = random.Random(seed)
    program = generate(seed)
    source = program.source()
    found = []
    for way in ["eager", "xla" if draw.random() < 0.1 else "function"]:
        expected = _run(source, seed, way)
        outcome(loaded(_OTHER_WORK, "<other work>"), WAYS["eager"])
        others = {"again": _run(source, seed, way)}
        offset = draw.choice([1, 2, 3, 4, 8, 12, 16, 20, 32, 48])
        others[f"at an offset of {offset} bytes"] = _run(source, seed, way, offset)
        with ThreadPoolExecutor(2) as pool:
            for k, run in enumerate([pool.submit(_run, source, seed, way) for _ in range(2)]):
                others[f"in thread {k} of 2"] = run.result()
        others["in another process"] = _other_process().result(f"SOURCE, WAY = {source!r}, {way!r}\n{_ELSEWHERE}")
        for where, got in others.items():
            if got is not None and (words := _difference(got, expected)):
                found.append(f"{way}, {where}: {words}, in random program {seed} ({program.mode})")
    return found


def _run(source: str, seed: int, way: str, offset: int = 0) -> list[Any]:
    scope = loaded(source + _OFFSETS, f"<random program {seed}>")
    calls, at_offset = scope["calls"], scope["at_offset"]
    if offset:
        scope["calls"] = lambda tf: ([at_offset(tf, x, offset) for x in xs] for xs in calls(tf))
    return outcome(scope, WAYS[way])


@cache
def _other_process() -> ProgramProcess:
    path = os.pathsep.join([str(Path(tf.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONHASHSEED": "43", "PYTHONPATH": path}
    return ProgramProcess(sys.executable, "gradtape", environment, _PROGRAM_SECONDS)


def _difference(got: list[Any], expected: list[Any]) -> str:
    """Returns where two outcomes differ first; empty if all bytes are equal. NaNs may have any sign and payload."""
    if len(got) != len(expected):
        return f"{len(got)} calls, the last {got[-1]!r}, instead of {len(expected)}, the last {expected[-1]!r}"
    for call, (mine, want) in enumerate(zip(got, expected, strict=True)):
        if isinstance(mine, Exception) or isinstance(want, Exception):
            if isinstance(mine, Exception) != isinstance(want, Exception):
                return f"call {call}: {mine!r} instead of {want!r}"
            continue
        for i, (y, z) in enumerate(zip(mine, want, strict=True)):
            if not _same_bits(y, z):
                return f"call {call}, result {i}: {y!r} instead of {z!r}"
    return ""


def _same_bits(y: Any, z: Any) -> bool:
    if y is None or z is None:
        return y is z
    if y.dtype != z.dtype or y.shape != z.shape:
        return False
    if y.tobytes() == z.tobytes():
        return True
    if y.dtype.kind == "O":
        return bool(np.array_equal(y, z))
    same = np.frombuffer(y.tobytes(), np.uint8).reshape(*y.shape, -1) == np.frombuffer(z.tobytes(), np.uint8).reshape(
        *y.shape, -1
    )
    return bool(np.all(same.all(-1) | (np.isnan(y) & np.isnan(z))))


