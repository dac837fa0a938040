"""`tensorflow.python.ops.parallel_for.control_flow_ops`: vectorized loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape


def pfor(
    loop_fn: Callable[[Any], Any],
    iters: Any,
    fallback_to_while_loop: bool = True,
    parallel_iterations: int | None = None,
    warn: bool = False,
) -> Any:
    """Stacks the results of `loop_fn` for each number below `iters`, vectorized."""
    return gradtape.vectorized_map(loop_fn, gradtape.range(iters), fallback_to_while_loop, warn)


def for_loop(loop_fn: Callable[[Any], Any], loop_fn_dtypes: Any, iters: Any, parallel_iterations: Any = None) -> Any:
    """Same as `pfor`, sequentially."""
    if not int(iters):  # only a vectorized loop says which shape the results have
        return pfor(loop_fn, iters)
    return gradtape.map_fn(loop_fn, gradtape.range(iters), fn_output_signature=loop_fn_dtypes)
