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

CASES = [
    (f"{name}-{i}", source)
    for group in (_RAGGED, _STRINGS)
    for name, sources in group.items()
    for i, source in enumerate(sources)
]
