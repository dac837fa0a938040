# Written by tools/write_stubs.py.
from gradtape.checkpoint.train import (
    MaxShardSizePolicy as MaxShardSizePolicy,
    PythonState as PythonState,
    ShardByTaskPolicy as ShardByTaskPolicy,
    ShardableTensor as ShardableTensor,
    ShardingCallback as ShardingCallback,
)
