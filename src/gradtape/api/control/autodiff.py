"""`tf.autodiff`: the two ways to differentiate, reverse and forward."""

from __future__ import annotations

from typing import Any

from ...engine.tape.forward import ForwardAccumulator
from ...engine.tape.tape import GradientTape
from ...engine.tape.validation import UnconnectedGradients
from ..runtime.system import executing_eagerly

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
    """Inside a `tf.function`: the gradients of the sum of `ys` with respect to each of `xs`, as a list.

    Eagerly, where nothing is remembered without a tape, it is a `RuntimeError`.

    Args:
      grad_ys: a weight for each entry of each of `ys`; None stands for ones.
      stop_gradients: tensors that count as constants on the way from `ys` to `xs`.

    >>> import gradtape as tf
    >>> f = tf.function(lambda x: tf.gradients(x * x, [x]))
    >>> float(f(tf.constant(3.0))[0])
    6.0
    """
    if executing_eagerly():
        raise RuntimeError(_EAGER)
    from ...graph.trace import gradients as graph_gradients

    _check_method(aggregation_method)
    return graph_gradients.gradients(ys, xs, grad_ys, stop_gradients, unconnected_gradients)


def _check_method(aggregation_method: Any) -> None:
    if aggregation_method not in (None, 0, 1, 2):
        raise ValueError(
            f"Invalid `aggregation_method` specified {aggregation_method}. Accepted values are 0, 1, 2 and None"
        )


def hessians(
    ys: Any, xs: Any, gate_gradients: bool = False, aggregation_method: Any = None, name: str | None = "hessians"
) -> Any:
    """Inside a `tf.function`: the second derivatives of the sum of `ys` with respect to each of `xs`, as a list.

    Eagerly it is a `RuntimeError`: use nested tapes and `jacobian`.

    >>> import gradtape as tf
    >>> f = tf.function(lambda x: tf.hessians(x[0] * x[0] * x[1], x))
    >>> f(tf.constant([1.0, 2.0]))[0].numpy().tolist()
    [[4.0, 2.0], [2.0, 0.0]]
    """
    if executing_eagerly():
        raise RuntimeError(_EAGER)
    from ...graph.trace import gradients as graph_gradients

    _check_method(aggregation_method)
    return graph_gradients.hessians(ys, xs)
