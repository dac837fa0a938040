# Written by tools/write_stubs.py.
from gradtape.distribute import cluster_resolver as cluster_resolver
from gradtape.distribute import coordinator as coordinator
from gradtape.distribute import experimental as experimental
from gradtape.distribute.cluster.preemption import (
    save as save,
)
from gradtape.distribute.cluster.processes import (
    Average as Average,
    Compression as Compression,
    Max as Max,
    Min as Min,
    Product as Product,
    Sum as Sum,
    all_reduce as all_reduce,
    allgather as allgather,
    allreduce as allreduce,
    barrier as barrier,
    broadcast as broadcast,
    broadcast_object as broadcast_object,
    broadcast_variables as broadcast_variables,
    grouped_allreduce as grouped_allreduce,
    init as init,
    is_initialized as is_initialized,
    local_rank as local_rank,
    local_size as local_size,
    rank as rank,
    shutdown as shutdown,
    size as size,
)
from gradtape.distribute.cluster.resolvers import (
    Server as Server,
)
from gradtape.distribute.distributed_tape import (
    DistributedGradientTape as DistributedGradientTape,
)
from gradtape.distribute.layouts import (
    describe as describe,
)
from gradtape.distribute.multi_worker import (
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from gradtape.distribute.options import (
    CrossDeviceOps as CrossDeviceOps,
    HierarchicalCopyAllReduce as HierarchicalCopyAllReduce,
    NcclAllReduce as NcclAllReduce,
    ReductionToOneDevice as ReductionToOneDevice,
    RunOptions as RunOptions,
)
from gradtape.distribute.other_strategies import (
    ParameterServerStrategy as ParameterServerStrategy,
    TPUStrategy as TPUStrategy,
)
from gradtape.distribute.strategies import (
    DistributedDataset as DistributedDataset,
    DistributedIterator as DistributedIterator,
    DistributedValues as DistributedValues,
    InputContext as InputContext,
    InputOptions as InputOptions,
    InputReplicationMode as InputReplicationMode,
    MirroredStrategy as MirroredStrategy,
    OneDeviceStrategy as OneDeviceStrategy,
    ReduceOp as ReduceOp,
    ReplicaContext as ReplicaContext,
    Strategy as Strategy,
    StrategyExtended as StrategyExtended,
    experimental_set_strategy as experimental_set_strategy,
    get_replica_context as get_replica_context,
    get_strategy as get_strategy,
    has_strategy as has_strategy,
    in_cross_replica_context as in_cross_replica_context,
)
import sys
if sys.platform == "jedi":
    del (
        cluster,
        cluster_coordinator,
        collective_ops,
        deprecated,
        distributed_tape,
        extended,
        input,
        layouts,
        multi_worker,
        options,
        other_strategies,
        reductions,
        replicas,
        sequential_runner,
        shards,
        single_replica,
        spmd,
        strategies,
        values,
        variables,
    )
