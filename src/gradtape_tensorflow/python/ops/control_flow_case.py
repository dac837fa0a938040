"""`tensorflow.python.ops.control_flow_case`: the names besides `tf.case`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import gradtape


def _case_helper(
    cond_fn: Callable[..., Any],
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None,
    exclusive: bool,
    name: str | None,
    allow_python_preds: bool = False,
    **cond_kwargs: Any,
) -> Any:
    """`tf.case` with another function than `tf.cond`, which may accept Python bools."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, Mapping) else pred_fn_pairs)
    function = pairs.pop()[1] if default is None else default
    for predicate, action in reversed(pairs):
        function = functools.partial(cond_fn, predicate, true_fn=action, false_fn=function, **cond_kwargs)
    if exclusive:
        count = gradtape.reduce_sum(gradtape.cast(gradtape.stack([predicate for predicate, _ in pairs]), "int32"))
        gradtape.debugging.Assert(count <= 1, ["Input error: exclusive=True"])
    return function()
