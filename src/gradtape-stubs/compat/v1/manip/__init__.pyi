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
    batch_to_space as _batch_to_space_nd,
    reverse as reverse,
    roll as roll,
    space_to_batch_nd as space_to_batch_nd,
)
batch_to_space_nd = _batch_to_space_nd
def gather_nd(params: ValueLike, indices: TensorLike, name: str | None = ..., batch_dims: int = ..., bad_indices_policy: str = ...) -> Tensor: ...
