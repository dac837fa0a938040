"""Derivatives beside infinite and huge numbers: an unused output, or a share of zero, has no part in them."""

_ROWS = {
    "inf": "[1.0, 2.0, np.inf]", "-inf": "[1.0, 2.0, -np.inf]", "infs": "[np.inf, np.inf, 1.0]",
    "both": "[np.inf, -np.inf, 1.0]", "all -inf": "[-np.inf, -np.inf, -np.inf]", "nan": "[1.0, 2.0, np.nan]",
    "huge": "[1e300, -1e300, 1e300]", "tiny": "[1e-300, 1e-300, 1e-300]", "middle": "[0.0, np.inf, 1.0]",
}  # fmt: skip
_FUNCTIONS = {
    "mean of moments": "lambda x: tf.nn.moments(x, [0])[0]",
    "mean of moments of rows": "lambda x: tf.nn.moments(x[None] * [[1.0], [2.0]], [1], keepdims=True)[0]",
    "mean of moments of columns": "lambda x: tf.nn.moments(x[None] * [[1.0], [2.0]], [0])[0]",
    "variance of moments": "lambda x: tf.nn.moments(x, [0])[1]",
    "moments": "lambda x: tf.add(*tf.nn.moments(x, [0]))",
    "logsumexp": "lambda x: tf.reduce_logsumexp(x)",
    "logsumexp of rows": "lambda x: tf.reduce_logsumexp(x[None], 1, keepdims=True) * 2.0",
    "cumulative_logsumexp": "lambda x: tf.math.cumulative_logsumexp(x)",
    "first cumulative_logsumexp": "lambda x: tf.math.cumulative_logsumexp(x)[0]",
    "mean": "lambda x: tf.reduce_mean(x)", "max": "lambda x: tf.reduce_max(x)", "sum": "lambda x: tf.reduce_sum(x)",
    "variance": "lambda x: tf.math.reduce_variance(x)", "std": "lambda x: tf.math.reduce_std(x)",
    "first of unstack": "lambda x: tf.unstack(x)[0]", "first of split": "lambda x: tf.split(x, 3)[0]",
}  # fmt: skip
# TensorFlow's cumulative_logsumexp ignores NaN, and its derivative is NaN, or without the later sums, for these.
_OTHER = {"nan", "infs", "all -inf", "huge"}
CASES = [
    (f"{name} ({row})", f"grad: {function} @ {numbers}")
    for name, function in _FUNCTIONS.items() for row, numbers in _ROWS.items()
    if "cumulative" not in name or row not in _OTHER
]  # fmt: skip
CASES += [
    (f"empty {dtype} {axis}", f"tf.reduce_mean(tf.zeros([2, 0], '{dtype}'), axis={axis})")
    for dtype in ("float32", "float64", "complex64", "complex128") for axis in (None, 0, 1)
]  # fmt: skip
CASES += [
    (f"weighted cross entropy {label} {logit}",
     f"tf.nn.weighted_cross_entropy_with_logits(tf.constant([{label}]), tf.constant([{logit}]), 2.0)")
    for label in (0.0, 0.5, 2.0) for logit in ("np.inf", "-np.inf", 1e30)
]  # fmt: skip
CASES.append(("softmax beside inf", "tf.nn.softmax(tf.constant([1.0, 2.0, np.inf]))"))
