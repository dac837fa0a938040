"""Rarely used functions of many namespaces."""

EXPRESSIONS = """
nn.all_candidate_sampler([[1, 3]], 2, 5, True)
random.all_candidate_sampler([[1, 3], [0, 2]], 2, 4, False)
random.all_candidate_sampler([[1, 9]], 2, 5, True)
nn.compute_accidental_hits([[1, 3], [2, 4]], [2, 3, 1, 9, 3], 2)
nn.compute_accidental_hits([[1, 3]], [7], 2)
nn.compute_accidental_hits([[1, 3]], [7], 3)
nn.ctc_unique_labels([[3, 4, 4, 3, 0], [1, 1, 2, 0, 0]])
nn.batch_norm_with_global_normalization(np.ones((1, 2, 2, 2), np.float32), np.float32([0.5, 0.25]), np.float32([1.0,
    2.0]), np.float32([0.0, 1.0]), np.float32([2.0, 3.0]), 0.1, True)
nn.batch_norm_with_global_normalization(np.ones((1, 2, 2, 2), np.float32), np.float32([0.5, 0.25]), np.float32([1.0,
    2.0]), np.float32([0.0, 1.0]), np.float32([2.0, 3.0]), 0.1, False)
nn.depthwise_conv2d_backprop_input([1, 4, 4, 2], np.arange(16.0).reshape(2, 2, 2, 2), np.ones((1, 3, 3, 4)), [1, 1,
    1, 1], 'VALID')
nn.depthwise_conv2d_backprop_filter(np.arange(32.0).reshape(1, 4, 4, 2), [2, 2, 2, 1], np.ones((1, 3, 3, 2)), [1, 1,
    1, 1], 'VALID')
conv(np.arange(32.0).reshape(1, 4, 4, 2), np.arange(8.0).reshape(2, 2, 2, 1), [1, 1, 1, 1], 'VALID')
conv(np.arange(54.0).reshape(1, 3, 3, 3, 2), np.ones((2, 2, 2, 2, 1)), [1, 1, 1, 1, 1], 'SAME')
fingerprint(tf.constant(['abc', 'de']))
fingerprint(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
fingerprint(tf.constant([1, 2]))
fingerprint(tf.constant([['a', 'b'], ['c', 'd']]))
fingerprint(tf.constant(1))
sparse.sampled_addmm([[0, 1], [1, 0]], [1.0, 2.0], [2, 2], [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]],
    beta=0.5, alpha=2.0)
approx_top_k([1.0, 3.0, 2.0], 2)
quantization.fake_quant_with_min_max_args_gradient([1.0, 2.0, 3.0], [-9.0, 1.0, 9.0])
quantization.fake_quant_with_min_max_vars_gradient([1.0, 2.0, 3.0], [-9.0, 0.5, 9.0], -1.0, 1.0)
quantization.fake_quant_with_min_max_vars_per_channel_gradient([[1.0, 2.0], [3.0, 4.0]], [[-9.0, 0.5], [0.5, 9.0]],
    [-1.0, -2.0], [1.0, 2.0])
quantization.quantize_and_dequantize([-1.5, 0.3, 2.0], -1.0, 1.0, range_given=True)
quantization.quantize_and_dequantize([-1.5, 0.3, 2.0], 0.0, 0.0)
quantization.quantize_and_dequantize_v2([-1.5, 0.3, 2.0], -1.0, 1.0, range_given=True)
quantization.quantize_and_dequantize_v2([-1.5, 0.3, 2.0], 0.0, 0.0, num_bits=3)
quantization.quantize_and_dequantize_v2([0.2, 0.3, 2.0], 0.0, 0.0, signed_input=False, num_bits=4)
quantization.quantize_and_dequantize_v2([-1.5, 0.3, 2.0], -1.0, 1.5, range_given=True, num_bits=4,
    narrow_range=True, round_mode='HALF_UP')
quantization.quantize_and_dequantize_v2([[-1.5, 0.3], [0.1, 4.0]], [0.0, 0.0], [0.0, 0.0], num_bits=4, axis=0)
quantization.quantize_and_dequantize_v2([-1.5], -1.0, 1.0, round_mode='UP')
"""

CASES = [
    *((line, f"tf.{line}") for line in EXPRESSIONS.replace("\n    ", " ").split("\n") if line),
    ("gradient through steps",
     "grad:lambda x: tf.quantization.quantize_and_dequantize(x, -1.0, 1.0, range_given=True) @ [-1.5, 0.3, 2.0]"),
    ("gradient of steps", "grad:lambda x: tf.quantization.quantize_and_dequantize_v2(x, -1.0, 1.0, range_given=True) "
     "@ [-1.5, 0.3, 2.0]"),
    ("gradient of a sampled product", "grad:lambda v, a, b: tf.sparse.sampled_addmm([[0, 1], [1, 0]], v, [2, 2], a, b, "
     "output_type=tf.float64)[1] @ [1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]"),
]  # fmt: skip
