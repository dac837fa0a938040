# Written by tools/write_stubs.py.
from gradtape.checkpoint.extensions import (
    MaxShardSizePolicy as MaxShardSizePolicy,
    PythonState as PythonState,
    ShardByTaskPolicy as ShardByTaskPolicy,
    ShardableTensor as ShardableTensor,
    ShardingCallback as ShardingCallback,
)
