"""Corner cases that TensorFlow's own tests assert, and their errors."""

_RAGGED = {
    "to_tensor": (
        "tf.ragged.constant([[1, 2], [3]]).to_tensor(shape=[3, 3, 3])",
        "tf.ragged.constant([[1, 2], [3]]).to_tensor(shape=tf.constant(-1))",
        "tf.ragged.constant([[1, 2], [3]]).to_tensor(shape=-1)",
        "tf.ragged.constant([[[1, 2, 3]]], ragged_rank=1).to_tensor(shape=[1, 1, 4])",
        "tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1).to_tensor(default_value=[7, 8, 9])",
    ),
    "split": ("tf.split(tf.ragged.constant([[1], [2, 3]]), [1.0, 1.0])",),
    "row_splits": (
        "tf.ragged.segment_ids_to_row_splits([0, 4, 3, 2, 4, 4, 2, 0, 0])",
        "tf.ragged.segment_ids_to_row_splits([2, 0], 4)",
        "tf.ragged.segment_ids_to_row_splits(tf.constant([0.5]))",
        "tf.ragged.segment_ids_to_row_splits([[0]])",
    ),
    "v1": (
        "tf.compat.v1.div(tf.ragged.constant([[3, 4], [-3]]), 2)",
        "tf.compat.v1.div(tf.ragged.constant([[3.0, 4.0], [-3.0]]), 2.0)",
        "tf.compat.v1.where(tf.ragged.constant([[True, False], [True]]), tf.ragged.constant([[1, 2], [3]]), "
        "tf.ragged.constant([[4, 5], [6]]))",
        "tf.compat.v1.where(tf.ragged.constant([[True, False], [True]]))",
        "tf.compat.v1.ragged.constant_value([['ab'], ['c', 'd']], dtype=bytes).values",
        "tf.compat.v1.ragged.constant_value([[b'ab'], [b'c', b'd']], dtype=str).values",
        "tf.compat.v1.ragged.constant_value(b'ab', dtype=bytes)",
    ),
    "hash": (
        "tf.strings.to_hash_bucket_strong(tf.ragged.constant([['a', 'b'], ['c']]), 3, [1, 2])",
    ),
}

_STRINGS = {
    "replacement": (
        "tf.strings.unicode_decode('x', 'UTF-8', replacement_char=11141111)",
        "tf.strings.unicode_split('x', 'UTF-8', replacement_char=11141111)",
        "tf.strings.unicode_decode('x', 'UTF-8', replacement_char=-1)",
        "tf.strings.unicode_transcode('x', 'UTF-8', 'UTF-8', replacement_char=11141111)",
        "tf.strings.unicode_encode([1], 'UTF-8', replacement_char=11141111)",
    ),
}

_S = "tf.compat.v1.summary"
_SUMMARIES = {
    "summary": (
        *(f"str({_S}.Summary.FromString({_S}.{call}.numpy()))" for call in (
            "scalar('a b/c', 1.5)", "scalar('a', 1.5, family='f')", "scalar('a', [1.0])",
            "tensor_summary('x', [1, 2], 'description', family='g', display_name='name')",
            "tensor_summary('x', [[b'ab', b'c']])", "text('t', tf.constant('hi'))",
        )),
    ),
}  # fmt: skip

_SPARSE_VALUE = "tf.compat.v1.SparseTensorValue(indices=((0, 1), (1, 0)), values=(42, 24), dense_shape=(2, 3))"
_ARRAYS = {
    "sparse_value": tuple(f"tf.{name}({_SPARSE_VALUE})" for name in ("shape", "size", "rank", "compat.v1.shape")),
    "dimension": (
        "tf.constant([1, 2, 3])[tf.compat.v1.Dimension(None) : tf.compat.v1.Dimension(2)]",
        "tf.constant([1, 2, 3])[tf.compat.v1.Dimension(1)]",
    ),
    "empty_filter": tuple(
        f"tf.nn.conv2d(tf.ones((1, 2, 2, 1)), tf.ones({shape}), 1, 'SAME')"
        for shape in ((1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0))
    ),
    "conv3d_filter": tuple(
        "tf.compat.v1.nn.conv3d_backprop_filter(tf.reshape(tf.range(16.0), (2, 2, 2, 2, 1)), "
        f"{sizes}, tf.reshape(tf.range(16.0), (2, 2, 2, 2, 1)), [1, 1, 1, 1, 1], 'SAME')"
        for sizes in ("[1, 2, 1, 1, 1]", "tf.constant(0)")
    ),
}

_HUGE = "tf.SparseTensor([[1, 2], [3, 4]], [1.0, 3.0], [2**32, 2**31])"
_SPARSE = {
    "huge_sparse": tuple(f"tf.sparse.{call}" for call in (
        f"reduce_max({_HUGE}, 0)", f"reduce_sum({_HUGE}, 0, output_is_sparse=True)", f"softmax({_HUGE})",
    )),
    "quantized_scalar": ("tf.constant(3, tf.quint8)",),
    "sparse_ranks": (
        "tf.sparse.maximum(tf.SparseTensor([[0, 0]], [0], [1, 1]), tf.SparseTensor([[0]], [1], [2]))",
        "tf.raw_ops.SparseSparseMaximum(a_indices=[[1]], a_values=[0], a_shape=[2], b_indices=[[]], b_values=[1], "
        "b_shape=[2])",
    ),
}  # fmt: skip

_CELL = (
    "(lambda r: dict(x=r((3, 2, 3)), cs_prev=r((2, 2)), h_prev=r((2, 2)), w=r((5, 8)), wci=r(2), wcf=r(2), wco=r(2), "
    "b=r(8)))(lambda shape: tf.constant(np.sin(np.arange(np.prod(shape)) * 1.7).reshape(shape), tf.float32))"
)
_LENGTH = "seq_len_max=tf.constant(3, tf.int64)"  # TensorFlow leaves memory beyond uninitialized
_RAW = {
    "lstm": (
        f"tf.raw_ops.LSTMBlockCell(**{{**{_CELL}, 'x': tf.ones((2, 3))}}, use_peephole=True)",
        f"tf.raw_ops.LSTMBlockCell(**{{**{_CELL}, 'x': tf.ones((2, 3))}}, cell_clip=0.1)",
        f"tf.raw_ops.LSTMBlockCell(**{{**{_CELL}, 'x': tf.ones((2, 3)), 'wci': tf.ones(())}})",
        f"tf.raw_ops.BlockLSTM(**{_CELL}, {_LENGTH}, use_peephole=True)",
        f"tf.raw_ops.BlockLSTM(**{_CELL}, seq_len_max=tf.constant([2], tf.int64))",
        f"(lambda cell: (lambda y: tf.raw_ops.BlockLSTMGradV2(**cell, {_LENGTH}, i=y[0], cs=y[1], f=y[2], o=y[3], "
        "ci=y[4], co=y[5], h=y[6], cs_grad=tf.zeros((3, 2, 2)), h_grad=tf.ones((3, 2, 2)), use_peephole=True))("
        f"tf.raw_ops.BlockLSTMV2(**cell, {_LENGTH}, use_peephole=True)))({_CELL})",
    ),
}  # fmt: skip

CASES = [
    (f"{name}-{i}", source)
    for group in (_RAGGED, _STRINGS, _SUMMARIES, _ARRAYS, _SPARSE, _RAW)
    for name, sources in group.items()
    for i, source in enumerate(sources)
]
