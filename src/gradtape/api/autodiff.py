"""`tf.autodiff`: the two ways to differentiate, reverse and forward."""

from __future__ import annotations

from typing import Any

from ..engine.forward import ForwardAccumulator
from ..engine.questions import UnconnectedGradients
from ..engine.tape import GradientTape

NAMESPACES = ("autodiff", "")
__all__ = ["ForwardAccumulator", "GradientTape", "UnconnectedGradients", "gradients", "hessians"]

_EAGER = "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str | None = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> Any:
    """Gradients in a graph; eagerly, where there is none, a `RuntimeError`.

    >>> import gradtape as tf
    >>> tf.gradients(tf.constant(1.0), tf.constant(1.0))
    Traceback (most recent call last):
    RuntimeError: tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.
    """
    raise RuntimeError(_EAGER)


def hessians(
    ys: Any, xs: Any, gate_gradients: bool = False, aggregation_method: Any = None, name: str | None = "hessians"
) -> Any:
    """Second derivatives in a graph; eagerly, where there is none, a `RuntimeError`: use nested tapes and `jacobian`.

    >>> import gradtape as tf
    >>> tf.hessians(tf.constant(1.0), tf.constant(1.0))
    Traceback (most recent call last):
    RuntimeError: tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.
    """
    raise RuntimeError(_EAGER)
