# Written by tools/write_stubs.py.
from gradtape.distribute.cluster_coordinator import (
    ClusterCoordinator as ClusterCoordinator,
    PerWorkerValues as _PerWorkerValue,
    RemoteValue as RemoteValue,
    experimental_get_current_worker_index as experimental_get_current_worker_index,
)
PerWorkerValue = _PerWorkerValue
