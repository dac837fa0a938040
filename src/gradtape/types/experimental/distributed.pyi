# Written by tools/write_stubs.py.
from gradtape.api.compat.distributed_types import (
    Mirrored as Mirrored,
    PerReplica as PerReplica,
)
