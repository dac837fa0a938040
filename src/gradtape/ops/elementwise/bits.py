"""Bitwise operations on integers, and bitcasts of any dtype."""

from __future__ import annotations

import operator

import numpy as np

from ...backends.arrays import numpy_dtype
from ...core.dtypes import INT, NUMERIC, QUANTIZED, int64, uint8, uint32
from ...engine.registry.families import elementwise, no_rule, opaque
from ...engine.registry.op import sample

_PAIR = [sample(np.array([[5, -3], [12, 7]]), np.array([3, 6])), sample(np.array(5), np.array(3))]

bitwise_and = elementwise("bitwise_and", operator.and_, args="a b", on=INT, samples=_PAIR, da=None, db=None)
bitwise_or = elementwise("bitwise_or", operator.or_, args="a b", on=INT, samples=_PAIR, da=None, db=None)
bitwise_xor = elementwise("bitwise_xor", operator.xor, args="a b", on=INT, samples=_PAIR, da=None, db=None)
invert = elementwise("invert", operator.invert, args="x", on=INT, samples=[sample(np.array([5, -3]))], dx=None)


def _distance(xp, a, b):
    """Clamps a shift distance between 0 and the number of bits less 1; shifts beyond that are undefined."""
    return xp.clip(b, 0, 8 * a.dtype.itemsize - 1)


left_shift = elementwise(
    "left_shift", lambda xp, a, b: xp.left_shift(a, _distance(xp, a, b)), on=INT, samples=_PAIR, da=None, db=None
)
right_shift = elementwise(
    "right_shift", lambda xp, a, b: xp.right_shift(a, _distance(xp, a, b)), on=INT, samples=_PAIR, da=None, db=None
)


def _bitcast(xp, x, *, dtype):
    x = xp.asarray(x)
    size, given, xp_dtype = dtype.size, x.dtype.itemsize, xp.result_type(dtype.numpy)
    if size > given:
        if not x.shape or x.shape[-1] * given != size:
            raise ValueError(
                f"Cannot bitcast from {numpy_dtype(x.dtype).name} to {dtype.name}: the last dimension must be "
                f"{size // given}"
            )
        return xp.ascontiguousarray(x).view(xp_dtype)[..., 0]
    split = xp.ascontiguousarray(x.reshape(*x.shape, 1)).view(xp_dtype)
    return split.reshape(x.shape) if size == given else split


bitcast = opaque(
    "bitcast", _bitcast, on=NUMERIC | QUANTIZED, moves_data=True, vjp=no_rule("Bitcast"),
    batch=lambda m, size, inputs, flags, attrs: m.bitcast(inputs[0], **attrs),
    samples=[sample(np.array([[1, 2], [3, 4]], np.int32), dtype=dtype) for dtype in (uint8, uint32, int64)],
)  # fmt: skip
