"""`tf.autodiff`: reverse and forward mode."""

from __future__ import annotations

from typing import Any

from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ..forward_accumulator import ForwardAccumulator
from ..runtime.system import executing_eagerly
from ..tape import GradientTape
from ..tape_arguments import UnconnectedGradients, unconnected_mode

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
) -> list[Tensor | IndexedSlices | None]:
    """In a `tf.function`: returns the gradients of the sum of `ys` with respect to each of `xs`, as a list.

    Eager execution records nothing without a tape, so it raises a `RuntimeError` there.

    Args:
      ys: a tensor, or a list of tensors, to be differentiated.
      xs: a tensor or a variable, or a list of them.
      grad_ys: weights for the entries of each of `ys`; None means ones.
      gate_gradients: ignored; accepted for compatibility with TensorFlow.
      aggregation_method: ignored; accepted for compatibility with TensorFlow.
      stop_gradients: tensors to treat as constants on the path from `ys` to `xs`.
      unconnected_gradients: a value of `tf.UnconnectedGradients`: whether one of `xs` that `ys` do not depend on gets
        None (the default) or zeros.

    Returns:
      A list with a tensor, `tf.IndexedSlices` or None for each of `xs`.

    Raises:
      RuntimeError: in eager execution.

    >>> f = tf.function(lambda x: tf.gradients(x * x, [x]))
    >>> float(f(tf.constant(3.0))[0])
    6.0
    """
    if executing_eagerly():
        raise RuntimeError(_EAGER)
    from ...graph.trace import gradients as graph_gradients

    _check_method(aggregation_method)
    unconnected = unconnected_mode(unconnected_gradients)
    zeros = unconnected is UnconnectedGradients.ZERO
    return graph_gradients.gradients(ys, xs, grad_ys, stop_gradients, zeros)


def _check_method(aggregation_method: Any) -> None:
    if aggregation_method not in (None, 0, 1, 2):
        raise ValueError(
            f"Invalid `aggregation_method` specified {aggregation_method}. Accepted values are 0, 1, 2 and None"
        )


def hessians(
    ys: Any, xs: Any, gate_gradients: bool = False, aggregation_method: Any = None, name: str | None = "hessians"
) -> list[Tensor]:
    """In a `tf.function`: returns the second derivatives of the sum of `ys` with respect to each of `xs`, as a list.

    Raises a `RuntimeError` in eager execution: use nested tapes and `jacobian`.

    Args:
      ys: a tensor, or a list of tensors, to be differentiated.
      xs: a tensor or a variable, or a list of them.

    Returns:
      A list with a tensor for each of `xs`, of its shape twice.

    >>> f = tf.function(lambda x: tf.hessians(x[0] * x[0] * x[1], x))
    >>> f(tf.constant([1.0, 2.0]))[0].numpy().tolist()
    [[4.0, 2.0], [2.0, 0.0]]
    """
    if executing_eagerly():
        raise RuntimeError(_EAGER)
    from ...graph.trace import gradients as graph_gradients

    _check_method(aggregation_method)
    return graph_gradients.hessians(ys, xs)
