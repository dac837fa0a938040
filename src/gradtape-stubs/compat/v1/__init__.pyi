# Written by tools/write_stubs.py.
import builtins
from collections.abc import Sequence
from typing import Any
from gradtape.state.variable import Variable as _Variable
from gradtape.core.type_hints import AxisLike, DTypeLike, ShapeLike, SizesLike, StringLike, TensorLike, ValueLike
from gradtape.compat.v1 import data as data
from gradtape.compat.v1 import debugging as debugging
from gradtape.compat.v1 import dtypes as dtypes
from gradtape.compat.v1 import gfile as gfile
from gradtape.compat.v1 import graph_util as graph_util
from gradtape.compat.v1 import image as image
from gradtape.compat.v1 import initializers as initializers
from gradtape.compat.v1 import io as io
from gradtape.compat.v1 import linalg as linalg
from gradtape.compat.v1 import logging as logging
from gradtape.compat.v1 import losses as losses
from gradtape.compat.v1 import manip as manip
from gradtape.compat.v1 import math as math
from gradtape.compat.v1 import nn as nn
from gradtape.compat.v1 import python_io as python_io
from gradtape.compat.v1 import ragged as ragged
from gradtape.compat.v1 import random as random
from gradtape.compat.v1 import saved_model as saved_model
from gradtape.compat.v1 import sets as sets
from gradtape.compat.v1 import sparse as sparse
from gradtape.compat.v1 import spectral as spectral
from gradtape.compat.v1 import strings as strings
from gradtape.compat.v1 import summary as summary
from gradtape.compat.v1 import test as test
from gradtape.compat.v1 import train as train
from gradtape import (
    realdiv as realdiv,
    truncatediv as truncatediv,
    truncatemod as truncatemod,
)
from gradtape.api.arrays.casting import (
    bitcast as bitcast,
    cast as cast,
    saturate_cast as saturate_cast,
)
from gradtape.api.arrays.concat import (
    concat as concat,
    parallel_stack as parallel_stack,
    split as split,
    stack as stack,
    unstack as unstack,
)
from gradtape.api.arrays.conversion import (
    get_static_value as get_static_value,
    is_tensor as is_tensor,
    register_tensor_conversion_function as register_tensor_conversion_function,
)
from gradtape.api.arrays.creation import (
    eye as eye,
    fill as fill,
    linspace as linspace,
    one_hot as one_hot,
    ones as ones,
    range as range,
    zeros as zeros,
)
from gradtape.api.arrays.indexing import (
    scatter_nd as scatter_nd,
    sequence_mask as sequence_mask,
    tensor_scatter_nd_add as tensor_scatter_nd_add,
    tensor_scatter_nd_max as tensor_scatter_nd_max,
    tensor_scatter_nd_min as tensor_scatter_nd_min,
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
    tensor_scatter_nd_update as _tensor_scatter_update,
    tensor_scatter_nd_update as tensor_scatter_nd_update,
    unravel_index as unravel_index,
)
from gradtape.api.arrays.repeating import (
    broadcast_dynamic_shape as broadcast_dynamic_shape,
    broadcast_static_shape as broadcast_static_shape,
    broadcast_to as broadcast_to,
    meshgrid as meshgrid,
    repeat as repeat,
    tile as tile,
)
from gradtape.api.arrays.shaping import (
    check_pinned as check_pinned,
    ensure_shape as ensure_shape,
    guarantee_const as guarantee_const,
    identity as identity,
    identity_n as identity_n,
    rank as rank,
    reshape as reshape,
    shape_n as shape_n,
)
from gradtape.api.arrays.slicing import (
    batch_to_space as _batch_to_space_nd,
    extract_volume_patches as extract_volume_patches,
    required_space_to_batch_paddings as required_space_to_batch_paddings,
    reverse as _reverse_v2,
    reverse as reverse,
    roll as roll,
    slice as slice,
    space_to_batch_nd as space_to_batch_nd,
    strided_slice as strided_slice,
)
from gradtape.api.arrays.values import (
    AggregationMethod as AggregationMethod,
    IndexedSlices as IndexedSlices,
    IndexedSlicesSpec as IndexedSlicesSpec,
    Module as Module,
    SparseTensorSpec as SparseTensorSpec,
    Tensor as Tensor,
    TensorArray as TensorArray,
    TensorArraySpec as TensorArraySpec,
    TensorShape as TensorShape,
    TensorSpec as TensorSpec,
    TypeSpec as TypeSpec,
    VariableAggregation as VariableAggregation,
    VariableSynchronization as VariableSynchronization,
    get_current_name_scope as get_current_name_scope,
    newaxis as newaxis,
    type_spec_from_value as type_spec_from_value,
    variable_creator_scope as variable_creator_scope,
)
from gradtape.api.control.autodiff import (
    GradientTape as GradientTape,
    UnconnectedGradients as UnconnectedGradients,
)
from gradtape.api.control.control_flow import (
    case as case,
    switch_case as switch_case,
)
from gradtape.api.control.critical_section import (
    CriticalSection as CriticalSection,
    nondifferentiable_batch_function as nondifferentiable_batch_function,
)
from gradtape.api.control.custom_gradient import (
    RegisterGradient as RegisterGradient,
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
    no_gradient as _NoGradient,
    no_gradient as _NotDifferentiable,
    no_gradient as no_gradient,
    recompute_grad as recompute_grad,
    stop_gradient as stop_gradient,
)
from gradtape.api.control.function import (
    function as function,
    memory_budget as memory_budget,
)
from gradtape.api.control.functional import (
    foldl as foldl,
    foldr as foldr,
    map_fn as map_fn,
    scan as scan,
    vectorized_map as vectorized_map,
)
from gradtape.api.debugging.checks import (
    Assert as Assert,
    assert_integer as assert_integer,
    assert_proper_iterable as assert_proper_iterable,
    assert_same_float_dtype as assert_same_float_dtype,
    assert_type as assert_type,
    check_numerics as check_numerics,
    is_numeric_tensor as is_numeric_tensor,
)
from gradtape.api.debugging.recordings import (
    load_tape as load_tape,
)
from gradtape.api.dtypes import (
    DType as DType,
    as_dtype as as_dtype,
    bfloat16 as bfloat16,
    bool as bool,
    complex128 as complex128,
    complex64 as complex64,
    double as double,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    half as half,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    int8 as int8,
    qint16 as qint16,
    qint32 as qint32,
    qint8 as qint8,
    quint16 as quint16,
    quint8 as quint8,
    resource as resource,
    string as string,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    uint8 as uint8,
    variant as variant,
)
from gradtape.api.errors import (
    OpError as OpError,
)
from gradtape.api.experimental.numpy.on_tape import (
    numpy_on_tape as numpy_on_tape,
)
from gradtape.api.image.augmentation import (
    random_crop as random_crop,
)
from gradtape.api.io.bytes import (
    decode_base64 as decode_base64,
    encode_base64 as encode_base64,
    matching_files as matching_files,
    read_file as read_file,
    write_file as write_file,
)
from gradtape.api.io.features import (
    FixedLenFeature as FixedLenFeature,
    FixedLenSequenceFeature as FixedLenSequenceFeature,
    SparseFeature as SparseFeature,
    VarLenFeature as VarLenFeature,
)
from gradtape.api.io.parsing import (
    parse_single_sequence_example as parse_single_sequence_example,
)
from gradtape.api.io.tensors import (
    deserialize_many_sparse as deserialize_many_sparse,
    parse_tensor as parse_tensor,
    serialize_tensor as serialize_tensor,
)
from gradtape.api.io.text_records import (
    decode_compressed as decode_compressed,
    decode_json_example as decode_json_example,
)
from gradtape.api.linalg.decompositions import (
    cholesky as cholesky,
    eig as eig,
    eigh as _self_adjoint_eig,
    eigvals as eigvals,
    eigvalsh as _self_adjoint_eigvals,
    qr as qr,
    sqrtm as _matrix_square_root,
    svd as svd,
)
from gradtape.api.linalg.solvers import (
    cholesky_solve as cholesky_solve,
    det as _matrix_determinant,
    inv as _matrix_inverse,
    lstsq as _matrix_solve_ls,
    solve as _matrix_solve,
    triangular_solve as _matrix_triangular_solve,
)
from gradtape.api.linalg.structure import (
    band_part as _matrix_band_part,
    cross as cross,
    tensor_diag as _diag,
    tensor_diag_part as _diag_part,
)
from gradtape.api.math.bincount import (
    histogram_fixed_width as histogram_fixed_width,
    histogram_fixed_width_bins as histogram_fixed_width_bins,
    unique as unique,
    unique_with_counts as unique_with_counts,
)
from gradtape.api.math.clipping import (
    clip_by_global_norm as clip_by_global_norm,
    clip_by_norm as clip_by_norm,
    clip_by_value as clip_by_value,
    global_norm as global_norm,
)
from gradtape.api.math.complex import (
    angle as angle,
    complex as complex,
    conj as conj,
    imag as imag,
    real as real,
)
from gradtape.api.math.contraction import (
    einsum as einsum,
    matmul as matmul,
    tensordot as tensordot,
)
from gradtape.api.math.elementwise import (
    accumulate_n as accumulate_n,
    add_n as add_n,
    round as round,
    scalar_mul as scalar_mul,
    squared_difference as squared_difference,
    where as _where_v2,
)
from gradtape.api.math.reductions import (
    trace as trace,
)
from gradtape.api.math.scans import (
    cumprod as cumprod,
    cumsum as cumsum,
)
from gradtape.api.math.segments import (
    dynamic_partition as dynamic_partition,
    dynamic_stitch as dynamic_stitch,
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
    approx_top_k as approx_top_k,
    argsort as argsort,
    invert_permutation as invert_permutation,
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
    searchsorted as searchsorted,
    sort as sort,
)
from gradtape.api.math.special import (
    lbeta as lbeta,
)
from gradtape.api.nn.backward import (
    conv as conv,
    conv2d_backprop_filter_v2 as conv2d_backprop_filter_v2,
    conv2d_backprop_input_v2 as conv2d_backprop_input_v2,
)
from gradtape.api.quantization import (
    fake_quant_with_min_max_args as fake_quant_with_min_max_args,
    fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient,
    fake_quant_with_min_max_vars as fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient,
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient,
)
from gradtape.api.random.draws import (
    gamma as _random_gamma,
    normal as _random_normal,
    shuffle as _random_shuffle,
    truncated_normal as truncated_normal,
    uniform as _random_uniform,
)
from gradtape.api.random.permutations import (
    random_index_shuffle as random_index_shuffle,
)
from gradtape.api.random.reseeding import (
    reseed_after_fork as reseed_after_fork,
)
from gradtape.api.runtime.devices import (
    DeviceSpec as DeviceSpec,
)
from gradtape.api.runtime.graphs import (
    Graph as Graph,
    Operation as Operation,
)
from gradtape.api.runtime.libraries import (
    load_library as load_library,
    load_op_library as load_op_library,
)
from gradtape.api.runtime.system import (
    control_dependencies as control_dependencies,
    executing_eagerly as executing_eagerly,
    get_logger as get_logger,
    group as group,
    init_scope as init_scope,
    inside_function as inside_function,
    is_symbolic_tensor as is_symbolic_tensor,
    no_op as no_op,
    numpy_function as numpy_function,
    print as print,
    py_function as py_function,
    timestamp as timestamp,
)
from gradtape.api.signal.fourier import (
    fft as fft,
    fft2d as fft2d,
    fft3d as fft3d,
    ifft as ifft,
    ifft2d as ifft2d,
    ifft3d as ifft3d,
)
from gradtape.api.signal.whole import (
    fftnd as fftnd,
    ifftnd as ifftnd,
    irfftnd as irfftnd,
    rfftnd as rfftnd,
)
from gradtape.api.strings.edit_distance import (
    edit_distance as edit_distance,
)
from gradtape.api.strings.hashes import (
    fingerprint as fingerprint,
    to_hash_bucket_fast as _string_to_hash_bucket_fast,
    to_hash_bucket_strong as _string_to_hash_bucket_strong,
)
from gradtape.api.strings.strings import (
    as_string as as_string,
    join as _string_join,
    regex_replace as regex_replace,
    strip as _string_strip,
)
from gradtape.data.transformations import (
    NoneTensorSpec as NoneTensorSpec,
    OptionalSpec as OptionalSpec,
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
    divide_no_nan as _div_no_nan,
    equal as equal,
    erf as erf,
    erfc as erfc,
    exp as exp,
    expm1 as expm1,
    floor as floor,
    floordiv as _floor_div,
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
    sqrt as sqrt,
    square as square,
    subtract as subtract,
    tan as tan,
    tanh as tanh,
    truediv as truediv,
    zeta as zeta,
)
from gradtape.ragged.filling import (
    ragged_fill_empty_rows as ragged_fill_empty_rows,
    ragged_fill_empty_rows_grad as ragged_fill_empty_rows_grad,
)
from gradtape.ragged.tensor import (
    RaggedTensor as RaggedTensor,
    RaggedTensorSpec as RaggedTensorSpec,
)
from gradtape.sparse.arithmetic import (
    maximum as _sparse_maximum,
    minimum as _sparse_minimum,
    softmax as _sparse_softmax,
    sparse_dense_matmul as _sparse_tensor_dense_matmul,
)
from gradtape.sparse.conversion import (
    SparseTensor as SparseTensor,
    fill_empty_rows as _sparse_fill_empty_rows,
    mask as _sparse_mask,
    reorder as _sparse_reorder,
    retain as _sparse_retain,
    to_dense as _sparse_tensor_to_dense,
    to_indicator as _sparse_to_indicator,
)
from gradtape.sparse.shaping import (
    reset_shape as _sparse_reset_shape,
    reshape as _sparse_reshape,
    slice as _sparse_slice,
    transpose as _sparse_transpose,
)
from gradtape_tensorflow.graph_defs.importing import (
    import_graph_def as import_graph_def,
)
from gradtape_tensorflow.graph_defs.sessions import (
    InteractiveSession as InteractiveSession,
    Session as Session,
    get_default_session as get_default_session,
)
from gradtape_tensorflow.protos.tensors import (
    make_ndarray as make_ndarray,
    make_tensor_proto as make_tensor_proto,
)
from gradtape_tensorflow.v1.graph import (
    Dimension as Dimension,
    Print as Print,
    SparseTensorValue as SparseTensorValue,
    colocate_with as colocate_with,
    container as container,
    convert_to_tensor_or_indexed_slices as convert_to_tensor_or_indexed_slices,
    convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor,
    dimension_at_index as dimension_at_index,
    dimension_value as dimension_value,
    disable_control_flow_v2 as disable_control_flow_v2,
    disable_eager_execution as disable_eager_execution,
    disable_resource_variables as disable_resource_variables,
    disable_tensor_equality as disable_tensor_equality,
    disable_v2_behavior as disable_v2_behavior,
    disable_v2_tensorshape as disable_v2_tensorshape,
    enable_control_flow_v2 as enable_control_flow_v2,
    enable_eager_execution as enable_eager_execution,
    enable_resource_variables as enable_resource_variables,
    enable_tensor_equality as enable_tensor_equality,
    enable_v2_behavior as enable_v2_behavior,
    enable_v2_tensorshape as enable_v2_tensorshape,
    get_default_graph as get_default_graph,
    placeholder as placeholder,
    reset_default_graph as reset_default_graph,
    set_random_seed as set_random_seed,
    setdiff1d as setdiff1d,
    sparse_placeholder as sparse_placeholder,
)
from gradtape_tensorflow.v1.initializers.classes import (
    constant_initializer as constant_initializer,
    glorot_normal_initializer as glorot_normal_initializer,
    glorot_uniform_initializer as glorot_uniform_initializer,
    ones_initializer as ones_initializer,
    orthogonal_initializer as orthogonal_initializer,
    random_normal_initializer as random_normal_initializer,
    random_uniform_initializer as random_uniform_initializer,
    truncated_normal_initializer as truncated_normal_initializer,
    uniform_unit_scaling_initializer as uniform_unit_scaling_initializer,
    variance_scaling_initializer as variance_scaling_initializer,
    zeros_initializer as zeros_initializer,
)
from gradtape_tensorflow.v1.messages import (
    AttrValue as AttrValue,
    ConfigProto as ConfigProto,
    Event as Event,
    GPUOptions as GPUOptions,
    GraphDef as GraphDef,
    GraphOptions as GraphOptions,
    HistogramProto as HistogramProto,
    LogMessage as LogMessage,
    MetaGraphDef as MetaGraphDef,
    NameAttrList as NameAttrList,
    NodeDef as NodeDef,
    OptimizerOptions as OptimizerOptions,
    RunMetadata as RunMetadata,
    RunOptions as RunOptions,
    SessionLog as SessionLog,
    Summary as Summary,
    SummaryMetadata as SummaryMetadata,
    TensorInfo as TensorInfo,
)
from gradtape_tensorflow.v1.variables import (
    AUTO_REUSE as AUTO_REUSE,
    GraphKeys as GraphKeys,
    Variable as Variable,
    VariableScope as VariableScope,
    add_to_collection as add_to_collection,
    add_to_collections as add_to_collections,
    all_variables as all_variables,
    get_collection as get_collection,
    get_collection_ref as get_collection_ref,
    get_local_variable as get_local_variable,
    get_variable as get_variable,
    get_variable_scope as get_variable_scope,
    global_variables as global_variables,
    global_variables_initializer as global_variables_initializer,
    initialize_all_variables as initialize_all_variables,
    initialize_local_variables as initialize_local_variables,
    initialize_variables as initialize_variables,
    is_variable_initialized as is_variable_initialized,
    local_variables as local_variables,
    local_variables_initializer as local_variables_initializer,
    make_template as make_template,
    model_variables as model_variables,
    moving_average_variables as moving_average_variables,
    name_scope as name_scope,
    no_regularizer as no_regularizer,
    tables_initializer as tables_initializer,
    trainable_variables as trainable_variables,
    variable_scope as variable_scope,
    variables_initializer as variables_initializer,
)
from gradtape_tensorflow.v1.wrap_function import (
    wrap_function as wrap_function,
)
NoGradient = _NoGradient
NotDifferentiable = _NotDifferentiable
def arg_max(input: TensorLike, dimension: AxisLike | None, output_type: DTypeLike = ..., name: str | None = ...) -> Tensor: ...
def arg_min(input: TensorLike, dimension: AxisLike | None, output_type: DTypeLike = ..., name: str | None = ...) -> Tensor: ...
def argmax(input: TensorLike, axis: AxisLike | None = ..., name: str | None = ..., dimension: AxisLike | None = ..., output_type: DTypeLike = ...) -> Tensor: ...
def argmin(input: TensorLike, axis: AxisLike | None = ..., name: str | None = ..., dimension: AxisLike | None = ..., output_type: DTypeLike = ...) -> Tensor: ...
def assert_equal(x: ValueLike, y: ValueLike, data: Any = ..., summarize: int | None = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_greater(x: TensorLike, y: TensorLike, data: Any = ..., summarize: int | None = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_greater_equal(x: TensorLike, y: TensorLike, data: Any = ..., summarize: int | None = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_less(x: TensorLike, y: TensorLike, data: Any = ..., summarize: int | None = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_less_equal(x: TensorLike, y: TensorLike, data: Any = ..., summarize: int | None = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_near(x: TensorLike, y: TensorLike, rtol: TensorLike | None = ..., atol: TensorLike | None = ..., data: Any = ..., summarize: int | None = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_negative(x: TensorLike, data: Any = ..., summarize: int | None = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_non_negative(x: TensorLike, data: Any = ..., summarize: int | None = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_non_positive(x: TensorLike, data: Any = ..., summarize: int | None = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_none_equal(x: ValueLike, y: ValueLike, data: Any = ..., summarize: int | None = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_positive(x: TensorLike, data: Any = ..., summarize: int | None = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_rank(x: ValueLike, rank: TensorLike, data: Any = ..., summarize: Any = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_rank_at_least(x: ValueLike, rank: TensorLike, data: Any = ..., summarize: Any = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_rank_in(x: ValueLike, ranks: Sequence[TensorLike], data: Any = ..., summarize: Any = ..., message: str | None = ..., name: str | None = ...) -> None: ...
def assert_scalar(tensor: ValueLike, name: str | None = ..., message: str | None = ...) -> None: ...
def assign(ref: Any, value: Any, validate_shape: Any = ..., use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
def assign_add(ref: Any, value: Any, use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
def assign_sub(ref: Any, value: Any, use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
def batch_gather(params: ValueLike, indices: TensorLike, name: str | None = ...) -> Tensor: ...
def batch_scatter_update(ref: Any, indices: Any, updates: Any, use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
def batch_to_space(input: TensorLike, crops: TensorLike, block_size: Any, name: str | None = ..., block_shape: Any = ...) -> Tensor: ...
batch_to_space_nd = _batch_to_space_nd
def bincount(arr: TensorLike, weights: TensorLike | None = ..., minlength: TensorLike | None = ..., maxlength: TensorLike | None = ..., dtype: DTypeLike = ...) -> Tensor: ...
def boolean_mask(tensor: ValueLike, mask: TensorLike, name: str | None = ..., axis: AxisLike | None = ...) -> Tensor: ...
def clip_by_average_norm(t: ValueLike, clip_norm: TensorLike, name: str | None = ...) -> Tensor: ...
def cond(pred: TensorLike, true_fn: Any = ..., false_fn: Any = ..., strict: Any = ..., name: str | None = ..., fn1: Any = ..., fn2: Any = ...) -> Any: ...
def confusion_matrix(labels: TensorLike, predictions: TensorLike, num_classes: TensorLike | None = ..., dtype: DTypeLike = ..., name: str | None = ..., weights: TensorLike | None = ...) -> Tensor: ...
def constant(value: Any, dtype: Any = ..., shape: Any = ..., name: str | None = ..., verify_shape: builtins.bool = ...) -> Tensor: ...
def control_flow_v2_enabled() -> builtins.bool: ...
def convert_to_tensor(value: ValueLike, dtype: DTypeLike | None = ..., name: str | None = ..., preferred_dtype: DTypeLike | None = ..., dtype_hint: DTypeLike | None = ...) -> Tensor: ...
def count_nonzero(input_tensor: TensorLike | None = ..., axis: AxisLike | None = ..., keepdims: builtins.bool | None = ..., dtype: DTypeLike = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: builtins.bool | None = ..., input: TensorLike | None = ...) -> Tensor: ...
def decode_csv(records: StringLike, record_defaults: Any, field_delim: str = ..., use_quote_delim: builtins.bool = ..., name: str | None = ..., na_value: str = ..., select_cols: Any = ...) -> list[Tensor]: ...
def decode_raw(input_bytes: StringLike | None = ..., out_type: DTypeLike | None = ..., little_endian: builtins.bool = ..., name: str | None = ..., bytes: StringLike | None = ...) -> Tensor: ...
def depth_to_space(input: TensorLike, block_size: int, name: str | None = ..., data_format: str = ...) -> Tensor: ...
diag = _diag
diag_part = _diag_part
def div(x: ValueLike, y: TensorLike, name: str | None = ...) -> Tensor: ...
div_no_nan = _div_no_nan
def executing_eagerly_outside_functions() -> builtins.bool: ...
def expand_dims(input: ValueLike, axis: AxisLike | None = ..., name: str | None = ..., dim: AxisLike | None = ...) -> Tensor: ...
def extract_image_patches(images: TensorLike, ksizes: SizesLike | None = ..., strides: SizesLike | None = ..., rates: SizesLike | None = ..., padding: str | None = ..., name: str | None = ..., sizes: SizesLike | None = ...) -> Tensor: ...
floor_div = _floor_div
def gather(params: ValueLike, indices: TensorLike, validate_indices: Any = ..., name: str | None = ..., axis: AxisLike | None = ..., batch_dims: int | None = ...) -> Tensor: ...
def gather_nd(params: ValueLike, indices: TensorLike, name: str | None = ..., batch_dims: int = ..., bad_indices_policy: str = ...) -> Tensor: ...
def get_seed(op_seed: int | None) -> builtins.tuple[int | None, int | None]: ...
def gradients(ys: Any, xs: Any, grad_ys: Any = ..., name: str | None = ..., colocate_gradients_with_ops: Any = ..., gate_gradients: builtins.bool = ..., aggregation_method: Any = ..., stop_gradients: Any = ..., unconnected_gradients: Any = ...) -> list[Tensor | IndexedSlices | None]: ...
def hessians(ys: Any, xs: Any, name: str | None = ..., colocate_gradients_with_ops: Any = ..., gate_gradients: builtins.bool = ..., aggregation_method: Any = ...) -> list[Tensor]: ...
def lin_space(start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = ..., axis: int = ...) -> Tensor: ...
matrix_band_part = _matrix_band_part
matrix_determinant = _matrix_determinant
def matrix_diag(diagonal: TensorLike, name: str | None = ..., k: TensorLike = ..., num_rows: TensorLike = ..., num_cols: TensorLike = ..., padding_value: TensorLike = ..., align: str = ...) -> Tensor: ...
def matrix_diag_part(input: TensorLike, name: str | None = ..., k: TensorLike = ..., padding_value: TensorLike = ..., align: str = ...) -> Tensor: ...
matrix_inverse = _matrix_inverse
def matrix_set_diag(input: TensorLike, diagonal: TensorLike, name: str | None = ..., k: TensorLike = ..., align: str = ...) -> Tensor: ...
matrix_solve = _matrix_solve
matrix_solve_ls = _matrix_solve_ls
matrix_square_root = _matrix_square_root
def matrix_transpose(a: TensorLike, name: str | None = ..., conjugate: builtins.bool = ...) -> Tensor: ...
matrix_triangular_solve = _matrix_triangular_solve
mod = _mod
def multinomial(logits: TensorLike, num_samples: TensorLike, seed: int | None = ..., name: str | None = ..., output_dtype: DTypeLike | None = ...) -> Tensor: ...
def norm(tensor: TensorLike, ord: str | float = ..., axis: AxisLike | None = ..., keepdims: builtins.bool | None = ..., name: str | None = ..., keep_dims: builtins.bool | None = ...) -> Tensor: ...
def ones_like(tensor: ValueLike, dtype: DTypeLike | None = ..., name: str | None = ..., optimize: Any = ...) -> Tensor: ...
def pad(tensor: ValueLike, paddings: TensorLike, mode: str = ..., name: str | None = ..., constant_values: ValueLike = ...) -> Tensor: ...
def parse_example(serialized: StringLike, features: Any, name: str | None = ..., example_names: StringLike | None = ...) -> Any: ...
def parse_single_example(serialized: StringLike, features: Any, name: str | None = ..., example_names: StringLike | None = ...) -> Any: ...
def placeholder_with_default(input: ValueLike, shape: Any, name: str | None = ...) -> Tensor: ...
def py_func(func: Any, inp: Any, Tout: Any, stateful: Any = ..., name: str | None = ...) -> Any: ...
random_gamma = _random_gamma
random_normal = _random_normal
def random_poisson(lam: TensorLike, shape: ShapeLike, dtype: DTypeLike = ..., seed: int | None = ..., name: str | None = ...) -> Tensor: ...
random_shuffle = _random_shuffle
random_uniform = _random_uniform
def reduce_all(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_any(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_join(inputs: StringLike, axis: AxisLike | None = ..., keep_dims: Any = ..., separator: str = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keepdims: Any = ...) -> Tensor: ...
def reduce_logsumexp(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_max(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_mean(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_min(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_prod(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def reduce_sum(input_tensor: TensorLike, axis: AxisLike | None = ..., keepdims: Any = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keep_dims: Any = ...) -> Tensor: ...
def resource_variables_enabled() -> builtins.bool: ...
def reverse_sequence(input: ValueLike, seq_lengths: TensorLike, seq_axis: int | None = ..., batch_axis: int | None = ..., name: str | None = ..., seq_dim: int | None = ..., batch_dim: int | None = ...) -> Tensor: ...
reverse_v2 = _reverse_v2
def scatter_add(ref: Any, indices: Any, updates: Any, use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
def scatter_div(ref: Any, indices: Any, updates: Any, use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
def scatter_max(ref: Any, indices: Any, updates: Any, use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
def scatter_min(ref: Any, indices: Any, updates: Any, use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
def scatter_mul(ref: Any, indices: Any, updates: Any, use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
def scatter_nd_add(ref: Any, indices: Any, updates: Any, use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
def scatter_nd_sub(ref: Any, indices: Any, updates: Any, use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
def scatter_nd_update(ref: Any, indices: Any, updates: Any, use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
def scatter_sub(ref: Any, indices: Any, updates: Any, use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
def scatter_update(ref: Any, indices: Any, updates: Any, use_locking: Any = ..., name: str | None = ...) -> _Variable: ...
self_adjoint_eig = _self_adjoint_eig
self_adjoint_eigvals = _self_adjoint_eigvals
def serialize_many_sparse(sp_input: Any, name: str | None = ..., out_type: DTypeLike = ...) -> Tensor: ...
def serialize_sparse(sp_input: Any, name: str | None = ..., out_type: DTypeLike = ...) -> Tensor: ...
def shape(input: ValueLike, name: str | None = ..., out_type: Any = ...) -> Tensor: ...
def size(input: ValueLike, name: str | None = ..., out_type: Any = ...) -> Tensor: ...
def space_to_batch(input: TensorLike, paddings: TensorLike, block_size: Any = ..., name: str | None = ..., block_shape: Any = ...) -> Tensor: ...
def space_to_depth(input: TensorLike, block_size: int, name: str | None = ..., data_format: str = ...) -> Tensor: ...
def sparse_add(a: TensorLike, b: TensorLike, threshold: TensorLike | None = ..., thresh: TensorLike | None = ...) -> Tensor: ...
def sparse_concat(axis: TensorLike | None, sp_inputs: Any, name: str | None = ..., expand_nonconcat_dim: Any = ..., concat_dim: TensorLike | None = ..., expand_nonconcat_dims: builtins.bool | None = ...) -> SparseTensor: ...
sparse_fill_empty_rows = _sparse_fill_empty_rows
sparse_mask = _sparse_mask
sparse_maximum = _sparse_maximum
def sparse_merge(sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = ..., already_sorted: builtins.bool = ...) -> SparseTensor: ...
sparse_minimum = _sparse_minimum
def sparse_reduce_max(sp_input: Any, axis: AxisLike | None = ..., keepdims: builtins.bool | None = ..., reduction_axes: AxisLike | None = ..., keep_dims: builtins.bool | None = ...) -> Tensor | SparseTensor: ...
def sparse_reduce_max_sparse(sp_input: Any, axis: AxisLike | None = ..., keepdims: builtins.bool | None = ..., reduction_axes: AxisLike | None = ..., keep_dims: builtins.bool | None = ...) -> Tensor | SparseTensor: ...
def sparse_reduce_sum(sp_input: Any, axis: AxisLike | None = ..., keepdims: builtins.bool | None = ..., reduction_axes: AxisLike | None = ..., keep_dims: builtins.bool | None = ...) -> Tensor | SparseTensor: ...
def sparse_reduce_sum_sparse(sp_input: Any, axis: AxisLike | None = ..., keepdims: builtins.bool | None = ..., reduction_axes: AxisLike | None = ..., keep_dims: builtins.bool | None = ...) -> Tensor | SparseTensor: ...
sparse_reorder = _sparse_reorder
sparse_reset_shape = _sparse_reset_shape
sparse_reshape = _sparse_reshape
sparse_retain = _sparse_retain
def sparse_segment_mean(data: TensorLike, indices: TensorLike, segment_ids: TensorLike, name: str | None = ..., num_segments: TensorLike | None = ..., sparse_gradient: builtins.bool = ...) -> Tensor: ...
def sparse_segment_sqrt_n(data: TensorLike, indices: TensorLike, segment_ids: TensorLike, name: str | None = ..., num_segments: TensorLike | None = ..., sparse_gradient: builtins.bool = ...) -> Tensor: ...
def sparse_segment_sum(data: TensorLike, indices: TensorLike, segment_ids: TensorLike, name: str | None = ..., num_segments: TensorLike | None = ..., sparse_gradient: builtins.bool = ...) -> Tensor: ...
sparse_slice = _sparse_slice
sparse_softmax = _sparse_softmax
def sparse_split(keyword_required: Any = ..., sp_input: Any = ..., num_split: Any = ..., axis: Any = ..., name: str | None = ..., split_dim: Any = ...) -> list[SparseTensor]: ...
sparse_tensor_dense_matmul = _sparse_tensor_dense_matmul
sparse_tensor_to_dense = _sparse_tensor_to_dense
def sparse_to_dense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = ..., validate_indices: builtins.bool = ..., name: str | None = ...) -> Tensor: ...
sparse_to_indicator = _sparse_to_indicator
sparse_transpose = _sparse_transpose
def squeeze(input: ValueLike, axis: AxisLike | None = ..., name: str | None = ..., squeeze_dims: AxisLike | None = ...) -> Tensor: ...
string_join = _string_join
def string_split(source: Any, sep: Any = ..., skip_empty: builtins.bool = ..., delimiter: Any = ..., result_type: str = ..., name: str | None = ...) -> Any: ...
string_strip = _string_strip
def string_to_hash_bucket(string_tensor: StringLike | None = ..., num_buckets: int | None = ..., name: str | None = ..., input: StringLike | None = ...) -> Tensor: ...
string_to_hash_bucket_fast = _string_to_hash_bucket_fast
string_to_hash_bucket_strong = _string_to_hash_bucket_strong
def string_to_number(string_tensor: StringLike | None = ..., out_type: DTypeLike = ..., name: str | None = ..., input: StringLike | None = ...) -> Tensor: ...
def substr(input: StringLike, pos: TensorLike, len: TensorLike, name: str | None = ..., unit: str = ...) -> Tensor: ...
def tensor_scatter_add(tensor: ValueLike, indices: TensorLike, updates: ValueLike, name: str | None = ...) -> Tensor: ...
def tensor_scatter_sub(tensor: ValueLike, indices: TensorLike, updates: ValueLike, name: str | None = ...) -> Tensor: ...
tensor_scatter_update = _tensor_scatter_update
def to_bfloat16(x: ValueLike, name: str | None = ...) -> Tensor: ...
def to_complex128(x: ValueLike, name: str | None = ...) -> Tensor: ...
def to_complex64(x: ValueLike, name: str | None = ...) -> Tensor: ...
def to_double(x: ValueLike, name: str | None = ...) -> Tensor: ...
def to_float(x: ValueLike, name: str | None = ...) -> Tensor: ...
def to_int32(x: ValueLike, name: str | None = ...) -> Tensor: ...
def to_int64(x: ValueLike, name: str | None = ...) -> Tensor: ...
def transpose(a: ValueLike, perm: TensorLike | None = ..., name: str | None = ..., conjugate: builtins.bool = ...) -> Tensor: ...
def tuple(tensors: Any, name: str | None = ..., control_inputs: Any = ...) -> Any: ...
def verify_tensor_all_finite(t: TensorLike | None = ..., msg: str | None = ..., name: str | None = ..., x: TensorLike | None = ..., message: str | None = ...) -> Tensor: ...
def where(condition: TensorLike, x: Any = ..., y: Any = ..., name: str | None = ...) -> Tensor: ...
where_v2 = _where_v2
def while_loop(cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = ..., parallel_iterations: int = ..., back_prop: builtins.bool = ..., swap_memory: builtins.bool = ..., name: str | None = ..., maximum_iterations: Any = ..., return_same_structure: builtins.bool = ...) -> Any: ...
def zeros_like(tensor: ValueLike, dtype: DTypeLike | None = ..., name: str | None = ..., optimize: Any = ...) -> Tensor: ...
