"""The functions that gradtape's NumPy front end shares, under Keras' policy and with Keras' names of parameters."""

from __future__ import annotations

from gradtape.api.experimental.numpy import arrays, elementwise, matrices, quantiles, reductions, shaping, statistics
from gradtape.api.experimental.numpy.promotion import under_policy

from .promotion import KERAS

_ARRAY = (
    arrays.broadcast_to, arrays.diag, arrays.flip, arrays.moveaxis, arrays.ndim, arrays.ones_like, arrays.ravel,
    arrays.repeat, arrays.split, arrays.stack, arrays.swapaxes, arrays.zeros_like, matrices.diagflat, matrices.diagonal,
    matrices.tril, matrices.triu, matrices.vander, reductions.cumsum, shaping.dsplit,
    shaping.fliplr, shaping.flipud, shaping.hsplit, shaping.roll, shaping.vsplit, statistics.cumprod,
    statistics.nancumprod, statistics.nancumsum,
)  # fmt: skip
_ARRAYS = (shaping.dstack, shaping.hstack, shaping.vstack)
_TWO_ARRAYS = (
    reductions.allclose, reductions.dot, reductions.isclose, reductions.outer, reductions.tensordot, shaping.append,
    statistics.cross, statistics.inner, statistics.kron, statistics.vdot,
)  # fmt: skip
_SAME_NAMES = (
    *quantiles.QUANTILES, elementwise.nan_to_num, matrices.tri, shaping.select, statistics.diff, statistics.trapezoid,
)  # fmt: skip
_REDUCTIONS = (reductions.all, reductions.any, statistics.ptp)
_SHARED = [
    *(under_policy(function, KERAS, "x") for function in _ARRAY),
    *(under_policy(function, KERAS, "xs") for function in _ARRAYS),
    *(under_policy(function, KERAS, "x1", "x2") for function in _TWO_ARRAYS),
    *(under_policy(function, KERAS) for function in _SAME_NAMES),
    *(under_policy(function, KERAS, "x", defaults=(None, False)) for function in _REDUCTIONS),
    *(under_policy(function, KERAS, defaults=(None,)) for function in (arrays.identity, arrays.ones, arrays.zeros)),
    under_policy(arrays.eye, KERAS, defaults=(None, 0, None)),
    under_policy(arrays.linspace, KERAS, defaults=(50, True, False, None, 0)),
    under_policy(arrays.where, KERAS, "condition", "x1", "x2"),
    under_policy(arrays.tile, KERAS, "x", "repeats"),
    under_policy(shaping.rot90, KERAS, "array"),
    under_policy(shaping.take_along_axis, KERAS, "x", defaults=(None,)),
]
globals().update({function.__name__: function for function in _SHARED})
__all__ = [function.__name__ for function in _SHARED]
