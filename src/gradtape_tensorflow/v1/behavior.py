"""`tf.compat.v1`: names that TensorFlow 2 programs still use. There are no graphs and sessions."""

from __future__ import annotations

from typing import Any

from gradtape.api.random.draws import set_seed
from gradtape.engine.run.randomness import set_graph_seed

__all__ = ["enable_eager_execution", "enable_v2_behavior", "set_random_seed"]

NAMESPACES = ("compat.v1",)


def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """Does nothing: execution is always eager.

    >>> tf.compat.v1.enable_eager_execution()
    """


def enable_v2_behavior() -> None:
    """Does nothing: there is no other behavior.

    >>> tf.compat.v1.enable_v2_behavior()
    """


def set_random_seed(seed: int) -> None:
    """Sets the seed of the graph: inside a function or `tf.Graph`, its own; otherwise as `tf.random.set_seed`.

    >>> tf.compat.v1.set_random_seed(1)
    """
    if not set_graph_seed(seed):
        set_seed(seed)
