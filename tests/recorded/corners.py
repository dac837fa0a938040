"""NumPy arrays, empty, scalar and unusual-dtype arguments, compared with TensorFlow."""

_ARRAYS = {
    "fft": ("tf.signal.fft(np.ones(4))", "tf.signal.fft(np.ones(4, np.complex128))", "tf.signal.fft([1 + 2j, 3.0])",
            "tf.signal.ifft3d(np.ones((2, 2, 2), np.complex128))"),
    "hsv": ("tf.image.rgb_to_hsv(np.ones((2, 3)))", "tf.image.rgb_to_hsv(np.arange(6, dtype=np.uint8).reshape(2, 3))",
            "tf.image.rgb_to_hsv([[1, 2, 3]])", "tf.image.hsv_to_rgb(np.ones((2, 3), np.float16))",
            "tf.image.rgb_to_hsv(tf.ones((2, 3), tf.float64))"),
    "lrn": ("tf.nn.lrn(np.ones((1, 1, 2, 3)))", "tf.nn.lrn(np.ones((1, 1, 2, 3), np.int32))"),
    "nextafter": ("tf.math.nextafter(np.float64(1), np.float64(2))", "tf.math.nextafter(1, 2)",
                  "tf.math.nextafter(np.array([2.0]), 1.0)",
                  "tf.math.nextafter(np.ones(2), tf.constant([3.0, 0.0], tf.float64))"),
    "max_pool": ("tf.nn.max_pool2d(np.ones((1, 2, 2, 1)), 2, 2, 'SAME')",
                 "tf.nn.max_pool(np.ones((1, 2, 2, 1), np.int64), 2, 2, 'SAME')",
                 "tf.nn.max_pool2d([[[[1], [2]], [[3], [4]]]], 2, 2, 'SAME')",
                 "tf.nn.max_pool1d(np.ones((1, 2, 1)), 2, 2, 'SAME')",
                 "tf.nn.max_pool_with_argmax(tf.ones((1, 2, 2, 1)), 2, 2, 'SAME').argmax"),
    "permutation": ("tf.math.invert_permutation(np.array([1, 0]))",),
    "unravel": ("tf.unravel_index(np.array([3, 4]), np.array([2, 3]))", "tf.unravel_index(np.array([3, 4]), [2, 3])"),
    "logic": ("tf.logical_and(np.array([1.0, 0.0]), np.array([1.0, 1.0]))", "tf.logical_not(np.int32(1))",
              "tf.logical_not(np.array(['a', '']))", "tf.logical_or(np.array([2, 0]), tf.constant([False, False]))",
              "tf.logical_not([1.0])", "tf.logical_and(1, True)", "tf.reduce_any(tf.Variable([1, 0]))"),
    "one_hot": ("tf.one_hot(np.array([1.0, 2.0]), 3)", "tf.one_hot(np.array([1, 2], np.int16), 3)",
                "tf.one_hot(np.array([True, False]), np.float64(2))", "tf.one_hot([1.0], 3)", "tf.one_hot([], 3)",
                "tf.one_hot(tf.constant([1.0]), 3)"),
    "sizes": ("tf.tile([1, 2], np.array([2.0]))", "tf.tile([1, 2], [2.0])", "tf.split([1, 2, 3, 4], np.int64(2))",
              "tf.unstack(tf.constant([[1, 2]]), axis=tf.constant(-1))",
              "tf.tensordot([1.0, 2.0], [3.0, 4.0], np.int64(1))",
              "tf.space_to_batch_nd([[[[1.0], [2.0]], [[3.0], [4.0]]]], np.array([2, 2]), np.zeros((2, 2)))"),
    "numbers": ("tf.dynamic_partition([1, 2, 3], [0, 1, 0], tf.Variable(2))",
                "tf.nn.space_to_depth(tf.ones((1, 2, 2, 1)), tf.Variable(2))",
                "tf.nn.lrn(tf.ones((1, 1, 1, 3)), tf.constant(1))", "tf.linspace(0.0, 1.0, [3])",
                "tf.linspace([0.0], [1.0], 3, axis=tf.Variable(-1))", "tf.linspace(0.0, 1.0, [3, 4])"),
    "constant": ("tf.constant(tf.Variable([1.0, 2.5]), tf.float64)", "tf.constant(tf.Variable([1.0, 2.5]), tf.int32)",
                 "tf.constant(tf.constant([1.0]), tf.float64)"),
    "global_norm": ("tf.clip_by_global_norm([tf.constant([3.0, 4.0])], 1.0, use_norm=np.float32(2.0))[0]",
                    "tf.clip_by_global_norm([tf.constant([3.0, 4.0])], 1.0, use_norm=np.float64(2.0))[0]"),
    "large": ("tf.constant([2**63, 1], tf.uint64)", "tf.constant([1.5, 2**70])", "tf.constant([2**70, 1.5])",
              "tf.constant(1e39)", "tf.constant(-1e39, tf.float32)", "tf.constant(1e39, tf.float64)",
              "tf.constant(3.40282356e38)"),
    "objects": ("tf.constant(np.array(['a', None], object))", "tf.constant(np.array(['a', b'b'], object))"),
    "embedding": ("tf.nn.embedding_lookup(np.ones((3, 2)), np.array([0.0, 1.0]))",),
}  # fmt: skip

_EMPTY = {
    "division": tuple(
        f"tf.{name}(tf.zeros((2, 0), tf.int32), 0)" for name in ("truncatediv", "math.floordiv", "math.floormod")
    ),
    "in_top_k": ("tf.math.in_top_k([2, 1], np.zeros((2, 0)), 2)",),
    "repeat": ("tf.repeat([], [])", "tf.repeat([1, 2], [])", "tf.repeat(3, 2, axis=0)"),
    "loss": ("tf.nn.compute_average_loss(tf.zeros([0]))",
             "tf.nn.compute_average_loss([1.0, 2.0], global_batch_size=0)"),
    "scalars": ("tf.random.shuffle(5)", "tf.linalg.tensor_diag_part(tf.constant(5.0))",
                "tf.linalg.tensor_diag_part(tf.ones(3))"),
    "imag": ("tf.math.imag(['a'])",),
}  # fmt: skip

_LARGE = {"int8": -120, "uint8": 200, "int16": 30000, "uint16": 60000, "int32": 2**31 - 10, "uint32": 2**32 - 10}
_DTYPES = {
    "mean-of-large": tuple(
        f"tf.reduce_mean(tf.fill([{n}], tf.constant({value}, tf.{dtype})))"
        for dtype, value in _LARGE.items() for n in (2, 33, 300)
    ),
    "mean": ("tf.reduce_mean(tf.constant([200, 201, 100], tf.uint8))", "tf.reduce_mean(tf.constant([-3, 2]))",
             "tf.reduce_mean(tf.fill([4, 4, 3], tf.constant(250, tf.uint8)), [0, 1])"),
    "cross": ("tf.linalg.cross(tf.constant([1.0, 2.0, 3.0], tf.bfloat16), tf.constant([1.0, 2.0, 4.0], tf.bfloat16))",),
    "silu": ("tf.math.real(tf.nn.silu(tf.constant([1 + 2j])))", "tf.nn.silu(tf.constant([1.0, 2.0]), tf.constant(2))",
             "tf.nn.silu(tf.constant([1.0, 2.0]), tf.constant(2.0, tf.float64))"),
    "losses": ("tf.nn.compute_average_loss(tf.constant([1, 2], tf.int16))", "tf.nn.compute_average_loss([1, 2])",
               "tf.nn.compute_average_loss([1.0, 2.0], sample_weight=[[1.0], [2.0]])",
               "tf.nn.compute_average_loss([[1.0, 2.0]], sample_weight=[[1.0], [2.0]])",
               "tf.nn.compute_average_loss([1.0, 2.0], sample_weight=[[2.0, 1.0]])",
               "tf.nn.scale_regularization_loss(tf.constant([1, 2]))",
               "tf.nn.scale_regularization_loss([1.0, 2.0])"),
    "size": ("tf.size([1, 2], tf.float32)", "tf.size([1, 2], tf.int8)", "tf.shape([1, 2], tf.float32)"),
    "unsigned": ("tf.math.squared_difference(tf.constant([1, 3], tf.uint8), tf.constant([2, 2], tf.uint8))",
                 "tf.nn.crelu(tf.constant([1, 3], tf.uint8))", "tf.nn.moments(tf.constant([1, 3], tf.uint8), [0])",
                 "tf.image.total_variation(tf.ones((2, 2, 3), tf.uint8))", "tf.nn.moments(tf.constant([1, 3]), [0])"),
    "complex": ("tf.linspace(1 + 1j, 2 + 2j, 3)", "tf.argmax(tf.constant([1j]))",
                "tf.linalg.global_norm([tf.constant([1 + 1j])])"),
    "positions": ("tf.math.top_k([1.0, 2.0], index_type=tf.float32)", "tf.unique([1, 2], out_idx=tf.int8)",
                  "tf.searchsorted([1, 2], [1], out_type=tf.int8)"),
    "small": ("tf.matmul(tf.ones((2, 2, 3), tf.int16), tf.ones((2, 3, 1), tf.int16))",
              "tf.matmul(tf.ones((2, 3), tf.int16), tf.ones((3, 1), tf.int16))",
              "tf.linspace(tf.constant(0, tf.int8), tf.constant(3, tf.int8), 3)",
              "tf.math.unsorted_segment_mean(tf.constant([1, 2, 4], tf.int16), [0, 0, 1], 2)",
              "tf.nn.embedding_lookup(tf.constant([[3.0, 4.0]]), [0], max_norm=tf.constant(2))"),
    "eye": ("tf.eye(2, dtype=tf.string)", "tf.eye(2, dtype=tf.bool)"),
    "sequence_mask": ("tf.sequence_mask([1.0, 2.5])", "tf.sequence_mask([1, 2], -1)"),
}  # fmt: skip

_SHAPES = {
    "cross_entropy": tuple(
        f"tf.nn.softmax_cross_entropy_with_logits({labels}, {logits})"
        for labels, logits in (
            ("[[0.0, 1.0], [1.0, 0.0]]", "[1.0, 2.0]"), ("[[0.0, 1.0], [1.0, 0.0]]", "[[1.0, 2.0]]"),
            ("[0.0, 1.0]", "[[1.0, 2.0], [3.0, 4.0]]"), ("[[0.0]]", "[2.0, -1.0, 0.5]"),
            ("[[[0.0, 1.0]]]", "[[1.0, 2.0]]"), ("[[0.0, 1.0, 0.0]]", "[[1.0, 2.0]]"),
        )
    ),
    "scalars-only": ("tf.math.top_k([1.0, 2.0], [1])", "tf.linalg.band_part(tf.ones((2, 2)), [0], 1)",
                     "tf.split(tf.range(4), 2, axis=[-1])", "tf.gather([[1, 2], [3, 4]], [0], axis=[1])",
                     "tf.math.in_top_k([0], [[0.1, 0.9]], [1])", "tf.random.categorical([[1.0, 2.0]], [3])",
                     "tf.math.sobol_sample(2, [3])", "tf.linalg.band_part(tf.ones((2, 2)), 0.5, 1)",
                     "tf.linalg.band_part(tf.ones((2, 2)), np.array(0), np.float64(1.0))"),
    "stitch": ("tf.dynamic_stitch([[0]], [[1.0], [2.0]])", "tf.dynamic_stitch([], [])"),
    "dct": ("tf.signal.idct([1.0, 2.0], [3])",),
    "cond": ("tf.cond(None, lambda: 1, lambda: 2)",),
    "range": ("tf.range([1, 2])", "tf.range([3])", "tf.range([[3]])", "tf.range(0, [])"),
    "lu": ("tf.linalg.lu_solve(tf.constant([[[2.0, 1.0], [1.0, 3.0]]]), [0, 1], tf.constant([[[1.0], [2.0]]]))",),
    "l2_normalize": ("tf.math.l2_normalize([3.0, 4.0], axis=0, dim=0)", "tf.math.l2_normalize([3.0, 4.0], dim=0)"),
    "channels": ("tf.image.rgb_to_hsv(tf.ones((2, 2)))",),
    "slices": ("tf.identity(tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1])))",),
}  # fmt: skip

_OUTSIDE = {
    "eigh": ("tf.linalg.eigh(tf.constant([[np.nan, 0.0], [1.0, 1.0]]))[0]",
             "tf.linalg.eigh(tf.constant([[1.0, np.nan], [1.0, 1.0]]))[0]",
             "tf.linalg.eigvalsh(tf.constant([[1.0, 1.0, 1.0], [1.0, np.nan, 1.0], [1.0, 1.0, 1.0]]))"),
    "gamma": ("tf.math.is_nan(tf.random.gamma([3], -1.0))", "tf.math.is_nan(tf.random.gamma([2], [1.0, np.nan]))",
              "tf.math.is_nan(tf.random.stateless_gamma([2], [1, 2], -1.0))"),
    "binomial": ("tf.random.stateless_binomial([2], [1, 2], np.float32(np.inf), 0.5)",
                 "tf.random.stateless_binomial([2], [1, 2], -2.0, 0.7)"),
}  # fmt: skip


def _second(f, at):
    """A program: the second derivatives of `f`, an expression of `tf` and `x`."""

    def program(tf):
        x = tf.constant(at)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = eval(f, {"tf": tf, "x": x})
            slope = inner.gradient(y, x)
            z = slope * slope
        return [slope, outer.gradient(z, x)]

    return program


def _assigned(key, value):
    """A program: a variable after an assignment to a part of it."""

    def program(tf):
        v = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        v[key].assign(value)
        return v

    return program


def _quotient(divisor):
    """A program: a sparse tensor divided by a dense one."""

    def program(tf):
        x = tf.sparse.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
        return (x / tf.constant(divisor)).values

    return program


def _scattered(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v.scatter_nd_update([[0.0, 1.0]], [9.0])


_PROGRAMS = [
    ("part-0", _assigned((0, 1), [9.0])), ("part-1", _assigned((0, 1), [[9.0]])),
    ("part-2", _assigned(0, [[7.0, 8.0, 9.0]])), ("part-3", _assigned(0, [[7.0], [8.0], [9.0]])),
    ("part-4", _assigned((slice(None), 1), [[7.0, 8.0]])), ("part-5", _assigned((0, 1), [9.0, 8.0])),
    ("quotient-0", _quotient([[0.0, 2.0], [4.0, 0.0]])), ("quotient-1", _quotient([[1.0, 0.0], [4.0, 1.0]])),
    ("quotient-2", _quotient(0.0)), ("scatter-floats", _scattered),
]  # fmt: skip

_GRAY = "[[0.7, 0.8, 0.9], [0.5, 0.5, 0.5], [0.5, 0.5, 0.2], [0.0, 0.0, 0.0], [0.5, 0.2, 0.2], [0.2, 0.5, 0.2]]"

CASES = [
    (f"{name}-{i}", source)
    for group in (_ARRAYS, _EMPTY, _DTYPES, _SHAPES, _OUTSIDE)
    for name, sources in group.items()
    for i, source in enumerate(sources)
] + [
    (f"{name}-twice", _second(f"tf.nn.{name}(x)", [-1.0, 0.0, 2.0, 6.0, 7.0]))
    for name in ("relu", "relu6", "leaky_relu", "elu", "selu")
] + [
    (f"max_pool{n}d-twice", _second(f"tf.nn.max_pool{n}d(tf.reshape(x, [1] + [2] * {n} + [-1]), 2, 2, 'VALID')",
                                    [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]))
    for n in (1, 2, 3)
] + [
    (f"hsv-gradient-{i}", f"grad: lambda x: tf.image.rgb_to_hsv(x)[..., {i}] @ {_GRAY}") for i in range(3)
] + _PROGRAMS  # fmt: skip
