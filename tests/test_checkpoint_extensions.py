"""State and shards of checkpoints that a program defines, and checkpoints at preemption."""

import os
import signal

import numpy as np
import pytest

import gradtape as tf

extensions = tf.train.experimental


class Array(extensions.PythonState):
    def __init__(self, values):
        self.values = np.array(values)

    def serialize(self):
        return self.values.tobytes()

    def deserialize(self, string_value):
        self.values = np.frombuffer(string_value, self.values.dtype)


def test_a_checkpoint_has_the_state_of_python_objects(tmp_path):
    state, v = Array([1, 2]), tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(state=state, v=v)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    state.values = np.array([0, 0])
    checkpoint.restore(path).assert_consumed()
    assert state.values.tolist() == [1, 2]
    later = tf.train.Checkpoint(v=v)
    status = later.restore(path)
    later.state = Array([0, 0])  # restored when it becomes an attribute
    assert later.state.values.tolist() == [1, 2]
    status.assert_existing_objects_matched()
    with pytest.raises(TypeError):
        extensions.PythonState()


def shardable(key, x):
    return extensions.ShardableTensor(None, x, x.dtype, tf.DeviceSpec(), key, x.shape, "", key, None)


@pytest.mark.parametrize(
    ("most", "expected"),
    [  # TensorFlow's
        (
            24,
            [
                {"a": ["4 6 0,1:0,6"]}, {"a": ["4 6 1,1:0,6"]}, {"a": ["4 6 2,1:0,6"]}, {"a": ["4 6 3,1:0,6"]},
                {"b": [""], "c": ["10 0,2"]}, {"c": ["10 2,3"]}, {"c": ["10 5,3"]}, {"c": ["10 8,2"]},
            ],
        ),
        (1000, [{"a": ["4 6 0,4:0,6"], "b": [""], "c": ["10 0,10"]}]),
    ],
)  # fmt: skip
def test_shards_have_a_maximal_size(most, expected):
    tensors = {"a": tf.reshape(tf.range(24.0), [4, 6]), "b": tf.constant(1.0), "c": tf.range(10, dtype=tf.int64)}
    given = [shardable(key, x) for key, x in tensors.items()]
    shards = extensions.MaxShardSizePolicy(most)(given)
    assert [{key: list(parts) for key, parts in shard.items()} for shard in shards] == expected
    assert [list(shard) for shard in extensions.ShardByTaskPolicy()(given)] == [["a", "b", "c"]]


def test_a_slice_may_exceed_a_shard():
    (*_, last) = extensions.MaxShardSizePolicy(16)([shardable("x", tf.ones([3, 5, 2]))])
    assert list(last) == ["x"]


def test_a_checkpoint_is_written_in_shards(tmp_path):
    v, seen = tf.Variable(tf.reshape(tf.range(6.0), [2, 3])), []
    options = tf.train.CheckpointOptions(
        experimental_sharding_callback=extensions.MaxShardSizePolicy(12),
        experimental_write_callbacks=[seen.append, lambda: seen.append("done")],
    )
    path = tf.train.Checkpoint(v=v).save(str(tmp_path / "ckpt"), options)
    assert seen == [path, "done"]
    assert tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE").tolist() == v.numpy().tolist()

    class Loses(extensions.ShardingCallback):
        description = "loses everything"

        def __call__(self, shardable_tensors):
            return []

    with pytest.raises(RuntimeError, match="has left out"):
        tf.train.Checkpoint(v=v).save(
            str(tmp_path / "b"), tf.train.CheckpointOptions(experimental_sharding_callback=Loses())
        )


@pytest.mark.parametrize("kind", ["watcher", "signal"])
def test_a_preempted_program_saves_and_exits(tmp_path, kind):
    before = signal.getsignal(signal.SIGTERM)
    told = []
    watch = (lambda: bool(told)) if kind == "watcher" else None
    config = tf.distribute.experimental.TerminationConfig(watch, exit_fn=lambda: told.append("exit"))

    def handler(v):
        checkpoint = tf.train.Checkpoint(v=v)
        return tf.distribute.experimental.PreemptionCheckpointHandler(None, checkpoint, str(tmp_path), config)

    try:
        v = tf.Variable(0.0)
        first = handler(v)
        first.run(v.assign_add, 1.0)
        if kind == "signal":
            os.kill(os.getpid(), signal.SIGTERM)
        else:
            told.append("soon")
            assert first._notified.wait(5)
        first.run(v.assign_add, 1.0)  # the notice is seen before this run, and the checkpoint has it
        assert "exit" not in told
        first.save_checkpoint_if_preempted()
        assert told[-1] == "exit" and tf.train.latest_checkpoint(str(tmp_path))
        again = tf.Variable(0.0)
        assert handler(again).total_run_calls == 2 and float(again) == 2.0
    finally:
        signal.signal(signal.SIGTERM, before)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a checkpoint_dir must be passed as well"):
        tf.distribute.experimental.PreemptionCheckpointHandler(None, tf.train.Checkpoint())
