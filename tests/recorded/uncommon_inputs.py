"""Rare arguments and inputs that TensorFlow's own tests cover."""

import numpy as np


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


def integers_as_sources(tf):
    x, v = tf.constant([3, 4]), tf.Variable(3)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x + x
    asked = (x, x), (y, x), ([x, y], x), (v, v)
    return [*(tape.gradient(*pair) for pair in asked), tape.jacobian(x, x)]


def axes_of_other_types(tf):
    """Returns the shape and the norm of the result for each axis, or that it was rejected."""
    x = tf.reshape(tf.range(24.0), [2, 3, 4])
    numbers = [True, np.bool_(True), np.float32(1), np.float64(1), np.array(1.0), np.array(1, np.int8), np.int16(1),
               tf.constant(1)]  # fmt: skip
    others = [1.0, 0.5, "1", 1j, [1.0], tf.constant(1.0), tf.constant(True)]
    functions = {
        tf.reduce_sum: others, tf.reduce_max: others, tf.math.reduce_variance: others, tf.cumsum: others,
        tf.expand_dims: others, tf.nn.log_softmax: others, tf.unstack: others,
        lambda x, axis: tf.concat([x, x], axis): others,
        lambda x, axis: tf.stack([x, x], axis): ["1", 1j, [1.0], tf.constant(True)],
        lambda x, axis: tf.one_hot([0, 1], 3, axis=axis): [1j, [1.0]],
    }
    different = {  # gradtape takes every number of NumPy
        tf.nn.log_softmax: (np.floating, np.ndarray, np.int16), tf.unstack: (np.floating, np.ndarray, np.bool_),
    }  # fmt: skip

    def result(function, axis):
        try:
            y = tf.convert_to_tensor(function(x, axis=axis))
        except (TypeError, ValueError, AttributeError, tf.errors.InvalidArgumentError):
            return "rejected"
        return f"{y.shape} {float(tf.norm(y)):.4f}"

    return [
        result(function, axis) for function, rejected in functions.items() for axis in [*numbers, *rejected]
        if not isinstance(axis, different.get(function, ()))
    ]  # fmt: skip


def ragged_python_function(tf):
    rows = tf.ragged.constant([[1.0, 2.0], [3.0]])
    spec = tf.RaggedTensorSpec([None, None], tf.float32)

    def run(rows):
        doubled = tf.py_function(lambda x: 2.0 * x, [rows], spec)
        total, same = tf.py_function(lambda x, y: [tf.reduce_sum(x), y], [rows, rows], [tf.float32, spec])
        return doubled, total, same

    return [*run(rows), *tf.function(run)(rows)]


def concrete_function_of_arrays(tf):
    double = tf.function(lambda x: x * 2).get_concrete_function(tf.TensorSpec([None], tf.float32))
    given = [np.ones(2, np.float32), np.ones(2), np.ones(2, np.int32), [1.0, 2.0], [1, 2], (1.0, 2.0)]
    refused = ["a", None, np.ones((2, 2)), [1.0, "a"]]
    return [*(double(x) for x in given), double(x=np.ones(2)), *(raised(double, x) for x in refused)]


def concrete_function_of_a_nest(tf):
    def total(inputs):
        return inputs["a"] + inputs["b"][0]

    scalar, vector = tf.TensorSpec([], tf.float32), tf.TensorSpec([None], tf.float32)
    f = tf.function(total).get_concrete_function({"a": scalar, "b": [vector]})
    return [f({"a": 1.0, "b": [[1.0, 2.0]]}), f({"a": np.float64(1.0), "b": [np.ones(2)]}), raised(f, {"a": 1.0})]


def raised(f, *args):
    try:
        f(*args)
    except Exception as error:
        return type(error).__name__


def sparse_product_of_halves(tf):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(10, 50)) * (rng.random((10, 50)) < 0.3)
    b = rng.normal(size=(50, 20))
    return tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(a.astype(np.float16)), b.astype(np.float16))


SPARSE = "tf.sparse.from_dense([[3, 0, 1], [1, 1, 0]])"
WEIGHTS = "tf.sparse.from_dense([[3.0, 0.0, 1.0], [1.0, 1.0, 0.0]])"
ARRAYS = "tf.compat.v1.SparseTensorValue([[0, 1]], [2.0], [1, 2])"
IMAGE = "tf.reshape(tf.range(9.0), [1, 3, 3, 1])"
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
clip_by_norm(tf.zeros([2, 3, 1]), tf.constant([1.0, 2.0]))
linalg.tridiagonal_solve(tf.ones([5, 4, 7]), tf.ones([5, 4]), 'matrix')
linalg.tridiagonal_solve(tf.ones([5, 4, 4]), tf.ones([5, 3]), 'matrix')
tensordot([[1, 2], [3, 4]], [[1, 2], [3, 4]], [[0], [7]])
debugging.assert_type({WEIGHTS}, tf.float32)
debugging.assert_type({WEIGHTS}, tf.int32)
debugging.assert_rank({WEIGHTS}, 2)
debugging.assert_rank({WEIGHTS}, 1)
debugging.assert_shapes([({WEIGHTS}, ['N', 3]), (tf.ones([2]), ['N'])])
debugging.assert_shapes([({WEIGHTS}, ['N', 3]), (tf.ones([5]), ['N'])])
debugging.assert_proper_iterable({WEIGHTS})
sets.size(tf.SparseTensor([[804, 45], [48245, 2577]], [1, 1], [812, 390]))
sparse.segment_sum(tf.zeros([0, 4]), [], [], num_segments=2)
compat.v1.nn.embedding_lookup([tf.ones([3, 2]), 2 * tf.ones([2, 2])], [0, 1, 2, 3, 4])
compat.v1.nn.embedding_lookup([tf.ones([3, 2]), 2 * tf.ones([2, 2])], [0, 1, 2, 3, 4], partition_strategy='div')
compat.v1.nn.embedding_lookup([tf.ones([3, 2]), 2 * tf.ones([2, 2])], [0], partition_strategy='none')
compat.v1.sparse_to_dense([1, 3], [5], 1.0)
compat.v1.sparse_to_dense([[0, 1], [1, 0]], [2, 2], [5, 6], -1)
compat.v1.sparse_to_dense(2, [4], 7)
compat.v1.sparse_to_dense([3, 1], [5], 1)
compat.v1.sparse_to_dense([3, 1], [5], 1, validate_indices=False)
compat.v1.sparse_to_dense([1, 3], [5], ['a', 'b'], '')
compat.v1.debugging.assert_none_equal([1.0], [1.0], message='not these')
compat.v1.debugging.assert_rank([1.0], 2, message='not this')
experimental.numpy.zeros_like(np.array(['a', 'b']))
experimental.numpy.empty_like(np.array([b'a'])).shape
experimental.numpy.zeros([2], np.str_)
experimental.numpy.ones_like(np.array(['a', 'b']))
nn.moments(tf.zeros([0, 3]), [0])
nn.moments(tf.zeros([2, 0]), [0, 1])
strings.ngrams(['a', 'b', 'c'], 2, separator=b'|', pad_values=(b'L', 'R'))
strings.join(['a', 'b'], separator=b'-')
strings.reduce_join([['a', 'b']], axis=1, separator=b'-')
strings.unsorted_segment_join(['a', 'b'], [0, 0], 1, separator=b'-')
io.decode_csv(['1;n', '2;3'], [[0], [5]], field_delim=b';', na_value=b'n')
random.experimental.index_shuffle(tf.range(6), [5, 9], 10)
random.experimental.index_shuffle(tf.range(6), [-5, 9], 100000)
random.experimental.index_shuffle(tf.constant([0, 5], tf.int64), tf.constant([5, 9], tf.int64), 2 ** 62)
random.experimental.index_shuffle(3, [1, 2], 10)
random.experimental.index_shuffle(0, [1, 2], 0)
random.experimental.index_shuffle([0, 1], [1, 2], [10, 20])
random.experimental.index_shuffle(0, [1, 2], [10, 20])
random.experimental.index_shuffle([0, 11], [1, 2], 10)
random.experimental.index_shuffle([-1], [1, 2], 10)
random.experimental.index_shuffle([0.0], [1, 2], 10.0)
random.experimental.index_shuffle([0], [1, 2, 3], 10)
random.experimental.index_shuffle([[0]], [1, 2], 10)
raw_ops.RandomIndexShuffle(index=[0, 1, 2], seed=[1, 2, 3], max_index=10, rounds=6)
raw_ops.RandomIndexShuffle(index=[0, 1], seed=[[1, 2, 3], [4, 5, 6]], max_index=10)
compat.v1.floor_div([7, -7], [2, 2])
compat.v1.nn.dilation2d({IMAGE}, tf.ones([2, 2, 1]), [1, 1, 1, 1], [1, 2, 2, 1], 'VALID')
compat.v1.nn.erosion2d({IMAGE}, tf.ones([2, 2, 1]), [1, 1, 1, 1], [1, 1, 1, 1], 'VALID')
sparse.sampled_addmm([[0, 1]], [1.0], [1, 2], [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]])
"""

CASES = [
    *((line, f"tf.{line}") for line in EXPRESSIONS.split("\n") if line),
    ("gradients of sampled products of batches",
     "grad:lambda v, a, b: tf.sparse.sampled_addmm([[[0, 1], [1, 0]], [[0, 0], [1, 0]]], v, [2, 2], a, b, 0.5, 2.0, "
     "tf.float64)[1] @ [[3.0, 5.0], [2.0, 7.0]], np.arange(12.0).reshape(2, 2, 3), np.arange(12.0).reshape(2, 3, 2)"),
    ("axes of other types", axes_of_other_types),
    ("a custom gradient of ragged rows", ragged_custom_gradient),
    ("a concrete function of arrays and lists", concrete_function_of_arrays),
    ("a concrete function of a nest of them", concrete_function_of_a_nest),
    ("a sparse product of halves", sparse_product_of_halves),
    ("integers that are target and source", integers_as_sources),
    ("Python's functions of ragged rows", ragged_python_function),
]  # fmt: skip
