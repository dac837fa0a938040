"""Ops for loops over the first axis (`rows`) and for checks of values (`check_numerics`)."""

from __future__ import annotations

from ...core.dtypes import FLOAT, NARROW
from ...core.errors import InvalidArgumentError
from ...engine.registry.families import linear, opaque
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import same_shape

# One record for all rows: the VJP of each separate slice would allocate a full-sized array.
rows = opaque(
    "rows", lambda xp, x: tuple(x), vjp=lambda m, g: m.stack(*g, axis=0),
    jvp=lambda m, inputs, ys, attrs, ts: (None,) * len(ys) if ts[0] is None else m.rows(ts[0]),
    batch=lambda m, size, inputs, flags, attrs: m.rows(
        m.transpose(inputs[0], perm=(1, 0, *range(2, len(inputs[0].dims))))
    ),
    moves_data=True, samples=[sample((3, 2)), sample((1,)), sample((2, 0)), sample((2, 2, 3))],
)  # fmt: skip


def _finite(xp, x, *, message):
    nan, inf = xp.isnan(x).any(), xp.isinf(x).any()
    if nan or inf:
        found = "Inf and NaN" if nan and inf else "NaN" if nan else "Inf"
        raise InvalidArgumentError(f"{message} : Tensor had {found} values [Op:CheckNumerics]")
    return x


def _finite_gradient(m, g, message):
    text = f"Not a number (NaN) or infinity (Inf) values detected in gradient. {message.encode()!r}"
    return m.check_numerics(g, message=text)


check_numerics = linear(
    "check_numerics", _finite, transpose=_finite_gradient, shift=lambda attrs, size: attrs, on=FLOAT | NARROW,
    shape=same_shape,
    moves_data=False, samples=[sample((3, 4), message="text"), sample((), message=""), sample((0,), message="")],
)  # fmt: skip
