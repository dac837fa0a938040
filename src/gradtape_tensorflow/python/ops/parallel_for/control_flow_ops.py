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
