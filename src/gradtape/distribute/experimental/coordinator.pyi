# Written by tools/write_stubs.py.
from gradtape.api.distribute.coordinator import (
    ClusterCoordinator as ClusterCoordinator,
    PerWorkerValues as PerWorkerValues,
    RemoteValue as RemoteValue,
)
