"""The ragged tensors that recorded cases name, as expressions over `tf`.

They are constants; when traced, their values and row splits are inputs.
"""

import re

VALUES = {
    "R": "tf.RaggedTensor",
    "rt": "tf.RaggedTensor.from_row_splits(tf.constant([3, 1, 4, 1, 5, 9, 2, 6]), "
    "tf.constant([0, 3, 5, 6, 8], tf.int64))",
    "re": "tf.RaggedTensor.from_row_splits(tf.constant([3, 1, 4, 1, 5, 9, 2, 6]), "
    "tf.constant([0, 3, 3, 5, 8], tf.int64))",
    "rf": "tf.RaggedTensor.from_row_splits(tf.constant([3.0, 1, 4, 1, 5, 2, 6]), "
    "tf.constant([0, 3, 5, 5, 7], tf.int64))",
    "r3": "tf.RaggedTensor.from_nested_row_splits(tf.constant([1, 2, 3, 4, 5, 6, 7]), "
    "[tf.constant([0, 2, 2, 5], tf.int64), tf.constant([0, 2, 3, 6, 6, 7], tf.int64)])",
    "rf3": "tf.RaggedTensor.from_nested_row_splits(tf.constant([1.0, 2, 3, 4, 5, 6, 7]), "
    "[tf.constant([0, 2, 2, 5], tf.int64), tf.constant([0, 2, 3, 6, 6, 7], tf.int64)])",
    "ri": "tf.RaggedTensor.from_row_splits(tf.constant([[1, 2], [3, 4], [5, 6]]), tf.constant([0, 2, 2, 3], tf.int64))",
    "rs": 'tf.RaggedTensor.from_row_splits(tf.constant(["a", "bc", "def"]), tf.constant([0, 2, 2, 3], tf.int64))',
    "ru": "tf.RaggedTensor.from_uniform_row_length(tf.RaggedTensor.from_row_splits("
    "tf.constant([1, 2, 3, 4, 5, 6]), tf.constant([0, 2, 3, 3, 6], tf.int64)), 2)",
    "rb": "tf.RaggedTensor.from_row_splits(tf.constant([True, False, True]), tf.constant([0, 2, 3, 3], tf.int64))",
    "ids": "tf.RaggedTensor.from_row_splits(tf.constant([0, 2, 1], tf.int64), tf.constant([0, 2, 3], tf.int64))",
    "weights": "tf.RaggedTensor.from_row_splits(tf.constant([0.5, 2.0, 1.0]), tf.constant([0, 2, 3], tf.int64))",
    "r32": "tf.RaggedTensor.from_row_splits(tf.constant([1, 2, 3]), tf.constant([0, 2, 3]))",
}


def with_values(expression):
    """Returns the expression as a function of the values it names, called with them."""
    names = [name for name in VALUES if re.search(rf"(?<![\w.\"]){name}\b(?!=)", expression)]
    if not names:
        return expression
    return f"(lambda {', '.join(names)}: {expression})({', '.join(VALUES[name] for name in names)})"
