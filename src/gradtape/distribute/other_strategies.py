"""Strategies that differ from TensorFlow's, or are missing and raise an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import logger
from .strategies import Strategy, canonical

NAMESPACES = ("distribute", "distribute.experimental")
__all__ = ["CentralStorageStrategy", "ParameterServerStrategy", "TPUStrategy"]



class CentralStorageStrategy(Strategy):
    """A replica on each device. TensorFlow keeps variables on one of them; gradtape mirrors them and logs this.

    >>> tf.distribute.experimental.CentralStorageStrategy().num_replicas_in_sync
    1
    """

    __module__ = "gradtape.distribute.experimental"

    def __init__(self, compute_devices: Sequence[str] | None = None, parameter_device: Any = None) -> None:
        logger.info("CentralStorageStrategy keeps a copy of each variable on every device, as MirroredStrategy does")
        self._begin(canonical(compute_devices))


class TPUStrategy(Strategy):
    """Raises an error, as there are no TPUs; it can be subclassed.

    >>> tf.distribute.TPUStrategy()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ValueError: ...
    """

    __module__ = "gradtape.distribute"

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ) -> None:
        raise ValueError(
            "Please provide a TPU Name to connect to: gradtape knows of no TPUs. Use tf.distribute.MirroredStrategy()"
        )


class ParameterServerStrategy(Strategy):
    """Raises an error: asynchronous parameter servers are not possible in XLA's programs.

    >>> tf.distribute.ParameterServerStrategy(None)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotImplementedError: ...
    """

    __module__ = "gradtape.distribute"

    def __init__(self, cluster_resolver: Any, variable_partitioner: Any = None) -> None:
        raise NotImplementedError(
            "gradtape has no parameter servers. Use tf.distribute.MirroredStrategy() on one machine, or "
            "tf.distribute.MultiWorkerMirroredStrategy() on several, which keep all replicas in step"
        )
