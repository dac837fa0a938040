"""`tf.fingerprint`: short fingerprints of rows."""

from __future__ import annotations

import math

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import ValueLike
from ...engine.run.convert import to_array, to_tensor
from .hashes import farm

NAMESPACES = ("",)
__all__ = ["fingerprint"]


def fingerprint(data: ValueLike, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """Returns eight bytes for each row of `data`, the same for the same contents.

    >>> tf.fingerprint(["abc"]).numpy().tolist()
    [[105, 243, 231, 116, 160, 179, 165, 36]]
    """
    if method != "farmhash64":
        raise errors.InvalidArgumentError(f"Unsupported method: {method}. There is farmhash64")
    x = to_tensor(data)
    if not x.dims:
        raise errors.InvalidArgumentError("`data` should have at least one dimension: [] [Op:Fingerprint]")
    rows = to_array(x).reshape(x.dims[0], math.prod(x.dims[1:]))
    if x.dtype is dtypes.string:
        hashes = [[farm(text) for text in row] for row in rows.tolist()]
        if len(x.dims) > 1:
            hashes = [[farm(np.array(row, "<u8").tobytes())] for row in hashes]
        numbers = [row[0] for row in hashes]
    else:
        numbers = [farm(np.ascontiguousarray(row).tobytes()) for row in rows]
    return to_tensor(np.array(numbers, "<u8").view(np.uint8).reshape(-1, 8))
