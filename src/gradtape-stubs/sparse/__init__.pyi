# Written by tools/write_stubs.py.
from gradtape.sparse.arithmetic import (
    add as add,
    maximum as maximum,
    minimum as minimum,
    reduce_max as reduce_max,
    reduce_sum as reduce_sum,
    sampled_addmm as sampled_addmm,
    softmax as softmax,
    sparse_dense_matmul as sparse_dense_matmul,
)
from gradtape.sparse.conversion import (
    SparseTensor as SparseTensor,
    eye as eye,
    fill_empty_rows as fill_empty_rows,
    from_dense as from_dense,
    map_values as map_values,
    mask as mask,
    reorder as reorder,
    retain as retain,
    to_dense as to_dense,
    to_indicator as to_indicator,
)
from gradtape.sparse.crossing import (
    cross as cross,
    cross_hashed as cross_hashed,
)
from gradtape.sparse.segments import (
    bincount as bincount,
    segment_mean as segment_mean,
    segment_sqrt_n as segment_sqrt_n,
    segment_sum as segment_sum,
)
from gradtape.sparse.shaping import (
    concat as concat,
    expand_dims as expand_dims,
    reset_shape as reset_shape,
    reshape as reshape,
    slice as slice,
    split as split,
    transpose as transpose,
)
import sys
if sys.platform == "jedi":
    del (
        arithmetic,
        conversion,
        crossing,
        segments,
        shaping,
        tensor,
    )
