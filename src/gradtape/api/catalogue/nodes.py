"""TensorFlow's names of ops: the type of a node in its graphs, and the function of `tf.raw_ops`.

`raw_ops`, the listing of a function's graph and SavedModels, in both directions, take them from here. `definitions.txt`
(`api/raw`), recorded from TensorFlow, has the inputs, outputs and attributes of each.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol

# Public functions that are one node: it has the inputs and then the attributes of the function, in order. After `=` is
# the node's type where it is not the function's name in CamelCase, then types of other nodes that compute the same.
_FUNCTIONS = """
    math.abs math.acos math.acosh math.asin math.asinh math.atan math.atanh math.special.bessel_i0
    math.special.bessel_i0e math.special.bessel_i1 math.special.bessel_i1e math.special.bessel_j0 math.special.bessel_j1
    math.special.bessel_k0 math.special.bessel_k0e math.special.bessel_k1 math.special.bessel_k1e math.special.bessel_y0
    math.special.bessel_y1 math.ceil math.cos math.cosh math.special.dawsn
    identity=Identity,DeepCopy,GuaranteeConst,Snapshot math.digamma math.erf math.erfc math.erfinv math.exp
    math.special.expint math.expm1 math.floor math.special.fresnel_cos math.special.fresnel_sin
    math.reciprocal=Reciprocal,Inv bitwise.invert math.invert_permutation math.is_finite math.is_inf math.is_nan
    math.lgamma math.log math.log1p math.logical_not math.ndtri math.negative=Neg ones_like math.rint math.round
    math.rsqrt math.sigmoid math.sign math.sin math.sinh math.special.spence math.sqrt math.square math.tan math.tanh
    zeros_like math.add=AddV2,Add bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor math.divide_no_nan=DivNoNan
    math.floordiv=FloorDiv math.floormod=FloorMod math.greater math.greater_equal bitwise.left_shift math.less
    math.less_equal math.logical_and math.logical_or math.maximum math.minimum truncatemod=TruncateMod,Mod
    math.multiply=Mul math.multiply_no_nan=MulNoNan math.pow realdiv=RealDiv bitwise.right_shift math.squared_difference
    math.subtract=Sub truncatediv=TruncateDiv math.xdivy math.xlog1py math.xlogy math.igamma math.igammac math.polygamma
    nn.elu nn.relu nn.relu6 nn.selu math.softplus math.softsign nn.log_softmax nn.softmax math.reduce_all=All
    math.reduce_any=Any math.reduce_euclidean_norm=EuclideanNorm math.reduce_max=Max math.reduce_mean=Mean
    math.reduce_min=Min math.reduce_prod=Prod math.reduce_sum=Sum math.cumprod math.cumsum math.cumulative_logsumexp
    math.argmax=ArgMax math.argmin=ArgMin math.atan2 math.betainc clip_by_value math.conj math.nextafter=NextAfter
    math.zeta math.add_n nn.leaky_relu batch_to_space=BatchToSpaceND bitcast broadcast_dynamic_shape=BroadcastArgs
    broadcast_to debugging.check_numerics=CheckNumerics,CheckNumericsV2 concat=ConcatV2 constant=Const nn.depth_to_space
    linalg.tensor_diag=Diag linalg.tensor_diag_part=DiagPart dynamic_partition
    dynamic_stitch=DynamicStitch,ParallelDynamicStitch ensure_shape expand_dims
    image.extract_patches=ExtractImagePatches extract_volume_patches fill histogram_fixed_width identity_n
    linspace=LinSpace one_hot stack=Pack pad range rank reshape reverse_sequence reverse=ReverseV2 roll
    where=SelectV2,Where shape=Shape,VariableShape shape_n size slice space_to_batch=SpaceToBatchND nn.space_to_depth
    stop_gradient strided_slice tile transpose unstack=Unpack unravel_index unique unique_with_counts
    linalg.banded_triangular_solve linalg.cholesky linalg.cross linalg.band_part=MatrixBandPart
    linalg.det=MatrixDeterminant linalg.diag=MatrixDiag linalg.diag_part=MatrixDiagPart linalg.inv=MatrixInverse
    linalg.logm=MatrixLogarithm linalg.set_diag=MatrixSetDiag linalg.solve=MatrixSolve linalg.sqrtm=MatrixSquareRoot
    linalg.triangular_solve=MatrixTriangularSolve linalg.slogdet=LogMatrixDeterminant linalg.lu linalg.qr
    nn.bias_add=BiasAdd,BiasAddV1 nn.l2_loss nn.local_response_normalization=LRN
    quantization.fake_quant_with_min_max_args quantization.fake_quant_with_min_max_vars
    quantization.fake_quant_with_min_max_vars_per_channel signal.fft=FFT signal.fft2d=FFT2D signal.fft3d=FFT3D
    signal.ifft=IFFT signal.ifft2d=IFFT2D signal.ifft3d=IFFT3D math.segment_max math.segment_mean math.segment_min
    math.segment_prod math.segment_sum math.unsorted_segment_max math.unsorted_segment_min math.unsorted_segment_prod
    math.unsorted_segment_sum image.hsv_to_rgb=HSVToRGB image.rgb_to_hsv=RGBToHSV image.adjust_contrast=AdjustContrastv2
    image.adjust_hue image.adjust_saturation image.decode_bmp image.decode_gif image.decode_png image.encode_png
    random.stateless_categorical=StatelessMultinomial random.stateless_parameterized_truncated_normal
    random.stateless_binomial=StatelessRandomBinomial random.stateless_poisson=StatelessRandomPoisson
    strings.strip=StringStrip strings.as_string io.decode_base64 io.encode_base64 io.read_file
    strings.regex_full_match=RegexFullMatch,StaticRegexFullMatch strings.regex_replace=RegexReplace,StaticRegexReplace
    strings.reduce_join strings.join=StringJoin strings.length=StringLength strings.lower=StringLower
    strings.to_number=StringToNumber strings.upper=StringUpper strings.to_hash_bucket=StringToHashBucket
    strings.to_hash_bucket_fast=StringToHashBucketFast strings.to_hash_bucket_strong=StringToHashBucketStrong
    strings.substr io.write_file debugging.Assert
"""

# Types of the nodes that compute an op, where neither a function of that name nor the op's name in CamelCase says it.
_OPS = {
    "div": "RealDiv", "gather": "GatherV2", "half_square": "L2Loss", "hermitian": "Identity", "logical_xor": "NotEqual",
    "mod": "FloorMod", "nonzero": "Where", "pad": "PadV2", "power_0": "OnesLike", "power_1": "Identity",
    "power_2": "Square", "power_half": "Sqrt", "slice": "StridedSlice",
}  # fmt: skip


class NamedOp(Protocol):
    """An op of the registry, or of a graph alone."""

    name: str
    title: str


@cache
def functions() -> dict[str, str]:
    """Returns the public functions that are one node, by the node's type."""
    found: dict[str, str] = {}
    for entry in _FUNCTIONS.split():
        path, _, types = entry.partition("=")
        found |= dict.fromkeys((types or _camel_case(path)).split(","), path)
    return found


@cache
def _types() -> dict[str, str]:
    """Returns the node types of ops, by name."""
    found: dict[str, str] = {}
    for kind, path in functions().items():
        found.setdefault(path.rpartition(".")[2], kind)
    return {**found, **_OPS}


def node_type(op: NamedOp) -> str:
    """Returns the type of the node that computes an op in TensorFlow's graphs."""
    return _types().get(op.name) or op.title




def _camel_case(path: str) -> str:
    return "".join(word.capitalize() for word in path.rpartition(".")[2].split("_"))
