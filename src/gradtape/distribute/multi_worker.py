"""`MultiWorkerMirroredStrategy`: a replica on each device of each process, all in lockstep."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..api.math.reductions import reduce_sum
from ..core import nest
from ..engine.run.convert import to_tensor
from ..engine.run.distribution_context import check_above_replicas, check_same, place
from ..graph.executors.xla import mesh
from . import collective_ops
from .cluster import membership as cluster
from .cluster.resolvers import ClusterResolver, TFConfigClusterResolver
from .cluster.workers import Workers
from .input import InputContext, OwnBatches, shard_dataset
from .options import CommunicationImplementation, CommunicationOptions, ValueContext
from .reductions import ReduceOp, gather_values
from .strategies import Strategy, canonical
from .values import DistributedValues, regroup

NAMESPACES = ("distribute",)
__all__ = ["MultiWorkerMirroredStrategy"]


class MultiWorkerMirroredStrategy(Strategy):
    """A replica on each device of each worker. Each worker runs the same program on its part of the data.

    The workers are read from `TF_CONFIG`, `gradtape launch`, SLURM or Open MPI, or from a cluster resolver. Create the
    strategy at the start of the program, before XLA computes anything. The initial value of a variable is that of the
    first worker. Without other workers, this is a `MirroredStrategy`.

    >>> strategy = tf.distribute.MultiWorkerMirroredStrategy()
    >>> strategy.num_replicas_in_sync, strategy.cluster_resolver.task_type
    (1, '')

    Args:
      cluster_resolver: a `tf.distribute.cluster_resolver.ClusterResolver`.
      communication_options: a `tf.distribute.experimental.CommunicationOptions`, without effect: XLA decides.
    """

    __module__ = "gradtape.distribute"

    _mirrors = True
    workers: Workers | None = None

    def __init__(self, cluster_resolver: Any = None, communication_options: CommunicationOptions | None = None) -> None:
        chosen = getattr(communication_options, "implementation", CommunicationImplementation.AUTO)
        if not isinstance(chosen, CommunicationImplementation):
            raise ValueError(f"implementation must be a CommunicationImplementation, got {chosen!r}")
        self._resolver = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        if cluster_resolver is not None:
            _become(cluster_resolver)
        self._begin(canonical(None))
        if cluster.identity().size > 1:
            self.workers = Workers(len(self._device_names))

    @property
    def cluster_resolver(self) -> ClusterResolver:
        """The resolver of the workers."""
        return self._resolver

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas of all workers together."""
        return len(self._device_names) * (1 if self.workers is None else self.workers.count)

    def mesh(self) -> Any:
        """Returns JAX's devices of all workers as a mesh with one axis."""
        if self.workers is None:
            return super().mesh()
        if self._mesh is None:
            kind = "GPU" if "GPU" in self._device_names[0] else "CPU"
            found: dict[int, list[Any]] = {}
            for device in mesh.global_devices(kind):
                found.setdefault(device.process_index, []).append(device)
            chosen = [device for rank in sorted(found) for device in found[rank][: self.workers.local]]
            self._mesh = mesh.make_mesh(chosen, (collective_ops.AXIS,))
        return self._mesh

    def gather(self, value: Any, axis: int) -> Any:
        """Concatenates the values of all replicas of all workers along `axis`."""
        if self.workers is None or place.spmd is not None:
            return super().gather(value, axis)
        check_above_replicas()
        check_same(self)
        workers = self.workers

        def one(x: Any) -> Any:
            found = gather_values(x.values, int(axis)) if isinstance(x, DistributedValues) else to_tensor(x)
            return workers.rows(found, int(axis) % len(found.dims)) if isinstance(x, DistributedValues) else found

        return nest.map_structure(one, value)

    def _reduced_along(self, op: ReduceOp, value: Any, axis: Any) -> Any:
        if self.workers is None or place.spmd is not None or not isinstance(value, DistributedValues):
            return super()._reduced_along(op, value, axis)
        parts = list(map(to_tensor, value.values))
        sums = [reduce_sum(part, axis) for part in parts]
        axes = [axis] if isinstance(axis, int) else list(axis)
        count = sum(math.prod([part.dims[a] for a in axes]) for part in parts)
        found, counted = self.workers.sums([sum(sums[1:], sums[0]), to_tensor(count, sums[0].dtype)])
        return found if op is ReduceOp.SUM else found / counted

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Splits each global batch of the dataset among the replicas of all workers.

        Each worker reads some of the files of the dataset. If there are none, or if the dataset's
        `tf.data.experimental.AutoShardPolicy` is DATA, each worker iterates over the whole dataset and takes its rows
        of each batch; all workers must see the same elements in the same order, so give `shuffle` a seed.
        """
        if self.workers is None:
            return super().experimental_distribute_dataset(dataset, options)
        return shard_dataset(dataset, self.workers)

    def distribute_datasets_from_function(self, dataset_fn: Callable[[Any], Any], options: Any = None) -> Any:
        """Distributes the dataset of `dataset_fn(tf.distribute.InputContext)` on each worker: one element per replica.
        """
        if self.workers is None:
            return super().distribute_datasets_from_function(dataset_fn, options)
        context = InputContext(self.workers.count, self.workers.rank, self.num_replicas_in_sync)
        return OwnBatches(dataset_fn(context), self.workers)

    def experimental_distribute_values_from_function(self, value_fn: Callable[[Any], Any]) -> Any:
        """Returns the values of `value_fn(tf.distribute.experimental.ValueContext)` for each replica of this worker."""
        if self.workers is None:
            return super().experimental_distribute_values_from_function(value_fn)
        first, count = self.workers.first, self.num_replicas_in_sync
        values = [value_fn(ValueContext(first + i, count)) for i in range(self.workers.local)]
        return regroup(values, always_wrap=True)


def _become(resolver: Any) -> None:
    """Makes this process the worker given by a resolver."""
    spec = resolver.cluster_spec()
    tasks = [(job, i) for job in ("chief", "master", "worker") if job in spec.jobs for i in spec.task_indices(job)]
    me = (resolver.task_type, resolver.task_id)
    if len(tasks) < 2 or me not in tasks:
        return
    addresses = [spec.task_address(*task) for task in tasks]
    cluster.initialize(addresses[0], len(tasks), tasks.index(me))
