"""Compares attention with JAX's: Keras' layers and a GPT in `fit`, and the op alone by the number of tokens.

    python benchmarks/attention.py [--tables keras,op] [--quick] [--json FILE]
    python benchmarks/attention.py --smoke      tiny sizes, on any machine: whether everything runs

keras   eight layers of batch 16, 512 tokens and 768 channels, causal and not, and a GPT of 69 million parameters, in
        float32 and mixed_bfloat16: an epoch of `fit`, per batch, over Keras on JAX; the works are those of `gpu.py`
op      output and gradients of `keras.ops.dot_product_attention`, eager, in a `tf.function` and on XLA, and the same
        written as products and a softmax, over `jax.nn.dot_product_attention`, compiled
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "gradtape")

import gpu
import numpy as np

WORKS = [
    f"{work}{suffix}" for work in ("attention", "causal_attention") for suffix in ("", "_float32")
] + ["gpt_float32", "gpt_mixed_bfloat16"]  # fmt: skip
HEADS, CHANNELS = 12, 64


def steps(tokens: int, batch: int, causal: bool, dtype: str) -> dict[str, Callable[[], Any]]:
    """Returns functions that compute the output and the gradients of query, key and value, and wait for them."""
    import jax
    import jax.numpy as jnp

    import gradtape as tf

    shape = (batch, tokens, HEADS, CHANNELS)
    arrays = np.random.default_rng(0).standard_normal((4, *shape), np.float32)
    *given, weights = (tf.cast(tf.constant(x), dtype) for x in arrays)
    *theirs, their_weights = (jnp.asarray(x, dtype) for x in arrays)

    def fused(q: Any, k: Any, v: Any) -> Any:
        return tf.keras.ops.dot_product_attention(q, k, v, is_causal=causal)

    def composite(q: Any, k: Any, v: Any) -> Any:
        scores = tf.cast(tf.einsum("btnc,bsnc->bnts", q, k), "float32") / CHANNELS**0.5
        if causal:
            scores = tf.where(np.tri(tokens, dtype=bool), scores, -1e30)
        return tf.einsum("bnts,bsnc->btnc", tf.cast(tf.nn.softmax(scores), dtype), v)

    def derived(f: Callable[..., Any]) -> Callable[..., Any]:
        def step(*xs: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(xs)
                y = f(*xs)
            return [y, *tape.gradient(y, xs, weights)]

        return step

    def jax_step(*xs: Any) -> Any:
        y, pullback = jax.vjp(lambda *xs: jax.nn.dot_product_attention(*xs, is_causal=causal), *xs)
        return [y, *pullback(their_weights)]

    compiled = jax.jit(jax_step)
    ways = {
        "eager": derived(fused),
        "composite": derived(composite),
        "function": tf.function(derived(fused)),
        "XLA": tf.function(derived(fused), jit_compile=True),
    }
    found = {name: lambda step=step: [np.asarray(y[0, 0, 0, 0]) for y in step(*given)] for name, step in ways.items()}
    return found | {"JAX": lambda: jax.block_until_ready(compiled(*theirs))}


def least(step: Callable[[], Any], rounds: int) -> float:
    """Returns the seconds of the fastest call, after two that compile."""
    times = []
    for _ in range(2 + rounds):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return min(times[2:])


def op_table(settings: gpu.Settings) -> dict[str, dict[str, float]]:
    """Measures and prints the op alone."""
    sizes = [(16, 2)] if settings.tiny else [(128, 16), (512, 4), (2048, 1)]
    results = {}
    for dtype in ("float32", "bfloat16"):
        for tokens, batch in sizes:
            for causal in (False, True):
                name = f"{dtype} {tokens} x {batch}{' causal' * causal}"
                results[name] = {
                    way: least(step, settings.rounds) for way, step in steps(tokens, batch, causal, dtype).items()
                }
    ways = ["eager", "composite", "function", "XLA", "JAX"]
    rows = {name: [*(t[way] for way in ways), t["XLA"] / t["JAX"]] for name, t in results.items()}
    gpu.show("Attention with gradients", [*(f"{way} ms" for way in ways), "XLA over JAX"], rows)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default="keras,op", help="which, separated by commas")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter turns")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, one turn")
    parser.add_argument("--json", type=Path, help="writes the seconds of every step to this file")
    given = parser.parse_args()
    turns = {"rounds": 1, "seconds": 0.0} if given.smoke else {"rounds": 3, "seconds": 0.05} if given.quick else {}
    settings = gpu.Settings(tiny=given.smoke, **turns)
    failures, found = gpu.Failures(), {}
    tables = given.tables.split(",")
    if "keras" in tables:
        found["keras"] = gpu.keras(WORKS, settings, failures)
    if "op" in tables:
        found["op"] = op_table(settings)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
