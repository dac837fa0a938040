# Written by tools/write_stubs.py.
from gradtape.distribute.distributed_types import (
    Mirrored as Mirrored,
    PerReplica as PerReplica,
)
