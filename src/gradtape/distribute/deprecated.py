"""The multi-worker strategy under its former name, whose parameters have another order."""

from __future__ import annotations

from typing import Any

from . import multi_worker
from .cluster.communication import CommunicationImplementation, CommunicationOptions

NAMESPACES = ("distribute.experimental",)
__all__ = ["MultiWorkerMirroredStrategy"]


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
