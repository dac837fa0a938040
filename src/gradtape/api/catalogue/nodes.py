"""TensorFlow's names of ops: the type of a node in its graphs, and the function of `tf.raw_ops`.

A row of the catalogue states its `node`; functions without a row are listed here. `raw_ops`, the listing of a
function's graph and SavedModels, in both directions, derive from it. `definitions.txt` has the inputs, outputs and
attributes of each node.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol

from ...engine.registry.op import Op
from . import rows
from .definitions import definition_of

# Public functions that are one node: it has the inputs and then the attributes of the function, in order. After `=` is
# the node's type where it is not the function's name in CamelCase, then types of other nodes that compute the same.
_FUNCTIONS = """
    identity=Identity,DeepCopy,GuaranteeConst,Snapshot math.reciprocal=Inv math.invert_permutation ones_like math.round
    zeros_like math.add truncatemod=Mod math.squared_difference nn.log_softmax nn.softmax math.reduce_all=All
    math.reduce_any=Any math.reduce_euclidean_norm=EuclideanNorm math.reduce_max=Max math.reduce_mean=Mean
    math.reduce_min=Min math.reduce_prod=Prod math.reduce_sum=Sum math.cumprod math.cumsum math.cumulative_logsumexp
    math.argmax=ArgMax math.argmin=ArgMin clip_by_value math.conj math.nextafter=NextAfter math.add_n nn.leaky_relu
    batch_to_space=BatchToSpaceND bitcast broadcast_dynamic_shape=BroadcastArgs broadcast_to
    debugging.check_numerics=CheckNumerics,CheckNumericsV2 concat=ConcatV2 constant=Const nn.depth_to_space
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
    strings.substr io.write_file debugging.Assert math.top_k=TopKV2 random_index_shuffle math.sobol_sample io.decode_raw
    convert_to_tensor=ReadVariableOp io.decode_compressed strings.unicode_transcode
"""

# The same for functions that do not have the attributes of the node, such as `Tout`, and take its inputs alone.
_OF_INPUTS = """
    math.angle complex abs=ComplexAbs math.imag math.real identity=Copy,PlaceholderWithDefault gather
    gather_nd=GatherNd,ResourceGatherNd scatter_nd tensor_scatter_nd_add=TensorScatterAdd,ScatterNdNonAliasingAdd
    tensor_scatter_nd_max=TensorScatterMax tensor_scatter_nd_min=TensorScatterMin tensor_scatter_nd_sub=TensorScatterSub
    tensor_scatter_nd_update=TensorScatterUpdate signal.rfft=RFFT signal.rfft2d=RFFT2D signal.rfft3d=RFFT3D
    signal.irfft=IRFFT signal.irfft2d=IRFFT2D signal.irfft3d=IRFFT3D
    sparse.segment_mean=SparseSegmentMean,SparseSegmentMeanWithNumSegments
    sparse.segment_sqrt_n=SparseSegmentSqrtN,SparseSegmentSqrtNWithNumSegments
    sparse.segment_sum=SparseSegmentSum,SparseSegmentSumWithNumSegments
"""

# Types of the nodes that compute an op, where they are neither those of its row or of a function of its name, nor its
# name in CamelCase.
_OPS = {
    "gather": "GatherV2", "half_square": "L2Loss", "hermitian": "Identity", "logical_xor": "NotEqual",
    "nonzero": "Where", "pad": "PadV2", "power_0": "OnesLike", "power_1": "Identity", "power_2": "Square",
    "power_half": "Sqrt", "slice": "StridedSlice",
}  # fmt: skip


class NamedOp(Protocol):
    """An op of the registry, or of a graph alone."""

    name: str
    title: str


@cache
def functions() -> dict[str, str]:
    """Returns the public functions that are one node, by the node's type."""
    found = {row.node: row.names[0] for row in rows() if row.node}
    for entry in (_FUNCTIONS + _OF_INPUTS).split():
        path, _, types = entry.partition("=")
        found |= dict.fromkeys((types or _camel_case(path)).split(","), path)
    return found


@cache
def calls() -> dict[str, str]:
    """Returns the calls of these functions with the parameters of the nodes, by type."""
    found = functions().copy()  # a function's name alone stands for a call with all parameters
    few = {row.names[0]: row.parameters.count(",") + 1 for row in rows()}
    few |= {entry.partition("=")[0]: 0 for entry in _OF_INPUTS.split()}
    for kind, path in functions().items():
        definition = definition_of(kind)
        if path in few and definition is not None and few[path] in (0, len(definition.inputs)):
            found[kind] = f"tf.{path}({', '.join(argument.name for argument in definition.inputs)})"
    return found


@cache
def _types() -> dict[str, str]:
    """Returns the node types of ops, by name."""
    found = {row.op.name: row.node for row in rows() if row.node and isinstance(row.op, Op)}
    for kind, path in functions().items():
        found.setdefault(path.rpartition(".")[2], kind)
    return {**found, **_OPS}


def node_type(op: NamedOp) -> str:
    """Returns the type of the node that computes an op in TensorFlow's graphs."""
    return _types().get(op.name) or op.title


def _camel_case(path: str) -> str:
    return "".join(word.capitalize() for word in path.rpartition(".")[2].split("_"))
