# Written by tools/write_stubs.py.
from gradtape_tensorflow.dtensor import (
    DTensorCheckpoint as DTensorCheckpoint,
    DTensorDataset as DTensorDataset,
    DVariable as DVariable,
    Layout as Layout,
    MATCH as MATCH,
    Mesh as Mesh,
    UNSHARDED as UNSHARDED,
)
