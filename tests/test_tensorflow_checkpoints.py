"""Checkpoints in TensorFlow's format: those in data/checkpoints were written by TensorFlow 2.21."""

import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from gradtape.checkpoint import bundle, tensorflow_graph
from gradtape.checkpoint.object_graph import ObjectNode, SlotVariable
from gradtape.checkpoint.table import read_table, table_of
from gradtape.core.protos.records import decoded
from gradtape.core.protos.wire import DecodeError, varint
from gradtape.state.checksums import Checksum, crc32c, masked_crc32c

FOLDER = Path(__file__).parent / "data" / "checkpoints"
SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
KINDS = (
    "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128 bool"
).split()


@pytest.fixture
def copied(tmp_path):
    """Returns a copy of the checkpoint `kinds`, to be damaged."""
    for path in FOLDER.glob("kinds.*"):
        shutil.copy(path, tmp_path)
    return tmp_path / "kinds"


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_every_dtype(kind):
    value = tf.train.load_variable(FOLDER / "kinds", kind + SUFFIX)
    expected = tf.cast([[0, 1, 2], [3, 4, 5]], kind)
    assert value.dtype == expected.numpy().dtype
    np.testing.assert_array_equal(value, expected.numpy())


def test_scalars_empty_tensors_and_strings():
    reader = tf.train.load_checkpoint(FOLDER / "kinds")
    assert reader.get_tensor("scalar" + SUFFIX) == np.float32(2.5)
    assert reader.get_tensor("empty" + SUFFIX).shape == (0, 3)
    assert reader.get_tensor("text" + SUFFIX).tolist() == [[b"a", b"bcd"], [b"", "ü".encode()]]
    assert reader.get_tensor("text_scalar" + SUFFIX) == b"hello"
    assert reader.get_variable_to_dtype_map()["text" + SUFFIX] is tf.string
    assert ("module/byname/a..b.Sc" + SUFFIX, []) in tf.train.list_variables(FOLDER / "kinds")
    with pytest.raises(tf.errors.NotFoundError, match="Key nope not found in checkpoint"):
        reader.get_tensor("nope")


def module_of_zeros():
    module = tf.Module()
    module.layers = [tf.Variable([0.0, 0.0]), tf.Variable([0.0])]
    module.byname = {"a.b/c": tf.Variable(0)}
    module.shared = module.layers[0]
    return module


def test_objects_are_matched_by_the_names_of_edges():
    module = module_of_zeros()
    status = tf.train.Checkpoint(module=module).read(FOLDER / "kinds")
    assert module.layers[0].numpy().tolist() == [1.0, 2.0]
    assert module.layers[1].numpy().tolist() == [3.0]
    assert int(module.byname["a.b/c"]) == 7
    status.assert_existing_objects_matched().assert_nontrivial_match().expect_partial()
    with pytest.raises(AssertionError, match="bfloat16"):
        status.assert_consumed()
    with pytest.raises(AssertionError, match="not bound to checkpointed values"):
        tf.train.Checkpoint(other=tf.Variable(1.0)).read(FOLDER / "kinds").assert_existing_objects_matched()


def test_variables_made_later_get_their_values():
    module = tf.Module()
    tf.train.Checkpoint(module=module).read(FOLDER / "kinds")
    module.shared = tf.Variable([0.0, 0.0])
    assert module.shared.numpy().tolist() == [1.0, 2.0]


def test_what_does_not_fit_changes_nothing():
    module = module_of_zeros()
    module.layers[1] = tf.Variable([0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"shape \(1,\) when attempting to restore variable with shape \(3,\)"):
        tf.train.Checkpoint(module=module).read(FOLDER / "kinds")
    assert module.layers[0].numpy().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("stepped", [False, True])
def test_an_optimizer_goes_on_where_tensorflows_was(stepped):
    v, optimizer = tf.Variable([0.0, 0.0]), tf.compat.v1.train.AdamOptimizer(0.1)
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    if stepped:
        optimizer.minimize(lambda: tf.reduce_sum(v * v))
    status = tf.train.Checkpoint(v=v, optimizer=optimizer, table=table).restore(FOLDER / "slots-1")
    optimizer.minimize(lambda: tf.reduce_sum(v * v))
    status.assert_consumed()
    assert v.numpy().tolist() == [0.8004125952720642, 1.8001668453216553]
    assert table.lookup(["b", "a", "c"]).numpy().tolist() == [2, 1, -1]


def test_slots_are_saved_and_restored(tmp_path):
    v, optimizer = tf.Variable([1.0, 2.0]), tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(lambda: tf.reduce_sum(v * v))
    path = tf.train.Checkpoint(v=v, optimizer=optimizer).write(tmp_path / "ckpt")
    assert [name for name, _ in tf.train.list_variables(path)] == [
        bundle.OBJECT_GRAPH,
        "v" + SUFFIX,
        "v/.OPTIMIZER_SLOT/optimizer/momentum" + SUFFIX,
    ]
    w, other = tf.Variable([0.0, 0.0]), tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    tf.train.Checkpoint(v=w, optimizer=other).read(path).assert_consumed()
    optimizer.minimize(lambda: tf.reduce_sum(v * v))
    other.minimize(lambda: tf.reduce_sum(w * w))
    np.testing.assert_array_equal(v.numpy(), w.numpy())


def test_values_by_name_and_in_parts():
    assert tf.train.list_variables(FOLDER / "named") == [("scope/p0", [2]), ("scope/p1", [2]), ("table", [72, 1])]
    assert tf.train.load_variable(FOLDER / "named", "table").ravel().tolist() == list(range(72))
    assert tf.train.load_variable(FOLDER / "named", "scope/p1").tolist() == [1.0, 2.0]


def test_without_a_graph_of_objects_variables_are_found_by_their_names():
    p0, p1 = tf.Variable([0.0, 0.0], name="scope/p0"), tf.Variable([0.0, 0.0], name="other")
    tf.train.Checkpoint(a=p0).restore(FOLDER / "named").assert_consumed()
    assert p0.numpy().tolist() == [1.0, 2.0]
    status = tf.train.Checkpoint(a=p0, b=p1).restore(FOLDER / "named").expect_partial()
    with pytest.raises(AssertionError, match="none named other"):
        status.assert_consumed()


def test_every_flipped_or_missing_byte_is_a_data_loss(copied):
    for path in copied.parent.iterdir():
        whole = path.read_bytes()
        unchecked = range(len(whole) - 44, len(whole) - 8) if path.suffix == ".index" else ()  # zero padding
        for at in range(0, len(whole), 29):
            damages = [whole[:at], whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :]]
            for damaged in damages[: 1 if at in unchecked else 2]:
                path.write_bytes(damaged)
                with pytest.raises(tf.errors.DataLossError, match="kinds"):
                    bundle.read_bundle(copied)
        path.write_bytes(whole)
    assert len(bundle.read_bundle(copied)) == 23


def test_missing_files(copied, tmp_path):
    next(tmp_path.glob("*.data*")).unlink()
    with pytest.raises(tf.errors.NotFoundError, match="data-00000-of-00001"):
        tf.train.load_variable(copied, "scalar" + SUFFIX)
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        tf.train.load_checkpoint(tmp_path / "none")
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"):
        tf.train.load_checkpoint(tmp_path)


def test_a_folder_of_tensorflows_is_gone_on_with(tmp_path):
    """The latest checkpoint is found; the manager continues counting, and deletes TensorFlow's old files."""
    for path in FOLDER.glob("slots-1.*"):
        shutil.copy(path, tmp_path)
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "slots-1"\nall_model_checkpoint_paths: "slots-1"\n')
    v = tf.Variable([0.0, 0.0])
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), tmp_path, 1, checkpoint_name="slots")
    assert manager.restore_or_initialize() == str(tmp_path / "slots-1") == tf.train.latest_checkpoint(tmp_path)
    assert v.numpy().tolist() == pytest.approx([0.9, 1.9])
    assert manager.save() == str(tmp_path / "slots-2")
    files = ["checkpoint", "slots-2.data-00000-of-00001", "slots-2.index"]
    assert sorted(path.name for path in tmp_path.iterdir()) == files


def test_what_is_written_is_read_back(tmp_path):
    tensors = {
        "a": tf.cast([1.5, 2.0], tf.bfloat16),
        "b": np.zeros((0, 2), np.int8),
        "c": np.array(3.0),
        "text": [["a", "long" * 1000], ["", "ü"]],
        "flags": [True, False],
        "large": np.arange(100000.0),
    }
    bundle.write_bundle(tmp_path / "x", tensors)
    found = bundle.read_bundle(tmp_path / "x")
    assert sorted(found) == sorted(tensors)
    for name, value in tensors.items():
        np.testing.assert_array_equal(found[name], tf.convert_to_tensor(value).numpy())
    assert found["c"].shape == () and found["text"][0, 0] == b"a"
    assert not list(tmp_path.glob("*.part"))


def test_checksums_of_parts_are_those_of_the_whole():
    """Compared with the definition, at the sizes where another way of computing begins."""
    random = np.random.RandomState(0)
    data = random.bytes(100_003)
    register, expected = 0xFFFFFFFF, {}
    for count, byte in enumerate(data):
        expected[count] = register ^ 0xFFFFFFFF
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    for size in [*range(10), 2047, 2048, 6776, 6777, 6778, 6784, 54215, 54216, 54217, 54224, 100_000]:
        parts, start = Checksum(), 0
        while start < size:
            end = random.randint(start, size) + 1
            parts.update(data[start:end])
            start = end
        assert crc32c(data[:size]) == parts.value == expected[size], size


def paths_of(prefix):
    """Returns what a reader finds on each way from the root of the stored graph: keys of values, and slots."""
    nodes = decoded("TrackableObjectGraph", bundle.BundleReader(prefix).object_graph).nodes
    ways, waiting = {0: ""}, [0]
    for number in waiting:
        for child in sorted(nodes[number].children, key=lambda child: child.local_name):
            if child.node_id not in ways:
                ways[child.node_id] = f"{ways[number]}/{child.local_name}"
                waiting.append(child.node_id)
    for number, node in enumerate(nodes):
        for slot in node.slot_variables:
            of = ways[slot.original_variable_node_id]
            ways[slot.slot_variable_node_id] = f"{ways[number]}/{slot.slot_name} of {of}"
    assert len(ways) == len(nodes)
    edges = {(way, child.local_name) for number, way in ways.items() for child in nodes[number].children}
    stored = {
        (way, stored.name, stored.checkpoint_key) for number, way in ways.items() for stored in nodes[number].attributes
    }
    return edges, stored, sorted(ways.values())


@pytest.mark.parametrize("name", ["kinds", "slots-1"])
def test_what_is_written_is_what_tensorflow_writes(tmp_path, name):
    """Keys, values, objects, attributes and slots of `tools/record_checkpoints.py`: TensorFlow matches all by these."""
    if name == "kinds":
        objects = {kind: tf.Variable(tf.cast([[0, 1, 2], [3, 4, 5]], kind)) for kind in KINDS}
        objects |= {"scalar": tf.Variable(2.5), "empty": tf.Variable(np.zeros((0, 3), np.float32))}
        objects |= {"text": tf.Variable([["a", "bcd"], ["", "ü"]]), "text_scalar": tf.Variable("hello")}
        module = objects["module"] = tf.Module()
        module.layers, module.byname = [tf.Variable([1.0, 2.0]), tf.Variable([3.0])], {"a.b/c": tf.Variable(7)}
        module.shared = module.layers[0]
        path = tf.train.Checkpoint(**objects).write(tmp_path / name)
    else:
        v, optimizer = tf.Variable([1.0, 2.0], name="v"), tf.compat.v1.train.AdamOptimizer(0.1)
        optimizer.minimize(lambda: tf.reduce_sum(v * v))
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        table.insert(["a", "b"], [1, 2])
        path = tf.train.Checkpoint(v=v, optimizer=optimizer, table=table).save(tmp_path / "slots")
    assert tf.train.list_variables(path) == tf.train.list_variables(FOLDER / name)
    ours, theirs = tf.train.load_checkpoint(path), tf.train.load_checkpoint(FOLDER / name)
    assert ours.get_variable_to_dtype_map() == theirs.get_variable_to_dtype_map()
    for key, _ in tf.train.list_variables(path):
        if key != bundle.OBJECT_GRAPH:
            order = np.sort if "/table-" in key else np.asarray  # the rows of a table have none
            np.testing.assert_array_equal(order(ours.get_tensor(key)), order(theirs.get_tensor(key)))
    assert paths_of(path) == paths_of(FOLDER / name)


def test_tables_of_several_blocks():
    entries = {f"key/{i:06d}".encode(): bytes([i % 256]) * (i % 50) for i in range(20000)}
    data = table_of(entries)
    assert read_table(data) == entries
    with pytest.raises(DecodeError, match="checksum"):
        read_table(data[:1000] + bytes([data[1000] ^ 1]) + data[1001:])


def compressed(table):
    """Returns a table with Snappy-compressed blocks: a long run of bytes, a short one and copies of zeros."""

    def block(data):
        zeros = len(data) - len(data.rstrip(b"\0"))
        body = data[: len(data) - zeros]
        out = varint(len(data)) + bytes([60 << 2, len(body) - 1]) + body if body else varint(len(data))
        if zeros:
            out += b"\0\0"  # a run of one byte
            for size in [4] * ((zeros - 1) // 4):
                out += bytes([(size - 4) << 2 | 1, 1])  # four bytes from one before: it overlaps itself
            for _ in range((zeros - 1) % 4):
                out += bytes([2, 1, 0])
        return out + b"\1" + struct.pack("<I", masked_crc32c(out + b"\1")), len(out)

    entries = [varint(0) + varint(len(k)) + varint(len(v)) + k + v for k, v in sorted(table.items())]
    blocks = [b"".join(entries) + struct.pack("<II", 0, 1), struct.pack("<II", 0, 1)]
    written, handles = b"", []
    for data in blocks:
        stored, size = block(data)
        handles.append(varint(len(written)) + varint(size))
        written += stored
    key = max(table)
    stored, size = block(
        varint(0) + varint(len(key)) + varint(len(handles[0])) + key + handles[0] + struct.pack("<II", 0, 1)
    )
    handles.append(varint(len(written)) + varint(size))
    return written + stored + (handles[1] + handles[2]).ljust(40, b"\0") + table_of({})[-8:]


def test_compressed_tables():
    """TensorFlow before 2.4 compresses the table."""
    table = {b"": b"head", b"a": b"values" * 5, b"b": bytes(23)}
    assert read_table(compressed(table)) == table


def test_graphs_of_objects_are_written_as_read():
    nodes = [
        ObjectNode({"v": 1, "o": 2}, None),
        ObjectNode({}, "v" + SUFFIX),
        ObjectNode({"back": 0}, None, (SlotVariable(1, "m", 3),)),
        ObjectNode({}, "m"),
    ]
    assert tensorflow_graph.decode_graph(tensorflow_graph.encode_graph(nodes, {"m": "v/Adam"})) == nodes
    stored = bundle.BundleReader(FOLDER / "slots-1").object_graph
    found = tensorflow_graph.decode_graph(stored)
    assert found[0].children.keys() == {"optimizer", "table", "v", "save_counter"}
    with pytest.raises(DecodeError, match="leads nowhere"):
        tensorflow_graph.decode_graph(tensorflow_graph.encode_graph([ObjectNode({"v": 5}, None)]))


def test_the_folder_of_a_saved_model_stands_for_its_checkpoint(tmp_path):
    (tmp_path / "variables").mkdir()
    for path in FOLDER.glob("slots-1.*"):
        shutil.copy(path, tmp_path / "variables" / path.name.replace("slots-1", "variables"))
    v = tf.Variable([0.0, 0.0])
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.Checkpoint(v=v).read(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"")
    tf.train.Checkpoint(v=v).read(tmp_path).expect_partial()
    assert v.numpy().tolist() == pytest.approx([0.9, 1.9])


def test_files_are_looked_after_as_in_tensorflow_1(tmp_path):
    train = tf.compat.v1.train
    for path in FOLDER.glob("slots-1.*"):
        shutil.copy(path, tmp_path)
    theirs, ours = str(tmp_path / "slots-1"), tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "ours")
    assert [train.checkpoint_exists(path) for path in (theirs, ours, tmp_path / "none")] == [True, True, False]
    assert len(train.get_checkpoint_mtimes([theirs, tmp_path / "none", ours])) == 2
    train.update_checkpoint_state(tmp_path, ours, [theirs])
    assert tf.train.latest_checkpoint(tmp_path) == ours
    assert tf.train.get_checkpoint_state(tmp_path).all_model_checkpoint_paths == [theirs, ours]
    with pytest.raises(ValueError, match="Length of timestamps"):
        train.update_checkpoint_state(tmp_path, ours, [theirs], all_model_checkpoint_timestamps=[1.0])
    for path in (theirs, ours):
        train.remove_checkpoint(path)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


def test_checkpoints_come_one_after_another(tmp_path):
    checkpoint, asked = tf.train.Checkpoint(v=tf.Variable(1.0)), []
    assert not list(tf.train.checkpoints_iterator(tmp_path, timeout=0))

    def saved():
        """Another checkpoint appears after each of the first two calls."""
        asked.append(checkpoint.save(tmp_path / "ckpt") if len(asked) < 2 else None)
        return len(asked) > 2

    assert list(tf.train.checkpoints_iterator(tmp_path, timeout=0, timeout_fn=saved)) == asked[:2]
