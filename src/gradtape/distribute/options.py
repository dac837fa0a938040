"""Options of strategies for running, reducing and communication; XLA decides how values travel between devices."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from ..api.namespace import resolve
from ..core import log_ignored
from ..core.type_hints import TensorLike
from .reductions import as_reduce_op, reduce_value, spread
from .values import DistributedValues

NAMESPACES = ("distribute", "distribute.experimental")
__all__ = [
    "CollectiveCommunication", "CommunicationImplementation", "CommunicationOptions", "CrossDeviceOps",
    "HierarchicalCopyAllReduce", "NcclAllReduce", "ReductionToOneDevice", "RunOptions", "ValueContext",
]  # fmt: skip


class ValueContext:
    """The replica for which a function creates a value.

    >>> tf.distribute.experimental.ValueContext(1, 2).replica_id_in_sync_group
    1
    """

    __module__ = "gradtape.distribute.experimental"

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self._id = replica_id_in_sync_group
        self._count = num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> int:
        """The index of the replica."""
        return self._id

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas."""
        return self._count

    def __str__(self) -> str:
        return f"tf.distribute.ValueContext(replica id {self._id}, total replicas in sync: {self._count})"


class RunOptions(NamedTuple):
    """Options of `Strategy.run`, without effect.

    >>> tf.distribute.RunOptions().experimental_enable_dynamic_batch_size
    True
    """

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


RunOptions.__module__ = "gradtape.distribute"


class CrossDeviceOps:
    """How values of several devices are reduced. Every kind gives the same sums.

    >>> tf.distribute.ReductionToOneDevice().reduce("MEAN", tf.constant(2.0), "CPU:0").values[0].numpy()
    np.float32(2.0)
    """

    __module__ = "gradtape.distribute"

    def __init__(self) -> None:
        pass

    def reduce(self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any = None) -> Any:
        """Returns the sum or mean of the values of all replicas."""
        values = per_replica_value.values if isinstance(per_replica_value, DistributedValues) else (per_replica_value,)
        return spread(reduce_value(as_reduce_op(reduce_op), per_replica_value, len(values)), len(values))

    def batch_reduce(self, reduce_op: Any, value_destination_pairs: Any, options: Any = None) -> list[Any]:
        """Applies `reduce` to each pair."""
        return [self.reduce(reduce_op, value, at, options) for value, at in value_destination_pairs]

    def broadcast(self, tensor: TensorLike, destinations: Any) -> Any:
        """Returns the tensor for all devices."""
        return tensor

    def reduce_implementation(self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any) -> Any:
        """The same as `reduce`."""
        return self.reduce(reduce_op, per_replica_value, destinations, options)

    def batch_reduce_implementation(self, reduce_op: Any, value_destination_pairs: Any, options: Any) -> Any:
        """The same as `batch_reduce`."""
        return self.batch_reduce(reduce_op, value_destination_pairs, options)

    def broadcast_implementation(self, tensor: TensorLike, destinations: Any) -> Any:
        """The same as `broadcast`."""
        return self.broadcast(tensor, destinations)


class ReductionToOneDevice(CrossDeviceOps):
    """Reduces on one device."""

    __module__ = "gradtape.distribute"

    def __init__(self, reduce_to_device: Any = None, accumulation_fn: Any = None) -> None:
        if accumulation_fn not in (None, resolve("math.add_n")):
            raise NotImplementedError(
                f"values are reduced by sums, means and the like, not by accumulation_fn={accumulation_fn}. Reduce "
                "them yourself: strategy.experimental_local_results(values) lists them"
            )
        super().__init__()


class NcclAllReduce(CrossDeviceOps):
    """Reduces with NCCL, as XLA does on GPUs."""

    __module__ = "gradtape.distribute"

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified")
        super().__init__()


class HierarchicalCopyAllReduce(CrossDeviceOps):
    """Reduces along the links of one machine."""

    __module__ = "gradtape.distribute"

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(f"HierarchicalCopy requires num_packs >= 0, but {num_packs} is specified")
        super().__init__()


class CommunicationImplementation(enum.Enum):
    """The communication library: always gloo on CPUs and NCCL on GPUs, whatever is selected.

    >>> tf.distribute.experimental.CommunicationImplementation.NCCL.value
    'NCCL'
    """

    __module__ = "gradtape.distribute.experimental"

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


CollectiveCommunication = CommunicationImplementation


class CommunicationOptions:
    """Options of a collective: the amount to send at once, and the timeout.

    >>> tf.distribute.experimental.CommunicationOptions(timeout_seconds=60.0).timeout_seconds
    60.0
    """

    __module__ = "gradtape.distribute.experimental"

    def __init__(
        self,
        bytes_per_pack: int = 0,
        timeout_seconds: float | None = None,
        implementation: Any = CommunicationImplementation.AUTO,
    ) -> None:
        if bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {bytes_per_pack}.")
        chosen = implementation.upper() if isinstance(implementation, str) else implementation
        try:
            self.implementation = CommunicationImplementation(chosen)
        except ValueError:
            names = ", ".join(kind.name for kind in CommunicationImplementation)
            raise ValueError(f"implementation must be one of {names}, got {implementation!r}") from None
        log_ignored("distribute.experimental.CommunicationOptions", timeout_seconds=timeout_seconds)
        self.bytes_per_pack = bytes_per_pack
        self.timeout_seconds = timeout_seconds
