"""`tf.distribute.experimental`: a strategy with other parameters than its successor."""

from __future__ import annotations

from typing import Any

from . import other_strategies

NAMESPACES = ("distribute.experimental",)
__all__ = ["TPUStrategy"]


class TPUStrategy(other_strategies.TPUStrategy):
    """Raises an error, as there are no TPUs; it can be subclassed.

    >>> tf.distribute.experimental.TPUStrategy()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ValueError: ...
    """

    __module__ = "gradtape.distribute.experimental"

    def __init__(self, tpu_cluster_resolver: Any = None, device_assignment: Any = None) -> None:
        super().__init__(tpu_cluster_resolver, device_assignment)
