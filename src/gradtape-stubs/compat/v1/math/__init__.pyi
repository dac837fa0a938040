# Written by tools/write_stubs.py.
from typing import Any
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import AxisLike, DTypeLike, TensorLike
from gradtape.api.math.complex import (
    angle as angle,
    conj as conj,
    imag as imag,
    real as real,
)
from gradtape.api.math.elementwise import (
    accumulate_n as accumulate_n,
    add_n as add_n,
    nextafter as nextafter,
    polyval as polyval,
    reciprocal_no_nan as reciprocal_no_nan,
    round as round,
    scalar_mul as scalar_mul,
    squared_difference as squared_difference,
)
from gradtape.api.math.reductions import (
    l2_normalize as l2_normalize,
    reduce_euclidean_norm as reduce_euclidean_norm,
    reduce_std as reduce_std,
    reduce_variance as reduce_variance,
    zero_fraction as zero_fraction,
)
from gradtape.api.math.scans import (
    cumprod as cumprod,
    cumsum as cumsum,
    cumulative_logsumexp as cumulative_logsumexp,
)
from gradtape.api.math.segments import (
    segment_max as segment_max,
    segment_mean as segment_mean,
    segment_min as segment_min,
    segment_prod as segment_prod,
    segment_sum as segment_sum,
    unsorted_segment_max as unsorted_segment_max,
    unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_min as unsorted_segment_min,
    unsorted_segment_prod as unsorted_segment_prod,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
    unsorted_segment_sum as unsorted_segment_sum,
)
from gradtape.api.math.sorting import (
    approx_max_k as approx_max_k,
    approx_min_k as approx_min_k,
    invert_permutation as invert_permutation,
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
    top_k as top_k,
)
from gradtape.api.math.special import (
    lbeta as lbeta,
    sobol_sample as sobol_sample,
)
from gradtape.math import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    add as add,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    betainc as betainc,
    ceil as ceil,
    cos as cos,
    cosh as cosh,
    digamma as digamma,
    divide as divide,
    divide_no_nan as divide_no_nan,
    equal as equal,
    erf as erf,
    erfc as erfc,
    erfcinv as erfcinv,
    erfinv as erfinv,
    exp as exp,
    expm1 as expm1,
    floor as floor,
    floordiv as floordiv,
    floormod as _mod,
    floormod as floormod,
    greater as greater,
    greater_equal as greater_equal,
    igamma as igamma,
    igammac as igammac,
    is_finite as is_finite,
    is_inf as is_inf,
    is_nan as is_nan,
    less as less,
    less_equal as less_equal,
    lgamma as lgamma,
    log as log,
    log1p as log1p,
    log_sigmoid as log_sigmoid,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    multiply_no_nan as multiply_no_nan,
    ndtri as ndtri,
    negative as negative,
    not_equal as not_equal,
    polygamma as polygamma,
    pow as pow,
    reciprocal as reciprocal,
    rint as rint,
    rsqrt as rsqrt,
    sigmoid as sigmoid,
    sign as sign,
    sin as sin,
    sinh as sinh,
    softplus as softplus,
    softsign as softsign,
    sqrt as sqrt,
    square as square,
    subtract as subtract,
    tan as tan,
    tanh as tanh,
    truediv as truediv,
    xdivy as xdivy,
    xlog1py as xlog1py,
    xlogy as xlogy,
    zeta as zeta,
)
from gradtape.math.special import (
    bessel_i0 as bessel_i0,
    bessel_i0e as bessel_i0e,
    bessel_i1 as bessel_i1,
    bessel_i1e as bessel_i1e,
)
def argmax(input: TensorLike, axis: AxisLike | None = ..., name: str | None = ..., dimension: AxisLike | None = ..., output_type: DTypeLike = ...) -> Tensor: ...
def argmin(input: TensorLike, axis: AxisLike | None = ..., name: str | None = ..., dimension: AxisLike | None = ..., output_type: DTypeLike = ...) -> Tensor: ...
def bincount(arr: TensorLike, weights: TensorLike | None = ..., minlength: TensorLike | None = ..., maxlength: TensorLike | None = ..., dtype: DTypeLike = ...) -> Tensor: ...
def confusion_matrix(labels: TensorLike, predictions: TensorLike, num_classes: TensorLike | None = ..., dtype: DTypeLike = ..., name: str | None = ..., weights: TensorLike | None = ...) -> Tensor: ...
def count_nonzero(input_tensor: TensorLike | None = ..., axis: AxisLike | None = ..., keepdims: bool | None = ..., dtype: DTypeLike = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: bool | None = ..., input: TensorLike | None = ...) -> Tensor: ...
def in_top_k(predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = ...) -> Tensor: ...
def log_softmax(logits: TensorLike, axis: AxisLike | None = ..., name: str | None = ..., dim: AxisLike | None = ...) -> Tensor: ...
mod = _mod
def reduce_all(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_any(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_logsumexp(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_max(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_mean(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_min(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_prod(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_sum(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def softmax(logits: TensorLike, axis: AxisLike | None = ..., name: str | None = ..., dim: AxisLike | None = ...) -> Tensor: ...
