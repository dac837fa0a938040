# Written by tools/write_stubs.py.
from typing import Any
from gradtape.api.arrays.indexing import (
    scatter_nd as scatter_nd,
)
from gradtape.api.arrays.repeating import (
    tile as tile,
)
from gradtape.api.arrays.slicing import (
    reverse as reverse,
    roll as roll,
    space_to_batch_nd as space_to_batch_nd,
)
def gather_nd(params: Any, indices: Any, name: str | None = ..., batch_dims: Any = ..., bad_indices_policy: Any = ...) -> Any: ...
