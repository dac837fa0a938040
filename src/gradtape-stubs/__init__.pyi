# Written by tools/write_stubs.py.
from gradtape.core.type_hints import TensorLike
from gradtape import audio as audio
from gradtape import autodiff as autodiff
from gradtape import autograph as autograph
from gradtape import bitwise as bitwise
from gradtape import compat as compat
from gradtape import config as config
from gradtape import data as data
from gradtape import debugging as debugging
from gradtape import distribute as distribute
from gradtape import dtypes as dtypes
from gradtape import errors as errors
from gradtape import experimental as experimental
from gradtape import feature_column as feature_column
from gradtape import graph_util as graph_util
from gradtape import image as image
from gradtape import io as io
from gradtape import linalg as linalg
from gradtape import lite as lite
from gradtape import lookup as lookup
from gradtape import math as math
from gradtape import nest as nest
from gradtape import nn as nn
from gradtape import profiler as profiler
from gradtape import quantization as quantization
from gradtape import ragged as ragged
from gradtape import random as random
from gradtape import raw_ops as raw_ops
from gradtape import saved_model as saved_model
from gradtape import sets as sets
from gradtape import signal as signal
from gradtape import sparse as sparse
from gradtape import strings as strings
from gradtape import summary as summary
from gradtape import sysconfig as sysconfig
from gradtape import test as test
from gradtape import tpu as tpu
from gradtape import train as train
from gradtape import types as types
from gradtape import version as version
from gradtape import xla as xla
from gradtape import extend as extend
from gradtape import inspect as inspect
from gradtape import keras as keras
from gradtape.keras import initializers as initializers, losses as losses, metrics as metrics, optimizers as optimizers
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
    constant as constant,
    convert_to_tensor as convert_to_tensor,
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
    ones_like as ones_like,
    range as range,
    zeros as zeros,
    zeros_like as zeros_like,
)
from gradtape.api.arrays.indexing import (
    boolean_mask as boolean_mask,
    gather as gather,
    gather_nd as gather_nd,
    scatter_nd as scatter_nd,
    sequence_mask as sequence_mask,
    tensor_scatter_nd_add as tensor_scatter_nd_add,
    tensor_scatter_nd_max as tensor_scatter_nd_max,
    tensor_scatter_nd_min as tensor_scatter_nd_min,
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
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
    expand_dims as expand_dims,
    guarantee_const as guarantee_const,
    identity as identity,
    identity_n as identity_n,
    rank as rank,
    reshape as reshape,
    shape as shape,
    shape_n as shape_n,
    size as size,
    squeeze as squeeze,
    transpose as transpose,
)
from gradtape.api.arrays.slicing import (
    batch_to_space as batch_to_space,
    extract_volume_patches as extract_volume_patches,
    pad as pad,
    required_space_to_batch_paddings as required_space_to_batch_paddings,
    reverse as reverse,
    reverse_sequence as reverse_sequence,
    roll as roll,
    slice as slice,
    space_to_batch as space_to_batch,
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
    Variable as Variable,
    VariableAggregation as VariableAggregation,
    VariableSynchronization as VariableSynchronization,
    get_current_name_scope as get_current_name_scope,
    name_scope as name_scope,
    newaxis as newaxis,
    type_spec_from_value as type_spec_from_value,
    variable_creator_scope as variable_creator_scope,
)
from gradtape.api.control.autodiff import (
    GradientTape as GradientTape,
    UnconnectedGradients as UnconnectedGradients,
    gradients as gradients,
    hessians as hessians,
)
from gradtape.api.control.control_flow import (
    case as case,
    cond as cond,
    switch_case as switch_case,
    while_loop as while_loop,
)
from gradtape.api.control.critical_section import (
    CriticalSection as CriticalSection,
    nondifferentiable_batch_function as nondifferentiable_batch_function,
)
from gradtape.api.control.custom_gradient import (
    RegisterGradient as RegisterGradient,
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
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
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_less as assert_less,
)
from gradtape.api.debugging.recordings import (
    load_tape as load_tape,
)
from gradtape.api.debugging.shape_checks import (
    assert_rank as assert_rank,
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
from gradtape.api.experimental.numpy.on_tape import (
    numpy_on_tape as numpy_on_tape,
)
from gradtape.api.linalg.decompositions import (
    eig as eig,
    eigvals as eigvals,
    sqrtm as _matrix_square_root,
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
)
from gradtape.api.math.complex import (
    complex as complex,
)
from gradtape.api.math.contraction import (
    einsum as einsum,
    matmul as matmul,
    tensordot as tensordot,
)
from gradtape.api.math.elementwise import (
    add_n as add_n,
    round as round,
    scalar_mul as scalar_mul,
    where as where,
)
from gradtape.api.math.reductions import (
    norm as norm,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_logsumexp as reduce_logsumexp,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
)
from gradtape.api.math.scans import (
    cumsum as cumsum,
)
from gradtape.api.math.segments import (
    dynamic_partition as dynamic_partition,
    dynamic_stitch as dynamic_stitch,
)
from gradtape.api.math.sorting import (
    approx_top_k as approx_top_k,
    argmax as argmax,
    argmin as argmin,
    argsort as argsort,
    searchsorted as searchsorted,
    sort as sort,
)
from gradtape.api.nn.backward import (
    conv as conv,
    conv2d_backprop_filter_v2 as conv2d_backprop_filter_v2,
    conv2d_backprop_input_v2 as conv2d_backprop_input_v2,
)
from gradtape.api.nn.initializers import (
    constant_initializer as constant_initializer,
    ones_initializer as ones_initializer,
    random_normal_initializer as random_normal_initializer,
    random_uniform_initializer as random_uniform_initializer,
    zeros_initializer as zeros_initializer,
)
from gradtape.api.random.permutations import (
    random_index_shuffle as random_index_shuffle,
)
from gradtape.api.random.reseeding import (
    reseed_after_fork as reseed_after_fork,
)
from gradtape.api.runtime.devices import (
    DeviceSpec as DeviceSpec,
    device as device,
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
    tuple as tuple,
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
)
from gradtape.api.strings.strings import (
    as_string as as_string,
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
    cos as cos,
    cosh as cosh,
    divide as divide,
    equal as equal,
    exp as exp,
    floor as floor,
    greater as greater,
    greater_equal as greater_equal,
    less as less,
    less_equal as less_equal,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    negative as negative,
    not_equal as not_equal,
    pow as pow,
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
)
from gradtape.ragged.filling import (
    ragged_fill_empty_rows as ragged_fill_empty_rows,
    ragged_fill_empty_rows_grad as ragged_fill_empty_rows_grad,
)
from gradtape.ragged.tensor import (
    RaggedTensor as RaggedTensor,
    RaggedTensorSpec as RaggedTensorSpec,
)
from gradtape.sparse.conversion import (
    SparseTensor as SparseTensor,
)
from gradtape_tensorflow.graph_defs.importing import (
    import_graph_def as import_graph_def,
)
from gradtape_tensorflow.protos.tensors import (
    make_ndarray as make_ndarray,
    make_tensor_proto as make_tensor_proto,
)
matrix_square_root = _matrix_square_root
def realdiv(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""The quotient of real numbers: `z = x / y`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; `x`, `y` and the result have the same one, but `int8`, `int16`, `uint8` and `uint16` give `float32` and `int32`, `int64`, `uint32` and `uint64` give `float64`.
    - Derivative: `∂z/∂x = 1 / y`, `∂z/∂y = -z / y`.

    >>> tf.realdiv([7.0, 8.0], 2.0).numpy()
    array([3.5, 4. ], dtype=float32)
    """
def truncatediv(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""The quotient rounded toward 0: `z = trunc(x / y)`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; `x`, `y` and the result have the same one.
    - Derivative: none; gradients are `None`.

    >>> tf.truncatediv([7, -7], 2).numpy()
    array([ 3, -3], dtype=int32)
    """
def truncatemod(x: TensorLike, y: TensorLike, name: str | None = ...) -> Tensor:
    r"""The remainder of `truncatediv`, which has the sign of `x`: `z = x - y * trunc(x / y)`.

    - Shape: `x` and `y` broadcast.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64` (TensorFlow does not take `int8`, `int16`, `uint8`, `uint16`, `uint32` and `uint64`); `x`, `y` and the result have the same one.
    - Derivative: `∂z/∂x = 1`, `∂z/∂y = -trunc(x / y)`.

    >>> tf.truncatemod([7, -7], 3).numpy()
    array([ 1, -1], dtype=int32)
    """
__gradtape_version__: str
__version__: str
__git_version__: str
__compiler_version__: str
__cxx11_abi_flag__: int
__cxx_version__: int
__monolithic_build__: int
import sys
if sys.platform == "jedi":
    del (
        __main__,
        annotations,
        api,
        backends,
        checkpoint,
        cli,
        core,
        engine,
        graph,
        load_ipython_extension,
        ops,
        shipped,
        state,
    )
