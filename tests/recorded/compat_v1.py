"""`tf.compat.v1` in eager programs: functions under their old parameters, variables by name, optimizers."""

import numpy as np

MATRIX = "[[1.0, 2.0], [3.0, 4.0]]"
IMAGE = "np.arange(32.0).reshape(1, 4, 4, 2).astype(np.float32) % 7"
SPARSE = "tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])"

EXPRESSIONS = f"""
batch_to_space_nd(np.arange(4.0).reshape(4, 1, 1, 1), [2, 2], [[0, 0], [0, 0]])
decode_csv(['1,a', ',b'], [[7], ['x']])
decode_raw(['ab'], tf.uint8)
image.extract_glimpse({IMAGE}, [2, 2], [[0.0, 0.0]])
nn.embedding_lookup_sparse([[[1.0], [3.0]], [[2.0], [4.0]]], {SPARSE.replace("2.0, 3.0", "1, 2")}, None, combiner='sum')
nn.fractional_max_pool({IMAGE}, [1.0, 1.0, 1.0, 1.0], seed=1, seed2=1, deterministic=True)
nn.max_pool_with_argmax({IMAGE}, [1, 2, 2, 1], [1, 2, 2, 1], 'VALID', output_dtype=tf.int32)
parse_single_example(b'', dict(a=tf.io.FixedLenFeature([], tf.int64, 3)))
serialize_sparse({SPARSE})
sparse_concat(1, [{SPARSE}, {SPARSE}]).values
sparse_merge({SPARSE.replace("2.0, 3.0", "2, 3")}, {SPARSE}, 5).indices
sparse_reduce_sum_sparse({SPARSE}, 0).values
sparse_split({SPARSE}, 2, 1)
sparse_split(sp_input={SPARSE}, num_split=2, axis=1)[1].values
string_split(['a b', '  c']).values
string_split(['a,b|', 'c'], ',|', skip_empty=False).values
string_split(['abc'], '', result_type='RaggedTensor')
string_to_hash_bucket(['a'], 10)
strings.split('a b').dense_shape
strings.split(['a b'], result_type='list')
argmax({MATRIX}, dimension=1)
argmax({MATRIX})
argmin({MATRIX}, axis=1, output_type=tf.int32)
arg_max({MATRIX}, 0)
arg_min({MATRIX}, 0)
argmax({MATRIX}, axis=1, dimension=1)
reduce_sum({MATRIX}, reduction_indices=[0], keep_dims=True)
reduce_mean({MATRIX}, 1)
reduce_max({MATRIX}, keepdims=True)
reduce_any([True, False], reduction_indices=0)
reduce_logsumexp({MATRIX}, axis=0)
math.reduce_prod({MATRIX}, reduction_indices=1)
count_nonzero({MATRIX}, reduction_indices=1)
batch_to_space(np.arange(4.0).reshape(4, 1, 1, 1), [[0, 0], [0, 0]], 2)
space_to_batch(np.arange(4.0).reshape(1, 2, 2, 1), [[0, 0], [0, 0]], block_size=2)
boolean_mask([1, 2, 3], [True, False, True])
cond(tf.constant(True), lambda: tf.constant(1.0), lambda: tf.constant(2.0))
confusion_matrix([0, 1], [1, 1], weights=[2, 3])
constant([1.0, 2.0], shape=[2, 1])
constant([1.0, 2.0], shape=[3], verify_shape=True)
convert_to_tensor([1.0], preferred_dtype=tf.float64)
div([7, -7], [2, 2])
div([7.0], [2.0])
expand_dims([1.0], dim=1)
extract_image_patches({IMAGE}, ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding='VALID')
gather({MATRIX}, [1], axis=1)
gather({MATRIX}, [1])
gather_nd({MATRIX}, [[1, 0]])
batch_gather(tf.constant({MATRIX}), tf.constant([[1], [0]]))
lin_space(0.0, 1.0, 3)
norm({MATRIX}, axis=1, keep_dims=True)
ones_like({MATRIX}, tf.int32)
zeros_like({MATRIX})
pad([1.0], [[1, 1]], 'CONSTANT', None, 9)
placeholder_with_default([1.0], [1])
placeholder(tf.float32, [1])
py_func(lambda x: x + 1, [np.float32(2)], tf.float32)
reverse_sequence([[1.0, 2.0, 3.0]], [2], seq_dim=1)
self_adjoint_eigvals({MATRIX})
shape({MATRIX}, out_type=tf.int64)
size({MATRIX})
squeeze([[1.0, 2.0]], squeeze_dims=[0])
string_to_number(['1.5'])
strings.length(['abc'], None, 'BYTE')
substr(['abc'], 1, 1)
strings.reduce_join(['a', 'b'], reduction_indices=0)
trace({MATRIX})
transpose({MATRIX}, [1, 0])
verify_tensor_all_finite([1.0], 'bad')
verify_tensor_all_finite([float('nan')], 'bad')
where([True, False], {MATRIX}, [[5.0, 6.0], [7.0, 8.0]])
where([True, False], [1.0, 2.0], [3.0, 4.0])
where([True, False, True])
where([True, False], [1.0, 2.0], [3.0])
where_v2([True, False], 1.0, [3.0, 4.0])
while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
while_loop(lambda i, j: i < 3, lambda i, j: [i + 1, j + i], [tf.constant(0), tf.constant(0)])
assert_equal([1], [2], message='m')
assert_less([1], [2])
assert_rank([1], 2)
to_float([1, 2])
to_int32([1.7])
to_double([1.5])
log([2.0])
mod([7], [3])
real([1 + 2j])
cholesky([[4.0, 2.0], [2.0, 3.0]])
matrix_diag([1.0, 2.0])
matrix_solve([[2.0, 0.0], [0.0, 4.0]], [[1.0], [2.0]])
clip_by_average_norm(tf.constant([3.0, 4.0]), 1.0)
depth_to_space(np.arange(4.0).reshape(1, 1, 1, 4), 2)
segment_sum([1.0, 2.0, 3.0], [0, 0, 1])
unsorted_segment_max([1.0, 2.0, 3.0], [1, 0, 1], 2)
tensor_scatter_update([1.0, 2.0], [[1]], [5.0])
sparse_reduce_sum({SPARSE}, reduction_axes=[1])
sparse_tensor_to_dense({SPARSE})
sparse_tensor_dense_matmul({SPARSE}, [[1.0], [2.0]])
setdiff1d([1, 2, 3, 4], [2, 4])
math.in_top_k([[1.0, 2.0, 3.0]], [1], 2)
nn.softmax({MATRIX}, dim=0)
nn.log_softmax({MATRIX})
nn.max_pool({IMAGE}, [1, 2, 2, 1], [1, 2, 2, 1], 'VALID')
nn.avg_pool({IMAGE}, [1, 2, 2, 1], [1, 2, 2, 1], 'VALID')
nn.conv2d({IMAGE}, np.ones((2, 2, 2, 1), np.float32), [1, 1, 1, 1], 'VALID')
nn.conv2d({IMAGE}, filters=np.ones((2, 2, 2, 1), np.float32), strides=[1, 1, 1, 1], padding='SAME')
nn.conv2d_transpose({IMAGE}, np.ones((2, 2, 1, 2), np.float32), [1, 8, 8, 1], [1, 2, 2, 1])
nn.conv1d(np.ones((1, 4, 2), np.float32), np.ones((2, 2, 1), np.float32), 1, 'VALID')
nn.depthwise_conv2d({IMAGE}, np.ones((2, 2, 2, 1), np.float32), [1, 1, 1, 1], 'VALID', rate=[1, 1])
nn.convolution({IMAGE}, np.ones((2, 2, 2, 1), np.float32), 'VALID')
nn.dropout([1.0, 2.0], keep_prob=1.0)
nn.dropout([1.0, 2.0])
nn.fused_batch_norm({IMAGE}, [1.0, 2.0], [0.5, 0.0])
nn.moments(tf.constant({MATRIX}), [0], keep_dims=True)
nn.relu_layer({MATRIX}, [[1.0], [-1.0]], [0.5])
nn.xw_plus_b({MATRIX}, [[1.0], [-1.0]], [0.5])
nn.softmax_cross_entropy_with_logits_v2([[0.0, 1.0]], [[1.0, 2.0]])
nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[1.0, 2.0]])
nn.weighted_cross_entropy_with_logits(targets=[1.0], logits=[0.5], pos_weight=2.0)
nn.embedding_lookup(tf.constant({MATRIX}), [1])
image.resize_images({IMAGE}, [2, 2])
image.resize_images({IMAGE}, [6, 3], method=1, align_corners=True)
image.resize_bilinear({IMAGE}, [6, 3], align_corners=True)
image.crop_and_resize({IMAGE}, [[0.0, 0.0, 0.5, 0.5]], box_ind=[0], crop_size=[2, 2])
spectral.dct([1.0, 2.0, 3.0], norm='ortho')
Dimension(3) + 2 == 5
str([Dimension(3) * 2, Dimension(None) + 1, 5 - Dimension(2), Dimension(7) // 2, Dimension(7) % 4])
Dimension(-1)
Dimension('x')
Dimension(3).merge_with(4)
dimension_value(Dimension(3))
SparseTensorValue([[0]], [1.0], [2]).dense_shape
executing_eagerly()
get_default_session()
global_variables()
global_variables_initializer()
get_variable('no_shape')
get_variable('both', [3], initializer=tf.constant([1.0]))
get_variable('zeros', [2], dtype=tf.int32)
get_variable('given', initializer=[1.0, 2.0])
zeros_initializer()([2])
constant_initializer([1.0, 2.0])([2])
variance_scaling_initializer(scale=-1.0)
train.exponential_decay(0.5, 7, 5, 0.5)()
train.exponential_decay(0.5, 7, 5, 0.5, staircase=True)()
train.natural_exp_decay(0.5, 7, 5, 0.5)()
train.inverse_time_decay(0.5, 7, 5, 0.5, staircase=True)()
train.cosine_decay(0.5, 3, 10, alpha=0.1)()
train.polynomial_decay(0.5, 7, 5, 0.01, power=2.0, cycle=True)()
train.polynomial_decay(0.5, 3, 5, 0.01)()
train.piecewise_constant(tf.constant(10), [5, 10], [0.5, 0.25, 0.125])()
train.AdagradOptimizer(0.1, initial_accumulator_value=0.0)
train.FtrlOptimizer(0.1, learning_rate_power=1.0)
"""

OPTIMIZERS = """
GradientDescentOptimizer(0.1)
MomentumOptimizer(0.1, 0.9)
MomentumOptimizer(0.1, 0.9, use_nesterov=True)
AdamOptimizer(0.1)
AdamOptimizer(0.1, beta1=0.8, beta2=0.9, epsilon=0.1)
AdagradOptimizer(0.1)
AdadeltaOptimizer(0.5)
RMSPropOptimizer(0.1)
RMSPropOptimizer(0.1, momentum=0.9, centered=True, epsilon=0.01)
FtrlOptimizer(0.1)
FtrlOptimizer(0.1, learning_rate_power=-0.7, l1_regularization_strength=0.05, l2_regularization_strength=0.1, beta=0.2)
FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1)
AdagradDAOptimizer(0.1, v1.Variable(0, dtype='int64'))
AdagradDAOptimizer(0.1, v1.Variable(4, dtype='int64'), 0.5, 0.02, l2_regularization_strength=0.3)
AdagradDAOptimizer(0.1, v1.Variable(0, dtype='int64'), l1_regularization_strength=5.0)
AdagradDAOptimizer(0.1, v1.Variable(0, dtype='int64'), 0.0)
ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.2, l2_regularization_strength=0.3)
ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.2, l2_regularization_strength=0.3)
"""


def three_steps(optimizer):
    def run(tf):
        v1 = tf.compat.v1
        made = eval(f"v1.train.{optimizer}", {"v1": v1})
        x, y = tf.Variable([1.0, -2.0]), tf.Variable(0.5)
        step = v1.Variable(0, trainable=False)
        for _ in range(3):
            made.minimize(lambda: tf.reduce_sum(x * x) + y * x[0], global_step=step, var_list=[x, y])
        slots = [made.get_slot(x, name) for name in made.get_slot_names()]
        return [x, y, step, made.get_slot_names(), *slots, made.get_name()]

    return run


def names_in_scopes(tf):
    v1 = tf.compat.v1
    with v1.variable_scope("outer", initializer=v1.ones_initializer()) as outer:
        a = v1.get_variable("a", [2])
        with v1.variable_scope("inner"):
            b = v1.get_variable("b", [1], initializer=v1.zeros_initializer(), trainable=False)
            inside = v1.get_variable_scope().name
        with v1.variable_scope(outer, reuse=v1.AUTO_REUSE):
            c = v1.get_variable("a", [2])
    with v1.variable_scope(None, default_name="default"):
        d = v1.get_variable("d", [1], dtype=tf.float64)
    return [a.name, b.name, c.name, d.name, inside, outer.name, a, b, b.trainable, c is a, d.dtype.name]


def a_template(tf):
    v1 = tf.compat.v1
    layer = v1.make_template("layer", lambda x: x * v1.get_variable("w", [2], initializer=v1.ones_initializer()))
    with tf.GradientTape() as tape:
        y = layer(tf.constant([2.0, 3.0])) + layer(tf.constant([1.0, 1.0]))
    variables = tape.watched_variables()
    return [len(variables), variables[0].name, tape.gradient(y, variables[0])]


def seeded_initializers(tf):
    v1 = tf.compat.v1
    found = []
    for make in (
        v1.glorot_uniform_initializer, v1.glorot_normal_initializer, v1.random_normal_initializer,
        v1.truncated_normal_initializer, v1.variance_scaling_initializer,
    ):  # fmt: skip
        v1.set_random_seed(3)
        found.append(make(seed=5)([2, 3]))
    return found


def updates(tf):
    v1, v = tf.compat.v1, tf.Variable([1.0, 2.0, 3.0])
    v1.assign(v, [4.0, 5.0, 6.0])
    v1.assign_add(v, [1.0, 1.0, 1.0])
    v1.assign_sub(v, [0.5, 0.5, 0.5])
    v1.scatter_add(v, [1], [10.0])
    v1.scatter_update(v, [0], [7.0])
    v1.scatter_mul(v, [2], [2.0])
    v1.scatter_nd_sub(v, [[1]], [1.0])
    return v


def collections(tf):
    v1 = tf.compat.v1
    v1.add_to_collection("kept", 3)
    v1.add_to_collections(["kept", "other"], 4)
    return [v1.get_collection("kept"), v1.get_collection("other"), v1.GraphKeys.TRAINABLE_VARIABLES]


def bad_losses(tf):
    v1, said = tf.compat.v1, []
    x = tf.Variable(1.0)
    optimizer = v1.train.AdamOptimizer()
    for attempt in (
        lambda: optimizer.minimize(x * x), lambda: optimizer.minimize(lambda: tf.constant(1.0), var_list=[x]),
        lambda: optimizer.apply_gradients([]), lambda: optimizer.apply_gradients([(None, x)]),
    ):  # fmt: skip
        try:
            attempt()
        except Exception as error:
            said.append(f"{type(error).__name__}: {str(error)[:40]}")
    return [*said, x]


def global_steps(tf):
    train = tf.compat.v1.train
    step = train.get_or_create_global_step()
    return [train.get_global_step() is step, step.name, step.dtype.name]




LABELS = [[0, 0, 1, 1], [2, 1, 2], [1, 1], [3]]  # of rows with 6, 5, 3 and 1 frames, of 4 classes and the blank


def sparse_labels(tf, rows):
    places = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = tf.constant([label for row in rows for label in row], tf.int32)
    return tf.SparseTensor(np.reshape(places, (-1, 2)), values, [len(rows), max(map(len, rows))])


def ctc(rows, frames, **options):
    def run(tf):
        logits = np.random.RandomState(3).normal(size=(6, len(rows), 5)).astype(np.float32)
        if not options.get("time_major", True):
            logits = logits.transpose(1, 0, 2)
        x = tf.Variable(logits)

        def losses():
            return tf.compat.v1.nn.ctc_loss(sparse_labels(tf, rows), x, frames, **options)

        with tf.GradientTape() as tape:
            loss = losses()
        return [loss, tape.gradient(loss, x), tf.function(losses)()]

    return run


FRAMES = [6, 5, 3, 1]
CTC = [
    (LABELS, FRAMES, {}),
    (LABELS, FRAMES, {"time_major": False}),
    (LABELS, FRAMES, {"preprocess_collapse_repeated": True}),
    (LABELS, FRAMES, {"ctc_merge_repeated": False}),
    (LABELS, FRAMES, {"preprocess_collapse_repeated": True, "ctc_merge_repeated": False}),
    (LABELS, [6, 5, 2, 1], {"ctc_merge_repeated": False}),
    (LABELS, [6, 2, 3, 0], {"ignore_longer_outputs_than_inputs": True}),
    (LABELS, [3, 5, 3, 1], {"preprocess_collapse_repeated": True, "ignore_longer_outputs_than_inputs": True}),
    (LABELS, [3, 5, 3, 1], {"preprocess_collapse_repeated": True}),
    ([[0, 0]], [2], {}),
    ([[0, -1]], [5], {}),
    ([[0, 4]], [5], {}),
    ([[0, 4, 1]], [5], {}),
    ([[0, 7]], [5], {}),
    ([[0]], [7], {}),
    ([[0], []], [6, 2], {}),
    ([[0, 0, 4]], [2], {"ignore_longer_outputs_than_inputs": True}),
]


def beam_search(merge_repeated, top_paths, beam_width=20):
    def run(tf):
        logits = 3 * np.random.RandomState(5).normal(size=(6, 3, 4)).astype(np.float32)
        found, scores = tf.compat.v1.nn.ctc_beam_search_decoder(
            logits, [6, 5, 4], beam_width, top_paths, merge_repeated
        )
        return [[part for each in found for part in (each.indices, each.values, each.dense_shape)], scores]

    return run


def batches_of_updates(tf):
    v, w = tf.Variable(tf.zeros([2, 3, 2])), tf.Variable([1.0, 2.0, 3.0])
    tf.compat.v1.batch_scatter_update(v, [[2, 0], [1, 1]], tf.reshape(tf.range(8.0), [2, 2, 2]))
    tf.compat.v1.batch_scatter_update(w, tf.constant([2], tf.int64), [5.0])
    return [v, w]


CASES = [
    *((f"ctc_loss of {rows}, {frames}, {options}", ctc(rows, frames, **options)) for rows, frames, options in CTC),
    ("labels that are not sparse", "tf.compat.v1.nn.ctc_loss(tf.constant([[1]]), tf.zeros([3, 1, 3]), [3])"),
    ("logits in place of inputs",
     "tf.compat.v1.nn.ctc_loss(tf.SparseTensor([[0, 0]], [1], [1, 1]), None, [3], logits=tf.zeros([3, 1, 3]))"),
    *((f"beam search {merge} {paths}", beam_search(merge, paths)) for merge in (True, False) for paths in (1, 3)),
    ("beam search of more paths than the width", beam_search(True, 3, 2)),
    ("batches of updates", batches_of_updates),
    ("boxes drawn in default colors",
     "tf.compat.v1.image.draw_bounding_boxes(np.zeros((1, 5, 6, 3), np.float32), [[[0.1, 0.2, 0.6, 0.9]]], None)"),
    ("boxes drawn in colors", "tf.compat.v1.image.draw_bounding_boxes(np.zeros((1, 5, 6, 1), np.float32), "
     "[[[0.1, 0.2, 0.6, 0.9], [0.0, 0.0, 1.0, 1.0]]], colors=[[0.5], [0.25]])"),
    *((line, f"tf.compat.v1.{line}".replace("Dimension(", "tf.compat.v1.Dimension(").replace("v1.tf.compat.v1.", "v1."))
      for line in EXPRESSIONS.split("\n") if line and not line.startswith("str(")),
    *((line, line.replace("Dimension(", "tf.compat.v1.Dimension("))
      for line in EXPRESSIONS.split("\n") if line.startswith("str(")),
    *((line, three_steps(line)) for line in OPTIMIZERS.split("\n") if line),
    ("gradient of rows chosen",
     f"grad:lambda x, y: tf.compat.v1.where([True, False], x, y * y) @ {MATRIX}, [[5.0, 6.0], [7.0, 8.0]]"),
    ("gradient past labels", "grad:lambda x, y: tf.compat.v1.nn.softmax_cross_entropy_with_logits(labels=x, logits=y) "
     "@ [[0.25, 0.75]], [[1.0, 2.0]]"),
    ("gradient of a sum", f"grad:lambda x: tf.compat.v1.reduce_sum(x * x, reduction_indices=[1]) @ {MATRIX}"),
    ("names in scopes", names_in_scopes),
    ("a template", a_template),
    ("seeded initializers", seeded_initializers),
    ("updates", updates),
    ("collections", collections),
    ("bad losses", bad_losses),
    ("global steps", global_steps),
]  # fmt: skip
