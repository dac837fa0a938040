"""`tf.train.experimental`: state and shards of checkpoints that a program defines."""

from __future__ import annotations

from ...checkpoints.python_state import PythonState as PythonState
from ...checkpoints.sharding import MaxShardSizePolicy as MaxShardSizePolicy
from ...checkpoints.sharding import ShardableTensor as ShardableTensor
from ...checkpoints.sharding import ShardByTaskPolicy as ShardByTaskPolicy
from ...checkpoints.sharding import ShardingCallback as ShardingCallback

NAMESPACES = ("train.experimental",)
__all__ = ["MaxShardSizePolicy", "PythonState", "ShardByTaskPolicy", "ShardableTensor", "ShardingCallback"]
