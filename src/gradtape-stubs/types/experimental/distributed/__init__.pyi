# Written by tools/write_stubs.py.
from gradtape.distribute.values import (
    Mirrored as Mirrored,
    PerReplica as PerReplica,
)
