"""Checkpoints in buckets, which have no rename, no links and no locks."""

import os

import numpy as np
import pytest

import gradtape as tf
from gradtape.checkpoint import bundle

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def bucket():
    """The address of a bucket in memory."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    yield "memory://models/run"
    memory.store.clear()


def names(folder):
    return [os.path.basename(path) for path in tf.io.gfile.glob(folder + "/*")]


def test_a_manager_saves_restores_and_deletes(bucket):
    weights = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(weights=weights)
    manager = tf.train.CheckpointManager(checkpoint, bucket, max_to_keep=2)
    for value in (3.0, 4.0, 5.0):
        weights.assign([value, value])
        manager.save()
    kept = [f"ckpt-{i}{ending}" for i in (2, 3) for ending in (".data-00000-of-00001", ".index")]
    assert names(bucket) == ["checkpoint", *kept]
    weights.assign([0.0, 0.0])
    again = tf.train.CheckpointManager(checkpoint, bucket, max_to_keep=2)
    assert again.checkpoints == manager.checkpoints == [f"{bucket}/ckpt-2", f"{bucket}/ckpt-3"]
    assert again.restore_or_initialize() == tf.train.latest_checkpoint(bucket)
    assert weights.numpy().tolist() == [5.0, 5.0]
    assert tf.train.load_checkpoint(bucket).has_tensor("weights/.ATTRIBUTES/VARIABLE_VALUE")


def test_files_are_those_of_a_local_checkpoint(bucket, tmp_path):
    checkpoint = tf.train.Checkpoint(x=tf.Variable(np.arange(300_000.0)), s=tf.Variable(["a", "bc"]))
    local, remote = checkpoint.write(tmp_path / "x"), checkpoint.write(bucket + "/x")
    for ending in (".index", ".data-00000-of-00001"):
        assert tf.io.read_file(remote + ending) == tf.io.read_file(local + ending)


@pytest.mark.parametrize("save_format", ["tf", "npz"])
def test_a_checkpoint_at_the_top_of_a_bucket(bucket, save_format):
    value = tf.Variable(1)
    path = tf.train.Checkpoint(v=value).save("memory://top", tf.train.CheckpointOptions(save_format=save_format))
    value.assign(2)
    assert path == tf.train.latest_checkpoint("memory://") == "memory://top-1"
    tf.train.Checkpoint(v=value).restore(path).assert_existing_objects_matched()
    assert int(value) == 1


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("place", ["data", "index"])
def test_an_interrupted_write_leaves_the_previous_checkpoint(bucket, monkeypatch, place):
    value = tf.Variable(tf.ones([1 << 18]))
    path = tf.train.Checkpoint(v=value).write(bucket + "/x")
    with monkeypatch.context() as patches:

        def interrupt(*_):
            raise Interrupted

        if place == "index":
            patches.setattr(bundle, "index_of", interrupt)
        else:
            patches.setattr(bundle.Checksum, "masked", property(interrupt))
        with pytest.raises(Interrupted):
            tf.train.Checkpoint(v=tf.Variable(value * 2)).write(path)
    value.assign(value * 0)
    tf.train.Checkpoint(v=value).read(path).assert_consumed()
    assert value.numpy().min() == value.numpy().max() == 1
    tf.train.Checkpoint(v=tf.Variable(value * 3)).write(path)
    assert names(bucket) == ["x.data-00000-of-00001", "x.index"]
    tf.train.Checkpoint(v=value).read(path)
    assert value.numpy().max() == 3


def test_damaged_and_missing_files(bucket):
    value = tf.Variable(tf.ones([1000]))
    checkpoint = tf.train.Checkpoint(v=value)
    path = checkpoint.write(bucket + "/x")
    data = path + ".data-00000-of-00001"
    contents = tf.io.read_file(data).numpy()
    for damaged in (b"\1" + contents[1:], contents[:100]):
        tf.io.write_file(data, damaged)
        with pytest.raises(tf.errors.DataLossError, match="data-00000"):
            checkpoint.read(path)
    tf.io.gfile.remove(data)
    with pytest.raises(tf.errors.NotFoundError, match="data-00000"):
        checkpoint.read(path)
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        checkpoint.read(bucket + "/none")


def test_unknown_schemes():
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1))
    with pytest.raises(tf.errors.UnimplementedError, match="'nosuch'"):
        checkpoint.write("nosuch://x/y")
    with pytest.raises(ValueError, match="scheme 'nosuch' not implemented"):
        checkpoint.read("nosuch://x/y")
    assert tf.train.latest_checkpoint("nosuch://x") is None


def test_a_state_file_names_checkpoints_of_its_own_folder_only(bucket):
    path = tf.train.Checkpoint(v=tf.Variable(1)).save(bucket + "/x")
    for name in ("../run/x-1", path, "/etc/x", "memory://models/run/../other"):
        tf.io.write_file(bucket + "/checkpoint", f'model_checkpoint_path: "{name}"\n')
        assert tf.train.latest_checkpoint(bucket) is None


def test_local_paths_with_a_scheme(tmp_path):
    value = tf.Variable(1)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=value), f"file://{tmp_path}", 1)
    manager.save()
    manager.save()
    value.assign(5)
    assert tf.train.latest_checkpoint(f"file://{tmp_path}") == f"file://{tmp_path}/ckpt-2" == manager.latest_checkpoint
    manager.restore_or_initialize()
    assert int(value) == 1 and len(list(tmp_path.iterdir())) == 3


def test_weights_of_a_keras_model(bucket):
    keras = pytest.importorskip("keras")
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(3)])
    expected = [w.copy() for w in model.get_weights()]
    path = bucket + "/model.weights.h5"
    model.save_weights(path)
    model.set_weights([w * 0 for w in expected])
    model.load_weights(path)
    for found, value in zip(model.get_weights(), expected, strict=True):
        np.testing.assert_array_equal(found, value)
