"""The table of `tf.raw_ops`: ops, their parameters in TensorFlow, and the functions that implement them.

A line is `Name(parameters) -> outputs = function`. A function is called with the parameters in order; text with a
parenthesis is an expression over the parameters, with `tf` for the API and the helpers of `made.py`. Several outputs
form a named tuple. A line that starts with parameters lists ops that share them: `Name=function ...`.
"""

TABLE = """\
(x) Abs=math.abs Acos=math.acos Acosh=math.acosh Asin=math.asin Asinh=math.asinh Atan=math.atan Atanh=math.atanh
    BesselI0=math.special.bessel_i0 BesselI0e=math.special.bessel_i0e BesselI1=math.special.bessel_i1
    BesselI1e=math.special.bessel_i1e BesselJ0=math.special.bessel_j0 BesselJ1=math.special.bessel_j1
    BesselK0=math.special.bessel_k0 BesselK0e=math.special.bessel_k0e BesselK1=math.special.bessel_k1
    BesselK1e=math.special.bessel_k1e BesselY0=math.special.bessel_y0 BesselY1=math.special.bessel_y1 Ceil=math.ceil
    Cos=math.cos Cosh=math.cosh Dawsn=math.special.dawsn DeepCopy=identity Digamma=math.digamma Erf=math.erf
    Erfc=math.erfc Erfinv=math.erfinv Exp=math.exp Expint=math.special.expint Expm1=math.expm1 Floor=math.floor
    FresnelCos=math.special.fresnel_cos FresnelSin=math.special.fresnel_sin Inv=math.reciprocal
    Invert=bitwise.invert InvertPermutation=math.invert_permutation IsFinite=math.is_finite IsInf=math.is_inf
    IsNan=math.is_nan Lgamma=math.lgamma Log=math.log Log1p=math.log1p LogicalNot=math.logical_not Ndtri=math.ndtri
    Neg=math.negative OnesLike=ones_like Reciprocal=math.reciprocal Rint=math.rint Round=math.round Rsqrt=math.rsqrt
    Sigmoid=math.sigmoid Sign=math.sign Sin=math.sin Sinh=math.sinh Spence=math.special.spence Sqrt=math.sqrt
    Square=math.square Tan=math.tan Tanh=math.tanh ZerosLike=zeros_like
(x, y) Add=math.add AddV2=math.add BitwiseAnd=bitwise.bitwise_and BitwiseOr=bitwise.bitwise_or
    BitwiseXor=bitwise.bitwise_xor DivNoNan=math.divide_no_nan FloorDiv=math.floordiv FloorMod=math.floormod
    Greater=math.greater GreaterEqual=math.greater_equal LeftShift=bitwise.left_shift Less=math.less
    LessEqual=math.less_equal LogicalAnd=math.logical_and LogicalOr=math.logical_or Maximum=math.maximum
    Minimum=math.minimum Mod=truncatemod Mul=math.multiply MulNoNan=math.multiply_no_nan Pow=math.pow
    RealDiv=realdiv RightShift=bitwise.right_shift SquaredDifference=math.squared_difference Sub=math.subtract
    TruncateDiv=truncatediv TruncateMod=truncatemod Xdivy=math.xdivy Xlog1py=math.xlog1py Xlogy=math.xlogy
(a, x) Igamma=math.igamma Igammac=math.igammac Polygamma=math.polygamma
IgammaGradA(a, x) = vjp(lambda b: tf.math.igamma(b, x), tf.add(a, tf.zeros_like(x)), tf.ones_like(tf.add(a, x)))
RandomGammaGrad(alpha, sample) = gamma_derivative(alpha, sample)
BlockLSTMV2(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, cell_clip=0, use_peephole=False) ->
    i, cs, f, o, ci, co, h = block_lstm(seq_len_max, x, cs_prev, h_prev, w, (wci, wcf, wco) if use_peephole else None,
    b, cell_clip)
BroadcastGradientArgs(s0, s1) -> r0, r1 = stretched_axes(s0, s1)
(features) Elu=nn.elu Relu=nn.relu Relu6=nn.relu6 Selu=nn.selu Softplus=math.softplus Softsign=math.softsign
(logits) LogSoftmax=nn.log_softmax Softmax=nn.softmax
(input, axis, keep_dims=False) All=math.reduce_all Any=math.reduce_any EuclideanNorm=math.reduce_euclidean_norm
    Max=math.reduce_max Mean=math.reduce_mean Min=math.reduce_min Prod=math.reduce_prod Sum=math.reduce_sum
(x, axis, exclusive=False, reverse=False) Cumprod=math.cumprod Cumsum=math.cumsum
    CumulativeLogsumexp=math.cumulative_logsumexp
(input, dimension, output_type=int64) ArgMax=math.argmax ArgMin=math.argmin
(gradients, features) Relu6Grad=vjp.nn.relu6 ReluGrad=vjp.nn.relu SoftplusGrad=vjp.nn.softplus
    SoftsignGrad=vjp.nn.softsign
Angle(input, Tout=float32) = tf.math.angle(input)
ApproximateEqual(x, y, tolerance=1e-05) = tf.less(tf.abs(tf.subtract(x, y)), tolerance)
Atan2(y, x) = math.atan2
Betainc(a, b, x) = math.betainc
Cast(x, DstT, Truncate=False) = tf.cast(x, DstT)
ClipByValue(t, clip_value_min, clip_value_max) = clip_by_value
Complex(real, imag, Tout=complex64) = tf.complex(real, imag)
ComplexAbs(x, Tout=float32) = tf.abs(x)
Conj(input) = math.conj
Div(x, y) = (tf.truncatediv if tf.convert_to_tensor(x).dtype.is_integer else tf.realdiv)(x, y)
Equal(x, y, incompatible_shape_error=True) = tf.equal(x, y)
Imag(input, Tout=float32) = tf.math.imag(input)
NextAfter(x1, x2) = math.nextafter
NotEqual(x, y, incompatible_shape_error=True) = tf.not_equal(x, y)
Real(input, Tout=float32) = tf.math.real(input)
Zeta(x, q) = math.zeta
AddN(inputs) = math.add_n
EluGrad(gradients, outputs) = tf.where(tf.less(outputs, 0), tf.multiply(gradients, tf.add(outputs, 1)), gradients)
InvGrad(y, dy) = tf.negative(tf.multiply(dy, tf.square(y)))
LeakyRelu(features, alpha=0.2) = nn.leaky_relu
LeakyReluGrad(gradients, features, alpha=0.2) = vjp(lambda x: tf.nn.leaky_relu(x, alpha), features, gradients)
ReciprocalGrad(y, dy) = tf.negative(tf.multiply(dy, tf.square(y)))
RsqrtGrad(y, dy) = tf.multiply(tf.multiply(dy, -0.5), tf.pow(y, 3))
SeluGrad(gradients, outputs) = tf.multiply(gradients, tf.where(tf.less(outputs, 0), tf.add(outputs, SELU),
    SELU_SCALE))
SigmoidGrad(y, dy) = tf.multiply(dy, tf.multiply(y, tf.subtract(1.0, y)))
SqrtGrad(y, dy) = tf.divide(tf.multiply(dy, 0.5), y)
TanhGrad(y, dy) = tf.multiply(dy, tf.subtract(1.0, tf.square(y)))
BatchToSpace(input, crops, block_size) = tf.batch_to_space(input, [block_size, block_size], crops)
BatchToSpaceND(input, block_shape, crops) = batch_to_space
Bitcast(input, type) = bitcast
BroadcastArgs(s0, s1) = broadcast_dynamic_shape
BroadcastTo(input, shape) = broadcast_to
Bucketize(input, boundaries) = bucketized(input, boundaries)
CheckNumerics(tensor, message) = debugging.check_numerics
CheckNumericsV2(tensor, message) = debugging.check_numerics
Concat(concat_dim, values) = tf.concat(values, concat_dim)
ConcatV2(values, axis) = concat
ConjugateTranspose(x, perm) = tf.transpose(tf.math.conj(x), perm)
Const(value, dtype) = constant
Copy(input, tensor_name='', debug_ops_spec=[]) = tf.identity(input)
DepthToSpace(input, block_size, data_format='NHWC') = nn.depth_to_space
Diag(diagonal) = linalg.tensor_diag
DiagPart(input) = linalg.tensor_diag_part
DynamicPartition(data, partitions, num_partitions) = dynamic_partition
DynamicStitch(indices, data) = dynamic_stitch
Empty(shape, dtype, init=False) = tf.zeros(shape, dtype)
EnsureShape(input, shape) = ensure_shape
ExpandDims(input, axis) = expand_dims
ExtractImagePatches(images, ksizes, strides, rates, padding) = image.extract_patches
ExtractVolumePatches(input, ksizes, strides, padding) = extract_volume_patches
Fill(dims, value) = fill
Gather(params, indices, validate_indices=True) = tf.gather(params, indices)
GatherNd(params, indices, bad_indices_policy='') = tf.gather_nd(params, indices)
GatherV2(params, indices, axis, batch_dims=0) = tf.gather(params, indices, axis=axis, batch_dims=batch_dims)
GuaranteeConst(input) = identity
HistogramFixedWidth(values, value_range, nbins, dtype=int32) = histogram_fixed_width
Identity(input) = identity
IdentityN(input) = identity_n
InplaceAdd(x, i, v) = tf.tensor_scatter_nd_add(x, tf.expand_dims(i, -1), v)
InplaceSub(x, i, v) = tf.tensor_scatter_nd_sub(x, tf.expand_dims(i, -1), v)
InplaceUpdate(x, i, v) = tf.tensor_scatter_nd_update(x, tf.expand_dims(i, -1), v)
InTopK(predictions, targets, k) = tf.math.in_top_k(targets, predictions, k)
InTopKV2(predictions, targets, k) = tf.math.in_top_k(targets, predictions, k)
LinSpace(start, stop, num) = linspace
LowerBound(sorted_inputs, values, out_type=int32) = tf.searchsorted(sorted_inputs, values, 'left', out_type)
MirrorPad(input, paddings, mode) = tf.pad(input, paddings, text(mode))
MirrorPadGrad(input, paddings, mode) = vjp(lambda x: tf.pad(x, paddings, text(mode)), unpadded(input, paddings),
    input)
OneHot(indices, depth, on_value, off_value, axis=-1) = one_hot
Pack(values, axis=0) = stack
Pad(input, paddings) = pad
PadV2(input, paddings, constant_values) = tf.pad(input, paddings, 'CONSTANT', constant_values)
ParallelConcat(values, shape) = tf.concat(values, 0)
ParallelDynamicStitch(indices, data) = dynamic_stitch
PlaceholderWithDefault(input, shape) = tf.identity(input)
PreventGradient(input, message='') = prevented(input, message)
Range(start, limit, delta) = range
Rank(input) = rank
Reshape(tensor, shape) = reshape
Reverse(tensor, dims) = tf.reverse(tensor, [i for i, chosen in enumerate(values(dims)) if chosen])
ReverseSequence(input, seq_lengths, seq_dim, batch_dim=0) = reverse_sequence
ReverseV2(tensor, axis) = reverse
Roll(input, shift, axis) = roll
ScatterNd(indices, updates, shape, bad_indices_policy='') = tf.scatter_nd(indices, updates, shape)
ScatterNdNonAliasingAdd(input, indices, updates, bad_indices_policy='') = tf.tensor_scatter_nd_add(input, indices,
    updates)
Select(condition, x, y) = row_select
SelectV2(condition, t, e) = where
Shape(input, out_type=int32) = shape
ShapeN(input, out_type=int32) = shape_n
Size(input, out_type=int32) = size
Slice(input, begin, size) = slice
Snapshot(input) = identity
SpaceToBatch(input, paddings, block_size) = tf.space_to_batch(input, [block_size, block_size], paddings)
SpaceToBatchND(input, block_shape, paddings) = space_to_batch
SpaceToDepth(input, block_size, data_format='NHWC') = nn.space_to_depth
Split(axis, value, num_split) = tf.split(value, num_split, axis)
SplitV(value, size_splits, axis, num_split) = tf.split(value, size_splits, axis, num_split)
Squeeze(input, axis=[]) = tf.squeeze(input, axis or None)
StopGradient(input) = stop_gradient
StridedSlice(input, begin, end, strides, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
    shrink_axis_mask=0) = strided_slice
StridedSliceGrad(shape, begin, end, strides, dy, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
    shrink_axis_mask=0) = vjp(lambda x: tf.strided_slice(x, begin, end, strides, begin_mask, end_mask,
    ellipsis_mask, new_axis_mask, shrink_axis_mask), zeros(shape, dy), dy)
TensorScatterAdd(tensor, indices, updates, bad_indices_policy='') = tf.tensor_scatter_nd_add(tensor, indices, updates)
TensorScatterMax(tensor, indices, updates, bad_indices_policy='') = tf.tensor_scatter_nd_max(tensor, indices, updates)
TensorScatterMin(tensor, indices, updates, bad_indices_policy='') = tf.tensor_scatter_nd_min(tensor, indices, updates)
TensorScatterSub(tensor, indices, updates, bad_indices_policy='') = tf.tensor_scatter_nd_sub(tensor, indices, updates)
TensorScatterUpdate(tensor, indices, updates, bad_indices_policy='') = tf.tensor_scatter_nd_update(tensor, indices,
    updates)
Tile(input, multiples) = tile
Transpose(x, perm) = transpose
Unpack(value, num, axis=0) = unstack
UnravelIndex(indices, dims) = unravel_index
UpperBound(sorted_inputs, values, out_type=int32) = tf.searchsorted(sorted_inputs, values, 'right', out_type)
Where(condition) = where
TopKV2(input, k, sorted=True, index_type=int32) -> values, indices = tf.math.top_k(input, k, sorted, index_type)
Unique(x, out_idx=int32) -> y, idx = unique
UniqueWithCounts(x, out_idx=int32) -> y, idx, count = unique_with_counts
UniqueV2(x, axis, out_idx=int32) -> y, idx = unique_along(x, axis, out_idx)[:2]
UniqueWithCountsV2(x, axis, out_idx=int32) -> y, idx, count = unique_along(x, axis, out_idx)
BandedTriangularSolve(matrix, rhs, lower=True, adjoint=False) = linalg.banded_triangular_solve
BatchMatMul(x, y, adj_x=False, adj_y=False, grad_x=False, grad_y=False) = tf.matmul(x, y, adjoint_a=adj_x,
    adjoint_b=adj_y)
BatchMatMulV2(x, y, adj_x=False, adj_y=False, grad_x=False, grad_y=False) = tf.matmul(x, y, adjoint_a=adj_x,
    adjoint_b=adj_y)
BatchMatMulV3(x, y, Tout, adj_x=False, adj_y=False, grad_x=False, grad_y=False) = tf.matmul(x, y, adjoint_a=adj_x,
    adjoint_b=adj_y, output_type=Tout)
Cholesky(input) = linalg.cholesky
CholeskyGrad(l, grad) = vjp(tf.linalg.cholesky, tf.matmul(l, l, adjoint_b=True), grad)
Cross(a, b) = linalg.cross
Einsum(inputs, equation) = tf.einsum(text(equation), *inputs)
MatMul(a, b, transpose_a=False, transpose_b=False, grad_a=False, grad_b=False) = tf.matmul(a, b, transpose_a,
    transpose_b)
MatrixBandPart(input, num_lower, num_upper) = linalg.band_part
MatrixDeterminant(input) = linalg.det
MatrixDiag(diagonal) = linalg.diag
MatrixDiagPart(input) = linalg.diag_part
MatrixDiagPartV2(input, k, padding_value) = tf.linalg.diag_part(input, k=k, padding_value=padding_value,
    align='LEFT_LEFT')
MatrixDiagPartV3(input, k, padding_value, align='RIGHT_LEFT') = tf.linalg.diag_part(input, k=k,
    padding_value=padding_value, align=text(align))
MatrixDiagV2(diagonal, k, num_rows, num_cols, padding_value) = tf.linalg.diag(diagonal, k=k, num_rows=num_rows,
    num_cols=num_cols, padding_value=padding_value, align='LEFT_LEFT')
MatrixDiagV3(diagonal, k, num_rows, num_cols, padding_value, align='RIGHT_LEFT') = tf.linalg.diag(diagonal, k=k,
    num_rows=num_rows, num_cols=num_cols, padding_value=padding_value, align=text(align))
MatrixInverse(input, adjoint=False) = linalg.inv
MatrixLogarithm(input) = linalg.logm
MatrixSetDiag(input, diagonal) = linalg.set_diag
MatrixSetDiagV2(input, diagonal, k) = tf.linalg.set_diag(input, diagonal, k=k, align='LEFT_LEFT')
MatrixSetDiagV3(input, diagonal, k, align='RIGHT_LEFT') = tf.linalg.set_diag(input, diagonal, k=k, align=text(align))
MatrixSolve(matrix, rhs, adjoint=False) = linalg.solve
MatrixSolveLs(matrix, rhs, l2_regularizer, fast=True) = tf.linalg.lstsq(matrix, rhs, values(l2_regularizer), fast)
MatrixSquareRoot(input) = linalg.sqrtm
MatrixTriangularSolve(matrix, rhs, lower=True, adjoint=False) = linalg.triangular_solve
SparseMatMul(a, b, transpose_a=False, transpose_b=False, a_is_sparse=False, b_is_sparse=False) = tf.matmul(a, b,
    transpose_a, transpose_b)
TridiagonalMatMul(superdiag, maindiag, subdiag, rhs) = tf.linalg.tridiagonal_matmul([tf.squeeze(one, -2) for one in
    (superdiag, maindiag, subdiag)], rhs, 'sequence')
TridiagonalSolve(diagonals, rhs, partial_pivoting=True, perturb_singular=False) =
    tf.linalg.tridiagonal_solve(diagonals, rhs, partial_pivoting=partial_pivoting,
    perturb_singular=perturb_singular)
Eig(input, Tout, compute_v=True) -> e, v = eigenvalues(input, compute_v, Tout)
LogMatrixDeterminant(input) -> sign, log_abs_determinant = linalg.slogdet
Lu(input, output_idx_type=int32) -> lu, p = linalg.lu
Qr(input, full_matrices=False) -> q, r = linalg.qr
SelfAdjointEigV2(input, compute_v=True) -> e, v = tf.linalg.eigh(input) if compute_v else
    (tf.linalg.eigvalsh(input), tf.zeros([0], tf.linalg.eigvalsh(input).dtype))
Svd(input, compute_uv=True, full_matrices=False) -> s, u, v = tf.linalg.svd(input, full_matrices) if compute_uv else
    singular_values(input)
AvgPool(value, ksize, strides, padding, data_format='NHWC') = tf.nn.avg_pool2d(value, ksize, strides, text(padding),
    data_format)
AvgPool3D(input, ksize, strides, padding, data_format='NDHWC') = tf.nn.avg_pool3d(input, ksize, strides,
    text(padding), data_format)
AvgPool3DGrad(orig_input_shape, grad, ksize, strides, padding, data_format='NDHWC') = vjp(lambda x:
    tf.nn.avg_pool3d(x, ksize, strides, text(padding), data_format), zeros(orig_input_shape, grad), grad)
AvgPoolGrad(orig_input_shape, grad, ksize, strides, padding, data_format='NHWC') = vjp(lambda x: tf.nn.avg_pool2d(x,
    ksize, strides, text(padding), data_format), zeros(orig_input_shape, grad), grad)
BiasAdd(value, bias, data_format='NHWC') = nn.bias_add
BiasAddGrad(out_backprop, data_format='NHWC') = tf.reduce_sum(out_backprop, [i for i in
    range(len(out_backprop.shape)) if i != (1 if text(data_format) == 'NCHW' else len(out_backprop.shape) - 1)])
BiasAddV1(value, bias) = nn.bias_add
Conv2D(input, filter, strides, padding, use_cudnn_on_gpu=True, explicit_paddings=[], data_format='NHWC',
    dilations=[1, 1, 1, 1]) = tf.nn.conv2d(input, filter, strides, paddings(padding, explicit_paddings),
    data_format, dilations)
Conv2DBackpropFilter(input, filter_sizes, out_backprop, strides, padding, use_cudnn_on_gpu=True,
    explicit_paddings=[], data_format='NHWC', dilations=[1, 1, 1, 1]) = vjp(lambda w: tf.nn.conv2d(input, w,
    strides, paddings(padding, explicit_paddings), data_format, dilations), zeros(filter_sizes, out_backprop),
    out_backprop)
Conv2DBackpropInput(input_sizes, filter, out_backprop, strides, padding, use_cudnn_on_gpu=True,
    explicit_paddings=[], data_format='NHWC', dilations=[1, 1, 1, 1]) = vjp(lambda x: tf.nn.conv2d(x, filter,
    strides, paddings(padding, explicit_paddings), data_format, dilations), zeros(input_sizes, out_backprop),
    out_backprop)
Conv3D(input, filter, strides, padding, data_format='NDHWC', dilations=[1, 1, 1, 1, 1]) = tf.nn.conv3d(input,
    filter, strides, text(padding), data_format, dilations)
Conv3DBackpropFilterV2(input, filter_sizes, out_backprop, strides, padding, data_format='NDHWC', dilations=[1, 1, 1,
    1, 1]) = vjp(lambda w: tf.nn.conv3d(input, w, strides, text(padding), data_format, dilations),
    zeros(filter_sizes, out_backprop), out_backprop)
Conv3DBackpropInputV2(input_sizes, filter, out_backprop, strides, padding, data_format='NDHWC', dilations=[1, 1, 1,
    1, 1]) = vjp(lambda x: tf.nn.conv3d(x, filter, strides, text(padding), data_format, dilations),
    zeros(input_sizes, out_backprop), out_backprop)
DepthwiseConv2dNative(input, filter, strides, padding, explicit_paddings=[], data_format='NHWC', dilations=[1, 1, 1,
    1]) = depthwise(input, filter, strides, padding, explicit_paddings, data_format, dilations)
DepthwiseConv2dNativeBackpropFilter(input, filter_sizes, out_backprop, strides, padding, explicit_paddings=[],
    data_format='NHWC', dilations=[1, 1, 1, 1]) = vjp(lambda w: depthwise(input, w, strides, padding,
    explicit_paddings, data_format, dilations), zeros(filter_sizes, out_backprop), out_backprop)
DepthwiseConv2dNativeBackpropInput(input_sizes, filter, out_backprop, strides, padding, explicit_paddings=[],
    data_format='NHWC', dilations=[1, 1, 1, 1]) = vjp(lambda x: depthwise(x, filter, strides, padding,
    explicit_paddings, data_format, dilations), zeros(input_sizes, out_backprop), out_backprop)
Dilation2D(input, filter, strides, rates, padding) = tf.nn.dilation2d(input, filter, strides, text(padding), 'NHWC',
    rates)
Dilation2DBackpropFilter(input, filter, out_backprop, strides, rates, padding) = vjp(lambda w:
    tf.nn.dilation2d(input, w, strides, text(padding), 'NHWC', rates), filter, out_backprop)
Dilation2DBackpropInput(input, filter, out_backprop, strides, rates, padding) = vjp(lambda x: tf.nn.dilation2d(x,
    filter, strides, text(padding), 'NHWC', rates), input, out_backprop)
L2Loss(t) = nn.l2_loss
LRN(input, depth_radius=5, bias=1, alpha=1, beta=0.5) = nn.local_response_normalization
LRNGrad(input_grads, input_image, output_image, depth_radius=5, bias=1, alpha=1, beta=0.5) = vjp(lambda x:
    tf.nn.lrn(x, depth_radius, bias, alpha, beta), input_image, input_grads)
MaxPool(input, ksize, strides, padding, explicit_paddings=[], data_format='NHWC') = tf.nn.max_pool2d(input, ksize,
    strides, paddings(padding, explicit_paddings), data_format)
MaxPool3D(input, ksize, strides, padding, data_format='NDHWC') = tf.nn.max_pool3d(input, ksize, strides,
    text(padding), data_format)
MaxPool3DGrad(orig_input, orig_output, grad, ksize, strides, padding, data_format='NDHWC') = vjp(lambda x:
    tf.nn.max_pool3d(x, ksize, strides, text(padding), data_format), orig_input, grad)
MaxPoolGrad(orig_input, orig_output, grad, ksize, strides, padding, explicit_paddings=[], data_format='NHWC') =
    vjp(lambda x: tf.nn.max_pool2d(x, ksize, strides, paddings(padding, explicit_paddings), data_format),
    orig_input, grad)
MaxPoolGradV2(orig_input, orig_output, grad, ksize, strides, padding, data_format='NHWC') = vjp(lambda x:
    tf.nn.max_pool2d(x, integers(ksize), integers(strides), text(padding), data_format), orig_input, grad)
MaxPoolV2(input, ksize, strides, padding, data_format='NHWC') = tf.nn.max_pool2d(input, integers(ksize),
    integers(strides), text(padding), data_format)
FusedBatchNormV3(x, scale, offset, mean, variance, epsilon=0.0001, exponential_avg_factor=1, data_format='NHWC',
    is_training=True) -> y, batch_mean, batch_variance, reserve_space_1, reserve_space_2, reserve_space_3 =
    (*fused_batch_norm(x, scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format, is_training),
    tf.zeros([]))
FusedBatchNormV2(x, scale, offset, mean, variance, epsilon=0.0001, exponential_avg_factor=1, data_format='NHWC',
    is_training=True) -> y, batch_mean, batch_variance, reserve_space_1, reserve_space_2 = fused_batch_norm(x,
    scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format, is_training)
FusedBatchNorm(x, scale, offset, mean, variance, epsilon=0.0001, exponential_avg_factor=1, data_format='NHWC',
    is_training=True) -> y, batch_mean, batch_variance, reserve_space_1, reserve_space_2 = fused_batch_norm(x,
    scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format, is_training)
IsotonicRegression(input, output_dtype=float32) -> output, segments = tf.nn.isotonic_regression(input,
    decreasing=True)
MaxPoolWithArgmax(input, ksize, strides, padding, Targmax=int64, include_batch_in_index=False) -> output, argmax =
    tf.nn.max_pool_with_argmax(input, ksize, strides, text(padding), 'NHWC', Targmax, include_batch_in_index)
SoftmaxCrossEntropyWithLogits(features, labels) -> loss, backprop =
    (tf.nn.softmax_cross_entropy_with_logits(tf.broadcast_to(labels, features.shape), features),
    tf.subtract(tf.nn.softmax(features), labels))
SparseSoftmaxCrossEntropyWithLogits(features, labels) -> loss, backprop =
    (tf.nn.sparse_softmax_cross_entropy_with_logits(labels, features), tf.subtract(tf.nn.softmax(features),
    tf.one_hot(labels, features.shape[-1], dtype=features.dtype)))
FakeQuantWithMinMaxArgs(inputs, min=-6, max=6, num_bits=8, narrow_range=False) =
    quantization.fake_quant_with_min_max_args
FakeQuantWithMinMaxVars(inputs, min, max, num_bits=8, narrow_range=False) = quantization.fake_quant_with_min_max_vars
FakeQuantWithMinMaxVarsPerChannel(inputs, min, max, num_bits=8, narrow_range=False) =
    quantization.fake_quant_with_min_max_vars_per_channel
(input) FFT=signal.fft FFT2D=signal.fft2d FFT3D=signal.fft3d IFFT=signal.ifft IFFT2D=signal.ifft2d
    IFFT3D=signal.ifft3d
(input, fft_length, Tcomplex=complex64) RFFT=signal.rfft(input,fft_length) RFFT2D=signal.rfft2d(input,fft_length)
    RFFT3D=signal.rfft3d(input,fft_length)
(input, fft_length, Treal=float32) IRFFT=signal.irfft(input,fft_length) IRFFT2D=signal.irfft2d(input,fft_length)
    IRFFT3D=signal.irfft3d(input,fft_length)
(data, segment_ids) SegmentMax=math.segment_max SegmentMean=math.segment_mean SegmentMin=math.segment_min
    SegmentProd=math.segment_prod SegmentSum=math.segment_sum
(data, segment_ids, num_segments) UnsortedSegmentMax=math.unsorted_segment_max
    UnsortedSegmentMin=math.unsorted_segment_min UnsortedSegmentProd=math.unsorted_segment_prod
    UnsortedSegmentSum=math.unsorted_segment_sum
(data, indices, segment_ids, sparse_gradient=False) SparseSegmentMean=sparse.segment_mean(data,indices,segment_ids)
    SparseSegmentSqrtN=sparse.segment_sqrt_n(data,indices,segment_ids)
    SparseSegmentSum=sparse.segment_sum(data,indices,segment_ids)
(data, indices, segment_ids, num_segments, sparse_gradient=False)
    SparseSegmentMeanWithNumSegments=sparse.segment_mean(data,indices,segment_ids,num_segments)
    SparseSegmentSqrtNWithNumSegments=sparse.segment_sqrt_n(data,indices,segment_ids,num_segments)
    SparseSegmentSumWithNumSegments=sparse.segment_sum(data,indices,segment_ids,num_segments)
Bincount(arr, size, weights) = tf.math.bincount(arr, weights if weighted(weights) else None, size, size,
    tf.convert_to_tensor(weights).dtype)
DenseBincount(input, size, weights, binary_output=False) = tf.math.bincount(input, weights if weighted(weights) else
    None, size, size, tf.convert_to_tensor(weights).dtype, axis=-1 if len(input.shape) > 1 else None,
    binary_output=binary_output)
SparseAdd(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh) -> sum_indices, sum_values, sum_shape
    = parts(tf.sparse.add(sparse(a_indices, a_values, a_shape), sparse(b_indices, b_values, b_shape), thresh))
SparseConcat(indices, values, shapes, concat_dim) -> output_indices, output_values, output_shape =
    parts(tf.sparse.concat(concat_dim, [sparse(*one) for one in zip(indices, values, shapes)]))
SparseDenseCwiseMul(sp_indices, sp_values, sp_shape, dense) = (sparse(sp_indices, sp_values, sp_shape) * dense).values
SparseDenseCwiseDiv(sp_indices, sp_values, sp_shape, dense) = (sparse(sp_indices, sp_values, sp_shape) / dense).values
SparseDenseCwiseAdd(sp_indices, sp_values, sp_shape, dense) = tf.add(sp_values, tf.gather_nd(tf.broadcast_to(dense,
    sp_shape), sp_indices))
SparseReduceMax(input_indices, input_values, input_shape, reduction_axes, keep_dims=False) =
    tf.sparse.reduce_max(sparse(input_indices, input_values, input_shape), reduction_axes, keep_dims)
SparseReduceSum(input_indices, input_values, input_shape, reduction_axes, keep_dims=False) =
    tf.sparse.reduce_sum(sparse(input_indices, input_values, input_shape), reduction_axes, keep_dims)
SparseReorder(input_indices, input_values, input_shape) -> output_indices, output_values =
    parts(tf.sparse.reorder(sparse(input_indices, input_values, input_shape)))[:2]
SparseReshape(input_indices, input_shape, new_shape) -> output_indices, output_shape =
    parts(tf.sparse.reshape(sparse(input_indices, tf.zeros(len(input_indices)), input_shape), new_shape))[::2]
SparseSlice(indices, values, shape, start, size) -> output_indices, output_values, output_shape =
    parts(tf.sparse.slice(sparse(indices, values, shape), start, size))
SparseSoftmax(sp_indices, sp_values, sp_shape) = tf.sparse.softmax(sparse(sp_indices, sp_values, sp_shape)).values
SparseSparseMaximum(a_indices, a_values, a_shape, b_indices, b_values, b_shape) -> output_indices, output_values =
    parts(tf.sparse.maximum(sparse(a_indices, a_values, a_shape), sparse(b_indices, b_values, b_shape)))[:2]
SparseSparseMinimum(a_indices, a_values, a_shape, b_indices, b_values, b_shape) -> output_indices, output_values =
    parts(tf.sparse.minimum(sparse(a_indices, a_values, a_shape), sparse(b_indices, b_values, b_shape)))[:2]
SparseTensorDenseAdd(a_indices, a_values, a_shape, b) = tf.sparse.add(sparse(a_indices, a_values, a_shape), b)
SparseTensorDenseMatMul(a_indices, a_values, a_shape, b, adjoint_a=False, adjoint_b=False) =
    tf.sparse.sparse_dense_matmul(sparse(a_indices, a_values, a_shape), b, adjoint_a, adjoint_b)
SparseToDense(sparse_indices, output_shape, sparse_values, default_value, validate_indices=True) =
    scattered(sparse_indices, output_shape, sparse_values, default_value)
SparseFillEmptyRows(indices, values, dense_shape, default_value) -> output_indices, output_values,
    empty_row_indicator, reverse_index_map = filled_rows(sparse(indices, values, dense_shape), default_value)
(images) HSVToRGB=image.hsv_to_rgb RGBToHSV=image.rgb_to_hsv
AdjustContrastv2(images, contrast_factor) = image.adjust_contrast
AdjustHue(images, delta) = image.adjust_hue
AdjustSaturation(images, scale) = image.adjust_saturation
CropAndResize(image, boxes, box_ind, crop_size, method='bilinear', extrapolation_value=0) =
    tf.image.crop_and_resize(image, boxes, box_ind, crop_size, text(method), extrapolation_value)
DecodeBmp(contents, channels=0) = image.decode_bmp
DecodeGif(contents) = image.decode_gif
DecodePng(contents, channels=0, dtype=uint8) = image.decode_png
EncodePng(image, compression=-1) = image.encode_png
ResizeArea(images, size, align_corners=False) = resized('area', images, size, align_corners, False)
ResizeBicubic(images, size, align_corners=False, half_pixel_centers=False) = resized('bicubic', images, size,
    align_corners, half_pixel_centers)
ResizeBilinear(images, size, align_corners=False, half_pixel_centers=False) = resized('bilinear', images, size,
    align_corners, half_pixel_centers)
ResizeNearestNeighbor(images, size, align_corners=False, half_pixel_centers=False) = resized('nearest', images,
    size, align_corners, half_pixel_centers)
(shape, seed, dtype=float32) StatelessRandomNormal=random.stateless_normal(shape,seed,dtype=dtype)
    StatelessRandomUniform=random.stateless_uniform(shape,seed,dtype=dtype)
    StatelessTruncatedNormal=random.stateless_truncated_normal(shape,seed,dtype=dtype)
RandomUniform(shape, dtype, seed=0, seed2=0) = tf.random.uniform(shape, dtype=dtype, seed=seed2 or None)
RandomStandardNormal(shape, dtype, seed=0, seed2=0) = tf.random.normal(shape, dtype=dtype, seed=seed2 or None)
TruncatedNormal(shape, dtype, seed=0, seed2=0) = tf.random.truncated_normal(shape, dtype=dtype, seed=seed2 or None)
RandomUniformInt(shape, minval, maxval, seed=0, seed2=0) = tf.random.uniform(shape, minval, maxval,
    tf.convert_to_tensor(minval).dtype, seed2 or None)
RandomIndexShuffle(index, seed, max_index, rounds=4) = tf.random_index_shuffle(index, seed, max_index, rounds)
RandomShuffle(value, seed=0, seed2=0) = tf.random.shuffle(value, seed2 or None)
Multinomial(logits, num_samples, seed=0, seed2=0, output_dtype=int64) = tf.random.categorical(logits, num_samples,
    output_dtype, seed2 or None)
StatelessRandomGetAlg() = tf.constant(1)
StatelessRandomGetKeyCounter(seed) -> key, counter = key_and_counter(seed)
StatelessRandomUniformV2(shape, key, counter, alg, dtype=float32) = drawn('random_uniform', shape, key, counter, dtype)
StatelessRandomNormalV2(shape, key, counter, alg, dtype=float32) = drawn('random_normal', shape, key, counter, dtype)
StatelessTruncatedNormalV2(shape, key, counter, alg, dtype=float32) = drawn('random_truncated_normal', shape, key,
    counter, dtype)
StatelessRandomUniformIntV2(shape, key, counter, alg, minval, maxval) = drawn_integers(shape, key, counter, minval,
    maxval)
StatelessMultinomial(logits, num_samples, seed, output_dtype=int64) = random.stateless_categorical
StatelessParameterizedTruncatedNormal(shape, seed, means, stddevs, minvals, maxvals) =
    random.stateless_parameterized_truncated_normal
StatelessRandomBinomial(shape, seed, counts, probs, dtype=int64) = random.stateless_binomial
StatelessRandomGammaV2(shape, seed, alpha) = tf.random.stateless_gamma(shape, seed, alpha,
    dtype=tf.convert_to_tensor(alpha).dtype)
StatelessRandomPoisson(shape, seed, lam, dtype) = random.stateless_poisson
StatelessRandomUniformFullInt(shape, seed, dtype=uint64) = tf.random.stateless_uniform(shape, seed, None, None, dtype)
StatelessRandomUniformInt(shape, seed, minval, maxval) = tf.random.stateless_uniform(shape, seed, minval, maxval,
    tf.convert_to_tensor(minval).dtype)
SobolSample(dim, num_results, skip, dtype=float32) = tf.math.sobol_sample(dim, num_results, skip, dtype)
(input) StringStrip=strings.strip
AsString(input, precision=-1, scientific=False, shortest=False, width=-1, fill='') = strings.as_string
DecodeBase64(input) = io.decode_base64
DecodeRaw(bytes, out_type, little_endian=True) = tf.io.decode_raw(bytes, out_type, little_endian)
EncodeBase64(input, pad=False) = io.encode_base64
ReadFile(filename) = io.read_file
RegexFullMatch(input, pattern) = strings.regex_full_match
RegexReplace(input, pattern, rewrite, replace_global=True) = strings.regex_replace
StaticRegexFullMatch(input, pattern) = strings.regex_full_match
StaticRegexReplace(input, pattern, rewrite, replace_global=True) = strings.regex_replace
ReduceJoin(inputs, reduction_indices, keep_dims=False, separator='') = strings.reduce_join
StringJoin(inputs, separator='') = strings.join
StringLength(input, unit='BYTE') = strings.length
StringLower(input, encoding='') = strings.lower
StringSplitV2(input, sep, maxsplit=-1) -> indices, values, shape = parts(tf.strings.split(input, sep,
    maxsplit).to_sparse())
StringToNumber(string_tensor, out_type=float32) = strings.to_number
StringUpper(input, encoding='') = strings.upper
StringToHashBucket(string_tensor, num_buckets) = strings.to_hash_bucket
StringToHashBucketFast(input, num_buckets) = strings.to_hash_bucket_fast
StringToHashBucketStrong(input, num_buckets, key) = strings.to_hash_bucket_strong
Substr(input, pos, len, unit='BYTE') = strings.substr
WriteFile(filename, contents) -> = io.write_file
ReadVariableOp(resource, dtype) = tf.convert_to_tensor(resource, dtype)
VariableShape(input, out_type=int32) = shape
VarIsInitializedOp(resource) = tf.constant(True)
AssignVariableOp(resource, value, validate_shape=False) -> = resource.assign(value)
AssignAddVariableOp(resource, value) -> = resource.assign_add(value)
AssignSubVariableOp(resource, value) -> = resource.assign_sub(value)
ResourceGather(resource, indices, dtype, batch_dims=0, validate_indices=True) = tf.gather(resource, indices,
    batch_dims=batch_dims, axis=batch_dims)
ResourceGatherNd(resource, indices, dtype) = tf.gather_nd(resource, indices)
ResourceScatterAdd(resource, indices, updates) -> = resource.scatter_add(tf.IndexedSlices(updates, indices))
ResourceScatterDiv(resource, indices, updates) -> = resource.scatter_div(tf.IndexedSlices(updates, indices))
ResourceScatterMax(resource, indices, updates) -> = resource.scatter_max(tf.IndexedSlices(updates, indices))
ResourceScatterMin(resource, indices, updates) -> = resource.scatter_min(tf.IndexedSlices(updates, indices))
ResourceScatterMul(resource, indices, updates) -> = resource.scatter_mul(tf.IndexedSlices(updates, indices))
ResourceScatterSub(resource, indices, updates) -> = resource.scatter_sub(tf.IndexedSlices(updates, indices))
ResourceScatterUpdate(resource, indices, updates) -> = resource.scatter_update(tf.IndexedSlices(updates, indices))
ResourceScatterNdAdd(ref, indices, updates, use_locking=True, bad_indices_policy='') -> =
    ref.scatter_nd_add(indices, updates)
ResourceScatterNdSub(ref, indices, updates, use_locking=True, bad_indices_policy='') -> =
    ref.scatter_nd_sub(indices, updates)
ResourceScatterNdUpdate(ref, indices, updates, use_locking=True, bad_indices_policy='') -> =
    ref.scatter_nd_update(indices, updates)
ResourceApplyGradientDescent(var, alpha, delta, use_locking=False) -> = var.assign_sub(tf.multiply(alpha, delta))
Assert(condition, data, summarize=3) -> = debugging.Assert
NoOp() -> = None
Timestamp() = tf.timestamp()
"""
