"""`tf.distribute` with one replica: TensorFlow's behavior on a machine with one device."""

import contextlib
import copy
import pickle

import numpy as np
import pytest

import gradtape as tf

distribute = tf.distribute


def test_a_training_loop_for_replicas():
    strategy = distribute.MirroredStrategy()
    with strategy.scope() as entered:
        w = tf.Variable([1.0, 2.0])
    assert entered is strategy
    x = np.arange(8.0, dtype=np.float32).reshape(4, 2)
    batches = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).batch(2))

    def replica_step(x):
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(tf.linalg.matvec(x, w) ** 2, global_batch_size=2)
        w.assign_sub(0.01 * distribute.get_replica_context().all_reduce("sum", tape.gradient(loss, w)))
        return loss

    @tf.function
    def step(x):
        return strategy.reduce(distribute.ReduceOp.SUM, strategy.run(replica_step, args=(x,)), axis=None)

    losses = [float(step(x)) for x in batches]

    expected, by_hand = np.array([1.0, 2.0]), []
    for batch in (x[:2], x[2:]):
        by_hand.append(np.mean((batch @ expected) ** 2))
        expected = expected - 0.01 * 2 * (batch * (batch @ expected)[:, None]).mean(0)
    np.testing.assert_allclose(losses, by_hand, rtol=1e-5)
    np.testing.assert_allclose(w, expected, rtol=1e-5)


def test_control_flow_in_what_is_run_inside_a_function():
    strategy = distribute.OneDeviceStrategy("/cpu:0")

    @tf.function
    def positive(x):
        def replica(x):
            if tf.reduce_sum(x) > 0:
                y = x
            else:
                y = -x
            return y

        total = tf.constant(0.0)
        for _ in tf.range(2):
            total += strategy.run(replica, args=(x,))
        return total

    assert float(positive(tf.constant(-2.0))) == 4.0
    assert float(positive(tf.constant(3.0))) == 6.0


def test_who_is_asked_from_where():
    assert not distribute.has_strategy() and not distribute.in_cross_replica_context()
    assert distribute.get_replica_context().strategy is distribute.get_strategy()
    strategy = distribute.MirroredStrategy()

    def replica(x, y=0):
        context = distribute.get_replica_context()
        assert context.strategy is strategy and not distribute.in_cross_replica_context()
        above = context.merge_call(lambda given, z: (given is strategy, distribute.in_cross_replica_context(), z), (x,))
        assert above == (True, True, x) and not distribute.in_cross_replica_context()
        return x + y

    with strategy.scope():
        assert distribute.get_strategy() is strategy and distribute.in_cross_replica_context()
        assert distribute.get_replica_context() is None
        with strategy.scope():
            assert strategy.run(replica, args=(1,), kwargs={"y": 2}) == 3
        assert distribute.has_strategy()
    with pytest.raises(KeyError), strategy.scope():
        raise KeyError
    assert not distribute.has_strategy()


def test_what_may_not_be_nested():
    first, second = distribute.MirroredStrategy(), distribute.OneDeviceStrategy("/cpu:0")
    with first.scope(), pytest.raises(RuntimeError, match="Mixing different"):
        second.run(lambda: 1)
    with pytest.raises(RuntimeError, match="cross-replica context"):
        first.run(lambda: first.run(lambda: 1))
    assert not distribute.has_strategy()


def test_a_strategy_for_all_that_follows():
    strategy = distribute.MirroredStrategy()
    distribute.experimental_set_strategy(strategy)
    try:
        assert distribute.get_strategy() is strategy and distribute.in_cross_replica_context()
    finally:
        distribute.experimental_set_strategy(None)
    assert not distribute.has_strategy() and distribute.get_replica_context() is not None


def test_reduce():
    strategy = distribute.get_strategy()
    np.testing.assert_array_equal(strategy.reduce("SUM", tf.constant([1.0, 3.0]), axis=None), [1.0, 3.0])
    assert float(strategy.reduce("sum", tf.constant([1.0, 3.0]), axis=0)) == 4.0
    np.testing.assert_array_equal(strategy.reduce(distribute.ReduceOp.MEAN, [[1.0, 3.0], [5.0, 7.0]], axis=1), [2, 6])
    mean = strategy.reduce("MEAN", tf.constant([1, 2]), axis=0)
    assert mean.dtype is tf.float64 and float(mean) == 1.5
    assert float(strategy.reduce("SUM", {"a": 2.5}, axis=None)["a"]) == 2.5
    with pytest.raises(ValueError, match="MAX"):
        strategy.reduce("max", tf.constant([1.0]), axis=None)


def test_datasets_and_values():
    strategy = distribute.MirroredStrategy()
    numbers = tf.data.Dataset.range(5)

    def pipeline(context):
        shard = numbers.shard(context.num_input_pipelines, context.input_pipeline_id)
        return shard.batch(context.get_per_replica_batch_size(4))

    batches = strategy.distribute_datasets_from_function(pipeline)
    assert [batch.numpy().tolist() for batch in batches] == [[0, 1, 2, 3], [4]]
    assert strategy.experimental_distribute_values_from_function(lambda context: context.num_replicas_in_sync + 1) == 2
    assert strategy.experimental_local_results("value") == ("value",)
    with pytest.raises(ValueError, match="not divisible"):
        distribute.InputContext(num_replicas_in_sync=2).get_per_replica_batch_size(3)


def test_what_is_not_there():
    with pytest.raises(ValueError, match="TPU"):
        distribute.cluster_resolver.TPUClusterResolver()
    with pytest.raises(ValueError, match="none of the devices"):
        distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])
    with pytest.raises(NotImplementedError, match="MirroredStrategy"):
        distribute.Strategy(None)


def test_variables_of_one_replica():
    """As in TensorFlow: mirroring strategies have distributed values, others plain variables."""
    sums = {"synchronization": tf.VariableSynchronization.ON_READ, "aggregation": tf.VariableAggregation.SUM}
    for strategy in (tf.distribute.MirroredStrategy(["/cpu:0"]), tf.distribute.MultiWorkerMirroredStrategy()):
        with strategy.scope():
            v, seen = tf.Variable([1.0, 2.0]), tf.Variable(0.0, **sums)
        for variable in (v, seen):
            assert isinstance(variable, tf.Variable) and isinstance(variable, tf.distribute.DistributedValues)
            (copy,) = strategy.experimental_local_results(variable)
            np.testing.assert_array_equal(copy, variable)
            assert len(variable.values) == 1 and variable.distribute_strategy is strategy
        assert v.synchronization is tf.VariableSynchronization.ON_WRITE and not seen.trainable
        assert repr(v).startswith("MirroredVariable:{\n  0: <tf.Variable 'Variable:0' shape=(2,)")
        assert repr(seen).startswith("SyncOnReadVariable:{")
        v.values[0].assign_add([1.0, 1.0])
        strategy.run(tf.function(lambda v=v, seen=seen: (seen.assign_add(2.0), v.assign_sub([0.5, 0.5]))))
        np.testing.assert_array_equal(v, [1.5, 2.5])
        assert float(strategy.reduce("SUM", seen, axis=None)) == 2.0
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v * v)
        np.testing.assert_array_equal(tape.gradient(y, v), [3.0, 5.0])
        assert type(pickle.loads(pickle.dumps(v))) is tf.Variable
        with pytest.raises(ValueError, match="aggregation=MEAN and a non-floating"), strategy.scope():
            tf.Variable(1, aggregation=tf.VariableAggregation.MEAN)
        with pytest.raises(ValueError, match="`NONE` variable synchronization"), strategy.scope():
            tf.Variable(1.0, synchronization=tf.VariableSynchronization.NONE)
        made = []
        strategy.run(lambda made=made: made.append(tf.Variable(1.0)))
        assert made[0].values and made[0].distribute_strategy is strategy
    for strategy in (tf.distribute.OneDeviceStrategy("/cpu:0"), tf.distribute.experimental.CentralStorageStrategy()):
        with strategy.scope():
            assert type(tf.Variable(1.0)) is tf.Variable


def test_a_scope_of_ones_own_is_that_of_run_too():
    """As in Sonnet's `Replicator`."""

    def summed(next_creator, **options):
        return next_creator(**{**options, "aggregation": tf.VariableAggregation.SUM})

    class Summing(tf.distribute.MirroredStrategy):
        @contextlib.contextmanager
        def scope(self):
            with super().scope(), tf.variable_creator_scope(summed):
                yield

    made = []
    strategy = Summing(["/cpu:0"])
    assert strategy.run(lambda x: made.append(tf.Variable(1.0)) or x + 1, args=(1,)) == 2
    with strategy.scope():
        strategy.run(lambda: made.append(tf.Variable(1.0)))
    assert [v.aggregation for v in made] == [tf.VariableAggregation.SUM] * 2


def test_the_address_of_a_task_of_slurm(monkeypatch):
    told = {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "3", "SLURM_STEP_NODELIST": "t02n13,t02n41,t02n43"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    resolver = distribute.cluster_resolver.SlurmClusterResolver({"ps": 1, "worker": 2}, tasks_per_node=1)
    assert (resolver.task_type, resolver.task_id) == ("worker", 0)
    assert resolver.master() == "grpc://t02n41:8888"
    assert resolver.master("worker", 1, rpc_layer="ab") == "ab://t02n43:8888"


def test_a_copy_of_a_variable_of_one_replica():
    strategy = distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        v = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
    other = copy.deepcopy(v)
    other.assign(2.0)
    assert type(other) is type(v) and other.distribute_strategy is strategy and v.numpy() == 1.0
    assert (other.aggregation, other.synchronization) == (v.aggregation, v.synchronization)
    with pytest.raises(NotImplementedError, match="ON_READ"):
        other.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))


def test_a_strategy_of_several_workers_is_one_by_its_former_name_too():
    former, present = distribute.experimental.MultiWorkerMirroredStrategy, distribute.MultiWorkerMirroredStrategy
    assert isinstance(present(), former) and isinstance(former(), present)
    assert not isinstance(distribute.MirroredStrategy(["/cpu:0"]), former)
    assert issubclass(former, present) and not issubclass(present, former)
