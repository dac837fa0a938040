"""Strategies of two and four replicas on four logical CPUs, run by `test_distribute_replicas.py` in a separate process.

Numbers and messages are TensorFlow's, on the same number of logical CPUs.
"""

import numpy as np
import pytest

import gradtape as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 4)

distribute = tf.distribute
SUM, MEAN = distribute.ReduceOp.SUM, distribute.ReduceOp.MEAN
ON_READ = tf.VariableSynchronization.ON_READ
Aggregation = tf.VariableAggregation


def strategy_of(count):
    return distribute.MirroredStrategy([f"CPU:{i}" for i in range(count)])


@pytest.fixture(params=["in step", "one program"])
def as_run(request):
    """How `strategy.run` is called: eagerly, replica by replica, or in a function, as one program."""

    def run(strategy, fn, args=()):
        if request.param == "in step":
            return strategy.run(fn, args)
        result = tf.function(lambda *args: strategy.run(fn, args))(*args)
        assert "one after the other" not in strategy.describe()
        return result

    return run


def numbers(strategy, value):
    return [np.asarray(part).tolist() for part in strategy.experimental_local_results(value)]


def test_all_logical_devices_are_taken_unless_some_are_named():
    assert distribute.MirroredStrategy().num_replicas_in_sync == 4
    two = strategy_of(2)
    assert two.extended.worker_devices == tuple(f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in (0, 1))
    with pytest.raises(ValueError, match="none of the devices"):
        distribute.MirroredStrategy(["CPU:0", "CPU:7"])
    with pytest.raises(ValueError, match="empty"):
        distribute.MirroredStrategy([])
    with pytest.raises(ValueError, match="Duplicated"):
        distribute.MirroredStrategy(["CPU:0", "cpu:0"])
    with pytest.raises(NotImplementedError, match="parameter servers"):
        distribute.ParameterServerStrategy(None)
    assert distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"]).num_replicas_in_sync == 2


def test_each_replica_has_its_number_and_what_is_the_same_stays_one(as_run):
    strategy = strategy_of(2)

    def replica():
        context = distribute.get_replica_context()
        return context.replica_id_in_sync_group, None, context.all_reduce("sum", tf.constant(1.0))

    number, nothing, total = as_run(strategy, replica)
    assert numbers(strategy, number) == [0, 1] and nothing is None and numbers(strategy, total) == [2.0, 2.0]


def test_losses_are_divided_among_the_replicas(as_run):
    strategy = strategy_of(2)

    def replica():
        losses = tf.constant([2.0, 4.0, 6.0])
        return tf.nn.compute_average_loss(losses, sample_weight=2.0), tf.nn.scale_regularization_loss(losses)

    average, regularization = as_run(strategy, replica)
    assert numbers(strategy, average) == [4.0, 4.0] and numbers(strategy, regularization) == [6.0, 6.0]
    with strategy.scope():
        assert float(tf.nn.compute_average_loss([2.0, 4.0], global_batch_size=4)) == 1.5
        for function in (tf.nn.compute_average_loss, tf.nn.scale_regularization_loss):
            with pytest.raises(RuntimeError, match=f"`{function.__name__}` in cross replica context"):
                function([2.0, 3.0])


def test_values_that_differ_go_in_and_come_out(as_run):
    strategy = strategy_of(4)
    given = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant([float(context.replica_id_in_sync_group), 1.0])
    )
    result = as_run(strategy, lambda x: {"twice": x * 2.0}, (given,))["twice"]
    assert numbers(strategy, result) == [[0.0, 2.0], [2.0, 2.0], [4.0, 2.0], [6.0, 2.0]]
    assert strategy.reduce(SUM, result, axis=None).numpy().tolist() == [12.0, 8.0]
    assert strategy.reduce("mean", result, axis=None).numpy().tolist() == [3.0, 2.0]
    assert float(strategy.reduce(SUM, result, axis=0)) == 20.0
    assert float(strategy.reduce(MEAN, result, axis=0)) == 2.5
    assert strategy.gather(result, axis=0).numpy().tolist() == [0.0, 2.0, 2.0, 2.0, 4.0, 2.0, 6.0, 2.0]


def test_reductions_above_the_replicas_in_a_function():
    strategy = strategy_of(2)

    @tf.function
    def both(x):
        value = strategy.run(lambda x: x * 3.0, (x,))
        first, second = strategy.experimental_local_results(value)
        return (
            strategy.reduce("sum", value, None), strategy.reduce("mean", value, 0), strategy.gather(value, 0),
            first - second,
        )  # fmt: skip

    x = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant([1.0, 2.0]) * float(context.replica_id_in_sync_group + 1)
    )
    found = [y.numpy().tolist() for y in both(x)]
    assert found == [[9.0, 18.0], 6.75, [3.0, 6.0, 6.0, 12.0], [-3.0, -6.0]]


def test_what_cannot_be_reduced():
    strategy = strategy_of(2)
    assert float(strategy.reduce("mean", tf.constant(1.0), None)) == 1.0
    with pytest.raises(ValueError, match=r"A non-DistributedValues value .* cannot be reduced"):
        strategy.reduce("sum", tf.constant(1.0), None)
    uneven = strategy.experimental_distribute_values_from_function(
        lambda context: tf.ones(context.replica_id_in_sync_group + 1)
    )
    with pytest.raises(ValueError, match="differ between replicas"):
        strategy.reduce("sum", uneven, None)
    assert float(strategy.reduce("sum", uneven, 0)) == 3.0
    with pytest.raises(RuntimeError, match="cross-replica context"):
        strategy.run(lambda: strategy.reduce("sum", tf.constant(1.0), None))


def test_gradients_of_what_is_reduced_and_gathered(as_run):
    strategy = strategy_of(2)

    def replica():
        context = distribute.get_replica_context()
        x = tf.constant([1.0, 2.0]) * tf.cast(context.replica_id_in_sync_group + 1, tf.float32)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            total = context.all_reduce(SUM, x * x)
            mean = context.all_reduce("MEAN", x)
            rows = context.all_gather(x, axis=0)
            loss = tf.reduce_sum(rows * tf.constant([1.0, 2.0, 3.0, 4.0]))
        return tape.gradient(total, x), tape.gradient(mean, x), tape.gradient(loss, x), rows

    total, mean, part, rows = as_run(strategy, replica)
    assert numbers(strategy, total) == [[4.0, 8.0], [8.0, 16.0]]
    assert numbers(strategy, mean) == [[1.0, 1.0], [1.0, 1.0]]
    assert numbers(strategy, part) == [[2.0, 4.0], [6.0, 8.0]]
    assert numbers(strategy, rows) == [[1.0, 2.0, 2.0, 4.0]] * 2


def test_slices_are_put_one_after_the_other(as_run):
    strategy = strategy_of(2)

    def replica():
        slices = tf.IndexedSlices(tf.ones((1, 2)), tf.constant([1]), (3, 2))
        found = distribute.get_replica_context().all_reduce("sum", slices)
        return tf.convert_to_tensor(found)

    assert numbers(strategy, as_run(strategy, replica)) == [[[0.0, 0.0], [2.0, 2.0], [0.0, 0.0]]] * 2


@pytest.mark.parametrize(
    ("aggregation", "after"),
    [(Aggregation.SUM, 4.0), (Aggregation.MEAN, 2.5), (Aggregation.ONLY_FIRST_REPLICA, 2.0)],
)
def test_mirrored_variables_aggregate_what_replicas_assign(as_run, aggregation, after):
    strategy = strategy_of(2)
    with strategy.scope():
        v = tf.Variable(1.0, aggregation=aggregation)

    def replica():
        number = tf.cast(distribute.get_replica_context().replica_id_in_sync_group, tf.float32)
        v.assign_add(1.0 + number)
        return v + 0.0

    assert numbers(strategy, as_run(strategy, replica)) == [after, after]
    assert float(v) == after and isinstance(v, tf.Variable) and "MirroredVariable" in repr(v)


def test_without_an_aggregation_each_replica_has_its_copy(as_run):
    strategy = strategy_of(2)
    with strategy.scope():
        v = tf.Variable(1.0)

    def replica():
        v.assign_add(tf.cast(distribute.get_replica_context().replica_id_in_sync_group, tf.float32))
        return v * 10.0

    for after in (20.0, 30.0):
        assert numbers(strategy, as_run(strategy, replica)) == [10.0, after]
    assert [float(copy) for copy in v.values] == [1.0, 3.0] and float(v) == 1.0
    v.assign(7.0)
    assert numbers(strategy, strategy.run(lambda: v + 0.0)) == [7.0, 7.0]


def test_variables_synchronised_on_read(as_run):
    strategy = strategy_of(2)
    with strategy.scope():
        total = tf.Variable(0.0, synchronization=ON_READ, aggregation=Aggregation.SUM)
        mean = tf.Variable(2.0, synchronization=ON_READ, aggregation=Aggregation.MEAN)
        first = tf.Variable(5, synchronization=ON_READ, aggregation=Aggregation.ONLY_FIRST_REPLICA)
        alone = tf.Variable(0.0, synchronization=ON_READ)
    assert not total.trainable

    def replica():
        number = distribute.get_replica_context().replica_id_in_sync_group
        total.assign_add(1.0 + tf.cast(number, tf.float32))
        mean.assign(tf.cast(number, tf.float32))
        first.assign_add(number + 1)
        return total * 1.0

    assert numbers(strategy, as_run(strategy, replica)) == [1.0, 2.0]
    assert (float(total), float(mean), int(first)) == (3.0, 0.5, 6)
    assert numbers(strategy, as_run(strategy, replica)) == [2.0, 4.0]
    assert (float(total), float(mean), int(first)) == (6.0, 0.5, 7)
    total.assign(5.0)
    assert [float(part) for part in total.values] == [2.5, 2.5]
    mean.assign_add(1.0)
    assert float(mean) == 1.5
    with pytest.raises(ValueError, match="does not support `assign_add` in cross-replica context"):
        total.assign_add(1.0)
    with pytest.raises(ValueError, match="Could not convert from"):
        float(alone)
    with pytest.raises(NotImplementedError, match="ON_READ"):
        total.scatter_add(tf.IndexedSlices(tf.ones(1), tf.constant([0])))
    assert "on read: 4 variables" in strategy.describe()


def test_what_variables_refuse():
    strategy = strategy_of(2)
    with strategy.scope():
        with pytest.raises(ValueError, match="`NONE` variable synchronization"):
            tf.Variable(1.0, synchronization=tf.VariableSynchronization.NONE)
        with pytest.raises(ValueError, match="aggregation=MEAN and a non-floating dtype"):
            tf.Variable(1, aggregation=Aggregation.MEAN)
        v = tf.Variable([1.0, 2.0], aggregation=Aggregation.SUM)
    rows = tf.IndexedSlices(tf.ones(1), tf.constant([0]))
    with pytest.raises(NotImplementedError, match="scatter_max is only supported"):
        strategy.run(lambda: v.scatter_max(rows))
    assert v.scatter_add(rows).numpy().tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [(lambda x: (x,), lambda x: {}), (lambda x: (), lambda x: {"x": x}), (lambda x: ({"x": x},), lambda x: {})],
    ids=["positional", "by name", "in a nest"],
)
def test_updates_take_the_value_of_their_replica(args, kwargs):
    strategy = strategy_of(2)
    with strategy.scope():
        v = tf.Variable(0.0)
    number = strategy.run(lambda: tf.cast(distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1.0)
    strategy.extended.update(
        v, lambda copy, x: copy.assign(x["x"] if isinstance(x, dict) else x), args(number), kwargs(number)
    )
    assert [float(copy) for copy in strategy.experimental_local_results(v)] == [1.0, 2.0]


def test_merge_call_and_updates_above_the_replicas(as_run):
    strategy = strategy_of(2)
    with strategy.scope():
        v = tf.Variable(10.0)

    def merge(given, x, factor):
        assert given is strategy and distribute.in_cross_replica_context()
        total = given.extended.reduce_to(SUM, x, v)
        given.extended.update(v, lambda v, x: v.assign_sub(x * factor), args=(total,))
        return given.extended.batch_reduce_to(MEAN, [(x, v)])[0]

    def replica():
        context = distribute.get_replica_context()
        x = 1.0 + tf.cast(context.replica_id_in_sync_group, tf.float32)
        return context.merge_call(merge, args=(x,), kwargs={"factor": 2.0})

    assert numbers(strategy, as_run(strategy, replica)) == [1.5, 1.5]
    assert float(v) == 4.0
    assert strategy.extended.variable_created_in_scope(v)
    assert not strategy.extended.variable_created_in_scope(tf.Variable(1.0))
    with strategy.extended.colocate_vars_with(v), pytest.raises(ValueError, match="colocate_vars_with"):
        with strategy.extended.colocate_vars_with(tf.Variable(1.0)):
            pass


def test_replicas_that_disagree_and_replicas_that_fail():
    strategy = strategy_of(2)

    def uneven():
        context = distribute.get_replica_context()
        if int(context.replica_id_in_sync_group) == 0:
            context.all_reduce("sum", tf.constant(1.0))

    with pytest.raises(RuntimeError, match="different number of replica_context"):
        strategy.run(uneven)

    def failing():
        context = distribute.get_replica_context()
        context.all_reduce("sum", tf.constant(1.0))
        if int(context.replica_id_in_sync_group) == 1:
            raise KeyError("one of them")

    with pytest.raises(KeyError, match="one of them"):
        strategy.run(failing)
    assert not distribute.has_strategy()
    with pytest.raises(RuntimeError, match="merge_call` called while defining"):
        strategy.run(lambda: tf.function(lambda: distribute.get_replica_context().all_reduce("sum", 1.0))())


def test_variables_made_by_the_replicas_are_one():
    strategy = strategy_of(2)
    made = []

    def replica():
        made.append(tf.Variable(3.0))
        return made[-1] * 2.0

    assert numbers(strategy, strategy.run(replica)) == [6.0, 6.0]
    assert made[0] is made[1] and strategy.extended.variable_created_in_scope(made[0])


def test_random_draws_differ_and_are_the_same_in_both_ways():
    strategy = strategy_of(2)

    def replica():
        return tf.random.normal((3,), seed=4)

    tf.random.set_seed(1)
    drawn = numbers(strategy, tf.function(lambda: strategy.run(replica))())
    assert drawn[0] != drawn[1] and "one after" not in strategy.describe()

    @tf.function
    def looked_at():
        def also_calls_python():
            tf.py_function(lambda: 0, [], tf.int32)
            return replica()

        return strategy.run(also_calls_python)

    tf.random.set_seed(1)
    again = numbers(strategy, looked_at())
    np.testing.assert_allclose(again, drawn, rtol=1e-6)
    assert "one after the other" in strategy.describe()


BATCHES = [  # replicas, elements, batch size: the sizes each replica gets, for each batch
    (2, 10, 4, [[2, 2], [2, 2], [1, 1]]), (2, 9, 8, [[4, 4], [1, 0]]), (2, 10, 5, [[3, 2], [3, 2]]),
    (3, 10, 4, [[2, 2, 0], [2, 2, 0], [1, 1, 0]]), (3, 7, 4, [[2, 2, 0], [1, 1, 1]]),
    (4, 13, 8, [[2, 2, 2, 2], [2, 2, 1, 0]]), (4, 5, 6, [[2, 2, 1, 0]]),
]  # fmt: skip


@pytest.mark.parametrize(("count", "elements", "size", "expected"), BATCHES)
def test_global_batches_are_split_as_by_tensorflow(count, elements, size, expected):
    strategy = strategy_of(count)
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.range(elements).batch(size))
    parts = [strategy.experimental_local_results(batch) for batch in dataset]
    assert [[len(part) for part in row] for row in parts] == expected
    assert np.concatenate([part for row in parts for part in row]).tolist() == list(range(elements))


def test_datasets_their_iterators_and_specs():
    strategy = strategy_of(2)
    source = tf.data.Dataset.range(7).batch(4, drop_remainder=True).map(lambda x: {"a": x, "b": (x, x + 1)})
    dataset = strategy.experimental_distribute_dataset(source)
    assert isinstance(dataset, distribute.DistributedDataset)
    assert [spec.shape.as_list() for spec in dataset.element_spec["a"]._component_specs] == [[2], [2]]
    iterator = iter(dataset)
    assert isinstance(iterator, distribute.DistributedIterator)
    element = iterator.get_next()
    assert numbers(strategy, element["b"][1]) == [[1, 2], [3, 4]]
    assert isinstance(element["a"], distribute.DistributedValues)
    assert not bool(iterator.get_next_as_optional().has_value())
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    with pytest.raises(ValueError, match="Call `batch`"):
        next(iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(4))))

    contexts = []

    def make(context):
        contexts.append((context.num_replicas_in_sync, context.get_per_replica_batch_size(4), str(context)))
        return tf.data.Dataset.range(5).batch(2)

    own = strategy.distribute_datasets_from_function(make)
    assert contexts == [(2, 2, "tf.distribute.InputContext(input pipeline id 0, total: 1)")]
    assert [numbers(strategy, batch) for batch in own] == [[[0, 1], [2, 3]], [[4], []]]
    total = own.reduce(tf.constant(0, tf.int64), lambda state, x: state + strategy.reduce("sum", x, axis=0))
    assert int(total) == 10
    with pytest.raises(NotImplementedError, match="PER_REPLICA"):
        mode = distribute.InputReplicationMode.PER_REPLICA
        strategy.experimental_distribute_dataset(source, distribute.InputOptions(False, mode))


def train(strategy, how, batch=12):
    """Returns losses and weights of fifty steps of a small network, written for replicas."""
    rng = np.random.RandomState(0)
    x, y = rng.randn(60, 5).astype("f"), rng.randn(60, 1).astype("f")
    with strategy.scope():
        w1 = tf.Variable(rng.randn(5, 8).astype("f"))
        b = tf.Variable(np.zeros(8, "f"))
        w2 = tf.Variable(rng.randn(8, 1).astype("f"))
        seen = tf.Variable(0.0, synchronization=ON_READ, aggregation=Aggregation.SUM)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch).repeat(10)

    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.tanh(x @ w1 + b) @ w2 - y) ** 2) / batch
        gradients = distribute.get_replica_context().all_reduce(SUM, tape.gradient(loss, [w1, b, w2]))
        for v, g in zip([w1, b, w2], gradients, strict=True):
            v.assign_sub(0.05 * g)
        seen.assign_add(tf.cast(tf.shape(x)[0], tf.float32))
        return loss

    def step(x, y):
        return strategy.reduce(SUM, strategy.run(replica, args=(x, y)), axis=None)

    if how == "tf.function in run":
        compiled = tf.function(replica)

        def step(x, y):
            return strategy.reduce(SUM, strategy.run(compiled, args=(x, y)), axis=None)

    elif how == "run in tf.function":
        step = tf.function(step)
    batches = strategy.experimental_distribute_dataset(dataset)
    losses = [float(step(*pair)) for pair in batches]
    assert float(seen) == 600.0
    return losses, [v.numpy() for v in (w1, b, w2)]


@pytest.fixture(scope="module")
def alone():
    return train(distribute.get_strategy(), "eager")


@pytest.mark.parametrize("how", ["eager", "run in tf.function", "tf.function in run"])
@pytest.mark.parametrize("count", [2, 4])
def test_fifty_steps_are_those_of_one_device(alone, count, how):
    strategy = strategy_of(count)
    losses, weights = train(strategy, how)
    np.testing.assert_allclose(losses, alone[0], rtol=1e-5)
    for one, other in zip(weights, alone[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert "one after the other" not in strategy.describe()


def test_a_loop_of_steps_and_a_loop_over_a_dataset_inside_a_function():
    strategy = strategy_of(2)
    with strategy.scope():
        v = tf.Variable(0.0, aggregation=Aggregation.SUM)

    @tf.function
    def several(x):
        for _ in tf.range(3):
            strategy.run(lambda x: v.assign_add(tf.reduce_sum(x)), (x,))
        return v + 0.0

    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(tf.ones(8)).batch(4))
    assert float(several(next(iter(dataset)))) == 12.0
    assert "one after the other" not in strategy.describe()

    @tf.function
    def epoch(dataset):
        for x in dataset:
            strategy.run(lambda x: v.assign_add(tf.reduce_sum(x)), (x,))
        return v + 0.0

    assert float(epoch(dataset)) == 20.0


def test_plain_variables_and_values_that_python_looks_at_fall_back():
    strategy = strategy_of(2)
    plain = tf.Variable(0.0)

    @tf.function
    def step():
        strategy.run(lambda: plain.assign_add(1.0))
        return plain + 0.0

    assert [float(step()), float(step())] == [2.0, 4.0]  # each of the two replicas adds
    assert "made outside of the strategy's scope" in strategy.describe()


def test_checkpoints_of_variables(tmp_path):
    strategy = strategy_of(2)
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
        count = tf.Variable(0.0, synchronization=ON_READ, aggregation=Aggregation.SUM)
    strategy.run(lambda: count.assign_add(2.0))
    path = tf.train.Checkpoint(v=v, count=count).save(str(tmp_path / "one"))
    other, plain = tf.Variable([0.0, 0.0]), tf.Variable(0.0)
    tf.train.Checkpoint(v=other, count=plain).restore(path)
    assert other.numpy().tolist() == [1.0, 2.0] and float(plain) == 4.0
    v.assign([5.0, 6.0])
    count.assign(0.0)
    tf.train.Checkpoint(v=v, count=count).restore(path)
    assert v.numpy().tolist() == [1.0, 2.0] and float(count) == 4.0
    assert numbers(strategy, strategy.run(lambda: v + count)) == [[3.0, 4.0]] * 2


def test_a_memory_budget_of_a_program_for_all_replicas_is_said_not_to_hold(caplog):
    strategy = strategy_of(2)

    @tf.function(memory_budget=0.5)
    def step(x):
        return strategy.reduce(SUM, strategy.run(lambda: x * x), axis=None)

    assert float(step(tf.constant(3.0))) == 18.0
    assert caplog.text.count("the memory budget does not apply") == 1


@pytest.mark.parametrize("kind, stored", [("MEAN", 4.0), ("SUM", 8.0), ("ONLY_FIRST_REPLICA", 2.0)])
def test_a_variable_synchronized_on_read_is_saved_as_one(tmp_path, kind, stored):
    """Its value is the aggregate of the replicas; a function that assigns it assigns the aggregate."""
    strategy = strategy_of(2)
    with strategy.scope():
        module = tf.Module()
        module.v = tf.Variable(1.0, trainable=False, synchronization=ON_READ, aggregation=getattr(Aggregation, kind))

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def update(x):
        module.v.assign_add(x)
        return module.v * 2.0

    module.update = update
    module.reset = tf.function(lambda: module.v.assign(1.0), input_signature=[])

    def grow():
        context = distribute.get_replica_context()
        module.v.assign_add(tf.cast(context.replica_id_in_sync_group, tf.float32) * 4.0 + 1.0)

    strategy.run(grow)
    tf.saved_model.save(module, tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    assert float(loaded.v) == stored
    assert float(loaded.update(tf.constant(3.0))) == 2.0 * (stored + 3.0) and float(loaded.v) == stored + 3.0
    assert float(loaded.reset()) == 1.0
    parts = [float(part) for part in strategy.experimental_local_results(module.v)]
    assert parts == [2.0, 6.0]  # saving does not change them
    module.reset()  # nor how the function runs
    assert float(module.v.read_value()) == 1.0
