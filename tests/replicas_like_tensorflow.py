"""Cases of TensorFlow's own tests of `tf.distribute`, with two replicas. The numbers are TensorFlow's.

`test_distribute_replicas.py` runs this in a separate process.
"""

import copy

import numpy as np
import pytest

import gradtape as tf
from gradtape.distribute.values import PerReplica

pytestmark = pytest.mark.several
Aggregation, Synchronization = tf.VariableAggregation, tf.VariableSynchronization
Range = tf.data.Dataset.range


@pytest.fixture(scope="module")
def strategy():
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


def number():
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def lists(strategy, dataset):
    return [[np.asarray(part).tolist() for part in strategy.experimental_local_results(x)] for x in dataset]


@pytest.mark.parametrize("compiled", [False, True])
def test_rows_that_replicas_scatter_are_added_up(strategy, compiled):
    with strategy.scope():
        v = tf.Variable([0, 0, 0], aggregation=Aggregation.SUM)
        w = tf.Variable([2.0, 1.0, 1.0], aggregation=Aggregation.MEAN)
        first = tf.Variable([0, 2, 0], aggregation=Aggregation.ONLY_FIRST_REPLICA)

    def scatter():
        r = number()
        v.scatter_add(tf.IndexedSlices(tf.stack([r, r + 1]), tf.stack([r, r + 1])))
        w.scatter_mul(tf.IndexedSlices(tf.reshape(tf.cast(r + 2, tf.float32), [1]), tf.reshape(r, [1])))
        first.scatter_min(tf.IndexedSlices(tf.reshape(1 - r, [1]), tf.constant([1])))

    strategy.run(tf.function(scatter) if compiled else scatter)
    assert v.numpy().tolist() == [0, 2, 2]
    assert w.numpy().tolist() == [2.0, 1.5, 1.0]
    assert first.numpy().tolist() == [0, 1, 0]
    rows = tf.IndexedSlices(tf.constant([1]), tf.constant([0]))
    with pytest.raises(NotImplementedError, match="scatter_update is only supported"):
        strategy.run(lambda: v.scatter_update(rows))


def test_what_a_function_assigns_is_returned_for_each_replica(strategy):
    with strategy.scope():
        v = tf.Variable(15.0, aggregation=Aggregation.ONLY_FIRST_REPLICA)
    found = strategy.run(tf.function(lambda: v.assign(tf.cast(number() + 3, tf.float32))))
    assert [float(x) for x in strategy.experimental_local_results(found)] == [3.0, 3.0]


def test_sparse_sums_stay_sparse_in_a_function(strategy):
    def reduced():
        rows = tf.IndexedSlices(tf.identity([[1.0]]), tf.identity([0]), tf.identity([5, 1]))
        return tf.distribute.get_replica_context().all_reduce("MEAN", rows)

    first, second = tf.function(lambda: strategy.experimental_local_results(strategy.run(reduced)))()
    assert isinstance(first, tf.IndexedSlices) and isinstance(second, tf.IndexedSlices)
    assert tf.convert_to_tensor(first).numpy().ravel().tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]


def test_local_results_of_a_nest_are_as_many_as_replicas(strategy):
    assert strategy.experimental_local_results({"a": 1.0}) == ({"a": 1.0}, {"a": 1.0})
    assert strategy.experimental_local_results(3) == (3,)


def test_a_variable_made_in_replicas_is_the_same_on_each(strategy):
    made = []

    @tf.function
    def step():
        def replica():
            if not made:
                made.append(tf.Variable(tf.random.normal([])))

        strategy.run(replica)

    step()
    first, second = made[0].values
    assert first.numpy() == second.numpy()
    with pytest.raises(RuntimeError, match="mismatching name"), strategy.scope():
        names = strategy.experimental_distribute_values_from_function(
            lambda context: ["a", "b"][context.replica_id_in_sync_group]
        )
        strategy.run(lambda name: tf.Variable(1.0, name=name), args=(names,))


def test_deep_copies_and_devices(strategy):
    with strategy.scope():
        mean = tf.Variable(0.0, synchronization=Synchronization.ON_READ, aggregation=Aggregation.MEAN)
        mirrored = tf.Variable(1.0, aggregation=Aggregation.SUM)
    strategy.run(lambda: mean.assign_add(tf.cast(number(), tf.float32)))
    for v in (mean, mirrored):
        other = copy.deepcopy(v)
        assert type(other) is type(v) and other.distribute_strategy is strategy
        assert (other.aggregation, other.synchronization) == (v.aggregation, v.synchronization)
        assert [x.numpy() for x in other.values] == [x.numpy() for x in v.values]
        assert [x.device for x in other.values] == list(strategy.extended.worker_devices)
    other.assign(5.0)
    assert mirrored.numpy() == 1.0
    assert strategy.run(lambda: mirrored.device).values == tuple(strategy.extended.worker_devices)


def test_a_value_of_replicas_is_a_tensor_in_a_replica_only(strategy):
    values = strategy.experimental_distribute_values_from_function(lambda c: tf.constant(c.replica_id_in_sync_group))
    with pytest.raises(ValueError, match="not inside a replica context"):
        tf.cast(values, tf.float32)
    found = strategy.run(lambda: tf.cast(values, tf.float32))
    assert [float(x) for x in found.values] == [0.0, 1.0]


def test_values_of_replicas_that_a_function_makes_or_closes_over(strategy):
    values = strategy.experimental_distribute_values_from_function
    outside = values(lambda context: tf.constant([3.0, 5.0][context.replica_id_in_sync_group]))

    @tf.function
    def step():
        inside = values(lambda context: [1.0, 2.0][context.replica_id_in_sync_group])
        found = strategy.run(lambda x, y: x * tf.square(y), (inside, outside))
        return strategy.experimental_local_results(found), strategy.reduce("SUM", outside, axis=None)

    (first, second), total = step()
    assert (float(first), float(second), float(total)) == (9.0, 50.0, 8.0)


@pytest.mark.parametrize("compiled", [False, True])
def test_what_cannot_be_gathered(strategy, compiled):
    around = tf.function if compiled else lambda f: f
    values = strategy.experimental_distribute_values_from_function
    wide = values(lambda context: tf.ones([1, context.replica_id_in_sync_group + 1]))
    deep = values(lambda context: tf.ones([1] * (context.replica_id_in_sync_group + 1)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Dimension 1 in both shapes must be equal"):
        around(lambda: strategy.gather(wide, axis=0))()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shape must be rank 1 but is rank 2"):
        around(lambda: strategy.gather(deep, axis=0))()
    assert strategy.gather(wide, axis=1).shape == [1, 3]
    rows = tf.IndexedSlices([[1.0, 2.0]], [2], [5, 2])
    with pytest.raises(NotImplementedError, match="gather does not support IndexedSlices"):
        strategy.gather(rows, axis=0)


def test_elements_of_replicas_at_the_end_of_the_data(strategy):
    def found(make):
        return lists(strategy, strategy.distribute_datasets_from_function(lambda context: make()))

    assert found(lambda: Range(5)) == [[0, 1], [2, 3]]  # there is no empty scalar
    assert found(lambda: Range(6).batch(2, drop_remainder=True)) == [[[0, 1], [2, 3]]]
    assert found(lambda: Range(5).batch(2)) == [[[0, 1], [2, 3]], [[4], []]]
    dataset = strategy.distribute_datasets_from_function(lambda _: Range(6).batch(2, drop_remainder=True))
    assert dataset.element_spec._value_specs[0].shape == [2]
    assert strategy.experimental_distribute_dataset(Range(9).batch(4)).cardinality == 3


def test_a_dataset_for_each_replica(strategy):
    modes, seen = tf.distribute.InputReplicationMode, []

    def make(context):
        seen.append((context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync))
        return Range(5).shard(context.num_input_pipelines, context.input_pipeline_id).batch(2)

    def options(*given):
        return tf.distribute.InputOptions(*given)

    dataset = strategy.distribute_datasets_from_function(make, options(False, modes.PER_REPLICA))
    assert lists(strategy, dataset) == [[[0, 2], [1, 3]], [[4], []]]
    assert seen == [(2, 0, 2), (2, 1, 2)]
    with pytest.raises(ValueError, match="you must also specify `PER_REPLICA`"):
        strategy.distribute_datasets_from_function(make, options(None, modes.PER_WORKER, True))
    with pytest.raises(ValueError, match="can not be set to True when experimental_fetch_to_device"):
        strategy.distribute_datasets_from_function(make, options(True, modes.PER_REPLICA, True))


def test_parts_are_where_their_replicas_are(strategy):
    data = tf.data.Dataset.from_tensor_slices([5.0, 6.0]).batch(2)
    there = tuple(strategy.extended.worker_devices)
    element = next(iter(strategy.experimental_distribute_dataset(data)))
    assert tuple([x.device for x in element.values]) == there
    options = tf.distribute.InputOptions(experimental_fetch_to_device=False)
    host = strategy.distribute_datasets_from_function(lambda context: data.repeat(2), options)
    assert [x.device for x in next(iter(host)).values] == [there[0]] * 2


def test_ragged_and_sparse_batches_are_split(strategy):
    ragged = tf.data.Dataset.from_tensor_slices({"a": tf.ragged.constant([[1, 2], [3], [4, 5, 6]])}).batch(2)
    distributed = strategy.experimental_distribute_dataset(ragged)
    parts = [[part["a"].to_list() for part in strategy.experimental_local_results(x)] for x in distributed]
    assert parts == [[[[1, 2]], [[3]]], [[[4, 5, 6]], []]]
    assert distributed.element_spec["a"]._value_specs[0].shape.as_list() == [None, None]
    sparse = tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense(np.eye(3))).batch(3)
    first, second = next(iter(strategy.experimental_distribute_dataset(sparse))).values
    assert tf.sparse.to_dense(first).numpy().tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert tf.sparse.to_dense(second).numpy().tolist() == [[0.0, 0.0, 1.0]]


@pytest.mark.parametrize("compiled", [False, True])
def test_an_update_called_by_each_replica_merges_their_arguments(strategy, compiled):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])

    def step(x):
        x = x * tf.cast(number() + 1, tf.float32)
        strategy.extended.update(v, lambda copy, x: copy.assign_add(x), args=(x,))
        return tf.reduce_sum(v)

    run = tf.function(lambda x: strategy.run(step, args=(x,))) if compiled else lambda x: strategy.run(step, args=(x,))
    results = [[float(part) for part in run(tf.constant(x)).values] for x in ([2.0, 1.0], [3.0, 4.0])]
    assert results == [[6.0, 9.0], [13.0, 23.0]]


def test_an_update_in_a_function_that_the_only_replica_calls():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    with strategy.scope():
        v = tf.Variable(1.0)

    @tf.function
    def step(x):
        return strategy.extended.update(v, lambda copy, x: copy.assign_add(x), args=(x,))

    assert float(strategy.run(step, args=(tf.constant(2.0),))) == 3.0
    assert float(v) == 3.0


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_updates_with_a_value_for_each_replica_change_each_copy(strategy, compiled, inner):
    with strategy.scope():
        v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)

    def merge(strategy, x):
        strategy.extended.update(v, lambda copy, factor, x: copy.assign_add(factor * x), args=(w, x))
        total = strategy.extended.reduce_to("sum", x, w)
        strategy.extended.update(w, lambda copy, x: copy.assign_sub(tf.reduce_sum(x)), kwargs={"x": total})

    def step(x):
        x = x * tf.cast(number() + 1, tf.float32)
        tf.distribute.get_replica_context().merge_call(merge, args=(x,))
        return tf.reduce_sum(v)

    step = tf.function(step) if inner else step
    run = tf.function(lambda x: strategy.run(step, args=(x,))) if compiled else lambda x: strategy.run(step, args=(x,))
    results = [[float(part) for part in run(tf.constant(x)).values] for x in ([2.0, 1.0], [3.0, 4.0])]
    assert results == [[12.0, 21.0], [-30.0, -63.0]]
    assert [copy.numpy().tolist() for copy in v.values] == [[-11.0, -19.0], [-23.0, -40.0]]
    assert [float(copy) for copy in w.values] == [-27.0, -27.0]


def test_iterators(strategy):
    iterator = iter(strategy.experimental_distribute_dataset(Range(4).batch(2)))
    with pytest.raises(ValueError, match="should be called from outside of replica_fn"):
        strategy.run(lambda: next(iterator))
    assert iterator.get_next_as_optional().has_value()
    assert iterator.get_next_as_optional().has_value()
    with pytest.raises(tf.errors.InvalidArgumentError):
        iterator.get_next_as_optional().get_value()
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()


def test_iterators_that_are_begun_by_hand(strategy):
    iterator = strategy.make_dataset_iterator(Range(4).batch(2))
    for _ in range(2):
        iterator.initialize()
        found = [strategy.experimental_run(lambda x: x + 1, iterator) for _ in range(2)]
        assert [[part.numpy().tolist() for part in x.values] for x in found] == [[[1], [2]], [[3], [4]]]
        with pytest.raises(tf.errors.OutOfRangeError):
            iterator.get_next()
    calls = iter(range(3))
    iterator = strategy.make_input_fn_iterator(lambda context: lambda: tf.constant(next(calls)))
    assert [int(x) for x in iterator.get_next().values] == [0, 1]


def test_modes_of_variables(strategy):
    with strategy.scope():
        with pytest.raises(ValueError, match="Invalid variable aggregation mode: invalid for variable: v"):
            tf.Variable(1.0, name="v", aggregation="invalid")
        with pytest.raises(ValueError, match="`NONE` variable synchronization mode is not supported"):
            tf.compat.v1.get_variable("v", [1], synchronization=Synchronization.NONE)
        assert tf.compat.v1.Variable(1.0, synchronization=Synchronization.ON_READ).trainable is False
        assert tf.Variable(1.0, aggregation=None).aggregation == Aggregation.NONE


def test_long_integers_in_a_program_of_all_replicas(strategy):
    with strategy.scope():
        count = tf.Variable([0, 1 << 40], dtype=tf.int64, aggregation=Aggregation.SUM)
        generator = tf.random.Generator.from_seed(1234)
    step = tf.function(lambda: count.assign_add([1, 1] + 0 * tf.cast(number(), tf.int64)))
    for _ in range(2):
        strategy.run(step)
    assert count.numpy().tolist() == [4, (1 << 40) + 4]
    drawn = strategy.run(tf.function(lambda: generator.uniform_full_int([4], tf.int32)))
    first, second = strategy.experimental_local_results(drawn)
    assert first.numpy().tolist() != second.numpy().tolist()


@pytest.mark.parametrize("by_function", [False, True])
@pytest.mark.parametrize("collective", ["all_gather", "all_reduce"])
@pytest.mark.parametrize("source", ["made", "given"])
def test_tf_gradients_go_through_collectives(strategy, by_function, collective, source):
    def step(c):
        x = tf.constant([[3.0], [5.0]]) * (c if source == "given" else 1.0)
        context = tf.distribute.get_replica_context()
        y = context.all_gather(x, 1) if collective == "all_gather" else context.all_reduce("SUM", x)
        return tf.gradients(y * c, [x])[0]

    c = strategy.experimental_distribute_values_from_function(lambda c: tf.constant([c.replica_id_in_sync_group + 1.0]))
    if by_function:
        found = tf.function(lambda c: strategy.run(step, (c,)))(c)
    else:
        found = strategy.run(tf.function(step), (c,))
    assert [x.numpy().tolist() for x in strategy.experimental_local_results(found)] == [[[3.0], [3.0]]] * 2


def test_a_generator_of_the_strategy_has_a_state_for_each_replica(strategy):
    def numbers(kind):
        with strategy.scope():
            generator = tf.random.Generator.from_seed(1234)
        draw = tf.function(lambda g: g.uniform([2])) if kind == "function" else lambda g: g.uniform([2])

        def step():
            return tf.concat([draw(generator), generator.uniform([1])], 0)

        run = tf.function(lambda: strategy.run(step)) if kind == "program" else lambda: strategy.run(step)
        found = [[x.numpy().tolist() for x in strategy.experimental_local_results(run())] for _ in range(2)]
        assert [v.numpy().tolist() for v in generator.state.values] == [[1234 + 2 * 3 * 256, 0, 0]] * 2
        return found

    eager = numbers("eager")
    assert len({x for step in eager for row in step for x in row}) == 12
    assert numbers("function") == numbers("program") == eager


def test_a_generator_from_outside_is_one_stream_for_all_replicas_in_turn(strategy):
    generator, alone = (tf.random.Generator.from_seed(5) for _ in range(2))
    for run in (strategy.run, tf.function(strategy.run)):
        found = strategy.experimental_local_results(run(lambda: generator.uniform([2])))
        assert [x.numpy().tolist() for x in found] == [alone.uniform([2]).numpy().tolist() for _ in range(2)]


def test_replicas_may_each_have_arguments_of_their_own(strategy):
    generators = [tf.random.Generator.from_seed(seed) for seed in (1, 2)]
    found = strategy.run(lambda g, n: n * g.uniform([1]), PerReplica([(g, i + 1.0) for i, g in enumerate(generators)]))
    expected = [(i + 1) * tf.random.Generator.from_seed(i + 1).uniform([1]) for i in range(2)]
    assert [float(x[0]) for x in strategy.experimental_local_results(found)] == [float(x[0]) for x in expected]


def _summed(x):
    return tf.distribute.get_replica_context().all_reduce("SUM", x)


def _a_loop_of(count):
    def step(x):
        for _ in tf.range(count(x)):
            x = _summed(x)
        return x

    return step


def _a_branch_by(test):
    def step(x):
        if test(x):
            x = _summed(x)
        return x

    return step


def test_replicas_may_reduce_in_loops_and_branches_that_all_of_them_take(strategy):
    with strategy.scope():
        v = tf.Variable(2)
    x = strategy.experimental_distribute_values_from_function(lambda c: tf.constant(c.replica_id_in_sync_group + 1.0))
    program = tf.function(lambda step, x: strategy.run(step, (x,)))
    steps = {
        _a_loop_of(lambda x: 3): [12.0, 12.0],
        _a_loop_of(lambda x: v + 0): [6.0, 6.0],
        _a_loop_of(lambda x: tf.cast(_summed(x), tf.int32)): [12.0, 12.0],
        _a_branch_by(lambda x: _summed(x) > 2.0): [3.0, 3.0],
        _a_branch_by(lambda x: _summed(x) > 4.0): [1.0, 2.0],
    }
    for step, expected in steps.items():
        assert [float(y) for y in strategy.experimental_local_results(program(step, x))] == expected
    v.assign(1)
    assert [float(y) for y in strategy.experimental_local_results(program(list(steps)[1], x))] == [3.0, 3.0]


@pytest.mark.parametrize(
    "step",
    [
        _a_loop_of(lambda x: tf.cast(x, tf.int32)),
        _a_loop_of(lambda x: number() + 1),
        _a_branch_by(lambda x: x > 1.0),
        _a_branch_by(lambda x: tf.random.uniform([]) > 0.5),
    ],
)
def test_replicas_that_may_part_before_a_reduction_are_an_error_and_do_not_wait(strategy, step):
    x = strategy.experimental_distribute_values_from_function(lambda c: tf.constant(c.replica_id_in_sync_group + 1.0))
    with pytest.raises(RuntimeError, match="`merge_call` called while defining a new graph"):
        tf.function(lambda x: strategy.run(step, (x,)))(x)


def test_a_variable_that_replicas_wrote_to_does_not_decide_about_a_reduction(strategy):
    with strategy.scope():
        v = tf.Variable(0)

    def step(x):
        i = 0
        while i < v:
            x = _summed(x)
            i += 1
        return x

    program = tf.function(lambda: strategy.run(step, (tf.constant(1.0),)))
    assert [float(x) for x in strategy.experimental_local_results(program())] == [1.0, 1.0]
    strategy.run(lambda: v.assign(number() + 1))
    for each in (program, tf.function(lambda: strategy.run(step, (tf.constant(1.0),)))):
        with pytest.raises(RuntimeError, match="`merge_call` called while defining a new graph"):
            each()
