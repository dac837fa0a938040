# Written by tools/write_stubs.py.
from gradtape.api.data.checkpoint_extensions import (
    MaxShardSizePolicy as MaxShardSizePolicy,
    PythonState as PythonState,
    ShardByTaskPolicy as ShardByTaskPolicy,
    ShardableTensor as ShardableTensor,
    ShardingCallback as ShardingCallback,
)
