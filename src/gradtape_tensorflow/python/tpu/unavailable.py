"""Names of TensorFlow's TPU modules: classes that libraries import, which raise an error when they are used."""

from __future__ import annotations

from functools import cache
from typing import Any

_NAMES = frozenset(
    """
    DeviceAssignment DeviceOrderMode InfeedQueue StreamingFilesDataset TPUEmbedding TPUPartitionedCall TensorTracer
    Topology _PartitionedInfeedQueue all_to_all batch_parallel collective_permute core cross_replica_sum
    device_assignment initialize_system on_device_training_loop outfeed_dequeue_tuple outfeed_enqueue_tuple
    prune_unconnected_ops_from_xla repeat replicate rewrite shard shutdown_system split_compile_and_shard
    tpu_ordinal_selector tpu_replicated_input while_loop
    """.split()
)


class _Unavailable(type):
    """Metaclass of the names: a call raises."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{cls.__name__} needs a TPU, and gradtape runs on CPUs and GPUs only")


@cache
def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _Unavailable(name, (), {"__doc__": "Needs a TPU."})
