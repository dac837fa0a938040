"""`tensorflow.python.data.experimental.ops.distribute`: the size of a dataset's batches."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.tensor import Tensor
from gradtape.data.elements.structure import leaves
from gradtape.engine.run.convert import to_tensor


def compute_batch_size(dataset: Any) -> Tensor:
    """Returns the number of rows of the first batch; -1 if its tensors disagree."""
    first = next(iter(dataset), ())
    sizes = {leaf.shape[0] if leaf.shape.rank else -1 for leaf in leaves(first)}
    return to_tensor(sizes.pop() if len(sizes) == 1 else -1, dtypes.int64)
