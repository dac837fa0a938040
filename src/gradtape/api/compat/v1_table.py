"""The functions of `tf.compat.v1` whose parameters differ from TensorFlow 2's, and their implementations.

The format is that of `tf.raw_ops` (`api/raw/table.py`). Names with the same meaning in both versions are not listed:
`tf.compat.v1` takes them from `tf` (`api/v1_names.py` lists those with another meaning that are missing).
"""

_REDUCED = "input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None"
_CHECKED = "data=None, summarize=None, message=None, name=None"
_CHECKS = {
    "x, y": "assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_none_equal",
    "x": "assert_negative assert_non_negative assert_non_positive assert_positive",
    "x, rank": "assert_rank assert_rank_at_least",
    "x, ranks": "assert_rank_in",
}

TABLE = """
argmax(input, axis=None, name=None, dimension=None, output_type=int64) =
    tf.argmax(input, either(axis, dimension, 0), output_type)
argmin(input, axis=None, name=None, dimension=None, output_type=int64) =
    tf.argmin(input, either(axis, dimension, 0), output_type)
math.argmax(input, axis=None, name=None, dimension=None, output_type=int64) =
    tf.argmax(input, either(axis, dimension, 0), output_type)
math.argmin(input, axis=None, name=None, dimension=None, output_type=int64) =
    tf.argmin(input, either(axis, dimension, 0), output_type)
arg_max(input, dimension, output_type=int64, name=None) = tf.argmax(input, dimension, output_type)
arg_min(input, dimension, output_type=int64, name=None) = tf.argmin(input, dimension, output_type)
assign(ref, value, validate_shape=None, use_locking=None, name=None) = ref.assign(value)
assign_add(ref, value, use_locking=None, name=None) = ref.assign_add(value)
assign_sub(ref, value, use_locking=None, name=None) = ref.assign_sub(value)
batch_to_space(input, crops, block_size, name=None, block_shape=None) =
    tf.batch_to_space(input, square(either(block_size, block_shape)), crops)
space_to_batch(input, paddings, block_size=None, name=None, block_shape=None) =
    tf.space_to_batch(input, square(either(block_size, block_shape)), paddings)
boolean_mask(tensor, mask, name='boolean_mask', axis=None) = tf.boolean_mask(tensor, mask, axis)
ceil(x, name=None) = tf.math.ceil(x)
floor_div(x, y, name=None) = tf.math.floordiv(x, y)
sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None) =
    filled_in(sparse_indices, output_shape, sparse_values, default_value, validate_indices)
cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None) =
    tf.cond(pred, either(true_fn, fn1), either(false_fn, fn2))
confusion_matrix(labels, predictions, num_classes=None, dtype=int32, name=None, weights=None) =
    tf.math.confusion_matrix(labels, predictions, num_classes, weights, dtype)
math.confusion_matrix(labels, predictions, num_classes=None, dtype=int32, name=None, weights=None) =
    tf.math.confusion_matrix(labels, predictions, num_classes, weights, dtype)
constant(value, dtype=None, shape=None, name='Const', verify_shape=False) = constant(value, dtype, shape, verify_shape)
convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None) =
    tf.convert_to_tensor(value, dtype, either(dtype_hint, preferred_dtype, None))
count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype=int64, name=None, reduction_indices=None,
    keep_dims=None, input=None) = tf.math.count_nonzero(either(input_tensor, input), either(axis, reduction_indices,
    None), either(keepdims, keep_dims, None), dtype)
math.count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype=int64, name=None, reduction_indices=None,
    keep_dims=None, input=None) = tf.math.count_nonzero(either(input_tensor, input), either(axis, reduction_indices,
    None), either(keepdims, keep_dims, None), dtype)
bincount(arr, weights=None, minlength=None, maxlength=None, dtype=int32) =
    tf.math.bincount(arr, weights, minlength, maxlength, dtype)
math.bincount(arr, weights=None, minlength=None, maxlength=None, dtype=int32) =
    tf.math.bincount(arr, weights, minlength, maxlength, dtype)
div(x, y, name=None) = tf.raw_ops.FloorDiv(x=x, y=y) if tf.convert_to_tensor(x).dtype.is_integer else tf.divide(x, y)
div_no_nan(x, y, name=None) = tf.math.divide_no_nan(x, y)
expand_dims(input, axis=None, name=None, dim=None) = tf.expand_dims(input, either(axis, dim))
extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None) =
    tf.image.extract_patches(images, either(ksizes, sizes), strides, rates, padding)
gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0) =
    tf.gather(params, indices, axis=axis, batch_dims=batch_dims)
batch_gather(params, indices, name=None) = tf.gather(params, indices, batch_dims=len(indices.shape) - 1)
gather_nd(params, indices, name=None, batch_dims=0, bad_indices_policy='') =
    tf.gather_nd(params, indices, batch_dims, bad_indices_policy=bad_indices_policy)
gradients(ys, xs, grad_ys=None, name='gradients', colocate_gradients_with_ops=False, gate_gradients=False,
    aggregation_method=None, stop_gradients=None, unconnected_gradients=UnconnectedGradients.NONE) =
    tf.gradients(ys, xs, grad_ys, name, gate_gradients, aggregation_method, stop_gradients, unconnected_gradients)
hessians(ys, xs, name='hessians', colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None) =
    tf.hessians(ys, xs, gate_gradients, aggregation_method)
lin_space(start, stop, num, name=None, axis=0) = tf.linspace(start, stop, num, axis=axis)
multinomial(logits, num_samples, seed=None, name=None, output_dtype=None) =
    tf.random.categorical(logits, num_samples, either(output_dtype, None, tf.int64), seed)
random.multinomial(logits, num_samples, seed=None, name=None, output_dtype=None) =
    tf.random.categorical(logits, num_samples, either(output_dtype, None, tf.int64), seed)
norm(tensor, ord='euclidean', axis=None, keepdims=None, name=None, keep_dims=None) =
    tf.norm(tensor, ord, axis, either(keepdims, keep_dims, None))
linalg.norm(tensor, ord='euclidean', axis=None, keepdims=None, name=None, keep_dims=None) =
    tf.norm(tensor, ord, axis, either(keepdims, keep_dims, None))
ones_like(tensor, dtype=None, name=None, optimize=True) = tf.ones_like(tensor, dtype)
zeros_like(tensor, dtype=None, name=None, optimize=True) = tf.zeros_like(tensor, dtype)
pad(tensor, paddings, mode='CONSTANT', name=None, constant_values=0) = tf.pad(tensor, paddings, mode, constant_values)
placeholder_with_default(input, shape, name=None) = tf.convert_to_tensor(input)
py_func(func, inp, Tout, stateful=True, name=None) = tf.numpy_function(func, inp, Tout)
random_poisson(lam, shape, dtype=float32, seed=None, name=None) = tf.random.poisson(shape, lam, dtype, seed)
random.poisson(lam, shape, dtype=float32, seed=None, name=None) = tf.random.poisson(shape, lam, dtype, seed)
reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None) =
    tf.reverse_sequence(input, seq_lengths, either(seq_axis, seq_dim), either(batch_axis, batch_dim, 0))
self_adjoint_eig(tensor, name=None) = tf.linalg.eigh(tensor)
self_adjoint_eigvals(tensor, name=None) = tf.linalg.eigvalsh(tensor)
shape(input, name=None, out_type=None) = tf.shape(input, out_type or tf.int32)
size(input, name=None, out_type=None) = tf.size(input, out_type or tf.int32)
squeeze(input, axis=None, name=None, squeeze_dims=None) = tf.squeeze(input, either(axis, squeeze_dims, None))
string_to_number(string_tensor=None, out_type=float32, name=None, input=None) =
    tf.strings.to_number(either(string_tensor, input), out_type)
strings.length(input, name=None, unit='BYTE') = tf.strings.length(input, unit)
strings.substr(input, pos, len, name=None, unit='BYTE') = tf.strings.substr(input, pos, len, unit)
strings.to_number(string_tensor=None, out_type=float32, name=None, input=None) =
    tf.strings.to_number(either(string_tensor, input), out_type)
strings.reduce_join(inputs, axis=None, keep_dims=None, separator='', name=None, reduction_indices=None, keepdims=None) =
    tf.strings.reduce_join(inputs, either(axis, reduction_indices, None), bool(either(keepdims, keep_dims, None)),
    separator)
substr(input, pos, len, name=None, unit='BYTE') = tf.strings.substr(input, pos, len, unit)
svd(tensor, full_matrices=False, compute_uv=True, name=None) = tf.linalg.svd(tensor, full_matrices, compute_uv)
trace(x, name=None) = tf.linalg.trace(x)
transpose(a, perm=None, name='transpose', conjugate=False) = tf.transpose(a, perm, conjugate)
tuple(tensors, name=None, control_inputs=None) = tf.tuple(tensors, control_inputs)
verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None) =
    tf.debugging.check_numerics(either(t, x), either(msg, message))
debugging.assert_all_finite(t=None, msg=None, name=None, x=None, message=None) =
    tf.debugging.check_numerics(either(t, x), either(msg, message))
where(condition, x=None, y=None, name=None) = tf.where(condition) if x is None and y is None else
    row_select(condition, x, y)
where_v2(condition, x=None, y=None, name=None) = tf.where(condition, x, y)
while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
    name=None, maximum_iterations=None, return_same_structure=False) = unpacked(tf.while_loop(cond, listing(body),
    loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, maximum_iterations),
    return_same_structure)
debugging.assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None) =
    tf.debugging.assert_near(x, y, rtol, atol, message, summarize)
assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None) =
    tf.debugging.assert_near(x, y, rtol, atol, message, summarize)
debugging.assert_scalar(tensor, name=None, message=None) = tf.debugging.assert_scalar(tensor, message)
assert_scalar(tensor, name=None, message=None) = tf.debugging.assert_scalar(tensor, message)
assert_integer(x, message=None, name=None) = tf.debugging.assert_integer(x, message)
assert_type(tensor, tf_type, message=None, name=None) = tf.debugging.assert_type(tensor, tf_type, message)
(x, name=None) conj=math.conj(x) digamma=math.digamma(x) erf=math.erf(x) erfc=math.erfc(x) expm1=math.expm1(x)
    is_finite=math.is_finite(x) is_inf=math.is_inf(x) is_nan=math.is_nan(x) lbeta=math.lbeta(x) lgamma=math.lgamma(x)
    log=math.log(x) log1p=math.log1p(x) log_sigmoid=math.log_sigmoid(x) reciprocal=math.reciprocal(x) rint=math.rint(x)
    rsqrt=math.rsqrt(x) invert_permutation=math.invert_permutation(x) to_bfloat16=cast(x,tf.bfloat16)
    to_complex64=cast(x,tf.complex64) to_complex128=cast(x,tf.complex128) to_double=cast(x,tf.float64)
    to_float=cast(x,tf.float32) to_int32=cast(x,tf.int32) to_int64=cast(x,tf.int64)
    is_non_decreasing=math.is_non_decreasing(x) is_strictly_increasing=math.is_strictly_increasing(x)
(x, y, name=None) floordiv=math.floordiv(x,y) logical_xor=math.logical_xor(x,y) mod=math.floormod(x,y)
    squared_difference=math.squared_difference(x,y)
(input, name=None) angle=math.angle(input) cholesky=linalg.cholesky(input) imag=math.imag(input) real=math.real(input)
    diag_part=linalg.tensor_diag_part(input) fft=signal.fft(input) ifft=signal.ifft(input) fft2d=signal.fft2d(input)
    ifft2d=signal.ifft2d(input) fft3d=signal.fft3d(input) ifft3d=signal.ifft3d(input)
    matrix_determinant=linalg.det(input) string_strip=strings.strip(input) decode_base64=io.decode_base64(input)
(a, x, name=None) igamma=math.igamma(a,x) igammac=math.igammac(a,x) polygamma=math.polygamma(a,x)
betainc(a, b, x, name=None) = tf.math.betainc(a, b, x)
zeta(x, q, name=None) = tf.math.zeta(x, q)
cross(a, b, name=None) = tf.linalg.cross(a, b)
cumprod(x, axis=0, exclusive=False, reverse=False, name=None) = tf.math.cumprod(x, axis, exclusive, reverse)
diag(diagonal, name=None) = tf.linalg.tensor_diag(diagonal)
cholesky_solve(chol, rhs, name=None) = tf.linalg.cholesky_solve(chol, rhs)
clip_by_average_norm(t, clip_norm, name=None) = tf.clip_by_norm(t, tf.multiply(clip_norm, tf.cast(tf.size(t), t.dtype)))
depth_to_space(input, block_size, name=None, data_format='NHWC') = tf.nn.depth_to_space(input, block_size, data_format)
space_to_depth(input, block_size, name=None, data_format='NHWC') = tf.nn.space_to_depth(input, block_size, data_format)
nn.depth_to_space(input, block_size, name=None, data_format='NHWC') =
    tf.nn.depth_to_space(input, block_size, data_format)
nn.space_to_depth(input, block_size, name=None, data_format='NHWC') =
    tf.nn.space_to_depth(input, block_size, data_format)
global_norm(t_list, name=None) = tf.linalg.global_norm(t_list)
accumulate_n(inputs, shape=None, tensor_dtype=None, name=None) = tf.math.accumulate_n(inputs, shape, tensor_dtype)
matrix_band_part(input, num_lower, num_upper, name=None) = tf.linalg.band_part(input, num_lower, num_upper)
matrix_diag(diagonal, name='diag', k=0, num_rows=-1, num_cols=-1, padding_value=0, align='RIGHT_LEFT') =
    tf.linalg.diag(diagonal, name, k, num_rows, num_cols, padding_value, align)
matrix_diag_part(input, name='diag_part', k=0, padding_value=0, align='RIGHT_LEFT') =
    tf.linalg.diag_part(input, name, k, padding_value, align)
matrix_set_diag(input, diagonal, name='set_diag', k=0, align='RIGHT_LEFT') =
    tf.linalg.set_diag(input, diagonal, name, k, align)
matrix_inverse(input, adjoint=False, name=None) = tf.linalg.inv(input, adjoint)
matrix_solve(matrix, rhs, adjoint=False, name=None) = tf.linalg.solve(matrix, rhs, adjoint)
matrix_solve_ls(matrix, rhs, l2_regularizer=0.0, fast=True, name=None) =
    tf.linalg.lstsq(matrix, rhs, l2_regularizer, fast)
matrix_transpose(a, name='matrix_transpose', conjugate=False) = tf.linalg.matrix_transpose(a, name, conjugate)
matrix_triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None) =
    tf.linalg.triangular_solve(matrix, rhs, lower, adjoint)
qr(input, full_matrices=False, name=None) = tf.linalg.qr(input, full_matrices)
random_crop(value, size, seed=None, name=None) = tf.image.random_crop(value, size, seed)
random_gamma(shape, alpha, beta=None, dtype=float32, seed=None, name=None) =
    tf.random.gamma(shape, alpha, beta, dtype, seed)
random_normal(shape, mean=0.0, stddev=1.0, dtype=float32, seed=None, name=None) =
    tf.random.normal(shape, mean, stddev, dtype, seed)
random_uniform(shape, minval=0, maxval=None, dtype=float32, seed=None, name=None) =
    tf.random.uniform(shape, minval, maxval, dtype, seed)
truncated_normal(shape, mean=0.0, stddev=1.0, dtype=float32, seed=None, name=None) =
    tf.random.truncated_normal(shape, mean, stddev, dtype, seed)
random_shuffle(value, seed=None, name=None) = tf.random.shuffle(value, seed)
read_file(filename, name=None) = tf.io.read_file(filename)
write_file(filename, contents, name=None) = tf.io.write_file(filename, contents)
regex_replace(input, pattern, rewrite, replace_global=True, name=None) =
    tf.strings.regex_replace(input, pattern, rewrite, replace_global)
reverse_v2(tensor, axis, name=None) = tf.reverse(tensor, axis)
segment_max(data, segment_ids, name=None) = tf.math.segment_max(data, segment_ids)
segment_mean(data, segment_ids, name=None) = tf.math.segment_mean(data, segment_ids)
segment_min(data, segment_ids, name=None) = tf.math.segment_min(data, segment_ids)
segment_prod(data, segment_ids, name=None) = tf.math.segment_prod(data, segment_ids)
segment_sum(data, segment_ids, name=None) = tf.math.segment_sum(data, segment_ids)
(data, segment_ids, num_segments, name=None)
    unsorted_segment_max=math.unsorted_segment_max(data,segment_ids,num_segments)
    unsorted_segment_mean=math.unsorted_segment_mean(data,segment_ids,num_segments)
    unsorted_segment_min=math.unsorted_segment_min(data,segment_ids,num_segments)
    unsorted_segment_prod=math.unsorted_segment_prod(data,segment_ids,num_segments)
    unsorted_segment_sqrt_n=math.unsorted_segment_sqrt_n(data,segment_ids,num_segments)
    unsorted_segment_sum=math.unsorted_segment_sum(data,segment_ids,num_segments)
string_join(inputs, separator='', name=None) = tf.strings.join(inputs, separator)
tensor_scatter_add(tensor, indices, updates, name=None) = tf.tensor_scatter_nd_add(tensor, indices, updates)
tensor_scatter_sub(tensor, indices, updates, name=None) = tf.tensor_scatter_nd_sub(tensor, indices, updates)
tensor_scatter_update(tensor, indices, updates, name=None) = tf.tensor_scatter_nd_update(tensor, indices, updates)
(ref, indices, updates, use_locking=False, name=None) scatter_add=scattered(ref,'scatter_add',indices,updates)
    scatter_sub=scattered(ref,'scatter_sub',indices,updates) scatter_mul=scattered(ref,'scatter_mul',indices,updates)
    scatter_div=scattered(ref,'scatter_div',indices,updates) scatter_max=scattered(ref,'scatter_max',indices,updates)
    scatter_min=scattered(ref,'scatter_min',indices,updates)
scatter_update(ref, indices, updates, use_locking=True, name=None) = scattered(ref, 'scatter_update', indices, updates)
scatter_nd_add(ref, indices, updates, use_locking=False, name=None) = ref.scatter_nd_add(indices, updates)
scatter_nd_sub(ref, indices, updates, use_locking=False, name=None) = ref.scatter_nd_sub(indices, updates)
scatter_nd_update(ref, indices, updates, use_locking=True, name=None) = ref.scatter_nd_update(indices, updates)
sparse.add(a, b, threshold=None, thresh=None) = tf.sparse.add(a, b, either(threshold, thresh, 0))
sparse_add(a, b, threshold=None, thresh=None) = tf.sparse.add(a, b, either(threshold, thresh, 0))
sparse.reduce_max(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None) =
    tf.sparse.reduce_max(sp_input, either(axis, reduction_axes, None), either(keepdims, keep_dims, None))
sparse.reduce_sum(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None) =
    tf.sparse.reduce_sum(sp_input, either(axis, reduction_axes, None), either(keepdims, keep_dims, None))
sparse_reduce_max(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None) =
    tf.sparse.reduce_max(sp_input, either(axis, reduction_axes, None), either(keepdims, keep_dims, None))
sparse_reduce_sum(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None) =
    tf.sparse.reduce_sum(sp_input, either(axis, reduction_axes, None), either(keepdims, keep_dims, None))
(sp_input, name=None) sparse_reorder=sparse.reorder(sp_input) sparse_softmax=sparse.softmax(sp_input)
sparse_reshape(sp_input, shape, name=None) = tf.sparse.reshape(sp_input, shape)
sparse_retain(sp_input, to_retain) = tf.sparse.retain(sp_input, to_retain)
sparse_slice(sp_input, start, size, name=None) = tf.sparse.slice(sp_input, start, size)
sparse_transpose(sp_input, perm=None, name=None) = tf.sparse.transpose(sp_input, perm)
sparse_tensor_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None) =
    tf.sparse.sparse_dense_matmul(sp_a, b, adjoint_a, adjoint_b)
sparse_tensor_to_dense(sp_input, default_value=None, validate_indices=True, name=None) =
    tf.sparse.to_dense(sp_input, default_value, validate_indices)
sparse_to_indicator(sp_input, vocab_size, name=None) = tf.sparse.to_indicator(sp_input, vocab_size)
sparse_fill_empty_rows(sp_input, default_value, name=None) = tf.sparse.fill_empty_rows(sp_input, default_value)
sparse_maximum(sp_a, sp_b, name=None) = tf.sparse.maximum(sp_a, sp_b)
sparse_minimum(sp_a, sp_b, name=None) = tf.sparse.minimum(sp_a, sp_b)
sparse_segment_mean(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False) =
    tf.sparse.segment_mean(data, indices, segment_ids, num_segments)
sparse_segment_sqrt_n(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False) =
    tf.sparse.segment_sqrt_n(data, indices, segment_ids, num_segments)
sparse_segment_sum(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False) =
    tf.sparse.segment_sum(data, indices, segment_ids, num_segments)
math.in_top_k(predictions, targets, k, name=None) = tf.math.in_top_k(targets, predictions, k)
nn.in_top_k(predictions, targets, k, name=None) = tf.math.in_top_k(targets, predictions, k)
(logits, axis=None, name=None, dim=None) math.softmax=nn.softmax(logits,either(axis,dim,None))
    nn.softmax=nn.softmax(logits,either(axis,dim,None)) math.log_softmax=nn.log_softmax(logits,either(axis,dim,None))
    nn.log_softmax=nn.log_softmax(logits,either(axis,dim,None))
nn.avg_pool(value, ksize, strides, padding, data_format='NHWC', name=None, input=None) =
    tf.nn.avg_pool2d(either(value, input), ksize, strides, padding, data_format)
nn.avg_pool2d(value, ksize, strides, padding, data_format='NHWC', name=None, input=None) =
    tf.nn.avg_pool2d(either(value, input), ksize, strides, padding, data_format)
nn.max_pool(value, ksize, strides, padding, data_format='NHWC', name=None, input=None) =
    tf.nn.max_pool2d(either(value, input), ksize, strides, padding, data_format)
nn.avg_pool_v2(input, ksize, strides, padding, data_format=None, name=None) =
    tf.nn.avg_pool(input, ksize, strides, padding, data_format)
nn.max_pool_v2(input, ksize, strides, padding, data_format=None, name=None) =
    tf.nn.max_pool(input, ksize, strides, padding, data_format)
nn.conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None, data_format=None, name=None,
    input=None, dilations=None) = tf.nn.conv1d(either(value, input), filters, stride, padding, data_format or 'NWC',
    dilations)
nn.conv2d(input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True, data_format='NHWC',
    dilations=[1, 1, 1, 1], name=None, filters=None) = tf.nn.conv2d(input, either(filter, filters), strides, padding,
    data_format, dilations)
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
nn.dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None) =
    tf.nn.dropout(x, dropped(keep_prob, rate), noise_shape, seed)
nn.fused_batch_norm(x, scale, offset, mean=None, variance=None, epsilon=0.001, data_format='NHWC', is_training=True,
    name=None, exponential_avg_factor=1.0) = fused_batch_norm(x, scale, offset, mean, variance, epsilon,
    exponential_avg_factor, data_format, is_training)[:3]
nn.moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None) =
    tf.nn.moments(x, axes, shift, bool(either(keepdims, keep_dims, None)))
nn.pool(input, window_shape, pooling_type, padding, dilation_rate=None, strides=None, name=None, data_format=None,
    dilations=None) = tf.nn.pool(input, window_shape, pooling_type, strides, padding, data_format,
    either(dilation_rate, dilations, None))
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
nn.space_to_batch(input, paddings, block_size=None, name=None, block_shape=None) =
    tf.space_to_batch(input, square(either(block_size, block_shape)), paddings)
nn.sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None) =
    tf.nn.sufficient_statistics(x, axes, shift, bool(either(keepdims, keep_dims, None)))
nn.weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None) =
    tf.nn.weighted_cross_entropy_with_logits(either(labels, targets), logits, pos_weight)
nn.weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None) =
    tf.nn.weighted_moments(x, axes, frequency_weights, bool(either(keepdims, keep_dims, None)))
nn.embedding_lookup(params, ids, partition_strategy='mod', name=None, validate_indices=True, max_norm=None) =
    tf.nn.embedding_lookup(*parted(params, ids, partition_strategy), max_norm)
nn.dilation2d(input, filter=None, strides=None, rates=None, padding=None, name=None, filters=None, dilations=None) =
    tf.nn.dilation2d(input, either(filter, filters), strides, padding, 'NHWC', either(rates, dilations))
nn.erosion2d(value, kernel, strides, rates, padding, name=None) =
    tf.nn.erosion2d(value, kernel, strides, padding, 'NHWC', rates)
image.crop_and_resize(image, boxes, box_ind=None, crop_size=None, method='bilinear', extrapolation_value=0, name=None,
    box_indices=None) = tf.image.crop_and_resize(image, boxes, either(box_ind, box_indices), crop_size, method,
    extrapolation_value)
image.extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None) =
    tf.image.extract_patches(images, either(ksizes, sizes), strides, rates, padding)
image.resize(images, size, method=0, align_corners=False, preserve_aspect_ratio=False, name=None) =
    resized_images(images, size, method, align_corners, preserve_aspect_ratio)
image.resize_images(images, size, method=0, align_corners=False, preserve_aspect_ratio=False, name=None) =
    resized_images(images, size, method, align_corners, preserve_aspect_ratio)
image.resize_area(images, size, align_corners=False, name=None) = resized('area', images, size, align_corners, False)
image.resize_bicubic(images, size, align_corners=False, name=None, half_pixel_centers=False) =
    resized('bicubic', images, size, align_corners, half_pixel_centers)
image.resize_bilinear(images, size, align_corners=False, name=None, half_pixel_centers=False) =
    resized('bilinear', images, size, align_corners, half_pixel_centers)
image.resize_nearest_neighbor(images, size, align_corners=False, name=None, half_pixel_centers=False) =
    resized('nearest', images, size, align_corners, half_pixel_centers)
image.resize_image_with_crop_or_pad(image, target_height, target_width) =
    tf.image.resize_with_crop_or_pad(image, target_height, target_width)
image.transpose_image(image, name=None) = tf.image.transpose(image)
spectral.dct(input, type=2, n=None, axis=-1, norm=None, name=None) = tf.signal.dct(input, type, n, axis, norm)
spectral.idct(input, type=2, n=None, axis=-1, norm=None, name=None) = tf.signal.idct(input, type, n, axis, norm)
random.get_seed(op_seed) = seeds(op_seed)
get_seed(op_seed) = seeds(op_seed)
executing_eagerly_outside_functions() = True
control_flow_v2_enabled() = True
resource_variables_enabled() = True
"""
for _name in ("all", "any", "logsumexp", "max", "mean", "min", "prod", "sum"):
    for _space in ("", "math."):
        TABLE += (
            f"{_space}reduce_{_name}({_REDUCED}) = tf.math.reduce_{_name}(input_tensor, "
            "either(axis, reduction_indices, None), bool(either(keepdims, keep_dims, None)))\n"
        )
for _given, _names in _CHECKS.items():
    _said = "message=message" if "rank" in _given else "message=message, summarize=summarize"
    for _name in _names.split():
        for _space in ("", "debugging."):
            TABLE += f"{_space}{_name}({_given}, {_CHECKED}) = tf.debugging.{_name}({_given}, {_said})\n"
