"""`tf.train.experimental`: state and shards of checkpoints that a program defines."""

from __future__ import annotations

from .python_state import PythonState as PythonState
from .sharding import MaxShardSizePolicy as MaxShardSizePolicy
from .sharding import ShardableTensor as ShardableTensor
from .sharding import ShardByTaskPolicy as ShardByTaskPolicy
from .sharding import ShardingCallback as ShardingCallback

NAMESPACES = ("train.experimental",)
__all__ = ["MaxShardSizePolicy", "PythonState", "ShardByTaskPolicy", "ShardableTensor", "ShardingCallback"]
