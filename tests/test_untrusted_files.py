"""Malicious files: nothing in them runs, names a file elsewhere, or blocks the reader."""

import gzip
import json
import os
import struct
import zipfile
import zlib

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.protos.records import Record, decoded, encoded

S = tf.TensorSpec


def plain(value):
    """Returns a message as dicts, which `encoded` takes."""
    if isinstance(value, Record):
        return {key: plain(part) for key, part in value.values.items()}
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


class SavedModel:
    """A SavedModel whose message is modified by hand."""

    def __init__(self, folder, module):
        tf.saved_model.save(module, folder)
        self.folder = folder
        self.message = plain(decoded("SavedModel", (folder / "saved_model.pb").read_bytes()))
        self.graph = self.message["meta_graphs"][0]

    def function(self, name):
        functions = self.graph["graph_def"]["library"]["function"]
        return next(f for f in functions if name in f["signature"]["name"])

    def load(self, **options):
        (self.folder / "saved_model.pb").write_bytes(encoded("SavedModel", self.message))
        return tf.saved_model.load(self.folder, options=tf.saved_model.LoadOptions(**options))


def of_paths(folder, op, output, inputs):
    """A SavedModel with a function of a path, which runs an op on it."""

    def named(path):
        return tf.identity(path)

    module = tf.Module()
    module.f = tf.function(named, input_signature=[S([], tf.string)])
    saved = SavedModel(folder, module)
    function = saved.function("named")
    node, result = function["node_def"]
    node.update(op=op, input=inputs(node["input"][0]), attr={})
    result["input"] = [f"{node['name']}:{output}:0"] if output else [*inputs(node["input"][0])[:1], f"^{node['name']}"]
    return saved


def test_a_loaded_function_does_not_write_files(tmp_path):
    saved = of_paths(tmp_path / "m", "WriteFile", "", lambda path: [path, path])
    target = tmp_path / "MARK"
    with pytest.raises(tf.errors.PermissionDeniedError, match=r"WriteFile.*MARK.*allow_file_access=True"):
        saved.load().f(str(target))
    with pytest.raises(tf.errors.PermissionDeniedError):
        saved.load().f(str(tmp_path / "m/MARK"))
    with pytest.raises(tf.errors.PermissionDeniedError):
        saved.load().signatures["serving_default"](tf.constant(str(target)))
    assert not list(tmp_path.rglob("MARK"))
    saved.load(allow_file_access=True).f(str(target))
    assert target.read_text() == str(target)


def test_a_loaded_function_reads_its_own_folder_alone(tmp_path):
    saved = of_paths(tmp_path / "m", "ReadFile", "contents", lambda path: [path])
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "m/assets").mkdir(exist_ok=True)
    (tmp_path / "m/assets/words").write_text("a b")
    read = saved.load().f
    assert read(str(tmp_path / "m/assets/words")).numpy() == b"a b"
    for path in (tmp_path / "secret", tmp_path / "m/../secret", tmp_path / "m/assets/../../secret"):
        with pytest.raises(tf.errors.PermissionDeniedError, match=r"ReadFile.*secret.*allow_file_access=True"):
            read(str(path))
    assert saved.load(allow_file_access=True).f(str(tmp_path / "secret")).numpy() == b"secret"


def test_a_table_is_filled_from_the_own_folder_alone(tmp_path):
    module = tf.Module()
    rows = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
    module.table = tf.lookup.StaticHashTable(rows, -1)
    module.f = tf.function(module.table.lookup, input_signature=[S([None], tf.string)])
    saved = SavedModel(tmp_path / "m", module)
    (tmp_path / "secret").write_text("root\n")
    function = saved.function("initializer")
    path = tmp_path / "secret"
    node = next(node for node in function["node_def"] if node["op"] == "LookupTableImportV2")
    text = np.array(os.fsencode(path), object)
    constant = {"value": {"tensor": tf.io.serialize_tensor(tf.constant(text)).numpy()}, "dtype": {"type": 7}}
    function["node_def"].append({"name": "path", "op": "Const", "input": [], "attr": constant})
    numbers = {"key_index": {"i": -2}, "value_index": {"i": -1}, "vocab_size": {"i": -1}, "delimiter": {"s": b"\t"}}
    node.update(op="InitializeTableFromTextFileV2", input=[node["input"][0], "path:output:0"], attr=numbers)
    with pytest.raises(tf.errors.PermissionDeniedError, match="secret"):
        saved.load()
    assert saved.load(allow_file_access=True).f(["root"]).numpy().tolist() == [0]


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "a\0b", ""])
def test_an_asset_is_in_the_folder(tmp_path, name):
    words = tmp_path / "words.txt"
    words.write_text("a b")
    module = tf.Module()
    module.file = tf.saved_model.Asset(str(words))
    saved = SavedModel(tmp_path / "m", module)
    saved.graph["asset_file_def"][0]["filename"] = name
    with pytest.raises(tf.errors.DataLossError, match="not in its folder"):
        saved.load()


def chain(tmp_path, count):
    """A SavedModel with a number of functions, each of which calls the previous one twice."""

    def first(x):
        return x + 1.0

    functions = [tf.function(first, input_signature=[S([])])]
    module = tf.Module()
    module.f = functions[0]
    saved = SavedModel(tmp_path / "m", module)
    library = saved.graph["graph_def"]["library"]["function"]
    name = saved.function("first")["signature"]["name"]
    caller = saved.function("signature_wrapper")
    for i in range(count):
        text = json.dumps(caller, default=lambda b: b.decode("latin1"))
        copy = json.loads(text)
        copy["signature"]["name"] = f"caller_{i}"
        call = next(node for node in copy["node_def"] if "f" in node["attr"])
        call["attr"]["f"]["func"]["name"] = name if i == 0 else f"caller_{i - 1}"
        again = {**json.loads(json.dumps(call)), "name": "again", "input": [f"{call['name']}:output:0"]}
        next(node for node in copy["node_def"] if node["op"] == "Identity")["input"] = ["again:output:0"]
        copy["node_def"].append(again)
        library.append(copy)
    return saved, library


def test_functions_that_multiply_calls_are_refused(tmp_path):
    saved, _ = chain(tmp_path, 60)
    with pytest.raises(tf.errors.DataLossError, match="more than 1000000 nodes"):
        saved.load()


def test_functions_that_call_each_other_are_refused(tmp_path):
    saved, library = chain(tmp_path, 3)
    call = next(node for node in library[-3]["node_def"] if "f" in node["attr"])
    call["attr"]["f"]["func"]["name"] = "caller_2"
    with pytest.raises(tf.errors.DataLossError, match="calls itself"):
        saved.load()


def test_a_loop_in_what_runs_at_load_is_refused(tmp_path):
    module = tf.Module()
    rows = tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([0], tf.int64))
    module.table = tf.lookup.StaticHashTable(rows, -1)
    module.loop = tf.function(lambda x: tf.while_loop(lambda x: x < 3.0, lambda x: [x + 1.0], [x]),
                              input_signature=[S([])])  # fmt: skip
    saved = SavedModel(tmp_path / "m", module)
    loop = next(node for f in saved.graph["graph_def"]["library"]["function"] for node in f["node_def"]
                if node["op"] in ("While", "StatelessWhile"))  # fmt: skip
    saved.function("initializer")["node_def"].append({**loop, "name": "loop", "input": []})
    with pytest.raises(tf.errors.InvalidArgumentError, match="might never end"):
        saved.load()


@pytest.mark.parametrize("number", [-1, 7, 2**31])
def test_objects_that_are_not_there(tmp_path, number):
    module = tf.Module()
    module.v = tf.Variable(1.0)
    saved = SavedModel(tmp_path / "m", module)
    saved.graph["object_graph_def"]["nodes"][0]["children"][0]["node_id"] = number
    with pytest.raises(tf.errors.DataLossError, match=f"refers to number {number}"):
        saved.load()


@pytest.mark.parametrize("name", ["__class__", "__dict__", "_was_set", "__init__"])
def test_attributes_that_python_uses(tmp_path, name):
    module = tf.Module()
    module.v = {"a": tf.Variable(1.0)}
    saved = SavedModel(tmp_path / "m", module)
    saved.graph["object_graph_def"]["nodes"][0]["children"][0]["local_name"] = name
    with pytest.raises(tf.errors.DataLossError, match="is named"):
        saved.load(experimental_skip_checkpoint=True)


def test_dtypes_of_nodes_are_checked(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x + 1.0, input_signature=[S([])])
    saved = SavedModel(tmp_path / "m", module)
    node = next(node for node in saved.function("lambda")["node_def"] if node["op"] == "AddV2")
    node["attr"]["T"]["type"] = 2
    with pytest.raises(tf.errors.DataLossError, match=r"takes \[float64, float64\], and is given \[float32, float32\]"):
        saved.load().f(1.0)


def test_a_message_nested_too_deeply(tmp_path):
    tf.saved_model.save(tf.Module(), tmp_path / "m")
    value = {"none_value": {}}
    for _ in range(120):
        value = {"list_value": {"values": [value]}}
    saved = plain(decoded("SavedModel", (tmp_path / "m/saved_model.pb").read_bytes()))
    functions = {"f": {"canonicalized_input_signature": value}}
    saved["meta_graphs"][0]["object_graph_def"]["concrete_functions"] = functions
    (tmp_path / "m/saved_model.pb").write_bytes(encoded("SavedModel", saved))
    with pytest.raises(OSError, match="within each other"):
        tf.saved_model.load(tmp_path / "m")


def rewritten(path, change):
    """Changes the contents of an archive, given as a dict of its members."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


KEY = "v/.ATTRIBUTES/VARIABLE_VALUE"
ARCHIVE = tf.train.CheckpointOptions(save_format="npz")


@pytest.mark.parametrize(
    "old, new",
    [
        (b"'shape': (2,)", b"'shape': (4000000000000,)"),
        (b"{'descr'", b"{open('MARK', 'w'): 1, 'descr'"),
        (b"'<f4'", b"'|O8'"),
        (b"'<f4'", b"'<i4'"),
        (b"(2,)", b"(" * 300),
    ],
)
def test_the_header_of_an_array_is_not_evaluated(tmp_path, monkeypatch, old, new):
    monkeypatch.chdir(tmp_path)
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write("ckpt", ARCHIVE)

    def change(members):
        data = members[KEY + ".npy"]
        size = int.from_bytes(data[8:10], "little")
        header = data[10 : 10 + size].replace(old, new)
        members[KEY + ".npy"] = data[:8] + len(header).to_bytes(2, "little") + header + data[10 + size :]

    rewritten("ckpt.npz", change)
    v = tf.Variable([0.0, 0.0])
    with pytest.raises(tf.errors.DataLossError):
        tf.train.Checkpoint(v=v).read(path)
    assert v.numpy().tolist() == [0, 0] and os.listdir() == ["ckpt.npz"]


def change_notes(path, change):
    def edit(members):
        contents = json.loads(members["contents.json"])
        change(contents["notes"])
        members["contents.json"] = json.dumps(contents).encode()

    rewritten(path, edit)


@pytest.mark.parametrize("number", [-1, 9, "1", None])
def test_edges_of_a_checkpoint_lead_to_objects(tmp_path, number):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "ckpt", ARCHIVE)
    change_notes(path + ".npz", lambda notes: notes["objects"][0][0].update(v=number))
    with pytest.raises(tf.errors.DataLossError, match="leads nowhere"):
        tf.train.Checkpoint(v=tf.Variable(0.0)).read(path)


def test_parts_of_a_checkpoint_are_beside_it(tmp_path):
    (tmp_path / "in").mkdir()
    tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "secret", ARCHIVE)
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "in/ckpt", ARCHIVE)
    for name in ("../secret.npz", str(tmp_path / "secret.npz"), "ckpt.shard-00000-of-00001.npz/../../secret.npz"):
        change_notes(path + ".npz", lambda notes, name=name: notes.update(shards={name: [KEY]}))
        with pytest.raises(tf.errors.DataLossError, match="as a part of it"):
            tf.train.Checkpoint(v=tf.Variable(0.0)).read(path)


@pytest.mark.parametrize("text", ['"../outside"', '"/etc/passwd"', "17", "1.5", '"\\ud800"', '"a\\u0000b"'])
def test_the_list_of_checkpoints_names_no_other_folder(tmp_path, text):
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "outside.npz").write_bytes(b"precious")
    (folder / "checkpoint").write_text(f"model_checkpoint_path: {text}\nall_model_checkpoint_paths: {text}\n")
    assert tf.train.latest_checkpoint(folder) is None
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), folder, max_to_keep=1)
    manager.save()
    assert (tmp_path / "outside.npz").exists() and manager.checkpoints == [str(folder / "ckpt-1")]


def test_parts_of_a_tensor_that_overlap(tmp_path):
    from gradtape.checkpoint import bundle
    from gradtape.checkpoint.table import read_table, table_of
    from gradtape.core.protos import wire

    prefix = tmp_path / "ckpt"
    bundle.write_bundle(prefix, {"v": np.arange(2, dtype=np.float32)})
    index = tmp_path / "ckpt.index"
    entries = read_table(index.read_bytes())
    stored = entries[b"v"]
    whole = wire.number_field(1, 1) + wire.field(2, wire.field(2, wire.number_field(1, 4)))
    extent = wire.field(1, wire.number_field(1, 0) + wire.number_field(2, 2))
    entries[b"v"] = whole + 2 * wire.field(7, extent)  # the first half twice, without the second
    entries[bundle._part_key("v", ((0, 2),))] = stored
    index.write_bytes(table_of(entries))
    with pytest.raises(tf.errors.DataLossError, match="do not fit together"):
        bundle.read_bundle(prefix)


def test_a_record_longer_than_its_file(tmp_path):
    from gradtape.state.checksums import masked_crc32c

    length = struct.pack("<Q", 2**62)
    (tmp_path / "r").write_bytes(length + struct.pack("<I", masked_crc32c(length)) + b"abc")
    with pytest.raises(tf.errors.DataLossError, match="truncated record"):
        list(tf.data.TFRecordDataset(str(tmp_path / "r")))


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
@pytest.mark.parametrize("read", [
    lambda path, kind: tf.data.FixedLengthRecordDataset(path, 1, compression_type=kind),
    lambda path, kind: tf.data.TextLineDataset(path, kind),
    lambda path, kind: tf.data.experimental.CsvDataset(path, [tf.string], compression_type=kind),
    lambda path, kind: tf.data.TFRecordDataset(path, kind),
])  # fmt: skip
def test_compressed_files_that_are_damaged(tmp_path, read, compression):
    data = (gzip if compression == "GZIP" else zlib).compress(b"some text\n" * 20)
    for damaged in (data[: len(data) // 2], data[:-3] + b"xyz", b"none of it"):
        (tmp_path / "f").write_bytes(damaged)
        with pytest.raises(tf.errors.DataLossError):
            list(read(str(tmp_path / "f"), compression))


def test_a_serialized_tensor_whose_size_is_no_number():
    """Multiplying bytes by the size would repeat them two billion times."""
    size = b"\x12\x06\x08\xff\xff\xff\xff\x07"
    damaged = b"\x08\x01\x12\x12\x12\x08\n" + size[1:] + size
    with pytest.raises(tf.errors.InvalidArgumentError, match="a size was expected"):
        tf.io.parse_tensor(damaged, tf.float32)


def test_a_serialized_tensor_of_one_value_and_a_huge_shape():
    from gradtape.core.protos import wire

    shape = wire.field(2, wire.field(2, wire.number_field(1, 10**12)))
    data = wire.number_field(1, 1) + shape + wire.field(5, struct.pack("<f", 1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse"):
        tf.io.parse_tensor(data, tf.float32)


def test_of_several_lists_of_a_feature_the_first_is_read():
    one, two = (tf.train.Feature(float_list=tf.train.FloatList(value=x)).SerializeToString() for x in ([1.0], [2.0]))
    features = wire_map(b"b", one + two)
    found = tf.io.parse_single_example(features, {"b": tf.io.VarLenFeature(tf.float32)})["b"]
    assert found.values.numpy().tolist() == [1]  # like TensorFlow's op


def wire_map(key, value):
    """An Example with one feature."""
    from gradtape.core.protos import wire

    return wire.field(1, wire.field(1, wire.field(1, key) + wire.field(2, value)))


@pytest.mark.parametrize(
    "environment",
    [
        {"TF_CONFIG": '{"cluster": {"worker": ["a:1"]}, "task": {"type": ["worker"], "index": 0}}'},
        {"TF_CONFIG": '{"cluster": {"worker": [7]}, "task": {"type": "worker", "index": 0}}'},
        {"TF_CONFIG": '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 1e999}}'},
        {"TF_CONFIG": "[" * 100_000},
        {"OMPI_COMM_WORLD_RANK": "-1", "OMPI_COMM_WORLD_SIZE": "2", "GRADTAPE_COORDINATOR": "a:1"},
        {"GRADTAPE_RANK": "1", "GRADTAPE_SIZE": "4", "GRADTAPE_LOCAL_RANK": "3", "GRADTAPE_LOCAL_SIZE": "2"},
        {"SLURM_JOB_ID": "1", "SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_STEP_NODELIST": "a[1-999999999999]"},
        {"SLURM_JOB_ID": "1", "SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_STEP_NODELIST": "a[x-y]"},
    ],
)
def test_an_environment_that_names_no_process(environment):
    from gradtape.distribute.cluster.membership import discover

    with pytest.raises(ValueError):
        discover(environment)


@pytest.mark.parametrize("config", ["[]", '{"task": 7}', '{"task": {"index": []}}'])
def test_a_resolver_of_a_damaged_config(monkeypatch, config):
    monkeypatch.setenv("TF_CONFIG", config)
    with pytest.raises(ValueError, match="TF_CONFIG"):
        _ = tf.distribute.cluster_resolver.TFConfigClusterResolver().task_id
