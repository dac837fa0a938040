"""Checkpoints: keys of stored values, restoring, and what a crash leaves."""

import copy
import errno
import io
import os
import re
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from gradtape.checkpoint import bundle, shared
from gradtape.checkpoint.object_graph import ObjectNode
from gradtape.state import archive

VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
ARCHIVE = tf.train.CheckpointOptions(save_format="npz")
NODES = [ObjectNode({"v": 1}, None), ObjectNode({}, "v" + VALUE)]
CONTENTS = shared.Contents({"v" + VALUE: tf.constant([1.0])}, NODES, {})


class Net(tf.Module):
    def __init__(self, value=1.0):
        super().__init__()
        self.a = tf.Variable(value)
        self.parts = [tf.Variable([value, value]), {"x": tf.Variable(value)}]
        self.named = {"p/q": tf.Variable(value), "r.s": tf.Variable(value)}
        self.pair = (tf.Variable(value),)
        self.same = self.a
        self.size, self.text = 3, "text"


def keys(path):
    return [name.removesuffix(VALUE) for name, _ in tf.train.list_variables(path) if name != bundle.OBJECT_GRAPH]


def files_of(name):
    return [f"{name}.data-00000-of-00001", f"{name}.index"]


def values(net):
    return [v.numpy().tolist() for v in net.variables]


def test_keys_are_those_of_tensorflow(tmp_path):
    v, w = tf.Variable(1.0), tf.Variable([1, 2])
    path = tf.train.Checkpoint(m=Net(), v=v, l=[v, w]).save(tmp_path / "ckpt")
    assert path == str(tmp_path / "ckpt-1")
    assert keys(path) == [
        "l/1", "m/a", "m/named/p.Sq", "m/named/r..s", "m/pair/0", "m/parts/0", "m/parts/1/x", "save_counter", "v",
    ]  # fmt: skip
    assert keys(tf.train.Checkpoint(Net(), extra=v).write(tmp_path / "root"))[:2] == ["a", "extra"]
    assert keys(tf.train.Checkpoint(v).write(tmp_path / "alone")) == [""]


def test_restoring(tmp_path):
    saved, other = Net(3.0), Net(0.0)
    path = tf.train.Checkpoint(net=saved).save(tmp_path / "ckpt")
    checkpoint = tf.train.Checkpoint(net=other)
    checkpoint.restore(path).assert_consumed().assert_existing_objects_matched().assert_nontrivial_match()
    assert values(other) == values(saved)
    assert int(checkpoint.save_counter) == 1
    assert checkpoint.save(tmp_path / "ckpt") == str(tmp_path / "ckpt-2")


@pytest.mark.parametrize(
    "value",
    [
        np.float32(1.5), np.arange(6.0).reshape(2, 3), np.zeros((0, 2), np.int8), np.array([True, False]),
        np.array([1 + 2j]), "text", ["", "a", "ünï\0"], [[b"x"], [b"\n\r"]],
    ],
    ids=str,
)  # fmt: skip
def test_dtypes_survive(tmp_path, value):
    v = tf.Variable(value)
    path = tf.train.Checkpoint(v=v).write(tmp_path / "ckpt")
    w = tf.Variable(tf.zeros(v.shape, v.dtype) if v.dtype is not tf.string else tf.constant("", shape=v.shape))
    tf.train.Checkpoint(v=w).read(path).assert_consumed()
    assert w.dtype is v.dtype
    np.testing.assert_array_equal(w.numpy(), v.numpy())


@pytest.mark.parametrize("dtype", [tf.bfloat16, tf.float16, tf.dtypes.experimental.float8_e4m3fn])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_narrow_dtypes_survive(tmp_path, dtype, shape):
    v, w = (tf.Variable(tf.cast(tf.fill(shape, x), dtype)) for x in (1.5, 0.0))
    tf.train.Checkpoint(v=w).read(tf.train.Checkpoint(v=v).write(tmp_path / "ckpt"))
    assert tf.cast(w, tf.float32).numpy().tolist() == tf.cast(v, tf.float32).numpy().tolist()


def test_other_shapes_and_dtypes_change_nothing(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable([1.0, 2.0])).save(tmp_path / "ckpt")
    a, b = tf.Variable(9.0), tf.Variable([0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"shape \(2,\).*variable with shape \(3,\).*nothing was restored"):
        tf.train.Checkpoint(a=a, b=b).restore(path)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected dtype int32 .* original dtype float32"):
        tf.train.Checkpoint(a=a, b=tf.Variable([1, 2])).restore(path)
    assert float(a) == 9
    loose = tf.Variable([0.0], shape=[None])
    tf.train.Checkpoint(b=loose).restore(path).assert_existing_objects_matched()
    assert loose.numpy().tolist() == [1, 2]


def test_what_does_not_match_is_told(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).save(tmp_path / "ckpt")
    less = tf.train.Checkpoint(a=tf.Variable(0.0)).restore(path)
    less.expect_partial().assert_existing_objects_matched()
    with pytest.raises(AssertionError, match=r"b/\.ATTRIBUTES"):
        less.assert_consumed()
    more = tf.train.Checkpoint(a=tf.Variable(0.0), c=tf.Variable(0.0)).restore(path)
    with pytest.raises(AssertionError, match="Found 1 Python objects"):
        more.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="Nothing except the root"):
        tf.train.Checkpoint(z=tf.Variable(0.0)).read(path).assert_nontrivial_match()
    with pytest.raises(AssertionError, match="Nothing to load"):
        tf.train.Checkpoint().read(path).assert_nontrivial_match()
    nothing = tf.train.Checkpoint(a=tf.Variable(0.0)).restore(None)
    nothing.expect_partial()
    with pytest.raises(AssertionError, match="save_path=None"):
        nothing.assert_consumed()


def test_variables_made_later_are_restored_when_they_become_attributes(tmp_path):
    class Lazy(tf.Module):
        def build(self, value):
            self.w = tf.Variable([value, value])
            self.inner = Net(value)

    saved = Lazy()
    saved.build(7.0)
    path = tf.train.Checkpoint(lazy=saved).save(tmp_path / "ckpt")
    for checkpoint_of in (lambda lazy: tf.train.Checkpoint(lazy=lazy), None):
        lazy = Lazy()
        if checkpoint_of is None:
            path = tf.train.Checkpoint(saved).write(tmp_path / "root")
            status = tf.train.Checkpoint(lazy).read(path)
        else:
            status = checkpoint_of(lazy).restore(path)
        with pytest.raises(AssertionError):
            status.assert_consumed()
        lazy.build(0.0)
        assert values(lazy) == values(saved)
        status.assert_consumed()
        assert "_restorations" not in vars(lazy)
        lazy.w = tf.Variable([1.0, 1.0])
        assert lazy.w.numpy().tolist() == [1, 1]


def test_a_later_variable_of_another_shape_fails(tmp_path):
    saved, lazy = tf.Module(), tf.Module()
    saved.w = tf.Variable([1.0, 2.0])
    tf.train.Checkpoint(m=lazy).read(tf.train.Checkpoint(m=saved).write(tmp_path / "ckpt"))
    with pytest.raises(ValueError, match="incompatible tensor"):
        lazy.w = tf.Variable([0.0])


def test_what_came_into_a_list_is_restored_when_asked(tmp_path):
    saved, later = tf.Module(), tf.Module()
    saved.parts, later.parts = [tf.Variable(5.0)], []
    status = tf.train.Checkpoint(m=later).read(tf.train.Checkpoint(m=saved).write(tmp_path / "ckpt"))
    later.parts.append(tf.Variable(0.0))
    status.assert_consumed()
    assert float(later.parts[0]) == 5


def test_bad_input(tmp_path):
    with pytest.raises(ValueError, match="expecting a to be a trackable object"):
        tf.train.Checkpoint(a=3)
    with pytest.raises(ValueError, match="expecting root"):
        tf.train.Checkpoint(tf.constant(1.0))
    net = Net()
    with pytest.raises(ValueError, match="keyword argument a"):
        tf.train.Checkpoint(net, a=tf.Variable(1.0))
    net.named[(1, 2)] = tf.Variable(1.0)
    with pytest.raises(ValueError, match="strings or integers"):
        tf.train.Checkpoint(net=net).save(tmp_path / "ckpt")
    assert not list(tmp_path.iterdir())
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with pytest.raises(tf.errors.NotFoundError, match="double-check"):
        checkpoint.restore(tmp_path / "none")
    path = Path(checkpoint.write(tmp_path / "cut", ARCHIVE) + ".npz")
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(tf.errors.DataLossError):
            checkpoint.read(tmp_path / "cut")
    at = whole.index(b"\x93NUMPY") + 128
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with pytest.raises(tf.errors.DataLossError):
        checkpoint.read(tmp_path / "cut")


def test_a_save_that_fails_leaves_everything_as_it_was(tmp_path, monkeypatch):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    first = checkpoint.save(tmp_path / "ckpt")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk gone")))
    with pytest.raises(tf.errors.UnknownError, match=r"ckpt-2\.data-00000-of-00001; disk gone"):
        checkpoint.save(tmp_path / "ckpt")
    monkeypatch.undo()
    assert int(checkpoint.save_counter) == 1
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", *files_of("ckpt-1")]
    assert tf.train.latest_checkpoint(tmp_path) == first


def failing(function, at, error):
    """Returns `function`, which raises `error` in call number `at`, and a list with an entry per call."""
    calls = []

    def wrapped(*args, **kwargs):
        calls.append(args)
        if len(calls) == at:
            raise error
        return function(*args, **kwargs)

    return wrapped, calls


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), tf.errors.ResourceExhaustedError),
        (OSError(errno.EACCES, "Permission denied"), tf.errors.PermissionDeniedError),
        (OSError(errno.EROFS, "Read-only file system"), tf.errors.PermissionDeniedError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
    ids=["full", "denied", "read_only", "interrupt"],
)
@pytest.mark.parametrize(
    ("owner", "name"),
    [(io.FileIO, "__init__"), (io.FileIO, "write"), (os, "fsync"), (os, "replace")],
    ids=["open", "write", "fsync", "replace"],
)
@pytest.mark.parametrize("save_format", ["tf", "npz"])
def test_whatever_fails_the_checkpoint_before_is_whole(
    tmp_path, monkeypatch, owner, name, error, expected, save_format
):
    values = tf.Variable(np.arange(200_000.0))  # several writes
    checkpoint, options = tf.train.Checkpoint(values=values), tf.train.CheckpointOptions(save_format=save_format)
    first = checkpoint.save(tmp_path / "ckpt", options)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    values.assign(values * 2)
    at = 0
    while True:
        at += 1
        function, calls = failing(getattr(owner, name), at, error)
        if owner is io.FileIO:  # a class between that of the temporary files and Python's
            disk = type("Disk", (io.FileIO,), {name: function})
            monkeypatch.setattr(archive, "_Draft", type("Draft", (archive._Draft, disk), {}))
        else:
            monkeypatch.setattr(owner, name, function)
        try:
            checkpoint.write(first, options)
        except expected as raised:
            assert isinstance(raised, KeyboardInterrupt) or re.search(r"ckpt-1\.\S+; ", str(raised))
        else:
            break
        finally:
            monkeypatch.undo()
        in_place = name == "fsync" and at > (4 if save_format == "tf" else 1)  # it was the folder's: all is done
        present = {path: path.read_bytes() for path in tmp_path.iterdir()}
        assert not [path for path in present if path.suffix == ".part"]
        if save_format == "npz":
            assert sorted(present) == sorted(before) if in_place else present == before
        for path in present.keys() - before.keys():  # the previous data under its other name
            assert path.name == "ckpt-1.data-00000-of-00002"
        restored = tf.Variable(np.zeros(200_000))
        tf.train.Checkpoint(values=restored).read(first).expect_partial()
        assert in_place or restored.numpy()[-1] == 199_999
        for path in present:
            path.unlink()
        for path, data in before.items():
            path.write_bytes(data)
    assert len(calls) == at - 1 > 0
    assert sorted(tmp_path.iterdir()) == sorted(before)
    values.assign(values * 0)
    checkpoint.read(first).assert_consumed()
    assert values.numpy()[-1] == 2 * 199_999


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_at_every_moment_of_a_write_a_reader_finds_one_checkpoint(tmp_path, monkeypatch, shards):
    """Also one that TensorFlow has written with that many data files; a reader that is open keeps its own."""
    v = tf.Variable(np.arange(3.0))
    checkpoint, prefix = tf.train.Checkpoint(v=v), str(tmp_path / "ckpt")
    entries = {}
    checkpoint.write(prefix)
    if shards > 1:
        values = bundle.read_bundle(prefix)
        for shard, (name, value) in enumerate(values.items()):
            with archive.replacing(bundle.data_path(prefix, shard, shards)) as file:
                text = value.dtype == object
                named = {name: tf.constant(value.item())} if text else {name: value}
                entries |= bundle.write_data(file, named, shard)
        (tmp_path / "ckpt.index").write_bytes(bundle.index_of(entries, shards))
    opened, read = tf.train.load_checkpoint(prefix), []

    def looking(function):
        def call(*args, **kwargs):
            result = function(*args, **kwargs)
            read.append(tf.train.load_variable(prefix, "v" + VALUE).tolist())
            return result

        return call

    v.assign(v * 2)
    for name in ("replace", "link", "remove"):
        monkeypatch.setattr(os, name, looking(getattr(os, name)))
    checkpoint.write(prefix)
    monkeypatch.undo()
    assert read == sorted(read) and read[0] == [0, 1, 2] and read[-1] == [0, 2, 4]
    assert opened.get_tensor("v" + VALUE).tolist() == [0, 1, 2]
    assert sorted(os.listdir(tmp_path)) == files_of("ckpt")


def test_two_writers_of_one_checkpoint_leave_that_of_one(tmp_path):
    prefix, failed = str(tmp_path / "ckpt"), []

    def write(number):
        variables = [tf.Variable(np.full(1000 * number, float(number))) for _ in range(number)]
        try:
            for _ in range(20):
                tf.train.Checkpoint(v=variables).write(prefix)
                reader = tf.train.load_checkpoint(prefix)
                sizes = {reader.get_tensor(f"v/{i}{VALUE}").sum() for i in range(1)}
                assert sizes <= {1000.0, 4000.0, 9000.0}
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and sorted(os.listdir(tmp_path)) == files_of("ckpt")


def test_a_draft_does_not_follow_a_link(tmp_path, monkeypatch):
    (tmp_path / "victim").write_text("precious")
    monkeypatch.setattr(archive.secrets, "token_hex", lambda _: "guessed")
    (tmp_path / f"ckpt.index.guessed.{os.getpid()}.part").symlink_to(tmp_path / "victim")
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "ckpt")
    assert (tmp_path / "victim").read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 2  # the other draft has been removed


@pytest.mark.parametrize("ending", ["npz", "index", "data-00000-of-00001"])
def test_every_damaged_bit_and_every_missing_end_is_noticed(tmp_path, ending):
    v = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(v)
    path = Path(checkpoint.write(tmp_path / "ckpt", ARCHIVE if ending == "npz" else None) + f".{ending}")
    whole = path.read_bytes()
    flipped = [whole[:i] + bytes([whole[i] ^ 1 << bit]) + whole[i + 1 :] for i in range(len(whole)) for bit in range(8)]
    noticed = 0
    for damaged in [*flipped, *(whole[:size] for size in range(len(whole)))]:
        path.write_bytes(damaged)
        v.assign([0.0, 0.0])
        try:
            checkpoint.read(tmp_path / "ckpt").assert_consumed()
        except tf.errors.DataLossError as error:
            assert "ckpt" in str(error)
            noticed += 1
            expected = [0.0, 0.0]
        else:
            expected = [1.0, 2.0]  # it was, for example, a date that is never read
        assert v.numpy().tolist() == expected
    assert noticed > 6 * len(whole)


def test_a_damaged_list_of_checkpoints_is_as_good_as_none(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    path = checkpoint.save(tmp_path / "ckpt")
    state = tmp_path / "checkpoint"
    whole = state.read_bytes()
    for i in range(len(whole)):
        for bit in range(8):
            state.write_bytes(whole[:i] + bytes([whole[i] ^ 1 << bit]) + whole[i + 1 :])
            assert tf.train.latest_checkpoint(tmp_path) in (None, path)


def test_reading_values(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(tmp_path / "ckpt", ARCHIVE)
    assert tf.train.load_variable(tmp_path, "v" + VALUE).tolist() == [1, 2]
    reader = tf.train.load_checkpoint(path)
    assert reader.get_variable_to_shape_map()["v" + VALUE] == [2]
    assert reader.get_variable_to_dtype_map()["v" + VALUE] is tf.float32
    assert reader.has_tensor("v" + VALUE) and not reader.has_tensor("q")
    with pytest.raises(tf.errors.NotFoundError, match="Key q not found"):
        reader.get_tensor("q")
    with np.load(path + ".npz") as arrays:  # plain NumPy can read it
        assert arrays["v" + VALUE].tolist() == [1, 2]


def names(paths):
    return [os.path.basename(path) for path in paths]


def test_manager_keeps_the_last_ones(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    assert manager.latest_checkpoint is None and manager.checkpoints == []
    assert names(manager.save() for _ in range(4)) == ["ckpt-1", "ckpt-2", "ckpt-3", "ckpt-4"]
    assert names(manager.checkpoints) == ["ckpt-3", "ckpt-4"]
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", *files_of("ckpt-3"), *files_of("ckpt-4")]
    assert names([manager.save(checkpoint_number=10)]) == ["ckpt-10"]
    again = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=3)
    assert names(again.checkpoints) == ["ckpt-4", "ckpt-10"]
    assert again.latest_checkpoint == tf.train.latest_checkpoint(tmp_path)
    with pytest.raises(ValueError, match="max_to_keep"):
        tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=0)


def test_manager_keeps_some_for_good(tmp_path):
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=tf.Variable(1.0)), tmp_path, max_to_keep=1, keep_checkpoint_every_n_hours=1e-9
    )
    for _ in range(3):
        manager.save()
    assert len(os.listdir(tmp_path)) == 1 + 2 * 3
    assert names(manager.checkpoints) == ["ckpt-3"]


def test_manager_waits_for_an_interval(tmp_path):
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(step=step)
    with pytest.raises(ValueError, match="step_counter"):
        tf.train.CheckpointManager(checkpoint, tmp_path, 2, checkpoint_interval=2)
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 2, step_counter=step, checkpoint_interval=2)
    saved = []
    for _ in range(5):
        saved.append(manager.save() is not None)
        step.assign_add(1)
    assert saved == [True, False, True, False, True]
    assert manager.save(check_interval=False) is not None


def test_restore_or_initialize(tmp_path):
    v, called = tf.Variable(1.0), []
    checkpoint = tf.train.Checkpoint(v=v)
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 2, init_fn=lambda: called.append(1))
    assert manager.restore_or_initialize() is None and called == [1]
    path = manager.save()
    v.assign(5.0)
    assert manager.restore_or_initialize() == path and float(v) == 1 and called == [1]


def test_generators_go_on_where_they_were(tmp_path):
    generator = tf.random.Generator.from_seed(1)
    path = tf.train.Checkpoint(g=generator).write(tmp_path / "ckpt")
    first = generator.normal([3]).numpy()
    tf.train.Checkpoint(g=generator).read(path).assert_consumed()
    assert generator.normal([3]).numpy().tolist() == first.tolist()


def test_no_tape_sees_a_restoration(tmp_path):
    v = tf.Variable(2.0)
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.write(tmp_path / "ckpt")
    with tf.GradientTape() as tape:
        checkpoint.read(path)
        y = v * v
    assert float(tape.gradient(y, v)) == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the writers are forked")
@pytest.mark.parametrize("how", ["manager", "tf", "npz"])
def test_killed_writers_leave_a_whole_checkpoint(tmp_path, how):
    """GRADTAPE_KILLS=50 sets the number of kills."""
    kills = int(os.environ.get("GRADTAPE_KILLS", "10"))
    script = Path(__file__).parent / "kill_writers.py"
    done = subprocess.run([sys.executable, script, tmp_path, str(kills), how], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    count, last_step, _ = map(int, done.stdout.split())
    assert count == kills and last_step > 1


def test_moving_average():
    v = tf.Variable([1.0, 2.0])
    average = tf.train.ExponentialMovingAverage(0.9)
    assert average.average(v) is None
    average.apply([v])
    v.assign([3.0, 4.0])
    average.apply([v])
    np.testing.assert_allclose(average.average(v), [1.2, 2.2], rtol=1e-6)
    assert average.average(v).name == "Variable/ExponentialMovingAverage:0" and not average.average(v).trainable
    assert list(average.variables_to_restore()) == ["Variable/ExponentialMovingAverage"]
    early = tf.train.ExponentialMovingAverage(0.9, num_updates=1)
    w = tf.Variable(1.0)
    early.apply([w])
    w.assign(3.0)
    early.apply([w])
    np.testing.assert_allclose(early.average(w), 3 - 2 * 2 / 11, rtol=1e-6)
    for wrong in (tf.constant(1.0), tf.Variable(1)):
        with pytest.raises(TypeError):
            average.apply([wrong])


def test_a_name_may_end_like_a_file(tmp_path):
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.write(tmp_path / "weights.npz", ARCHIVE)
    for given in (path, path + ".npz", os.fsencode(path)):
        v.assign(2.0)
        checkpoint.read(given).assert_consumed()
        assert float(v) == 1.0


def test_a_file_of_another_kind_is_closed_and_named(tmp_path):
    np.savez(tmp_path / "other.npz", a=[1.0])
    with pytest.raises(tf.errors.DataLossError, match="no archive of tensors"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).read(tmp_path / "other")


def test_an_iterator_goes_back_to_where_it_was_saved(tmp_path):
    iterator = iter(tf.data.Dataset.range(20))
    checkpoint = tf.train.Checkpoint(iterator=iterator, step=tf.Variable(0))
    taken = [int(next(iterator)) for _ in range(5)]
    path = checkpoint.save(tmp_path / "ckpt")
    assert taken + [int(next(iterator)) for _ in range(3)] == list(range(8))
    checkpoint.restore(path).assert_consumed()
    assert int(next(iterator)) == 5
    other = iter(tf.data.Dataset.range(20).map(lambda x: x * 10))
    tf.train.Checkpoint(iterator=other, step=tf.Variable(0)).restore(path).assert_consumed()
    assert [int(x) for x in other] == [50 + 10 * i for i in range(15)]


def test_a_list_that_holds_itself_can_be_saved(tmp_path):
    module = tf.Module()
    module.parts = [tf.Variable(1.0)]
    module.parts.append(module.parts)
    path = tf.train.Checkpoint(module=module).save(tmp_path / "cyclic")
    module.parts[0].assign(2.0)
    tf.train.Checkpoint(module=module).restore(path).assert_consumed()
    assert float(module.parts[0]) == 1.0


def test_what_comes_into_lists_and_dicts_later_is_restored(tmp_path):
    saved = tf.Module()
    saved.layers, saved.named = [tf.Variable(1.0), tf.Variable(2.0)], {"a": tf.Variable(3.0)}
    saved.late, saved.nested = [tf.Variable(4.0), tf.Variable(5.0)], [[tf.Variable(6.0)]]
    path = tf.train.Checkpoint(saved=saved).write(tmp_path / "ckpt")
    module = tf.Module()
    module.layers, module.named, module.nested = [tf.Variable(0.0)], {}, []
    status = tf.train.Checkpoint(saved=module).read(path)
    module.layers.append(tf.Variable(0.0))
    module.named["a"] = tf.Variable(0.0)
    module.late = []
    module.late += [tf.Variable(0.0)]
    module.late.extend([tf.Variable(0.0)])
    module.nested.append([tf.Variable(0.0)])
    assert [float(v) for v in module.variables] == [4.0, 5.0, 1.0, 2.0, 3.0, 6.0]
    status.assert_consumed()
    assert isinstance(module.layers, list) and type(copy.deepcopy(module.layers)) is list
    module.layers.append(tf.Variable(7.0))  # nothing waits for it
    assert float(module.layers[2]) == 7.0


@pytest.mark.parametrize("as_archive", [False, True])
def test_a_process_without_memory_tells_the_others_and_leaves_no_shard(tmp_path, monkeypatch, as_archive):
    told = []

    def exchange(value):
        told.append(value)
        return [value, None]

    def fails(*args):
        raise MemoryError("no memory")

    group = shared.Group(0, 2, exchange, shards=True)
    with shared.write_together(group):
        monkeypatch.setattr(shared.archive.ArchiveWriter, "finish", fails)
        monkeypatch.setattr(shared.bundle, "_write_tensor", fails)
        with pytest.raises(MemoryError):
            shared.write(str(tmp_path / "ckpt"), CONTENTS, as_archive)
    assert told == [["ResourceExhaustedError", "no memory"]] and not list(tmp_path.iterdir())


@pytest.mark.parametrize("as_archive", [False, True])
def test_shards_without_a_main_file_are_removed(tmp_path, monkeypatch, as_archive):
    entries = [] if as_archive else [[{}, {}]]
    answers = iter([[None, None], *entries, [["UnknownError", "disk full"], None]])
    with shared.write_together(shared.Group(1, 2, lambda value: next(answers), shards=True)):
        with pytest.raises(tf.errors.UnknownError, match="rank 0 could not write"):
            shared.write(str(tmp_path / "ckpt"), CONTENTS, as_archive)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("as_tensor", [False, True])
def test_a_function_writes_a_checkpoint_in_every_call(tmp_path, as_tensor):
    checkpoint, path = tf.train.Checkpoint(v=tf.Variable(1.0)), str(tmp_path / "ckpt")

    @tf.function
    def step(prefix):
        checkpoint.v.assign_add(1.0)
        return checkpoint.write(prefix)

    for expected in (2.0, 3.0, 4.0):
        assert step(tf.constant(path) if as_tensor else path).numpy() == path.encode()
        assert tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE") == expected
    with pytest.raises(tf.errors.NotFoundError):
        step(tf.constant(str(tmp_path / "missing" / "ckpt")))
    with pytest.raises(NotImplementedError, match="from a function is not supported"):
        tf.function(checkpoint.save)(path)


def test_callbacks_are_called_with_the_path(tmp_path):
    called = []
    options = tf.train.CheckpointOptions(experimental_write_callbacks=[called.append, lambda: called.append("done")])
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(str(tmp_path / "ckpt"), options)
    assert called == [path, "done"]
    with pytest.raises(AssertionError, match="callback"):
        tf.train.CheckpointOptions(experimental_write_callbacks=[lambda path, more: None])


def test_a_partial_restoration_does_not_keep_objects_alive(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(2.0), w=tf.Variable(3.0)).save(str(tmp_path / "ckpt"))
    partial = tf.train.Checkpoint(v=tf.Variable(0.0))
    partial.restore(path).expect_partial()
    references = [weakref.ref(partial), weakref.ref(partial.v)]
    del partial
    assert [reference() for reference in references] == [None, None]
    status = tf.train.Checkpoint(v=tf.Variable(0.0)).restore(path)  # it keeps its root alive
    with pytest.raises(AssertionError, match="w/"):
        status.assert_consumed()
