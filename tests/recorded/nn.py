"""tf.nn: activations, convolutions, pooling, normalization, losses, lookups; values, gradients, kinks, errors."""

_X = "np.sin(np.arange(60.0)).reshape(1, 5, 4, 3)"
_W = "np.cos(np.arange(36.0)).reshape(2, 3, 3, 2)"
_D = "np.cos(np.arange(36.0)).reshape(2, 3, 3, 2)"
_L = "np.sin(np.arange(12.0)).reshape(3, 4)"
_KINKS = "[-7.0, -1.0, -0.0, 0.0, 0.5, 6.0, 8.0]"
_RAMP = "tf.reshape(tf.range(32.0), (1, 4, 4, 2))"
_TIES = "np.array([1.0, 1.0, 0.0, 2.0, 2.0, 2.0, 0.0, 0.0]).reshape(1, 8, 1)"


def _grad(name, function, *arguments):
    return name, f"grad: lambda {', '.join('abcdef'[: len(arguments)])}: {function} @ {', '.join(arguments)}"


CASES = [
    *(
        _grad(f"{name}-kinks", f"tf.nn.{name}(a) * (1 + a * a)", _KINKS)
        for name in ("relu", "relu6", "elu", "selu", "gelu", "silu", "swish", "softsign")
    ),
    _grad("crelu", "tf.nn.crelu(a)", _KINKS),
    ("gelu-tanh", f"tf.nn.gelu(tf.constant({_KINKS}), approximate=True)"),
    _grad("leaky-alpha", "tf.nn.leaky_relu(a, alpha=1.5)", _KINKS),
    _grad("leaky-kinks", "tf.nn.leaky_relu(a, alpha=0.25) * (1 + a * a)", _KINKS),
    ("leaky-default", f"tf.nn.leaky_relu(tf.constant({_KINKS}))"),
    _grad("leaky-negative", "tf.nn.leaky_relu(a, alpha=-0.5)", _KINKS),
    _grad("silu-beta", "tf.nn.silu(a, beta=2.0)", _KINKS),
    ("relu-int", "tf.nn.relu(tf.constant([1, -2]))"),
    ("relu6-int", "tf.nn.relu6(tf.constant([1, -2, 9]))"),
    ("leaky-int", "tf.nn.leaky_relu(tf.constant([1, -2]))"),
    ("elu-int", "tf.nn.elu(tf.constant([1, -2]))"),
    ("gelu-int", "tf.nn.gelu(tf.constant([1, -2]))"),
    ("relu-half", "tf.nn.relu(tf.constant([1, -2], tf.float16))"),
    ("gelu-bfloat", "tf.nn.gelu(tf.constant([1, -2], tf.bfloat16))"),
    ("leaky-tensor-alpha", "tf.nn.leaky_relu(tf.constant([1.0]), alpha=tf.constant(0.1))"),
    ("crelu-axis", "tf.nn.crelu(tf.constant([[1.0, -2.0]]), axis=0)"),
    _grad("conv2d-valid", "tf.nn.conv2d(a, b, 1, 'VALID')", _X, _W),
    _grad("conv2d-same", "tf.nn.conv2d(a, b, 1, 'SAME')", _X, _W),
    _grad("conv2d-strides", "tf.nn.conv2d(a, b, [1, 2, 3, 1], 'SAME')", _X, _W),
    _grad("conv2d-explicit", "tf.nn.conv2d(a, b, [2, 1], [[0, 0], [1, 2], [0, 1], [0, 0]])", _X, _W),
    ("conv2d-dilated", f"tf.nn.conv2d({_X}, tf.reshape({_W}, (3, 2, 3, 2)), 1, 'VALID', dilations=[2, 1])"),
    _grad("conv2d-squared", "tf.nn.conv2d(a, b, 2, 'SAME') ** 2", _X, _W),
    (
        "conv2d-nchw",
        "tf.nn.conv2d(tf.reshape(tf.range(48.0), (1, 3, 4, 4)), tf.ones((2, 3, 3, 2)), 1, 'SAME', data_format='NCHW')",
    ),
    ("conv2d-rank5", f"tf.nn.conv2d(tf.reshape({_X}, (1, 1, 5, 4, 3)), {_W}, 1, 'SAME')"),
    ("conv2d-groups", "tf.nn.conv2d(tf.reshape(tf.range(64.0), (1, 4, 4, 4)), tf.ones((2, 2, 2, 6)), 1, 'SAME')"),
    ("conv2d-half", "tf.nn.conv2d(tf.ones((1, 4, 4, 3), tf.float16), tf.ones((2, 2, 3, 2), tf.float16), 1, 'SAME')"),
    ("conv2d-int", "tf.nn.conv2d(tf.ones((1, 4, 4, 3), tf.int32), tf.ones((2, 2, 3, 2), tf.int32), 1, 'SAME')"),
    ("conv2d-depth", "tf.nn.conv2d(tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 2, 2)), 1, 'SAME')"),
    ("conv2d-padding", "tf.nn.conv2d(tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 3, 2)), 1, 'same')"),
    ("conv2d-format", "tf.nn.conv2d(tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 3, 2)), 1, 'SAME', data_format='XX')"),
    ("conv2d-strides3", "tf.nn.conv2d(tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 3, 2)), [1, 1, 1], 'SAME')"),
    ("conv2d-padding2", "tf.nn.conv2d(tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 3, 2)), 1, [[1, 2], [0, 1]])"),
    ("conv2d-mixed", "tf.nn.conv2d(tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 3, 2), tf.float64), 1, 'SAME')"),
    _grad("conv1d", "tf.nn.conv1d(a, b, 2, 'SAME')", "np.sin(np.arange(14.0)).reshape(1, 7, 2)", "np.ones((3, 2, 2))"),
    ("conv1d-ncw", "tf.nn.conv1d(tf.ones((1, 3, 5)), tf.ones((2, 3, 4)), [1, 1, 2], 'VALID', data_format='NCW')"),
    ("conv1d-rank4", "tf.nn.conv1d(tf.ones((2, 2, 5, 3)), tf.ones((2, 3, 4)), 2, 'SAME')"),
    _grad(
        "conv3d",
        "tf.nn.conv3d(a, b, [1, 2, 1, 1, 1], 'SAME')",
        "np.sin(np.arange(54.0)).reshape(1, 3, 3, 3, 2)",
        "np.cos(np.arange(32.0)).reshape(2, 2, 2, 2, 2)",
    ),
    _grad("convolution", "tf.nn.convolution(a, b, strides=2, padding='SAME')", _X, _W),
    ("convolution-1d", "tf.nn.convolution(tf.ones((2, 5, 3)), tf.ones((2, 3, 4)), dilations=[2])"),
    ("convolution-both", "tf.nn.convolution(tf.ones((2, 9, 9, 3)), tf.ones((2, 2, 3, 4)), strides=2, dilations=2)"),
    _grad(
        "conv2d-transpose",
        "tf.nn.conv2d_transpose(a, b, [1, 10, 8, 2], 2)",
        _X,
        "np.cos(np.arange(36.0)).reshape(3, 2, 2, 3)",
    ),
    (
        "conv2d-transpose-valid",
        "tf.nn.conv2d_transpose(tf.ones((1, 2, 2, 1)), tf.ones((3, 3, 2, 1)), [1, 5, 6, 2], 2, 'VALID')",
    ),
    ("conv2d-transpose-short", "tf.nn.conv2d_transpose(tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 5, 3)), [8, 8], 2)"),
    ("conv1d-transpose", "tf.nn.conv1d_transpose(tf.ones((1, 4, 3)), tf.ones((3, 5, 3)), [1, 8, 5], 2)"),
    (
        "conv3d-transpose",
        "tf.nn.conv3d_transpose(tf.ones((1, 2, 2, 2, 1)), tf.ones((3, 3, 3, 2, 1)), [1, 4, 4, 4, 2], 2)",
    ),
    ("conv-transpose", "tf.nn.conv_transpose(tf.ones((1, 4, 3)), tf.ones((2, 5, 3)), [1, 8, 5], 2)"),
    ("conv-transpose-short", "tf.nn.conv_transpose(tf.ones((1, 4, 3)), tf.ones((2, 5, 3)), [8], 2)"),
    _grad("depthwise", "tf.nn.depthwise_conv2d(a, b, [1, 1, 1, 1], 'SAME')", _X, _D),
    _grad("depthwise-strides", "tf.nn.depthwise_conv2d(a, b, [1, 2, 2, 1], 'VALID')", _X, _D),
    _grad("depthwise-dilated", "tf.nn.depthwise_conv2d(a, b, [1, 1, 1, 1], 'SAME', dilations=[2, 2])", _X, _D),
    ("depthwise-int", "tf.nn.depthwise_conv2d(tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 3, 2)), 1, 'SAME')"),
    _grad(
        "separable",
        "tf.nn.separable_conv2d(a, b, c, [1, 1, 1, 1], 'SAME')",
        _X,
        _D,
        "np.sin(np.arange(24.0)).reshape(1, 1, 6, 4)",
    ),
    _grad("atrous", "tf.nn.atrous_conv2d(a, b, 2, 'SAME')", _X, _W),
    (
        "atrous-transpose",
        "tf.nn.atrous_conv2d_transpose(tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 5, 3)), [1, 4, 4, 5], 2, 'SAME')",
    ),
    _grad("max-pool", "tf.nn.max_pool2d(a, 2, 2, 'VALID') * 3.0", _X),
    _grad("max-pool-overlap", "tf.nn.max_pool2d(a, 3, 2, 'SAME') ** 2", _X),
    _grad("max-pool-1d-ties", "tf.nn.max_pool1d(a, 2, 2, 'VALID')", _TIES),
    _grad("max-pool-1d-overlap-ties", "tf.nn.max_pool1d(a, 3, 1, 'SAME')", _TIES),
    _grad("avg-pool", "tf.nn.avg_pool2d(a, [3, 2], [2, 1], 'SAME') ** 2", _X),
    _grad("avg-pool-1d", "tf.nn.avg_pool1d(a, 3, 2, 'VALID')", _TIES),
    ("max-pool-explicit", f"tf.nn.max_pool2d({_RAMP}, 2, 1, [[0, 0], [1, 1], [0, 1], [0, 0]])"),
    ("max-pool-explicit-wide", f"tf.nn.max_pool2d({_RAMP}, 2, 1, [[0, 0], [1, 2], [0, 1], [0, 0]])"),
    ("avg-pool-explicit", f"tf.nn.avg_pool2d({_X}, 2, 1, [[0, 0], [1, 1], [0, 1], [0, 0]])"),
    ("max-pool-negative", "tf.nn.max_pool2d(-tf.ones((1, 3, 3, 1)), 2, 2, 'SAME')"),
    ("max-pool-int", "tf.nn.max_pool2d(tf.reshape(tf.range(16), (1, 4, 4, 1)), [1, 2, 2, 1], [2], 'SAME')"),
    ("max-pool-depth", f"tf.nn.max_pool2d({_RAMP}, [1, 1, 1, 2], [1, 1, 1, 2], 'VALID')"),
    ("max-pool-nchw", "tf.nn.max_pool2d(tf.reshape(tf.range(32.0), (1, 2, 4, 4)), 2, 2, 'SAME', data_format='NCHW')"),
    ("max-pool-3d", "tf.nn.max_pool3d(tf.reshape(tf.range(27.0), (1, 3, 3, 3, 1)), 2, 2, 'SAME')"),
    ("avg-pool-3d", "tf.nn.avg_pool3d(tf.reshape(tf.range(27.0), (1, 3, 3, 3, 1)), 2, 2, 'SAME')"),
    ("max-pool-nd", f"tf.nn.max_pool({_RAMP}, 2, 2, 'VALID')"),
    ("avg-pool-nd", f"tf.nn.avg_pool({_RAMP}, 3, 2, 'SAME')"),
    ("avg-pool-int", "tf.nn.avg_pool2d(tf.ones((1, 4, 4, 1), tf.int32), 2, 2, 'SAME')"),
    ("pool", f"tf.nn.pool({_RAMP}, [2, 2], 'AVG', strides=[1, 2], padding='SAME')"),
    ("pool-dilated", f"tf.nn.pool({_RAMP}, [2, 2], 'MAX', dilations=[2, 1])"),
    ("pool-unknown", f"tf.nn.pool({_RAMP}, [2, 2], 'FOO')"),
    ("pool-same-dilated", f"tf.nn.pool({_RAMP}, [2, 2], 'AVG', dilations=[2, 1], padding='SAME')"),
    ("argmax", f"tf.nn.max_pool_with_argmax({_RAMP}, 2, 2, 'SAME')"),
    (
        "argmax-batch",
        "tf.nn.max_pool_with_argmax(tf.reshape(tf.range(50.0), (2, 5, 5, 1)), [3, 2], 2, 'SAME', "
        "output_dtype=tf.int32, include_batch_in_index=True)",
    ),
    _grad(
        "dilation2d",
        "tf.nn.dilation2d(a, b, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])",
        _X,
        "np.sin(np.arange(12.0)).reshape(2, 2, 3)",
    ),
    _grad(
        "erosion2d",
        "tf.nn.erosion2d(a, b, [1, 2, 1, 1], 'VALID', 'NHWC', [1, 1, 2, 1])",
        _X,
        "np.sin(np.arange(12.0)).reshape(2, 2, 3)",
    ),
    (
        "dilation2d-format",
        "tf.nn.dilation2d(tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 3)), [1, 1, 1, 1], 'SAME', 'NCHW', [1, 1, 1, 1])",
    ),
    _grad("bias-add", "tf.nn.bias_add(a, b) ** 2", _L, "[1.0, 2.0, 3.0, 4.0]"),
    ("bias-add-first", "tf.nn.bias_add(tf.ones((1, 3, 4)), tf.constant([1.0, 2.0, 3.0]), data_format='NCHW')"),
    ("bias-add-wrong", "tf.nn.bias_add(tf.ones((1, 3)), tf.ones(2))"),
    ("bias-add-rank", "tf.nn.bias_add(tf.ones(3), tf.ones(3))"),
    ("bias-add-format", "tf.nn.bias_add(tf.ones((1, 3)), tf.ones(3), data_format='foo')"),
    _grad(
        "batch-norm",
        "tf.nn.batch_normalization(a, b, c, d, e, 0.001)",
        _L,
        "[1.0, 2.0, 3.0, 4.0]",
        "[1.0, 2.0, 3.0, 4.0]",
        "[0.5] * 4",
        "[2.0] * 4",
    ),
    ("batch-norm-plain", "tf.nn.batch_normalization(tf.constant([1.0, 3.0]), 2.0, 1.0, None, None, 1e-3)"),
    _grad("moments", "tf.add_n(tf.nn.moments(a, [0]))", _L),
    ("moments-keep", f"tf.nn.moments({_L}, [0, 1], keepdims=True)"),
    ("moments-half", "tf.nn.moments(tf.constant([1, 2, 4], tf.float16), [0])"),
    ("moments-int", "tf.nn.moments(tf.constant([1, 2, 4]), [0])"),
    _grad("weighted-moments", "tf.add_n(tf.nn.weighted_moments(a, [0], b))", _L, "[[1.0], [2.0], [3.0]]"),
    ("weighted-moments-keep", f"tf.nn.weighted_moments({_L}, [1], np.array([1.0, 2.0, 3.0, 4.0]), keepdims=True)"),
    ("weighted-moments-of-none", "tf.nn.weighted_moments([[1.0, 2.0], [3.0, 5.0]], [0], [[0.0, 1.0], [0.0, 3.0]])"),
    ("statistics", f"tf.nn.sufficient_statistics({_L}, [0])"),
    ("statistics-shift", "tf.nn.sufficient_statistics(tf.ones((2, 3)), [0, 1], shift=0.5, keepdims=True)"),
    ("normalize-moments", "tf.nn.normalize_moments(tf.constant(4.0), tf.constant([2.0]), tf.constant([9.0]), None)"),
    (
        "normalize-shift",
        "tf.nn.normalize_moments(tf.constant(4.0), tf.constant([2.0]), tf.constant([9.0]), tf.constant(1.0))",
    ),
    ("lrn", "tf.nn.local_response_normalization(tf.reshape(tf.range(12.0), (1, 2, 1, 6)), 1, 0.5, 0.3, 0.7)"),
    ("lrn-alias", "tf.nn.lrn(tf.reshape(tf.range(12.0), (1, 2, 1, 6)))"),
    ("lrn-rank", "tf.nn.lrn(tf.ones((2, 3)))"),
    _grad(
        "sigmoid-xent",
        "tf.nn.sigmoid_cross_entropy_with_logits(a, b)",
        "[0.0, 1.0, 0.3, 1.0]",
        "[0.0, -800.0, 800.0, 2.0]",
    ),
    ("sigmoid-xent-shape", "tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones(3), logits=tf.ones((2, 3)))"),
    ("sigmoid-xent-none", "tf.nn.sigmoid_cross_entropy_with_logits()"),
    _grad("softmax-xent", "tf.nn.softmax_cross_entropy_with_logits(a, b)", "np.eye(4)[:3]", _L),
    _grad("softmax-xent-smooth", "tf.nn.softmax_cross_entropy_with_logits(a, b * 500.0)", "np.full((3, 4), 0.25)", _L),
    _grad(
        "softmax-xent-axis",
        "tf.nn.softmax_cross_entropy_with_logits(a, b, axis=0)",
        "np.eye(3)[:, [0, 1, 2, 0]]",
        _L,
    ),
    (
        "softmax-xent-half",
        "tf.nn.softmax_cross_entropy_with_logits(tf.constant([[1, 0]], tf.float16), tf.constant([[1, 2]], tf.float16))",
    ),
    (
        "softmax-xent-broadcast",
        "tf.nn.softmax_cross_entropy_with_logits(labels=tf.constant([[1.0, 0.0]]), logits=tf.ones((2, 2)))",
    ),
    ("softmax-xent-int-labels", "tf.nn.softmax_cross_entropy_with_logits(labels=[[1, 0]], logits=tf.ones((1, 2)))"),
    ("softmax-xent-shape", "tf.nn.softmax_cross_entropy_with_logits(labels=tf.ones((2, 3)), logits=tf.ones((2, 4)))"),
    ("softmax-xent-none", "tf.nn.softmax_cross_entropy_with_logits(labels=None, logits=tf.ones((2, 4)))"),
    _grad("sparse-xent", "tf.nn.sparse_softmax_cross_entropy_with_logits([0, 3, 1], a) ** 2", _L),
    _grad("sparse-xent-0d", "tf.nn.sparse_softmax_cross_entropy_with_logits(1, a)", "[0.0, 1000.0, -1000.0]"),
    ("sparse-xent-range", "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 3], logits=tf.ones((2, 3)))"),
    ("sparse-xent-rank", "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[0], [1]], logits=tf.ones((2, 3)))"),
    ("sparse-xent-float", "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0.0, 1.0], logits=tf.ones((2, 3)))"),
    _grad(
        "weighted-xent",
        "tf.nn.weighted_cross_entropy_with_logits(a, b, 3.0)",
        "[0.0, 1.0, 0.3]",
        "[0.5, -800.0, 2.0]",
    ),
    ("weighted-xent-shape", "tf.nn.weighted_cross_entropy_with_logits(tf.ones(3), tf.ones(2), 2.0)"),
    _grad("log-poisson", "tf.nn.log_poisson_loss(a, b)", "[0.0, 1.0, 3.0]", "[0.5, 1.0, -1.0]"),
    ("log-poisson-full", "tf.nn.log_poisson_loss([0.0, 1.0, 3.0], [0.5, 1.0, -1.0], compute_full_loss=True)"),
    _grad("l2-loss", "tf.nn.l2_loss(a)", _L),
    ("l2-loss-empty", "tf.nn.l2_loss(tf.ones((0,)))"),
    ("average-loss", "tf.nn.compute_average_loss([1.0, 2.0])"),
    ("average-loss-weights", "tf.nn.compute_average_loss([1.0, 2.0], sample_weight=[1.0, 0.5], global_batch_size=4)"),
    ("average-loss-int", "tf.nn.compute_average_loss([1, 2])"),
    ("average-loss-scalar", "tf.nn.compute_average_loss(1.0)"),
    ("average-loss-size", "tf.nn.compute_average_loss([1.0, 2.0], global_batch_size=2.5)"),
    ("scale-regularization", "tf.nn.scale_regularization_loss([1.0, 3.0])"),
    ("dropout-nothing", "tf.nn.dropout(tf.constant([1.0, 2.0]), 0)"),
    ("dropout-rate", "tf.nn.dropout(tf.constant([1.0, 2.0]), 1.5)"),
    ("dropout-int", "tf.nn.dropout(tf.constant([1, 2]), 0.5)"),
    ("dropout-seed", "(tf.random.set_seed(3), tf.nn.dropout(tf.ones((3, 5)), 0.4, noise_shape=(3, None), seed=7))[1]"),
    _grad("embedding", "tf.nn.embedding_lookup(a, [[0, 2], [2, 1]]) * 2.0", _L),
    _grad("embedding-norm", "tf.nn.embedding_lookup(a, [0, 1, 0], max_norm=1.0)", "[[3.0, 4.0], [0.1, 0.2]]"),
    ("embedding-list", "tf.nn.embedding_lookup([tf.ones((3, 2)), tf.zeros((2, 2))], [0, 1, 2, 3, 4])"),
    ("embedding-range", "tf.nn.embedding_lookup(tf.ones((4, 2)), [4])"),
    (
        "ctc",
        "tf.nn.ctc_loss(tf.constant([[1, 2, 0], [1, 1, 2]]), "
        "tf.constant(np.sin(np.arange(48.0)).reshape(6, 2, 4), tf.float32), tf.constant([2, 3]), "
        "tf.constant([6, 5]))",
    ),
    (
        "ctc-blank",
        "tf.nn.ctc_loss(tf.constant([[1, 2, 0], [0, 1, 2]]), "
        "tf.constant(np.sin(np.arange(48.0)).reshape(2, 6, 4), tf.float32), tf.constant([2, 3]), "
        "tf.constant([6, 5]), False, blank_index=-1)",
    ),
    (
        "ctc-no-labels",
        "tf.nn.ctc_loss(tf.constant([[0, 0]]), tf.constant(np.sin(np.arange(12.0)).reshape(3, 1, 4), "
        "tf.float32), tf.constant([0]), tf.constant([3]))",
    ),
    (
        "ctc-gradient",
        "(lambda tape, x: (tape.__enter__(), tape.watch(x), y := tf.nn.ctc_loss(tf.constant([[1, 2, 0], "
        "[1, 1, 2]]), x, tf.constant([2, 3]), tf.constant([6, 5])), tape.__exit__(None, None, None), "
        "tape.gradient(y, x))[-1])(tf.GradientTape(), tf.constant(np.sin(np.arange(48.0)).reshape(6, 2, "
        "4), tf.float32))",
    ),
    (
        "ctc-sparse-blank",
        "(lambda tape, x, rows: (tape.__enter__(), tape.watch(x), y := tf.nn.ctc_loss(rows, x, None, "
        "tf.constant([6, 5]), blank_index=0), tape.__exit__(None, None, None), (y, "
        "tape.gradient(y, x)))[-1])(tf.GradientTape(), tf.constant(np.sin(np.arange(48.0)).reshape(6, 2, 4), "
        "tf.float32), tf.cast(tf.sparse.from_dense([[0, 2, 0, 3], [2, 2, 0, 1]]), tf.int32))",
    ),
    *(
        (
            f"ctc-sparse-{name}",
            "tf.nn.ctc_loss(tf.cast(tf.sparse.from_dense([[0, 2, 0, 3], [2, 2, 0, 1]]), tf.int32), "
            f"tf.constant(np.sin(np.arange(48.0)).reshape(6, 2, 4), tf.float32), None, tf.constant({lengths}), "
            f"blank_index={blank})",
        )
        for name, lengths, blank in (("no-blank", [6, 5], None), ("too-short", [6, 2], 0))
    ),
    ("collapse", "tf.nn.collapse_repeated(tf.constant([[1, 1, 2, 2, 1], [3, 3, 3, 0, 0]]), tf.constant([5, 3]))"),
    ("collapse-empty", "tf.nn.collapse_repeated(tf.constant([[1, 1, 2]]), tf.constant([0]))"),
    ("isotonic", "tf.nn.isotonic_regression(tf.constant([[3.0, 1.0, 2.0, 4.0], [4.0, 3.0, 3.0, 1.0]]))"),
    (
        "isotonic-increasing",
        "tf.nn.isotonic_regression(tf.constant([[3.0, 1.0], [1.0, 2.0], [2.0, 2.0]]), decreasing=False, axis=0)",
    ),
    ("isotonic-int", "tf.nn.isotonic_regression(tf.constant([3, 1, 2, 4]))"),
    ("isotonic-int16", "tf.nn.isotonic_regression(tf.constant([3, 1, 2, 4], tf.int16))"),
    ("isotonic-bfloat16", "tf.nn.isotonic_regression(tf.constant([3, 1, 2, 4], tf.bfloat16))"),
    _grad("isotonic-gradient", "tf.nn.isotonic_regression(a)[0] ** 2", "[[3.0, 1.0, 2.0, 4.0, -1.0]]"),
    *(
        (
            f"{name}-{hits}",
            f"tf.nn.{name}(tf.constant(np.sin(np.arange(10.0)).reshape(5, 2), tf.float32), tf.range(5.0), "
            "tf.constant([[0, 1], [3, 2]], tf.int64), tf.constant([[1.0, 2.0], [0.5, -1.0]]), 2, 5, 2, "
            "(tf.constant([0, 4], tf.int64), tf.constant([[0.5, 0.1], [0.25, 0.2]]), tf.constant([0.3, "
            f"0.6])), remove_accidental_hits={hits})",
        )
        for name in ("nce_loss", "sampled_softmax_loss") for hits in (True, False)
    ),
    ("embedding-none", "tf.nn.embedding_lookup(None, [4])"),
    *(
        (f"stateless-dropout-{name}", f"tf.nn.experimental.stateless_dropout(tf.ones([3, 4]), {args})")
        for name, args in {
            "plain": "0.3, seed=[1, 2]", "philox": "0.3, [1, 2], 'philox'", "rows": "0.5, [1, 2], noise_shape=[3, 1]",
            "none": "0, [1, 2]", "tensor": "tf.constant(0.4), [3, 4]", "all": "1, [1, 2]",
        }.items()
    ),
    ("general-dropout", "tf.nn.experimental.general_dropout(tf.ones([4]), 0.5, lambda shape, dtype: tf.range(4.) / 4)"),
]
