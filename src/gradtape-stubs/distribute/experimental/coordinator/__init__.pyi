# Written by tools/write_stubs.py.
from gradtape.distribute.cluster_coordinator import (
    ClusterCoordinator as ClusterCoordinator,
    PerWorkerValues as PerWorkerValues,
    RemoteValue as RemoteValue,
)
