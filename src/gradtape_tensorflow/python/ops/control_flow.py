"""Stand-ins for `tensorflow.python.ops.control_flow_ops` and its neighbors: the names without public counterpart."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import gradtape
from gradtape.engine.run.dispatch import thread


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """Returns the value after `dependencies` have run."""
    with gradtape.control_dependencies(dependencies):
        return gradtape.nest.map_structure(gradtape.identity, output_tensor)


ENABLE_CONTROL_FLOW_V2 = True


def GraphOrParentsInXlaContext(graph: Any) -> bool:
    """Returns whether the function being traced will run on XLA."""
    return thread.trace is not None and thread.trace.for_xla


def get_enclosing_xla_context() -> None:
    """Returns None: there are no control flow contexts."""


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


def execute_fn_for_device(
    device_branch_fns: Mapping[str, Callable[[], Any]], default_fn: Callable[[], Any], name: str = "execute_fn"
) -> Any:
    """Calls the function for the kind of device that ops run on, or `default_fn`."""
    kind = "GPU" if gradtape.config.list_logical_devices("GPU") else "CPU"
    return {key.upper(): function for key, function in device_branch_fns.items()}.get(kind, default_fn)()
