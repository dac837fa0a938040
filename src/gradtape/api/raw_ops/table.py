"""The ops of `tf.raw_ops` that are not one public function: expressions over their inputs and attributes.

`catalogue/expressions.py` documents the format. The parameters are those of TensorFlow's definition of the op.
"""

TABLE = """\
IgammaGradA = vjp(lambda b: tf.math.igamma(b, x), tf.add(a, tf.zeros_like(x)), tf.ones_like(tf.add(a, x)))
RandomGammaGrad = gamma_derivative(alpha, sample)
BlockLSTMV2 = block_lstm(seq_len_max, x, cs_prev, h_prev, w, (wci, wcf, wco) if use_peephole else None, b, cell_clip)
BlockLSTM = block_lstm(seq_len_max, x, cs_prev, h_prev, w, (wci, wcf, wco) if use_peephole else None, b, cell_clip,
    forget_bias)
BlockLSTMGradV2 = block_lstm_gradients(seq_len_max, x, cs_prev, h_prev, w, (wci, wcf, wco), b, use_peephole, cs_grad,
    h_grad)
LSTMBlockCell = lstm_block_cell(x, cs_prev, h_prev, w, (wci, wcf, wco), b, forget_bias, cell_clip, use_peephole)
BroadcastGradientArgs = stretched_axes(s0, s1)
ApproximateEqual = tf.less(tf.abs(tf.subtract(x, y)), tolerance)
Cast = converted(x, DstT, Truncate)
Div = (tf.truncatediv if tf.convert_to_tensor(x).dtype.is_integer else tf.realdiv)(x, y)
BatchToSpace = tf.batch_to_space(input, [block_size, block_size], crops)
Bucketize = bucketized(input, boundaries)
Concat = tf.concat(values, concat_dim)
ConjugateTranspose = tf.transpose(tf.math.conj(x), perm)
Empty = tf.zeros(shape, dtype)
GatherV2 = tf.gather(params, indices, axis=axis, batch_dims=batch_dims)
Equal = compared(x, y, True, incompatible_shape_error)
NotEqual = compared(x, y, False, incompatible_shape_error)
GatherNd = tf.gather_nd(params, indices, bad_indices_policy=bad_indices_policy)
ScatterNd = tf.scatter_nd(indices, updates, shape, bad_indices_policy)
ScatterNdNonAliasingAdd = tf.tensor_scatter_nd_add(input, indices, updates, bad_indices_policy)
TensorScatterAdd = tf.tensor_scatter_nd_add(tensor, indices, updates, bad_indices_policy)
TensorScatterSub = tf.tensor_scatter_nd_sub(tensor, indices, updates, bad_indices_policy)
TensorScatterMax = tf.tensor_scatter_nd_max(tensor, indices, updates, bad_indices_policy)
TensorScatterMin = tf.tensor_scatter_nd_min(tensor, indices, updates, bad_indices_policy)
TensorScatterUpdate = updated(tensor, indices, updates, bad_indices_policy)
SparseSegmentMean = tf.sparse.segment_mean(data, indices, segment_ids, sparse_gradient=sparse_gradient)
SparseSegmentMeanWithNumSegments = tf.sparse.segment_mean(data, indices, segment_ids, num_segments,
    sparse_gradient=sparse_gradient)
SparseSegmentSqrtN = tf.sparse.segment_sqrt_n(data, indices, segment_ids, sparse_gradient=sparse_gradient)
SparseSegmentSqrtNWithNumSegments = tf.sparse.segment_sqrt_n(data, indices, segment_ids, num_segments,
    sparse_gradient=sparse_gradient)
SparseSegmentSum = tf.sparse.segment_sum(data, indices, segment_ids, sparse_gradient=sparse_gradient)
SparseSegmentSumWithNumSegments = tf.sparse.segment_sum(data, indices, segment_ids, num_segments,
    sparse_gradient=sparse_gradient)
InplaceAdd = tf.tensor_scatter_nd_add(x, tf.expand_dims(i, -1), v)
InplaceSub = tf.tensor_scatter_nd_sub(x, tf.expand_dims(i, -1), v)
InplaceUpdate = tf.tensor_scatter_nd_update(x, tf.expand_dims(i, -1), v)
InTopK InTopKV2 = tf.math.in_top_k(targets, predictions, k)
LowerBound = tf.searchsorted(sorted_inputs, values, 'left', out_type)
MirrorPad = tf.pad(input, paddings, text(mode))
MirrorPadGrad = vjp(lambda x: tf.pad(x, paddings, text(mode)), unpadded(input, paddings), input)
PadV2 = tf.pad(input, paddings, 'CONSTANT', constant_values)
ParallelConcat = tf.concat(values, 0)
PreventGradient = prevented(input, message)
Reverse = tf.reverse(tensor, [i for i, chosen in enumerate(values(dims)) if chosen])
Select = row_select
SpaceToBatch = tf.space_to_batch(input, [block_size, block_size], paddings)
Split = tf.split(value, num_split, axis)
SplitV = tf.split(value, size_splits, axis, num_split)
Squeeze = tf.squeeze(input, axis or None)
UpperBound = tf.searchsorted(sorted_inputs, values, 'right', out_type)
UniqueV2 = unique_along(x, axis, out_idx)[:2]
UniqueWithCountsV2 = unique_along(x, axis, out_idx)
BatchMatMul BatchMatMulV2 = tf.matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y)
BatchMatMulV3 = tf.matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y, output_type=Tout)
CholeskyGrad = vjp(tf.linalg.cholesky, tf.matmul(l, l, adjoint_b=True), grad)
Einsum = tf.einsum(text(equation), *inputs)
MatMul SparseMatMul = tf.matmul(a, b, transpose_a, transpose_b)
MatrixDiagPartV2 = tf.linalg.diag_part(input, k=k, padding_value=padding_value, align='LEFT_LEFT')
MatrixDiagPartV3 = tf.linalg.diag_part(input, k=k, padding_value=padding_value, align=text(align))
MatrixDiagV2 = tf.linalg.diag(diagonal, k=k, num_rows=num_rows, num_cols=num_cols, padding_value=padding_value,
    align='LEFT_LEFT')
MatrixDiagV3 = tf.linalg.diag(diagonal, k=k, num_rows=num_rows, num_cols=num_cols, padding_value=padding_value,
    align=text(align))
MatrixSetDiagV2 = tf.linalg.set_diag(input, diagonal, k=k, align='LEFT_LEFT')
MatrixSetDiagV3 = tf.linalg.set_diag(input, diagonal, k=k, align=text(align))
MatrixSolveLs = tf.linalg.lstsq(matrix, rhs, values(l2_regularizer), fast)
TridiagonalMatMul = tf.linalg.tridiagonal_matmul([tf.squeeze(one, -2) for one in (superdiag, maindiag, subdiag)], rhs,
    'sequence')
TridiagonalSolve = tf.linalg.tridiagonal_solve(diagonals, rhs, partial_pivoting=partial_pivoting,
    perturb_singular=perturb_singular)
Eig = eigenvalues(input, compute_v, Tout)
SelfAdjointEigV2 = tf.linalg.eigh(input) if compute_v else (tf.linalg.eigvalsh(input), tf.zeros([0],
    tf.linalg.eigvalsh(input).dtype))
Svd = tf.linalg.svd(input, full_matrices) if compute_uv else singular_values(input)
AvgPool = tf.nn.avg_pool2d(value, ksize, strides, text(padding), data_format)
AvgPool3D = tf.nn.avg_pool3d(input, ksize, strides, text(padding), data_format)
BiasAddGrad = tf.reduce_sum(out_backprop, [i for i in range(len(out_backprop.shape)) if i != (1 if text(data_format) ==
    'NCHW' else len(out_backprop.shape) - 1)])
Conv2D = tf.nn.conv2d(input, filter, strides, paddings(padding, explicit_paddings), data_format, dilations)
Conv3D = tf.nn.conv3d(input, filter, strides, text(padding), data_format, dilations)
DepthwiseConv2dNative = depthwise(input, filter, strides, padding, explicit_paddings, data_format, dilations)
Dilation2D = tf.nn.dilation2d(input, filter, strides, text(padding), 'NHWC', rates)
MaxPool = tf.nn.max_pool2d(input, ksize, strides, paddings(padding, explicit_paddings), data_format)
MaxPool3D = tf.nn.max_pool3d(input, ksize, strides, text(padding), data_format)
MaxPoolV2 = tf.nn.max_pool2d(input, integers(ksize), integers(strides), text(padding), data_format)
FusedBatchNormV3 = (*fused_batch_norm(x, scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format,
    is_training), tf.zeros([]))
FusedBatchNormV2 FusedBatchNorm = fused_batch_norm(x, scale, offset, mean, variance, epsilon, exponential_avg_factor,
    data_format, is_training)
IsotonicRegression = isotonic(input, output_dtype)
MaxPoolWithArgmax = tf.nn.max_pool_with_argmax(input, ksize, strides, text(padding), 'NHWC', Targmax,
    include_batch_in_index)
SoftmaxCrossEntropyWithLogits = (tf.nn.softmax_cross_entropy_with_logits(*alike(labels, features)),
    tf.subtract(tf.nn.softmax(features), labels))
SparseSoftmaxCrossEntropyWithLogits = (tf.nn.sparse_softmax_cross_entropy_with_logits(labels, features),
    tf.subtract(tf.nn.softmax(features), tf.one_hot(labels, features.shape[-1], dtype=features.dtype)))
Bincount = tf.math.bincount(arr, weights if weighted(weights) else None, size, size,
    tf.convert_to_tensor(weights).dtype)
DenseBincount = tf.math.bincount(input, weights if weighted(weights) else None, size, size,
    tf.convert_to_tensor(weights).dtype, axis=-1 if len(input.shape) > 1 else None, binary_output=binary_output)
SparseAdd = parts(tf.sparse.add(sparse(a_indices, a_values, a_shape), sparse(b_indices, b_values, b_shape), thresh))
SparseConcat = parts(tf.sparse.concat(concat_dim, [sparse(*one) for one in zip(indices, values, shapes)]))
SparseDenseCwiseMul = (sparse(sp_indices, sp_values, sp_shape) * dense).values
SparseDenseCwiseDiv = (sparse(sp_indices, sp_values, sp_shape) / dense).values
SparseDenseCwiseAdd = tf.add(sp_values, tf.gather_nd(tf.broadcast_to(dense, sp_shape), sp_indices))
SparseReduceMax = tf.sparse.reduce_max(sparse(input_indices, input_values, input_shape), reduction_axes, keep_dims)
SparseReduceSum = tf.sparse.reduce_sum(sparse(input_indices, input_values, input_shape), reduction_axes, keep_dims)
SparseReorder = parts(tf.sparse.reorder(sparse(input_indices, input_values, input_shape)))[:2]
SparseReshape = parts(tf.sparse.reshape(sparse(input_indices, tf.zeros(len(input_indices)), input_shape),
    new_shape))[::2]
SparseSlice = parts(tf.sparse.slice(sparse(indices, values, shape), start, size))
SparseSoftmax = tf.sparse.softmax(sparse(sp_indices, sp_values, sp_shape)).values
SparseSparseMaximum = parts(tf.sparse.maximum(sparse(a_indices, a_values, a_shape), sparse(b_indices, b_values,
    b_shape)))[:2]
SparseSparseMinimum = parts(tf.sparse.minimum(sparse(a_indices, a_values, a_shape), sparse(b_indices, b_values,
    b_shape)))[:2]
SparseTensorDenseAdd = tf.sparse.add(sparse(a_indices, a_values, a_shape), b)
SparseTensorDenseMatMul = tf.sparse.sparse_dense_matmul(sparse(a_indices, a_values, a_shape), b, adjoint_a, adjoint_b)
SparseToDense = scattered(sparse_indices, output_shape, sparse_values, default_value)
SparseFillEmptyRows = filled_rows(sparse(indices, values, dense_shape), default_value)
CropAndResize = tf.image.crop_and_resize(image, boxes, box_ind, crop_size, text(method), extrapolation_value)
ExtractGlimpse = glimpses(input, size, offsets, centered, normalized, text(noise), True)
ExtractGlimpseV2 = glimpses(input, size, offsets, centered, normalized, text(noise), False)
ResizeArea = resized('area', images, size, align_corners, False)
ResizeBicubic = resized('bicubic', images, size, align_corners, half_pixel_centers)
ResizeBilinear = resized('bilinear', images, size, align_corners, half_pixel_centers)
ResizeNearestNeighbor = resized('nearest', images, size, align_corners, half_pixel_centers)
StatelessRandomNormal = random.stateless_normal(shape,seed,dtype=dtype)
StatelessRandomUniform = random.stateless_uniform(shape,seed,dtype=dtype)
StatelessTruncatedNormal = random.stateless_truncated_normal(shape,seed,dtype=dtype)
RandomUniform = tf.random.uniform(shape, dtype=dtype, seed=seed_pair(seed, seed2))
RandomStandardNormal = tf.random.normal(shape, dtype=dtype, seed=seed_pair(seed, seed2))
TruncatedNormal = tf.random.truncated_normal(shape, dtype=dtype, seed=seed_pair(seed, seed2))
RandomUniformInt = tf.random.uniform(shape, minval, maxval, tf.convert_to_tensor(minval).dtype, seed_pair(seed, seed2))
RandomShuffle = tf.random.shuffle(value, seed_pair(seed, seed2))
Multinomial = tf.random.categorical(logits, num_samples, output_dtype, seed_pair(seed, seed2))
StatelessRandomGetAlg = tf.constant(1)
StatelessRandomGetKeyCounter = key_and_counter(seed)
StatelessRandomUniformV2 = drawn('random_uniform', shape, stream(key, counter, alg), dtype)
StatelessRandomNormalV2 = drawn('random_normal', shape, stream(key, counter, alg), dtype)
StatelessTruncatedNormalV2 = drawn('random_truncated_normal', shape, stream(key, counter, alg), dtype)
StatelessRandomUniformIntV2 = drawn_integers(shape, stream(key, counter, alg), minval, maxval)
StatelessRandomGammaV2 = tf.random.stateless_gamma(shape, seed, alpha, dtype=tf.convert_to_tensor(alpha).dtype)
StatelessRandomUniformFullInt = tf.random.stateless_uniform(shape, seed, None, None, dtype)
StatelessRandomUniformInt = tf.random.stateless_uniform(shape, seed, minval, maxval, tf.convert_to_tensor(minval).dtype)
StringSplitV2 = parts(tf.strings.split(input, sep, maxsplit).to_sparse())
VarIsInitializedOp = tf.constant(True)
AssignVariableOp = resource.assign(value)
AssignAddVariableOp = resource.assign_add(value)
AssignSubVariableOp = resource.assign_sub(value)
ResourceGather = tf.gather(resource, indices, batch_dims=batch_dims, axis=batch_dims)
ResourceScatterAdd = resource.scatter_add(tf.IndexedSlices(updates, indices))
ResourceScatterDiv = resource.scatter_div(tf.IndexedSlices(updates, indices))
ResourceScatterMax = resource.scatter_max(tf.IndexedSlices(updates, indices))
ResourceScatterMin = resource.scatter_min(tf.IndexedSlices(updates, indices))
ResourceScatterMul = resource.scatter_mul(tf.IndexedSlices(updates, indices))
ResourceScatterSub = resource.scatter_sub(tf.IndexedSlices(updates, indices))
ResourceScatterUpdate = resource.scatter_update(tf.IndexedSlices(updates, indices))
ResourceScatterNdAdd = change_rows(ref, 'scatter_nd_add', indices, updates, bad_indices_policy)
ResourceScatterNdSub = change_rows(ref, 'scatter_nd_sub', indices, updates, bad_indices_policy)
ResourceScatterNdUpdate = change_rows(ref, 'scatter_nd_update', indices, updates, bad_indices_policy)
ResourceApplyGradientDescent = var.assign_sub(tf.multiply(alpha, delta))
ImageProjectiveTransformV2 = transform_images(images, transforms, output_shape, 0.0, text(interpolation),
    text(fill_mode))
ImageProjectiveTransformV3 = transform_images(images, transforms, output_shape, fill_value, text(interpolation),
    text(fill_mode))
ResourceApplyAdam = apply_rule(adam, [var, m, v], grad, beta1_power=beta1_power, beta2_power=beta2_power, lr=lr,
    beta1=beta1, beta2=beta2, epsilon=epsilon, nesterov=use_nesterov)
ResourceApplyAdamWithAmsgrad = apply_rule(amsgrad, [var, m, v, vhat], grad, beta1_power=beta1_power,
    beta2_power=beta2_power, lr=lr, beta1=beta1, beta2=beta2, epsilon=epsilon)
ResourceApplyAdaMax = apply_rule(adamax, [var, m, v], grad, beta1_power=beta1_power, lr=lr, beta1=beta1, beta2=beta2,
    epsilon=epsilon)
ResourceApplyAdadelta = apply_rule(adadelta, [var, accum, accum_update], grad, lr=lr, rho=rho,
    epsilon=epsilon)
ResourceApplyAdagrad = apply_rule(adagrad, [var, accum], grad, lr=lr, update_slots=update_slots)
ResourceApplyAdagradV2 = apply_rule(adagrad, [var, accum], grad, lr=lr, epsilon=epsilon,
    update_slots=update_slots)
ResourceApplyProximalAdagrad = apply_rule(proximal_adagrad, [var, accum], grad, lr=lr, l1=l1, l2=l2)
ResourceApplyRMSProp = apply_rule(rmsprop, [var, ms, mom], grad, lr=lr, rho=rho, momentum=momentum,
    epsilon=epsilon)
ResourceApplyCenteredRMSProp = apply_rule(centered_rmsprop, [var, mg, ms, mom], grad, lr=lr, rho=rho,
    momentum=momentum, epsilon=epsilon)
ResourceApplyMomentum = apply_rule(momentum_rule, [var, accum], grad, lr=lr, momentum=momentum,
    use_nesterov=use_nesterov)
ResourceApplyKerasMomentum = apply_rule(keras_momentum, [var, accum], grad, lr=lr, momentum=momentum,
    use_nesterov=use_nesterov)
ResourceApplyFtrl = apply_rule(ftrl, [var, accum, linear], grad, lr=lr, l1=l1, l2=l2, lr_power=lr_power,
    multiply_linear_by_lr=multiply_linear_by_lr)
ResourceApplyFtrlV2 = apply_rule(ftrl, [var, accum, linear], grad, lr=lr, l1=l1, l2=l2, lr_power=lr_power,
    l2_shrinkage=l2_shrinkage, multiply_linear_by_lr=multiply_linear_by_lr)
ResourceSparseApplyAdadelta = apply_rule(adadelta, [var, accum, accum_update], grad, indices, lr=lr, rho=rho,
    epsilon=epsilon)
ResourceSparseApplyAdagrad = apply_rule(adagrad, [var, accum], grad, indices, lr=lr, update_slots=update_slots)
ResourceSparseApplyAdagradV2 = apply_rule(adagrad, [var, accum], grad, indices, lr=lr, epsilon=epsilon,
    update_slots=update_slots)
ResourceSparseApplyProximalAdagrad = apply_rule(proximal_adagrad, [var, accum], grad, indices, lr=lr, l1=l1, l2=l2)
ResourceSparseApplyRMSProp = apply_rule(rmsprop, [var, ms, mom], grad, indices, lr=lr, rho=rho, momentum=momentum,
    epsilon=epsilon)
ResourceSparseApplyCenteredRMSProp = apply_rule(centered_rmsprop, [var, mg, ms, mom], grad, indices, lr=lr, rho=rho,
    momentum=momentum, epsilon=epsilon)
ResourceSparseApplyMomentum = apply_rule(momentum_rule, [var, accum], grad, indices, lr=lr, momentum=momentum,
    use_nesterov=use_nesterov)
ResourceSparseApplyKerasMomentum = apply_rule(keras_momentum, [var, accum], grad, indices, lr=lr, momentum=momentum,
    use_nesterov=use_nesterov)
ResourceSparseApplyFtrl = apply_rule(ftrl, [var, accum, linear], grad, indices, lr=lr, l1=l1, l2=l2, lr_power=lr_power,
    multiply_linear_by_lr=multiply_linear_by_lr)
ResourceSparseApplyFtrlV2 = apply_rule(ftrl, [var, accum, linear], grad, indices, lr=lr, l1=l1, l2=l2,
    lr_power=lr_power, l2_shrinkage=l2_shrinkage, multiply_linear_by_lr=multiply_linear_by_lr)
PopulationCount = population_count(x)
TensorStridedSliceUpdate = updated_slice(input, begin, end, strides, value, (begin_mask, end_mask, ellipsis_mask,
    new_axis_mask, shrink_axis_mask))
FractionalMaxPool = tf.nn.fractional_max_pool(value, pooling_ratio, pseudo_random, overlapping,
    fractional_seed(seed, seed2, deterministic))
FractionalAvgPool = tf.nn.fractional_avg_pool(value, pooling_ratio, pseudo_random, overlapping,
    fractional_seed(seed, seed2, deterministic))
FractionalMaxPoolGrad = fractional_pool_gradient(orig_input, out_backprop, row_pooling_sequence, col_pooling_sequence,
    overlapping, True)
FractionalAvgPoolGrad = fractional_pool_gradient(zeros(orig_input_tensor_shape, out_backprop), out_backprop,
    row_pooling_sequence, col_pooling_sequence, overlapping, False)
SparseFillEmptyRowsGrad = filled_rows_gradient(reverse_index_map, grad_values)
SetSize = tf.sets.size(sparse(set_indices, set_values, set_shape), validate_indices)
SparseBincount = sparse_bincount(values if len(dense_shape) < 2 else sparse(indices, values, dense_shape), weights,
    size, binary_output)
SparseReduceMaxSparse = parts(tf.sparse.reduce_max(sparse(input_indices, input_values, input_shape), reduction_axes,
    keep_dims, True))
SparseReduceSumSparse = parts(tf.sparse.reduce_sum(sparse(input_indices, input_values, input_shape), reduction_axes,
    keep_dims, True))
SparseSplit = parts_of_each(tf.sparse.split(sparse(indices, values, shape), num_split, split_dim))
DecodeCSV = tf.io.decode_csv(records, record_defaults, text(field_delim), use_quote_delim, text(na_value),
    list(select_cols) or None)
GetSessionHandle = without_session('GetSessionHandle')
StringNGrams = ngrams_of_rows(data, data_splits, separator, ngram_widths, left_pad, right_pad, pad_width,
    preserve_short_sequences)
GenerateVocabRemapping = remapped_vocabulary(new_vocab_file, old_vocab_file, new_vocab_offset, num_new_vocab,
    old_vocab_size)
UnicodeDecode = decoded_characters(input, input_encoding, errors, replacement_char, replace_control_characters,
    Tsplits, False)
UnicodeDecodeWithOffsets = decoded_characters(input, input_encoding, errors, replacement_char,
    replace_control_characters, Tsplits, True)
QuantizeAndDequantizeV2 = tf.quantization.quantize_and_dequantize(input, input_min, input_max, signed_input, num_bits,
    range_given, text(round_mode), None, narrow_range, None if axis == -1 else axis)
QuantizeAndDequantizeV3 = tf.quantization.quantize_and_dequantize(input, input_min, input_max, signed_input,
    integers(num_bits), range_given, 'HALF_TO_EVEN', None, narrow_range, None if axis == -1 else axis)
QuantizeAndDequantizeV4 = tf.quantization.quantize_and_dequantize_v2(input, input_min, input_max, signed_input,
    num_bits, range_given, text(round_mode), None, narrow_range, None if axis == -1 else axis)
QuantizeAndDequantizeV4Grad = (tf.where((input >= along(input_min, input, axis)) & (input <= along(input_max, input,
    axis)), gradients, tf.zeros_like(gradients)), tf.zeros_like(input_min), tf.zeros_like(input_max))
NoOp = None
Timestamp = tf.timestamp()
"""
