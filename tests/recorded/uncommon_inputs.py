"""Arguments and inputs that few programs give, and TensorFlow's own tests try."""


def ragged_custom_gradient(tf):
    @tf.custom_gradient
    def scaled(rows, x):
        return (rows * rows, 2.0 * x), lambda by_rows, by_x: (3.0 * by_rows, 5.0 * by_x)

    rows, x = tf.ragged.constant([[1.0, 2.0], [3.0]]), tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(rows.values)
        tape.watch(x)
        y = scaled(rows, x)
    return [*y, *tape.gradient(y, [rows, x])]


SPARSE = "tf.sparse.from_dense([[3, 0, 1], [1, 1, 0]])"
WEIGHTS = "tf.sparse.from_dense([[3.0, 0.0, 1.0], [1.0, 1.0, 0.0]])"
ARRAYS = "tf.compat.v1.SparseTensorValue([[0, 1]], [2.0], [1, 2])"
WORDS = "tf.compat.v1.SparseTensorValue([[0, 0]], [{!r}], [1, 1])"

EXPRESSIONS = f"""
math.bincount({SPARSE})
math.bincount({SPARSE}, axis=-1)
math.bincount({SPARSE}, {WEIGHTS})
math.bincount({SPARSE}, {WEIGHTS}, axis=-1)
math.bincount({SPARSE}, axis=-1, binary_output=True, minlength=6)
math.bincount({SPARSE}, axis=-1, maxlength=2)
math.bincount({SPARSE}, tf.ones([2, 3]))
nn.compute_average_loss([1.0, 2.0], global_batch_size=[10])
nn.compute_average_loss([1.0, 2.0], global_batch_size=-1)
math.sobol_sample(2560, 16384000)
math.sobol_sample(1, 1, skip=2147483647)
scatter_nd([[4], [3], [3]], ['a', 'b', 'c'], [5])
scatter_nd([[1], [1], [2]], [['a', 'b'], ['c', 'd'], ['e', 'f']], [3, 2])
scatter_nd([[1, 0], [1, 0], [2, 1]], ['a', 'b', 'c'], [3, 2])
scatter_nd([[1], [1], [2]], [True, False, False], [4])
fingerprint([])
fingerprint(tf.zeros([0, 2]))
gather(tf.reshape(tf.range(8), [2, 2, 2]), [[0], [1]], batch_dims=None, axis=1)
reverse_sequence([[1, 2], [3, 4]], [[2, 2]], seq_axis=1)
compat.v1.gather_nd([10, 1, 2], [[0], [7], [1]], bad_indices_policy='IGNORE')
compat.v1.random_normal_initializer(dtype=tf.int32)
compat.v1.variance_scaling_initializer(dtype=tf.string)
edit_distance({WORDS.format("a")}, {WORDS.format("b")})
sparse.to_dense({ARRAYS})
sparse.add({ARRAYS}, tf.ones([1, 2]))
sparse.sparse_dense_matmul({ARRAYS}, tf.ones([2, 1]))
sparse.SparseTensor.from_value({ARRAYS}).values
sparse.sampled_addmm([[0, 1]], [1.0], [1, 2], [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]])
"""

CASES = [
    *((line, f"tf.{line}") for line in EXPRESSIONS.split("\n") if line),
    ("gradients of sampled products of batches",
     "grad:lambda v, a, b: tf.sparse.sampled_addmm([[[0, 1], [1, 0]], [[0, 0], [1, 0]]], v, [2, 2], a, b, 0.5, 2.0, "
     "tf.float64)[1] @ [[3.0, 5.0], [2.0, 7.0]], np.arange(12.0).reshape(2, 2, 3), np.arange(12.0).reshape(2, 3, 2)"),
    ("a custom gradient of ragged rows", ragged_custom_gradient),
]  # fmt: skip
