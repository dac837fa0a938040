"""TPU systems, of which there are none: programs that look for one get an error."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from gradtape.core import errors

NAMESPACES = ("tpu.experimental", "tpu")
__all__ = ["DeviceAssignment", "DeviceOrderMode", "HardwareFeature", "XLAOptions", "initialize_tpu_system"]

NO_TPU = (
    "gradtape knows of no TPUs. Use tf.distribute.MirroredStrategy(), keras.distribution or "
    "tf.function(jit_compile=True) on CPUs and GPUs"
)


class XLAOptions(NamedTuple):
    """Options of programs for TPUs.

    >>> tf.tpu.XLAOptions().use_spmd_for_xla_partitioning
    True
    """

    use_spmd_for_xla_partitioning: bool = True
    enable_xla_dynamic_padder: bool = True
    use_shardy_partitioner: bool = False


class DeviceOrderMode(enum.IntEnum):
    """How the cores of a TPU are ordered."""

    __module__ = "gradtape.tpu.experimental"

    AUTO = 0
    RING = 1
    MESH = 2


class HardwareFeature:
    """Raises an error, as there are no TPUs.

    >>> tf.tpu.experimental.HardwareFeature(None)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotFoundError: ...
    """

    __module__ = "gradtape.tpu.experimental"

    class EmbeddingFeature(enum.Enum):
        """The version of the embedding hardware."""

        UNSUPPORTED = "UNSUPPORTED"
        V1 = "V1"
        V2 = "V2"

    embedding_feature: EmbeddingFeature
    num_embedding_devices_per_chip: int

    def __init__(self, tpu_hardware_feature_proto: Any) -> None:
        raise errors.NotFoundError(NO_TPU)


class DeviceAssignment:
    """Raises an error, as there are no TPUs.

    >>> tf.tpu.experimental.DeviceAssignment(None, None)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotFoundError: ...
    """

    __module__ = "gradtape.tpu.experimental"

    core_assignment: Any
    num_cores_per_replica: int
    num_replicas: int
    topology: Any

    def __init__(self, topology: Any, core_assignment: Any) -> None:
        raise errors.NotFoundError(NO_TPU)

    @classmethod
    def build(
        cls,
        topology: Any,
        computation_shape: Any = None,
        computation_stride: Any = None,
        num_replicas: int = 1,
        device_order_mode: DeviceOrderMode = DeviceOrderMode.AUTO,
    ) -> DeviceAssignment:
        """Raises an error."""
        return cls(topology, None)

    def coordinates(self, replica: int, logical_core: int) -> Any:
        """Raises an error."""
        raise errors.NotFoundError(NO_TPU)

    def lookup_replicas(self, task_id: int, logical_core: int) -> list[int]:
        """Raises an error."""
        raise errors.NotFoundError(NO_TPU)

    def tpu_ordinal(self, replica: int = 0, logical_core: int = 0) -> int:
        """Raises an error."""
        raise errors.NotFoundError(NO_TPU)

    def host_device(self, replica: int = 0, logical_core: int = 0, job: str | None = None) -> str:
        """Raises an error."""
        raise errors.NotFoundError(NO_TPU)

    def tpu_device(self, replica: int = 0, logical_core: int = 0, job: str | None = None) -> str:
        """Raises an error."""
        raise errors.NotFoundError(NO_TPU)


def initialize_tpu_system(cluster_resolver: Any = None) -> object:
    """Raises TensorFlow's error for a program without a TPU; programs catch it and use another strategy.

    >>> tf.tpu.experimental.initialize_tpu_system()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ValueError: ...
    """
    raise ValueError(f"Please provide a TPU Name to connect to. {NO_TPU}")
