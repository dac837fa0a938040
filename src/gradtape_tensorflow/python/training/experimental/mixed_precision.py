"""`tensorflow.python.training.experimental.mixed_precision`: the rewriting of graphs for mixed precision.

TensorFlow rewrites graphs for GPUs only, and graphs are never rewritten here: mixed precision is a policy of Keras'
layers. To enable the rewriting is to wrap the optimizer in one that scales losses.
"""

from __future__ import annotations

import types
from typing import Any

import gradtape as tf
from gradtape.core import logger

from ....v1.train.optimizers import Optimizer
from .loss_scale import DynamicLossScale, FixedLossScale, LossScale
from .loss_scale_optimizer import MixedPrecisionLossScaleOptimizer

__all__ = [
    "DynamicLossScale", "FixedLossScale", "LossScale", "MixedPrecisionLossScaleOptimizer",
    "disable_mixed_precision_graph_rewrite", "enable_mixed_precision_graph_rewrite", "experimental",
    "is_mixed_precision_graph_rewrite_enabled", "register_loss_scale_wrapper", "set_using_mixed_precision_policy",
]  # fmt: skip

_state = types.SimpleNamespace(enabled=False, has_policy=False)
_wrappers: dict[type, tuple[Any, type]] = {}  # by the class of optimizers: what wraps one, and its class
experimental = types.SimpleNamespace(
    DynamicLossScale=DynamicLossScale, FixedLossScale=FixedLossScale, LossScale=LossScale
)


def register_loss_scale_wrapper(optimizer_cls: type, wrapper_fn: Any, wrapper_cls: Any = None) -> None:
    """Registers what wraps optimizers of a class in one that scales losses."""
    _wrappers[optimizer_cls] = wrapper_fn, wrapper_cls or wrapper_fn


def is_mixed_precision_graph_rewrite_enabled() -> bool:
    """Returns whether the rewriting was enabled."""
    return bool(_state.enabled)


def set_using_mixed_precision_policy(is_using: bool) -> None:
    """Notes whether Keras' policy is one of mixed precision, which excludes the rewriting."""
    _state.has_policy = is_using


def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: Any = "dynamic") -> Any:
    """Returns an optimizer that scales losses; no graph is rewritten, which is logged."""
    if _state.has_policy:
        raise ValueError(
            "The mixed precision graph rewrite cannot be enabled, because the global Keras dtype Policy has been set "
            "to a mixed precision policy. Use one of both: the policy supports eager execution"
        )
    for _, wrapper_cls in _wrappers.values():
        if isinstance(opt, wrapper_cls):
            raise ValueError(
                f'"opt" must not already be an instance of a {wrapper_cls.__name__}. '
                f"`enable_mixed_precision_graph_rewrite` wraps the optimizer with a {wrapper_cls.__name__}."
            )
    wraps = [wrapper for optimizer_cls, (wrapper, _) in _wrappers.items() if isinstance(opt, optimizer_cls)]
    if not wraps:
        raise ValueError(
            f'"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, but got: {opt}'
        )
    wrapped = wraps[0](opt, loss_scale)
    logger.info("graphs keep their dtypes: tf.keras.mixed_precision.set_global_policy computes in float16")
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": True})
    _state.enabled = True
    return wrapped


def disable_mixed_precision_graph_rewrite() -> None:
    """Ends what `enable_mixed_precision_graph_rewrite` has begun; wrapped optimizers still scale losses."""
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": False})
    _state.enabled = False


register_loss_scale_wrapper(Optimizer, MixedPrecisionLossScaleOptimizer)
