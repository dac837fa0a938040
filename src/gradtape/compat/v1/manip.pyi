# Written by tools/write_stubs.py.
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import TensorLike, ValueLike
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
def gather_nd(params: ValueLike, indices: TensorLike, name: str | None = ..., batch_dims: int = ..., bad_indices_policy: str = ...) -> Tensor: ...
