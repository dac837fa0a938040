"""TensorFlow's protocol buffer messages, generated from gradtape's tables."""

import random

import numpy as np
import pytest
from test_command_line import gradtape, script  # noqa: F401  a fixture among them

import gradtape as tf
from gradtape.core.protos import records, schema
from gradtape_tensorflow import python as private
from gradtape_tensorflow.protos import generated

pytest.importorskip("google.protobuf")
from google.protobuf import text_format

# A message as text, and its bytes as TensorFlow 2.21 serializes it.
BYTES = {
    "GraphDef": (
        'node { name: "a" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } } node { name: "b" op: '
        '"Identity" input: "a" } versions { producer: 1987 } library { function { signature { name: "f" } ret { key: '
        '"y" value: "a:output:0" } } }',
        "0a170a01611205436f6e73742a0b0a056474797065120230010a100a016212084964656e746974791a016112180a160a030a0166220f"
        "0a0179120a613a6f75747075743a30220308c30f",
    ),
    "AttrValue": (
        "list { i: 1 i: -2 f: 0.5 shape { dim { size: 3 } unknown_rank: true } }",
        "0a1b1a0b01feffffffffffffffff0122040000003f3a06120208031801",
    ),
    "TensorProto": (
        "dtype: DT_INT64 tensor_shape { dim { size: 2 } } int64_val: 5 int64_val: -1",
        "0809120412020802520b05ffffffffffffffffff01",
    ),
    "GraphDebugInfo": (
        'traces_by_id { key: 7 value { frame_id: 1 frame_id: 2 } } files: "x.py"',
        "0a04782e7079321d0907000000000000001212121001000000000000000200000000000000",
    ),
    "ConfigProto": (
        "allow_soft_placement: true gpu_options { allow_growth: true per_process_gpu_memory_fraction: 0.25 } "
        'device_count { key: "GPU" value: 0 } graph_options { rewrite_options { constant_folding: OFF } }',
        "0a070a034750551000320b09000000000000d03f20013801520452021802",
    ),
    "ClusterDef": (
        'job { name: "worker" tasks { key: 1 value: "host:1" } }',
        "0a140a06776f726b6572120a08011206686f73743a31",
    ),
    "StructuredValue": (
        "tuple_value { values { int64_value: -3 } values { none_value { } } }",
        "a203080a0260050a020a00",
    ),
    "TrackableObjectGraph": (
        'nodes { children { node_id: 1 local_name: "w" } has_checkpoint_values { value: true } }',
        "0a0b0a0508011201772a020801",
    ),
    "BundleEntryProto": (
        "dtype: DT_FLOAT shape { dim { size: 2 } } offset: 4 size: 8 crc32c: 305419896",
        "0801120412020802200428083578563412",
    ),
    "Example": (
        'features { feature { key: "age" value { int64_list { value: 29 value: 300 } } } }',
        "0a100a0e0a0361676512071a050a031dac02",
    ),
    "Event": (
        'wall_time: 1.5 step: 3 summary { value { tag: "loss" simple_value: 0.25 } }',
        "09000000000000f83f10032a0d0a0b0a046c6f7373150000803e",
    ),
}


@pytest.mark.parametrize("name", BYTES)
def test_messages_have_tensorflows_bytes(name):
    text, data = BYTES[name]
    kind = generated.message_class(name)
    message = text_format.Parse(text, kind())
    assert message.SerializeToString(deterministic=True).hex() == data
    assert kind.FromString(bytes.fromhex(data)) == message
    assert kind.DESCRIPTOR.full_name == f"tensorflow.{name}"


def test_every_module_is_generated():
    names = generated.paths()
    assert len(names) > 60
    for name, path in names.items():
        module = private.module(name)
        assert module.__name__ == name and module.DESCRIPTOR.name == path
        for kind in schema.proto_file(path).types:
            title = kind.name.removeprefix(f"{module.DESCRIPTOR.package}.")
            if "." not in title and isinstance(kind, schema.ProtoMessage):
                assert getattr(module, title).__module__ == name


def test_libraries_import_messages(script):  # noqa: F811
    done = gradtape("run", script(
        """
        import pickle, sys
        import tensorflow as tf
        from tensorflow.core.framework import graph_pb2, types_pb2
        from tensorflow.core.framework.summary_pb2 import HistogramProto, Summary
        from tensorflow.core.protobuf import config_pb2, error_codes_pb2
        from tensorflow.python.training.checkpoint_state_pb2 import CheckpointState
        import tensorflow.core.util.event_pb2

        assert error_codes_pb2.Code.Name(3) == "INVALID_ARGUMENT" and types_pb2.DT_HALF == tf.float16.as_datatype_enum
        assert sys.modules["tensorflow.core.framework.graph_pb2"] is graph_pb2
        graph = graph_pb2.GraphDef()
        graph.node.add(name="x", op="Const").attr["dtype"].type = types_pb2.DT_FLOAT
        assert pickle.loads(pickle.dumps(graph)) == graph
        assert type(graph.node[0]).__module__ == "tensorflow.core.framework.node_def_pb2"
        assert config_pb2.OptimizerOptions.ON_1 == 1
        print("all of it")
        """
    ))  # fmt: skip
    assert done.stdout == "all of it\n", done.stderr


def test_without_protobuf_the_error_says_what_to_install(script):  # noqa: F811
    done = gradtape("run", script(
        """
        import sys
        sys.modules["google.protobuf"] = None
        try:
            from tensorflow.core.framework import graph_pb2
        except ImportError as error:
            print(error)
        """
    ))  # fmt: skip
    assert "pip install protobuf" in done.stdout, done.stderr


NUMBERS = {"int32": 2**31, "int64": 2**63, "sint32": 2**31, "sint64": 2**63}  # signed ones are below, from minus that
UNSIGNED = {"uint32": 2**32, "uint64": 2**64, "fixed32": 2**32, "fixed64": 2**64}


def random_value(rng, field, depth):
    kind = field.kind
    if field.is_enum:
        return rng.choice(
            [
                number
                for found in schema.proto_file(schema.file_of(kind)).types
                if found.name == kind
                for number in found.values.values()
            ]
        )
    if kind in NUMBERS:
        return rng.choice([0, 1, -1, 300, rng.randrange(-NUMBERS[kind], NUMBERS[kind])])
    if kind in UNSIGNED:
        return rng.choice([0, 1, rng.randrange(UNSIGNED[kind])])
    if kind == "tensorflow.TensorProto":  # records keep it serialized
        return records.encoded(kind, {"dtype": rng.randrange(1, 9)})
    scalars = {"bool": True, "float": 0.25, "double": -1e300, "string": "\u00fc\0", "bytes": b"\xff\0"}
    return scalars[kind] if kind in scalars else random_message(rng, kind, depth + 1)


def random_message(rng, name, depth=0):
    values, oneofs = {}, set()
    for field in schema.message(name).fields:
        if rng.random() < (0.5 if depth < 3 else 0.9) or field.oneof in oneofs:
            continue
        if field.oneof:
            oneofs.add(field.oneof)
        count = rng.randrange(1, 4)
        if field.keys:
            keys = ["", "a", "\u00e9"] if field.keys == "string" else [0, 1, 2**31 - 1]
            values[field.name] = {key: random_value(rng, field, depth) for key in keys[:count]}
        elif field.repeated:
            values[field.name] = [random_value(rng, field, depth) for _ in range(count)]
        else:
            values[field.name] = random_value(rng, field, depth)
    return values


def plain(value):
    if isinstance(value, records.Record):
        return {name: plain(part) for name, part in value.values.items()}
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


NAMES = ["SavedModel", "GraphDef", "ConfigProto", "Event", "SequenceExample", "BundleEntryProto", "RunMetadata",
         "TrackableObjectGraph", "tensorflow.data.experimental.SnapshotMetadataRecord"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_readers_and_generated_classes_agree(name):
    kind = generated.message_class(name)
    for seed in range(20):
        values = random_message(random.Random(seed), name)
        data = records.encoded(name, values)
        message = kind.FromString(data)
        canonical = message.SerializeToString(deterministic=True)
        assert kind.FromString(canonical) == message and sorted(canonical) == sorted(data)  # maps in another order
        found = plain(records.decoded(name, data))
        assert plain(records.decoded(name, canonical)) == found
        assert records.encoded(name, found) == data


# Arguments of `make_tensor_proto`, and the bytes or the error that TensorFlow 2.21 returns.
TENSORS = {
    "1.5": "080112002a040000c03f",
    "[1, 2, 3]": "0803120412020803220c010000000200000003000000",
    "7, tf.int64": "08091200520107",
    "[2**40, 1]": "0809120412020802221000000000000100000100000000000000",
    "[True, False]": "080a1204120208025a020100",
    "'a'": "08071200420161",
    "[['a'], [b'b\\0']]": "08071208120208021202080142016142026200",
    "[1 + 2j], tf.complex64": "08081204120208014a080000803f00000040",
    "np.array([1.0, 2.0])": "08021204120208022210000000000000f03f0000000000000040",
    "np.array([1.5, 2.5]), tf.int32": "080312041202080222080100000002000000",
    "1, tf.float16": "081312006a028078",
    "[1, 2], tf.bfloat16": "080e1204120208022204803f0040",
    "1.5, tf.bfloat16": "080e12006a02c07f",
    "5, tf.float32, [2, 3]": "0801120812020802120208032a040000a040",
    "[], tf.float32, [0, 2]": "08011206120012020802",
    "[1, 2], tf.uint16": "08111204120208023a020102",
    "np.uint8(3)": "080412003a0103",
    "np.array(['x', 'yz'])": "08071204120208024201784202797a",
    "tf.constant([1.5]), tf.int32": "08031204120208013a0101",
    "3, tf.uint64": "081712008a010103",
    "1, tf.float32, [2], False, True": "08011204120208022a040000803f",
    "[1, 2], tf.int32, [1]": ValueError,
    "[1, 2], tf.int32, [2, 1], True": TypeError,
    "[1, 2, 3], tf.int32, [2], False, True": TypeError,
    "[1, 2], tf.int32, None, True, True": ValueError,
    "[1.5], tf.int32": TypeError,
    "None": ValueError,
}


@pytest.mark.parametrize("given", TENSORS)
def test_tensors_as_messages(given):
    def made():
        return eval(f"tf.make_tensor_proto({given})", {"tf": tf, "np": np})

    expected = TENSORS[given]
    if isinstance(expected, type):
        with pytest.raises(expected):
            made()
        return
    assert made().SerializeToString().hex() == expected
    array = tf.make_ndarray(made())
    again = tf.make_tensor_proto(array, shape=array.shape)
    assert array.dtype == tf.as_dtype(made().dtype).as_numpy_dtype
    np.testing.assert_array_equal(tf.make_ndarray(again), array)
    assert tf.make_tensor_proto(again) is again


def test_random_tensors_as_messages():
    rng = np.random.default_rng(0)
    for name in "float16 float32 float64 bfloat16 int8 uint8 int32 uint32 int64 uint64 complex64 bool".split():
        dtype = getattr(tf, name)
        for shape in [(), (1,), (3, 2), (0, 4)]:
            array = rng.integers(0, 100, shape).astype(dtype.as_numpy_dtype)
            found = tf.make_ndarray(tf.make_tensor_proto(array))
            assert found.dtype == array.dtype and found.shape == shape
            np.testing.assert_array_equal(found, array)


def test_public_messages():
    cluster = tf.train.ClusterDef(job=[tf.train.JobDef(name="worker", tasks={0: "host:1"})])
    assert tf.train.ServerDef(cluster=cluster, task_index=2).cluster.job[0].tasks[0] == "host:1"
    config = tf.compat.v1.ConfigProto(gpu_options=tf.compat.v1.GPUOptions(allow_growth=True))
    assert tf.compat.v1.ConfigProto.FromString(config.SerializeToString()).gpu_options.allow_growth
    assert tf.compat.v1.summary.Event is tf.compat.v1.Event is generated.message_class("Event")
    assert tf.compat.v1.train.ClusterDef is tf.train.ClusterDef and tf.compat.v1.train.SaverDef().version == 0
