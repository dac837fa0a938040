# Written by tools/write_stubs.py.
from gradtape.ragged.crossing import (
    cross as cross,
    cross_hashed as cross_hashed,
)
from gradtape.ragged.factory import (
    boolean_mask as boolean_mask,
    constant as constant,
    map_flat_values as map_flat_values,
    range as range,
    row_splits_to_segment_ids as row_splits_to_segment_ids,
    segment_ids_to_row_splits as segment_ids_to_row_splits,
    stack as stack,
    stack_dynamic_partitions as stack_dynamic_partitions,
)
import sys
if sys.platform == "jedi":
    del (
        arrays,
        constructors,
        conversion,
        crossing,
        elementwise,
        factory,
        filling,
        functions,
        gathering,
        indexing,
        indices,
        partition,
        ragged_tensor,
        reductions,
        shape,
        spec,
        tensor,
        value,
    )
