"""`tensorflow.python.ops.random_ops`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape


def parameterized_truncated_normal(
    shape: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    dtype: Any = gradtape.float32,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """Samples truncated normal distributions: the same distributions as in TensorFlow, but other numbers."""
    drawn = gradtape.random.uniform((2,), maxval=2**31 - 1, dtype=gradtape.int32, seed=seed)
    return gradtape.random.stateless_parameterized_truncated_normal(
        shape, drawn, *(gradtape.cast(x, dtype) for x in (means, stddevs, minvals, maxvals))
    )
