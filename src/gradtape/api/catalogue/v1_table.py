"""What `tf.compat.v1` has besides the names of TensorFlow 2: other names, and functions with other parameters.

A name with the same meaning in both versions is not listed: `tf.compat.v1` takes it from `tf`.
"""

# Other names of functions and classes, mostly of TensorFlow 2: without `=`, the last component alone.
_ALIASES = """
    compat.v1.strings.reduce_join debugging.assert_integer debugging.assert_proper_iterable
    debugging.assert_same_float_dtype debugging.assert_type debugging.check_numerics debugging.is_numeric_tensor
    errors.OpError image.random_crop io.FixedLenFeature io.FixedLenSequenceFeature io.SparseFeature io.VarLenFeature
    io.decode_base64 io.decode_compressed io.decode_json_example io.deserialize_many_sparse io.encode_base64
    io.matching_files io.parse_single_sequence_example io.parse_tensor io.read_file io.serialize_tensor io.write_file
    linalg.cholesky linalg.cholesky_solve linalg.cross linalg.global_norm linalg.qr linalg.svd linalg.trace
    math.accumulate_n math.angle math.betainc math.ceil math.conj math.cumprod math.digamma math.erf math.erfc
    math.expm1 math.floordiv math.igamma math.igammac math.imag math.invert_permutation math.is_finite math.is_inf
    math.is_nan math.is_non_decreasing math.is_strictly_increasing math.lbeta math.lgamma math.log math.log1p
    math.log_sigmoid math.logical_xor math.polygamma math.real math.reciprocal math.rint math.rsqrt math.segment_max
    math.segment_mean math.segment_min math.segment_prod math.segment_sum math.squared_difference
    math.unsorted_segment_max math.unsorted_segment_mean math.unsorted_segment_min math.unsorted_segment_prod
    math.unsorted_segment_sqrt_n math.unsorted_segment_sum math.zeta quantization.fake_quant_with_min_max_args
    quantization.fake_quant_with_min_max_args_gradient quantization.fake_quant_with_min_max_vars
    quantization.fake_quant_with_min_max_vars_gradient quantization.fake_quant_with_min_max_vars_per_channel
    quantization.fake_quant_with_min_max_vars_per_channel_gradient random.truncated_normal signal.fft signal.fft2d
    signal.fft3d signal.ifft signal.ifft2d signal.ifft3d strings.regex_replace NoGradient=no_gradient
    NotDifferentiable=no_gradient debugging.is_finite=math.is_finite debugging.is_inf=math.is_inf
    debugging.is_nan=math.is_nan debugging.is_non_decreasing=math.is_non_decreasing
    debugging.is_strictly_increasing=math.is_strictly_increasing diag=linalg.tensor_diag
    diag_part=linalg.tensor_diag_part div_no_nan=math.divide_no_nan dtypes.as_string=as_string floor_div=math.floordiv
    floormod=math.mod image.resize_image_with_crop_or_pad=image.resize_with_crop_or_pad
    image.transpose_image=image.transpose initializers.tables_initializer=compat.v1.tables_initializer
    manip.gather_nd=compat.v1.gather_nd manip.reverse=reverse manip.roll=roll manip.scatter_nd=scatter_nd
    manip.space_to_batch_nd=space_to_batch_nd manip.tile=tile matrix_band_part=linalg.band_part
    matrix_determinant=linalg.det matrix_inverse=linalg.inv matrix_solve=linalg.solve matrix_solve_ls=linalg.lstsq
    matrix_triangular_solve=linalg.triangular_solve mod=math.floormod nn.avg_pool_v2=nn.avg_pool
    nn.ctc_beam_search_decoder_v2=nn.ctc_beam_search_decoder nn.ctc_loss_v2=nn.ctc_loss
    nn.depthwise_conv2d_native_backprop_filter=nn.depthwise_conv2d_backprop_filter
    nn.depthwise_conv2d_native_backprop_input=nn.depthwise_conv2d_backprop_input
    nn.log_uniform_candidate_sampler=random.log_uniform_candidate_sampler nn.max_pool_v2=nn.max_pool
    nn.uniform_candidate_sampler=random.uniform_candidate_sampler random.set_random_seed=compat.v1.set_random_seed
    random_gamma=random.gamma random_normal=random.normal random_shuffle=random.shuffle random_uniform=random.uniform
    reverse_v2=reverse saved_model.load_v2=saved_model.load self_adjoint_eig=linalg.eigh
    self_adjoint_eigvals=linalg.eigvalsh sets.set_difference=sets.difference
    sets.set_intersection=sets.intersection sets.set_size=sets.size
    sets.set_union=sets.union sparse.matmul=sparse.sparse_dense_matmul sparse.placeholder=compat.v1.sparse_placeholder
    sparse.segment_mean=compat.v1.sparse_segment_mean sparse.segment_sqrt_n=compat.v1.sparse_segment_sqrt_n
    sparse.segment_sum=compat.v1.sparse_segment_sum sparse_fill_empty_rows=sparse.fill_empty_rows
    sparse_mask=sparse.mask sparse_maximum=sparse.maximum sparse_minimum=sparse.minimum sparse_reorder=sparse.reorder
    sparse_reset_shape=sparse.reset_shape sparse_reshape=sparse.reshape sparse_retain=sparse.retain
    sparse_slice=sparse.slice sparse_softmax=sparse.softmax sparse_tensor_dense_matmul=sparse.sparse_dense_matmul
    sparse_tensor_to_dense=sparse.to_dense sparse_to_indicator=sparse.to_indicator sparse_transpose=sparse.transpose
    batch_to_space_nd=batch_to_space manip.batch_to_space_nd=batch_to_space spectral.dct=signal.dct
    spectral.idct=signal.idct string_join=strings.join string_strip=strings.strip
    string_to_hash_bucket_fast=strings.to_hash_bucket_fast string_to_hash_bucket_strong=strings.to_hash_bucket_strong
    tensor_scatter_update=tensor_scatter_nd_update where_v2=where
    python_io.TFRecordCompressionType=compat.v1.io.TFRecordCompressionType
    python_io.TFRecordOptions=compat.v1.io.TFRecordOptions python_io.TFRecordWriter=compat.v1.io.TFRecordWriter
    python_io.tf_record_iterator=compat.v1.io.tf_record_iterator
"""
_INITIALIZERS = """
    global_variables local_variables variables
""".split()
ALIASES = {
    **{old or new.rpartition(".")[2]: new for old, _, new in (text.rpartition("=") for text in _ALIASES.split())},
    **{f"initializers.{name}": f"compat.v1.{name}_initializer" for name in _INITIALIZERS},
}

# Names that differ in meaning from those of TensorFlow 2, and are not in gradtape.
DIFFERENT = frozenset(
    """
    autograph.to_code autograph.to_graph device image.sample_distorted_bounding_box
    nn.batch_norm_with_global_normalization nn.nce_loss nn.sampled_softmax_loss
    test.assert_equal_graph_def test.compute_gradient train.Checkpoint
    """.split()
)

# Functions whose parameters differ from those of TensorFlow 2; `catalogue/expressions.py` documents the format.
TABLE = """\
argmax math.argmax(input, axis=None, name=None, dimension=None, output_type=int64) = tf.argmax(input, either(axis,
    dimension, 0), output_type)
argmin math.argmin(input, axis=None, name=None, dimension=None, output_type=int64) = tf.argmin(input, either(axis,
    dimension, 0), output_type)
arg_max(input, dimension, output_type=int64, name=None) = tf.argmax(input, dimension, output_type)
arg_min(input, dimension, output_type=int64, name=None) = tf.argmin(input, dimension, output_type)
assign(ref, value, validate_shape=None, use_locking=None, name=None) = assigned(ref.assign(value))
assign_add(ref, value, use_locking=None, name=None) = assigned(ref.assign_add(value))
assign_sub(ref, value, use_locking=None, name=None) = assigned(ref.assign_sub(value))
batch_to_space(input, crops, block_size, name=None, block_shape=None) = tf.batch_to_space(input,
    square(either(block_size, block_shape)), crops)
space_to_batch nn.space_to_batch(input, paddings, block_size=None, name=None, block_shape=None) =
    tf.space_to_batch(input, square(either(block_size, block_shape)), paddings)
boolean_mask(tensor, mask, name='boolean_mask', axis=None) = tf.boolean_mask(tensor, mask, axis)
sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None) =
    filled_in(sparse_indices, output_shape, sparse_values, default_value, validate_indices)
cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None) = tf.cond(pred, either(true_fn,
    fn1), either(false_fn, fn2))
confusion_matrix math.confusion_matrix(labels, predictions, num_classes=None, dtype=int32, name=None, weights=None) =
    tf.math.confusion_matrix(labels, predictions, num_classes, weights, dtype)
constant(value, dtype=None, shape=None, name='Const', verify_shape=False) = constant(value, dtype, shape, verify_shape)
convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None) = tf.convert_to_tensor(value,
    dtype, either(dtype_hint, preferred_dtype, None))
count_nonzero math.count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype=int64, name=None,
    reduction_indices=None, keep_dims=None, input=None) = tf.math.count_nonzero(either(input_tensor, input),
    either(axis, reduction_indices, None), either(keepdims, keep_dims, None), dtype)
bincount math.bincount(arr, weights=None, minlength=None, maxlength=None, dtype=int32) = tf.math.bincount(arr, weights,
    minlength, maxlength, dtype)
div(x, y, name=None) = tf.raw_ops.FloorDiv(x=x, y=y) if tf.convert_to_tensor(x).dtype.is_integer else tf.divide(x, y)
expand_dims(input, axis=None, name=None, dim=None) = tf.expand_dims(input, either(axis, dim))
extract_image_patches image.extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None,
    name=None, sizes=None) = tf.image.extract_patches(images, either(ksizes, sizes), strides, rates, padding)
gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0) = tf.gather(params, indices,
    axis=axis, batch_dims=batch_dims)
batch_gather(params, indices, name=None) = tf.gather(params, indices, batch_dims=len(indices.shape) - 1)
gather_nd(params, indices, name=None, batch_dims=0, bad_indices_policy='') = tf.gather_nd(params, indices, batch_dims,
    bad_indices_policy=bad_indices_policy)
gradients(ys, xs, grad_ys=None, name='gradients', colocate_gradients_with_ops=False, gate_gradients=False,
    aggregation_method=None, stop_gradients=None, unconnected_gradients=UnconnectedGradients.NONE) = tf.gradients(ys,
    xs, grad_ys, name, gate_gradients, aggregation_method, stop_gradients, unconnected_gradients)
hessians(ys, xs, name='hessians', colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None) =
    tf.hessians(ys, xs, gate_gradients, aggregation_method)
lin_space(start, stop, num, name=None, axis=0) = tf.linspace(start, stop, num, axis=axis)
multinomial random.multinomial(logits, num_samples, seed=None, name=None, output_dtype=None) =
    tf.random.categorical(logits, num_samples, either(output_dtype, None, tf.int64), seed)
norm linalg.norm(tensor, ord='euclidean', axis=None, keepdims=None, name=None, keep_dims=None) = tf.norm(tensor, ord,
    axis, either(keepdims, keep_dims, None))
ones_like(tensor, dtype=None, name=None, optimize=True) = tf.ones_like(tensor, dtype)
zeros_like(tensor, dtype=None, name=None, optimize=True) = tf.zeros_like(tensor, dtype)
pad(tensor, paddings, mode='CONSTANT', name=None, constant_values=0) = tf.pad(tensor, paddings, mode, constant_values)
placeholder_with_default(input, shape, name=None) = tf.convert_to_tensor(input)
py_func(func, inp, Tout, stateful=True, name=None) = tf.numpy_function(func, inp, Tout)
random_poisson random.poisson(lam, shape, dtype=float32, seed=None, name=None) = tf.random.poisson(shape, lam, dtype,
    seed)
reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None) =
    tf.reverse_sequence(input, seq_lengths, either(seq_axis, seq_dim), either(batch_axis, batch_dim, 0))
shape(input, name=None, out_type=None) = tf.shape(input, out_type or tf.int32)
size(input, name=None, out_type=None) = tf.size(input, out_type or tf.int32)
squeeze(input, axis=None, name=None, squeeze_dims=None) = tf.squeeze(input, either(axis, squeeze_dims, None))
string_to_number strings.to_number(string_tensor=None, out_type=float32, name=None, input=None) =
    tf.strings.to_number(either(string_tensor, input), out_type)
strings.length(input, name=None, unit='BYTE') = tf.strings.length(input, unit)
strings.substr substr(input, pos, len, name=None, unit='BYTE') = tf.strings.substr(input, pos, len, unit)
strings.reduce_join(inputs, axis=None, keep_dims=None, separator='', name=None, reduction_indices=None, keepdims=None) =
    tf.strings.reduce_join(inputs, either(axis, reduction_indices, None), bool(either(keepdims, keep_dims, None)),
    separator)
transpose(a, perm=None, name='transpose', conjugate=False) = tf.transpose(a, perm, conjugate)
tuple(tensors, name=None, control_inputs=None) = tf.tuple(tensors, control_inputs)
verify_tensor_all_finite debugging.assert_all_finite(t=None, msg=None, name=None, x=None, message=None) =
    tf.debugging.check_numerics(either(t, x), either(msg, message))
where(condition, x=None, y=None, name=None) = tf.where(condition) if x is None and y is None else row_select(condition,
    x, y)
while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
    name=None, maximum_iterations=None, return_same_structure=False) = unpacked(tf.while_loop(cond, listing(body),
    loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, maximum_iterations),
    return_same_structure)
debugging.assert_near assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None) =
    tf.debugging.assert_near(x, y, rtol, atol, message, summarize)
debugging.assert_scalar assert_scalar(tensor, name=None, message=None) = tf.debugging.assert_scalar(tensor, message)
to_bfloat16(x, name=None) = cast(x,tf.bfloat16)
to_complex64(x, name=None) = cast(x,tf.complex64)
to_complex128(x, name=None) = cast(x,tf.complex128)
to_double(x, name=None) = cast(x,tf.float64)
to_float(x, name=None) = cast(x,tf.float32)
to_int32(x, name=None) = cast(x,tf.int32)
to_int64(x, name=None) = cast(x,tf.int64)
clip_by_average_norm(t, clip_norm, name=None) = tf.clip_by_norm(t, tf.multiply(clip_norm, tf.cast(tf.size(t), t.dtype)))
depth_to_space nn.depth_to_space(input, block_size, name=None, data_format='NHWC') = tf.nn.depth_to_space(input,
    block_size, data_format)
space_to_depth nn.space_to_depth(input, block_size, name=None, data_format='NHWC') = tf.nn.space_to_depth(input,
    block_size, data_format)
matrix_diag(diagonal, name='diag', k=0, num_rows=-1, num_cols=-1, padding_value=0, align='RIGHT_LEFT') =
    tf.linalg.diag(diagonal, name, k, num_rows, num_cols, padding_value, align)
matrix_diag_part(input, name='diag_part', k=0, padding_value=0, align='RIGHT_LEFT') = tf.linalg.diag_part(input, name,
    k, padding_value, align)
matrix_set_diag(input, diagonal, name='set_diag', k=0, align='RIGHT_LEFT') = tf.linalg.set_diag(input, diagonal, name,
    k, align)
matrix_transpose(a, name='matrix_transpose', conjugate=False) = tf.linalg.matrix_transpose(a, name, conjugate)
tensor_scatter_add(tensor, indices, updates, name=None) = tf.tensor_scatter_nd_add(tensor, indices, updates)
tensor_scatter_sub(tensor, indices, updates, name=None) = tf.tensor_scatter_nd_sub(tensor, indices, updates)
scatter_add(ref, indices, updates, use_locking=False, name=None) = scattered(ref,'scatter_add',indices,updates)
batch_scatter_update(ref, indices, updates, use_locking=True, name=None) = scattered(ref,'batch_scatter_update',indices,
    updates)
scatter_sub(ref, indices, updates, use_locking=False, name=None) = scattered(ref,'scatter_sub',indices,updates)
scatter_mul(ref, indices, updates, use_locking=False, name=None) = scattered(ref,'scatter_mul',indices,updates)
scatter_div(ref, indices, updates, use_locking=False, name=None) = scattered(ref,'scatter_div',indices,updates)
scatter_max(ref, indices, updates, use_locking=False, name=None) = scattered(ref,'scatter_max',indices,updates)
scatter_min(ref, indices, updates, use_locking=False, name=None) = scattered(ref,'scatter_min',indices,updates)
scatter_update(ref, indices, updates, use_locking=True, name=None) = scattered(ref, 'scatter_update', indices, updates)
scatter_nd_add(ref, indices, updates, use_locking=False, name=None) = assigned(ref.scatter_nd_add(indices, updates))
scatter_nd_sub(ref, indices, updates, use_locking=False, name=None) = assigned(ref.scatter_nd_sub(indices, updates))
scatter_nd_update(ref, indices, updates, use_locking=True, name=None) = assigned(ref.scatter_nd_update(indices,
    updates))
sparse.add sparse_add(a, b, threshold=None, thresh=None) = tf.sparse.add(a, b, either(threshold, thresh, 0))
sparse.reduce_max sparse_reduce_max(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None) =
    tf.sparse.reduce_max(sp_input, either(axis, reduction_axes, None), either(keepdims, keep_dims, None))
sparse.reduce_sum sparse_reduce_sum(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None) =
    tf.sparse.reduce_sum(sp_input, either(axis, reduction_axes, None), either(keepdims, keep_dims, None))
sparse_segment_mean(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False) =
    tf.sparse.segment_mean(data, indices, segment_ids, num_segments, sparse_gradient=sparse_gradient)
sparse_segment_sqrt_n(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False) =
    tf.sparse.segment_sqrt_n(data, indices, segment_ids, num_segments, sparse_gradient=sparse_gradient)
sparse_segment_sum(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False) =
    tf.sparse.segment_sum(data, indices, segment_ids, num_segments, sparse_gradient=sparse_gradient)
math.in_top_k nn.in_top_k(predictions, targets, k, name=None) = tf.math.in_top_k(targets, predictions, k)
math.softmax nn.softmax(logits, axis=None, name=None, dim=None) = nn.softmax(logits,either(axis,dim,None))
math.log_softmax nn.log_softmax(logits, axis=None, name=None, dim=None) = nn.log_softmax(logits,either(axis,dim,None))
nn.avg_pool nn.avg_pool2d(value, ksize, strides, padding, data_format='NHWC', name=None, input=None) =
    tf.nn.avg_pool2d(either(value, input), ksize, strides, padding, data_format)
nn.max_pool(value, ksize, strides, padding, data_format='NHWC', name=None, input=None) = tf.nn.max_pool2d(either(value,
    input), ksize, strides, padding, data_format)
nn.conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None, data_format=None, name=None,
    input=None, dilations=None) = tf.nn.conv1d(either(value, input), filters, stride, padding, data_format or 'NWC',
    dilations)
nn.conv2d(input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True, data_format='NHWC', dilations=[1, 1, 1,
    1], name=None, filters=None) = tf.nn.conv2d(input, either(filter, filters), strides, padding, data_format,
    dilations)
nn.conv2d_transpose(value=None, filter=None, output_shape=None, strides=None, padding='SAME', data_format='NHWC',
    name=None, input=None, filters=None, dilations=None) = tf.nn.conv2d_transpose(either(value, input), either(filter,
    filters), output_shape, strides, padding, data_format, dilations)
nn.conv3d(input, filter=None, strides=None, padding=None, data_format='NDHWC', dilations=[1, 1, 1, 1, 1], name=None,
    filters=None) = tf.nn.conv3d(input, either(filter, filters), strides, padding, data_format, dilations)
nn.conv3d_transpose(value, filter=None, output_shape=None, strides=None, padding='SAME', data_format='NDHWC', name=None,
    input=None, filters=None, dilations=None) = tf.nn.conv3d_transpose(either(value, input), either(filter, filters),
    output_shape, strides, padding, data_format, dilations)
nn.convolution(input, filter, padding, strides=None, dilation_rate=None, name=None, data_format=None, filters=None,
    dilations=None) = tf.nn.convolution(input, either(filter, filters), strides, padding, data_format,
    either(dilation_rate, dilations, None))
nn.crelu(features, name=None, axis=-1) = tf.nn.crelu(features, axis)
nn.depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None) =
    tf.nn.depthwise_conv2d(input, filter, strides, padding, data_format, either(rate, dilations, None))
nn.depthwise_conv2d_native(input, filter, strides, padding, data_format='NHWC', dilations=[1, 1, 1, 1], name=None) =
    tf.raw_ops.DepthwiseConv2dNative(input=input, filter=filter, strides=strides, padding=padding,
    data_format=data_format, dilations=dilations)
nn.conv2d_backprop_input(input_sizes, filter=None, out_backprop=None, strides=None, padding=None, use_cudnn_on_gpu=True,
    data_format='NHWC', dilations=[1, 1, 1, 1], name=None, filters=None) =
    tf.raw_ops.Conv2DBackpropInput(input_sizes=input_sizes, filter=either(filter, filters), out_backprop=out_backprop,
    strides=strides, padding=padding, data_format=data_format, dilations=dilations)
nn.conv2d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, use_cudnn_on_gpu=True,
    data_format='NHWC', dilations=[1, 1, 1, 1], name=None) = tf.raw_ops.Conv2DBackpropFilter(input=input,
    filter_sizes=filter_sizes, out_backprop=out_backprop, strides=strides, padding=padding, data_format=data_format,
    dilations=dilations)
nn.conv3d_backprop_filter nn.conv3d_backprop_filter_v2(input, filter_sizes, out_backprop, strides, padding,
    data_format='NDHWC', dilations=[1, 1, 1, 1, 1], name=None) = tf.raw_ops.Conv3DBackpropFilterV2(input=input,
    filter_sizes=filter_sizes, out_backprop=out_backprop, strides=strides, padding=padding, data_format=data_format,
    dilations=dilations)
nn.dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None) = tf.nn.dropout(x, dropped(keep_prob,
    rate), noise_shape, seed)
nn.fused_batch_norm(x, scale, offset, mean=None, variance=None, epsilon=0.001, data_format='NHWC', is_training=True,
    name=None, exponential_avg_factor=1.0) = fused_batch_norm(x, scale, offset, mean, variance, epsilon,
    exponential_avg_factor, data_format, is_training)[:3]
nn.moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None) = tf.nn.moments(x, axes, shift,
    bool(either(keepdims, keep_dims, None)))
nn.pool(input, window_shape, pooling_type, padding, dilation_rate=None, strides=None, name=None, data_format=None,
    dilations=None) = tf.nn.pool(input, window_shape, pooling_type, strides, padding, data_format, either(dilation_rate,
    dilations, None))
nn.relu_layer(x, weights, biases, name=None) = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weights), biases))
nn.xw_plus_b(x, weights, biases, name=None) = tf.nn.bias_add(tf.matmul(x, weights), biases)
nn.separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate=None, name=None, data_format=None,
    dilations=None) = tf.nn.separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format,
    either(rate, dilations, None))
nn.softmax_cross_entropy_with_logits(labels=None, logits=None, dim=-1, name=None, axis=None) =
    tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(labels), logits, either(axis, None, dim))
nn.softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None) =
    tf.nn.softmax_cross_entropy_with_logits(labels, logits, either(axis, dim, -1))
nn.sparse_softmax_cross_entropy_with_logits(labels=None, logits=None, name=None) =
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
nn.sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None) = tf.nn.sufficient_statistics(x,
    axes, shift, bool(either(keepdims, keep_dims, None)))
nn.weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None) =
    tf.nn.weighted_cross_entropy_with_logits(either(labels, targets), logits, pos_weight)
nn.weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None) = tf.nn.weighted_moments(x,
    axes, frequency_weights, bool(either(keepdims, keep_dims, None)))
nn.embedding_lookup(params, ids, partition_strategy='mod', name=None, validate_indices=True, max_norm=None) =
    tf.nn.embedding_lookup(*parted(params, ids, partition_strategy), max_norm)
nn.dilation2d(input, filter=None, strides=None, rates=None, padding=None, name=None, filters=None, dilations=None) =
    tf.nn.dilation2d(input, either(filter, filters), strides, padding, 'NHWC', either(rates, dilations))
nn.erosion2d(value, kernel, strides, rates, padding, name=None) = tf.nn.erosion2d(value, kernel, strides, padding,
    'NHWC', rates)
image.crop_and_resize(image, boxes, box_ind=None, crop_size=None, method='bilinear', extrapolation_value=0, name=None,
    box_indices=None) = tf.image.crop_and_resize(image, boxes, either(box_ind, box_indices), crop_size, method,
    extrapolation_value)
image.draw_bounding_boxes(images, boxes, name=None, colors=None) = tf.image.draw_bounding_boxes(images, boxes, colors)
image.extract_glimpse(input, size, offsets, centered=True, normalized=True, uniform_noise=True, name=None) =
    glimpses(input, size, offsets, centered, normalized, 'uniform', True)
image.resize image.resize_images(images, size, method=0, align_corners=False, preserve_aspect_ratio=False, name=None) =
    resized_images(images, size, method, align_corners, preserve_aspect_ratio)
image.resize_area(images, size, align_corners=False, name=None) = resized('area', images, size, align_corners, False)
image.resize_bicubic(images, size, align_corners=False, name=None, half_pixel_centers=False) = resized('bicubic',
    images, size, align_corners, half_pixel_centers)
image.resize_bilinear(images, size, align_corners=False, name=None, half_pixel_centers=False) = resized('bilinear',
    images, size, align_corners, half_pixel_centers)
image.resize_nearest_neighbor(images, size, align_corners=False, name=None, half_pixel_centers=False) =
    resized('nearest', images, size, align_corners, half_pixel_centers)
io.decode_csv decode_csv(records, record_defaults, field_delim=',', use_quote_delim=True, name=None, na_value='',
    select_cols=None) = tf.io.decode_csv(records, record_defaults, field_delim, use_quote_delim, na_value, select_cols)
io.decode_raw decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None) =
    tf.io.decode_raw(either(input_bytes, bytes), out_type, little_endian)
io.parse_example parse_example(serialized, features, name=None, example_names=None) = tf.io.parse_example(serialized,
    features, example_names)
io.parse_single_example parse_single_example(serialized, features, name=None, example_names=None) =
    tf.io.parse_single_example(serialized, features, example_names)
io.serialize_many_sparse serialize_many_sparse(sp_input, name=None, out_type=tf.string) =
    tf.io.serialize_many_sparse(sp_input, out_type)
io.serialize_sparse serialize_sparse(sp_input, name=None, out_type=tf.string) = tf.io.serialize_sparse(sp_input,
    out_type)
nn.embedding_lookup_sparse(params, sp_ids, sp_weights, partition_strategy='mod', name=None, combiner=None,
    max_norm=None) = tf.nn.embedding_lookup_sparse(*parted_sparse(params, sp_ids, partition_strategy), sp_weights,
    combiner, max_norm)
nn.safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner='mean', default_id=None,
    name=None, partition_strategy='div', max_norm=None) =
    tf.nn.safe_embedding_lookup_sparse(*parted_sparse(embedding_weights, sparse_ids, partition_strategy),
    sparse_weights, combiner, default_id, max_norm)
nn.fractional_avg_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0,
    seed2=0, name=None) = tf.raw_ops.FractionalAvgPool(value=value, pooling_ratio=pooling_ratio,
    pseudo_random=pseudo_random, overlapping=overlapping, deterministic=deterministic, seed=seed, seed2=seed2)
nn.fractional_max_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0,
    seed2=0, name=None) = tf.raw_ops.FractionalMaxPool(value=value, pooling_ratio=pooling_ratio,
    pseudo_random=pseudo_random, overlapping=overlapping, deterministic=deterministic, seed=seed, seed2=seed2)
nn.max_pool_with_argmax(input, ksize, strides, padding, data_format='NHWC', Targmax=None, name=None, output_dtype=None,
    include_batch_in_index=False) = tf.nn.max_pool_with_argmax(input, ksize, strides, padding, data_format,
    either(Targmax, output_dtype, tf.int64), include_batch_in_index)
sparse.concat sparse_concat(axis, sp_inputs, name=None, expand_nonconcat_dim=False, concat_dim=None,
    expand_nonconcat_dims=None) = tf.sparse.concat(either(axis, concat_dim), sp_inputs, either(expand_nonconcat_dims,
    None, expand_nonconcat_dim))
sparse.split sparse_split(keyword_required=KEYWORDS, sp_input=None, num_split=None, axis=None, name=None,
    split_dim=None) = split_sparse(keyword_required, sp_input, num_split, either(axis, split_dim, None))
sparse.merge sparse_merge(sp_ids, sp_values, vocab_size, name=None, already_sorted=False) = merged_sparse(sp_ids,
    sp_values, vocab_size, already_sorted)
sparse.reduce_max_sparse sparse_reduce_max_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None,
    keep_dims=None) = tf.sparse.reduce_max(sp_input, either(axis, reduction_axes, None), either(keepdims, keep_dims,
    None), True)
sparse.reduce_sum_sparse sparse_reduce_sum_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None,
    keep_dims=None) = tf.sparse.reduce_sum(sp_input, either(axis, reduction_axes, None), either(keepdims, keep_dims,
    None), True)
strings.split(input=None, sep=None, maxsplit=-1, result_type='SparseTensor', source=None, name=None) =
    ragged_or_sparse(lambda: tf.strings.split(as_vector(either(input, source)), sep, maxsplit), result_type)
string_split(source, sep=None, skip_empty=True, delimiter=' ', result_type='SparseTensor', name=None) =
    ragged_or_sparse(lambda: split_at_any(source, either(sep, None, ' ' if delimiter is None else delimiter
    ), skip_empty), result_type)
strings.to_hash_bucket string_to_hash_bucket(string_tensor=None, num_buckets=None, name=None, input=None) =
    tf.strings.to_hash_bucket(either(string_tensor, input), num_buckets)
random.get_seed get_seed(op_seed) = seeds(op_seed)
executing_eagerly_outside_functions control_flow_v2_enabled resource_variables_enabled() = True
"""

_REDUCED = "input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None"
for _name in ("all", "any", "logsumexp", "max", "mean", "min", "prod", "sum"):
    TABLE += (
        f"reduce_{_name} math.reduce_{_name}({_REDUCED}) = tf.math.reduce_{_name}(input_tensor, "
        "either(axis, reduction_indices, None), bool(either(keepdims, keep_dims, None)))\n"
    )
_CHECKS = {
    "x, y": "assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_none_equal",
    "x": "assert_negative assert_non_negative assert_non_positive assert_positive",
    "x, rank": "assert_rank assert_rank_at_least",
    "x, ranks": "assert_rank_in",
}
for _given, _names in _CHECKS.items():
    _said = "message=message" if "rank" in _given else "message=message, summarize=summarize"
    for _name in _names.split():
        TABLE += (
            f"{_name} debugging.{_name}({_given}, data=None, summarize=None, message=None, name=None) = "
            f"tf.debugging.{_name}({_given}, {_said})\n"
        )
