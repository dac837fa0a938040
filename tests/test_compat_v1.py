"""`tf.compat.v1` and `tf.compat.v2`: behavior beyond the recorded results."""

import inspect

import numpy as np
import pytest

import gradtape as tf
from gradtape.api.catalogue.v1_table import ALIASES
from gradtape.api.names import NAMES
from gradtape_tensorflow.v1 import expressions as v1_expressions

v1 = tf.compat.v1


def test_the_second_version_is_the_root():
    v2 = tf.compat.v2  # the module `tensorflow`, if an earlier test replaced it by gradtape
    assert v2.Variable is tf.Variable
    assert v2.nn is tf.nn
    assert v2.enable_v2_behavior() is None  # TensorFlow has it there, and not in the root
    assert "enable_v2_behavior" not in dir(tf)


def test_what_both_versions_have_alike_is_the_same():
    assert v1.add is tf.add
    assert v1.nn.relu is tf.nn.relu
    assert v1.math.special.bessel_j0 is tf.math.special.bessel_j0
    assert v1.reduce_sum is not tf.reduce_sum
    assert {"add", "math", "nn", "placeholder"} <= set(dir(v1))
    assert "relu" in dir(v1.nn)


def test_what_was_another_thing_is_not_taken_for_it():
    with pytest.raises(AttributeError, match=r"compat\.v1\.nn\.nce_loss"):
        v1.nn.nce_loss  # noqa: B018


@pytest.mark.parametrize("name", sorted(v1_expressions.rows()))
def test_every_row_of_the_table_is_made(name):
    function = v1_expressions.function_named(name)
    assert f"compat.v1.{name}" in NAMES
    assert function.__doc__
    inspect.signature(function)


def test_what_needs_a_session_says_so():
    with pytest.raises(RuntimeError, match="sessions"):
        v1.Session()
    with pytest.raises(RuntimeError, match="sessions"):
        v1.disable_v2_behavior()
    with pytest.raises(RuntimeError, match="argument of a function"):
        v1.placeholder(tf.float32)


def test_an_argument_under_both_names_is_refused():
    with pytest.raises(ValueError, match="new and its old name"):
        v1.reduce_sum([1.0], axis=0, reduction_indices=0)


def test_variables_are_those_of_both_versions():
    assert isinstance(tf.Variable(1.0), v1.Variable)
    assert not isinstance(tf.constant(1.0), v1.Variable)
    assert v1.Variable(1.0, trainable=False, use_resource=True).trainable is False


def test_an_optimizer_in_a_function():
    x = tf.Variable([1.0, -2.0])
    optimizer = v1.train.MomentumOptimizer(0.1, 0.9)

    @tf.function
    def step():
        optimizer.minimize(lambda: tf.reduce_sum(x * x), var_list=[x])

    y = tf.Variable([1.0, -2.0])
    other = v1.train.MomentumOptimizer(0.1, 0.9)
    for _ in range(3):
        step()
        other.minimize(lambda: tf.reduce_sum(y * y), var_list=[y])
    assert x.numpy().tolist() == pytest.approx(y.numpy().tolist())


def test_an_optimizer_of_ones_own():
    class Halving(v1.train.Optimizer):
        def __init__(self):
            super().__init__(False, "Halving")

        def _create_slots(self, var_list):
            for var in var_list:
                self._zeros_slot(var, "seen", self._name)

        def _apply_dense(self, grad, var):
            self.get_slot(var, "seen").assign(grad)
            return var.assign(var * 0.5)

    x = tf.Variable(4.0)
    optimizer = Halving()
    optimizer.minimize(lambda: x * x)
    assert (float(x), float(optimizer.get_slot(x, "seen"))) == (2.0, 8.0)


def test_sparse_gradients_reach_the_rows_they_name():
    table = tf.Variable([[1.0], [2.0], [3.0]])
    v1.train.GradientDescentOptimizer(1.0).minimize(lambda: tf.reduce_sum(tf.gather(table, [1, 1])))
    assert table.numpy().ravel().tolist() == [1.0, 0.0, 3.0]


@pytest.mark.parametrize("traces", [False, True])
@pytest.mark.parametrize(
    ("name", "options", "rows"),  # of TensorFlow 2.21
    [
        ("GradientDescent", {}, [0.95, -1.15, 2.0, 0.8]),
        ("Momentum", {"momentum": 0.9}, [0.95, -1.15, 2.0, 0.98]),
        ("Momentum", {"momentum": 0.9, "use_nesterov": True}, [0.905, -1.285, 2.0, 1.232]),
        ("Adam", {}, [0.92559, -1.16701, 2.0, 0.69322]),
        ("Adagrad", {}, [0.91548, -1.09785, 2.0, 0.64305]),
        ("Adadelta", {"epsilon": 0.01}, [0.96667, -1.04286, 2.0, 0.57159]),
        ("RMSProp", {"momentum": 0.5}, [0.94801, -1.14142, 2.0, 0.85185]),
        ("RMSProp", {"centered": True}, [0.94794, -1.14286, 2.0, 0.76978]),
        (
            "Ftrl", {"l1_regularization_strength": 0.01, "l2_shrinkage_regularization_strength": 0.03},
            [0.36913, -0.887, 2.0, 0.56161],
        ),
        ("ProximalGradientDescent", {"l1_regularization_strength": 0.1}, [0.94, -1.14, 2.0, 0.78]),
        ("ProximalAdagrad", {"l2_regularization_strength": 0.2}, [0.88555, -1.08371, 2.0, 0.6316]),
    ],
)  # fmt: skip
def test_sparse_gradients_leave_other_rows_alone(name, options, rows, traces):
    optimizer = getattr(v1.train, f"{name}Optimizer")(0.1, **options)
    table = tf.Variable([1.0, -1.0, 2.0, 0.5])

    def step(indices):
        gradient = tf.IndexedSlices(tf.constant([1.0, -2.0, 0.5]), indices, tf.constant([4]))
        optimizer.apply_gradients([(gradient, table)])

    step = tf.function(step) if traces else step
    step(tf.constant([1, 3, 1]))
    step(tf.constant([3, 3, 0]))
    np.testing.assert_allclose(table, rows, atol=1e-5)


def test_a_learning_rate_that_is_a_function_is_called_once_per_step():
    for optimizer in (v1.train.AdamOptimizer, v1.train.AdagradOptimizer):
        calls = []
        made = optimizer(lambda calls=calls: calls.append(0) or 0.1)
        made.apply_gradients([(tf.constant(1.0), tf.Variable(0.0)), (tf.constant(1.0), tf.Variable(0.0))])
        assert len(calls) == 1


def test_slots_have_the_names_that_are_asked_for():
    v = tf.Variable(1.0, name="v")
    optimizer = v1.train.FtrlOptimizer(0.1, accum_name="squares", linear_name="sums")
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert optimizer.get_slot_names() == ["accum", "linear"]
    assert [slot.name for slot in optimizer.variables()] == ["v/squares:0", "v/sums:0"]


def test_nearest_rows_of_aligned_corners_are_rounded_away_from_zero():
    image = np.arange(4.0).reshape(1, 4, 1, 1)
    for height, expected in ((3, [0, 2, 3]), (7, [0, 1, 1, 2, 2, 3, 3]), (4, [0, 1, 2, 3]), (1, [0])):
        resized = v1.image.resize_nearest_neighbor(image, [height, 1], align_corners=True)
        assert resized.numpy().ravel().tolist() == expected
    pixel = np.ones((1, 1, 1, 1), "float32")
    np.testing.assert_allclose(v1.image.resize_area(pixel, [2, 3], align_corners=True), np.ones((1, 2, 3, 1)))


def draws(seed=None):
    if seed is not None:
        v1.set_random_seed(seed)
    return [tf.random.uniform([]), tf.random.uniform([], seed=3)]


def test_the_seed_of_a_function_or_graph_is_that_of_its_ops_only():
    tf.random.set_seed(9)
    of_seed_9 = [[float(x) for x in call()] for call in [tf.function(draws)] * 2]
    np.testing.assert_allclose(of_seed_9, [[0.0801296, 0.0772159], [0.2125679, 0.7584267]], rtol=1e-5)  # TensorFlow's
    tf.random.set_seed(5)
    eager = [float(draws()[0]) for _ in range(3)]
    tf.random.set_seed(5)
    traced = tf.function(lambda: draws(9))
    for expected, drawn in zip(eager, [*of_seed_9, None], strict=True):
        assert float(draws()[0]) == expected
        assert drawn is None or [float(x) for x in traced()] == drawn
    nested = tf.function(lambda: (v1.set_random_seed(9), tf.function(draws)())[1])
    assert float(nested()[0]) == of_seed_9[0][0]


def test_the_seed_of_a_graph_or_of_a_dataset_is_not_the_global_one():
    tf.random.set_seed(5)
    alone = float(tf.random.uniform([]))
    tf.random.set_seed(5)
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(9)
        drawn = tf.random.uniform([])
    assert (graph.seed, float(drawn)) == (9, pytest.approx(0.0801296, rel=1e-5))  # TensorFlow's
    data = tf.data.Dataset.range(3).map(lambda i: (v1.set_random_seed(4), tf.random.uniform([]))[1])
    np.testing.assert_allclose(list(data), [0.8043033, 0.3994025, 0.3908010], rtol=1e-5)  # TensorFlow's
    assert float(tf.random.uniform([])) == alone


def test_datasets_are_asked_what_their_elements_are():
    data = tf.compat.v1.data
    rows = tf.data.Dataset.range(3).batch(2)
    both = tf.data.Dataset.zip((rows, {"ragged": rows.map(lambda x: tf.RaggedTensor.from_tensor(x[:, None]))}))
    assert data.get_output_types(both) == (tf.int64, {"ragged": tf.int64})
    assert data.get_output_shapes(iter(rows)).as_list() == [None]
    kinds = data.get_output_classes(both)
    assert kinds[0] is tf.Tensor and type(kinds[1]["ragged"]) is tf.RaggedTensorSpec
    iterator = data.make_one_shot_iterator(rows)
    assert [iterator.get_next().numpy().tolist() for _ in range(2)] == [[0, 1], [2]]
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    with pytest.raises(RuntimeError, match="not supported in eager mode"):
        data.make_initializable_iterator(rows)


def test_old_names_of_functions_of_both_versions():
    assert v1.check_numerics is tf.debugging.check_numerics
    assert v1.FixedLenFeature is tf.io.FixedLenFeature
    assert v1.manip.roll is tf.roll and "roll" in dir(v1.manip)
    assert v1.sets.set_union is tf.sets.union
    assert v1.debugging.is_nan is tf.math.is_nan
    assert all(new in NAMES and f"compat.v1.{old}" not in NAMES for old, new in ALIASES.items())


def test_functions_take_ragged_values():
    value = v1.ragged.constant_value([[1.5], [2.0, 3.0]], "int32")
    assert str(value) == "<tf.RaggedTensorValue [[1], [2, 3]]>"
    assert tf.add(value, value).to_list() == [[2], [4, 6]]
    assert tf.concat([value, value], 1).to_list() == [[1, 1], [2, 3, 2, 3]]


def test_ragged_values_have_the_dtype_that_numpy_gives_their_numbers():
    values = v1.ragged.constant_value([[0.1], [2.0, 3.0]]).values
    assert values.dtype == "float64" and values[0] == 0.1
    assert v1.ragged.constant_value([[1], [2**40]]).values.tolist() == [1, 2**40]
    assert v1.ragged.constant_value([[0.1]], "float64").values.tolist() == [0.1]


def test_custom_getters_change_variables():
    def renamed(getter, name, *args, **kwargs):
        return getter(name.replace("kernel", "weights"), *args, **{**kwargs, "trainable": False})

    with v1.variable_scope("layer", custom_getter=renamed):
        variable = v1.get_variable("kernel", [2], initializer=v1.ones_initializer())
    assert (variable.name, variable.trainable, variable.numpy().tolist()) == ("layer/weights:0", False, [1.0, 1.0])


def test_assignments_return_the_variable_and_their_op():
    variable = tf.Variable([1.0, 2.0])
    updated = v1.assign_add(variable, [1.0, 1.0])
    assert updated.op is None and updated.handle is variable and updated.shape == [2]
    with tf.GradientTape() as tape:
        square = tf.reduce_sum(updated * updated)
    assert [x.numpy().tolist() for x in tape.gradient(square, [variable, updated])] == [[4.0, 6.0], [4.0, 6.0]]
    assert v1.assign(updated, [0.0, 5.0]).numpy().tolist() == variable.numpy().tolist() == [0.0, 5.0]
    assert tf.function(lambda: v1.assign_sub(variable, [1.0, 1.0]) + 0.0)().numpy().tolist() == [-1.0, 4.0]
    for scatter, indices in (v1.scatter_update, [1]), (v1.scatter_nd_update, [[1]]):
        updated = scatter(variable, indices, [7.0])
        assert updated.op is None and variable.numpy().tolist() == [-1.0, 7.0]
    with pytest.raises(AttributeError):
        _ = variable.op


def test_summaries_go_to_a_default_writer(tmp_path):
    pytest.importorskip("tensorboardX")
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=3):
        written = [v1.summary.scalar("a", 1.5), v1.summary.text("t", tf.constant("x"))]
    writer.close()
    (path,) = tmp_path.iterdir()
    events = v1.train.summary_iterator(str(path))
    assert [(event.step, value.tag) for event in events for value in event.summary.value] == [(3, "a"), (3, "t")]
    assert [message.numpy() for message in written] == [b"", b""]


@pytest.mark.parametrize("shape", [[2], [3], [1], [0], [2, 3, 1], [1, 1, 1], [3, 3], [1, 2]])
def test_weights_of_a_wrong_shape(shape):
    losses, labels, predictions = tf.compat.v1.losses, tf.ones([2, 3]), tf.zeros([2, 3])
    for loss in (losses.mean_squared_error, losses.log_loss, losses.mean_pairwise_squared_error):
        with pytest.raises(ValueError, match="weights can not be broadcast to values"):
            loss(labels, predictions, weights=tf.ones(shape))
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        tf.function(losses.compute_weighted_loss)(labels, tf.ones(shape))


@pytest.mark.parametrize("shape", [[], [1, 1], [2, 1], [1, 3], [2, 3]])
def test_weights_of_a_shape_that_is_broadcast(shape):
    losses = tf.compat.v1.losses
    assert float(losses.mean_squared_error(tf.ones([2, 3]), tf.zeros([2, 3]), weights=tf.fill(shape, 2.0))) == 2
