"""`tf.distribute.experimental`: strategies whose successors have other parameters."""

from __future__ import annotations

from typing import Any

from . import multi_worker, other_strategies
from .options import CommunicationImplementation, CommunicationOptions

NAMESPACES = ("distribute.experimental",)
__all__ = ["MultiWorkerMirroredStrategy", "TPUStrategy"]


class _Former(type):
    """Instances of the class under its current name are instances of this one: libraries check for either."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, multi_worker.MultiWorkerMirroredStrategy)


class MultiWorkerMirroredStrategy(multi_worker.MultiWorkerMirroredStrategy, metaclass=_Former):
    """The former name of `tf.distribute.MultiWorkerMirroredStrategy`.

    >>> tf.distribute.experimental.MultiWorkerMirroredStrategy().num_replicas_in_sync
    1
    """

    __module__ = "gradtape.distribute.experimental"

    def __init__(
        self,
        communication: CommunicationImplementation = CommunicationImplementation.AUTO,
        cluster_resolver: Any = None,
    ) -> None:
        super().__init__(cluster_resolver, CommunicationOptions(implementation=communication))


class TPUStrategy(other_strategies.TPUStrategy):
    """Raises an error, as there are no TPUs; it can be subclassed.

    >>> tf.distribute.experimental.TPUStrategy()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ValueError: ...
    """

    __module__ = "gradtape.distribute.experimental"

    def __init__(self, tpu_cluster_resolver: Any = None, device_assignment: Any = None) -> None:
        super().__init__(tpu_cluster_resolver, device_assignment)
