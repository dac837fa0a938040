"""`tf.compat.v1`: what programs written for TensorFlow 2 still call there. Graphs and sessions there are none."""

from __future__ import annotations

from typing import Any

from ..random.draws import set_seed

__all__ = ["enable_eager_execution", "enable_v2_behavior", "set_random_seed"]

NAMESPACES = ("compat.v1",)


def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """Nothing to do: execution is eager.

    >>> import gradtape as tf
    >>> tf.compat.v1.enable_eager_execution()
    """


def enable_v2_behavior() -> None:
    """Nothing to do: there is no other.

    >>> import gradtape as tf
    >>> tf.compat.v1.enable_v2_behavior()
    """


def set_random_seed(seed: Any) -> None:
    """The same as `tf.random.set_seed`.

    >>> import gradtape as tf
    >>> tf.compat.v1.set_random_seed(1)
    """
    set_seed(seed)
