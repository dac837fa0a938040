"""Translation of elementwise ops to several TensorFlow nodes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes
from .generalisation import Step
from .translation import number, translates
from .writer import Ref, Unsaved, Writer


@translates("power_3")
def _cube(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Mul(x, w.Square(x))


@translates("masked")
def _write_mask(w: Writer, s: Step, mask: Ref, x: Ref) -> Ref:
    return w.SelectV2(mask, x, number(w, 0, x))


@translates("where_positive")
def _where_positive(w: Writer, s: Step, a: Ref, b: Ref) -> Ref:
    return w.SelectV2(w.Greater(b, number(w, 0, b)), a, number(w, 0, a))


@translates("has_log")
def _has_log(w: Writer, s: Step, x: Ref) -> Ref:
    test = w.NotEqual if x.dtype.is_complex else w.Greater
    return test(x, number(w, 0, x))


@translates("leaky_slope")
def _leaky_slope(w: Writer, s: Step, x: Ref, alpha: float) -> Ref:
    return w.SelectV2(w.Greater(x, number(w, 0, x)), number(w, 1, x), number(w, alpha, x))


@translates("silu")
def _silu(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Mul(x, w.Sigmoid(x))


@translates("gelu")
def _gelu(w: Writer, s: Step, x: Ref) -> Ref:
    bell = w.AddV2(w.Erf(w.Mul(x, number(w, math.sqrt(0.5), x))), number(w, 1, x))
    return w.Mul(w.Mul(number(w, 0.5, x), x), bell)


@translates("gelu_tanh")
def _gelu_tanh(w: Writer, s: Step, x: Ref) -> Ref:
    cube = w.Mul(number(w, 0.044715, x), w.Mul(x, w.Square(x)))
    inner = w.Tanh(w.Mul(number(w, math.sqrt(2 / math.pi), x), w.AddV2(x, cube)))
    return w.Mul(w.Mul(number(w, 0.5, x), x), w.AddV2(number(w, 1, x), inner))


@translates("log_sigmoid")
def _log_sigmoid(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Neg(w.Softplus(w.Neg(x)))


@translates("ndtr")
def _ndtr(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Mul(number(w, 0.5, x), w.Erfc(w.Mul(x, number(w, -math.sqrt(0.5), x))))


@translates("erfcinv")
def _erfcinv(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Mul(w.Ndtri(w.Mul(number(w, 0.5, x), x)), number(w, -math.sqrt(0.5), x))


@translates("exp2")
def _exp2(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Pow(number(w, 2, x), x)


@translates("log2", "log10")
def _log_of_base(w: Writer, s: Step, x: Ref) -> Ref:
    return w.RealDiv(w.Log(x), number(w, math.log(2 if s.op.name == "log2" else 10), x))


@translates("logaddexp")
def _logaddexp(w: Writer, s: Step, a: Ref, b: Ref) -> Ref:
    return w.AddV2(w.Maximum(a, b), w.Softplus(w.Neg(w.Abs(w.Sub(a, b)))))


@translates("hypot")
def _hypot(w: Writer, s: Step, a: Ref, b: Ref) -> Ref:
    return w.Sqrt(w.AddV2(w.Square(a), w.Square(b)))


@translates("sigmoid_cross_entropy")
def _sigmoid_cross_entropy(w: Writer, s: Step, labels: Ref, logits: Ref) -> Ref:
    rest = w.Log1p(w.Exp(w.Neg(w.Abs(logits))))
    return w.AddV2(w.Sub(w.Relu(logits), w.Mul(logits, labels)), rest)


@translates("map_text")
def _map_text(w: Writer, s: Step, *xs: Ref, function: Any) -> Ref:
    table = getattr(function, "table", None)
    if table is not None:
        default = w.constant(np.asarray(table.default_value.array), table.value_dtype)
        return w.LookupTableFindV2(w.captured_resource(table), xs[0], default)
    spelling = getattr(function, "spelling", None)
    if spelling is None:
        raise Unsaved("it has a function on strings for which TensorFlow has no op")
    op, attrs = spelling
    return w.add(op, [xs] if op == "StringJoin" else xs, dict(attrs))


@translates("cut_text")
def _cut_text(w: Writer, s: Step, x: Ref, *others: Ref, function: Any) -> list[Ref]:
    """The parts of strings, and where those of each begin and end."""
    spelling: tuple[str, dict[str, Any]] | None = getattr(function, "spelling", None)
    if spelling is None:
        raise Unsaved("it has a function that cuts strings for which TensorFlow has no op")
    attrs = spelling[1]
    texts = w.Reshape(x, [-1])
    indices, values, _ = w.StringSplitV2(texts, w.constant(np.array(attrs["sep"], object), dtypes.string),
                                         maxsplit=attrs["maxsplit"])  # fmt: skip
    rows = w.StridedSlice(indices, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2)
    lengths = w.UnsortedSegmentSum(w.OnesLike(rows), rows, w.Size(texts))
    return [values, w.PadV2(w.Cumsum(lengths, 0), [[1, 0]], w.ref(0, dtypes.int64))]


@translates("concat_strings")
def _concat_strings(w: Writer, s: Step, a: Ref, b: Ref) -> Ref:
    return w.StringJoin([a, b])


@translates("conj")
def _conj(w: Writer, s: Step, x: Ref) -> Ref:
    return w.Conj(x) if x.dtype.is_complex else w.Identity(x)


@translates("betainc")
def _betainc(w: Writer, s: Step, *given: Ref) -> Ref:
    """TensorFlow's op does not broadcast."""
    dims = s.outputs[0].dims
    same = [place.dims == dims for place in s.inputs]
    return w.Betainc(*(x if fits else w.BroadcastTo(x, w.shape(dims)) for x, fits in zip(given, same, strict=True)))
