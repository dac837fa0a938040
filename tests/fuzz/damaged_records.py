"""Damaged TFRecord files, `tf.train.Example`s, serialized tensors and text files: the written data, or an error."""

from __future__ import annotations

import gzip
import random
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import gradtape as tf
from gradtape.core.protos import wire
from gradtape.state.checksums import masked_crc32c
from gradtape.state.record_files import frame_record

from ._protobuf import mutate_protobuf
from ._sandbox import attempt, folder, is_documented, marks
from .mutations import mutate_bytes

_COMPRESS = {None: bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}


def disagreements(seed: int) -> list[str]:
    rng = random.Random(seed)
    kind = rng.choice([_record_file, _record_file, _examples, _sequences, _tensors, _text_file, _vocabulary])
    with folder() as place:
        return [f"{kind.__name__}: {problem}" for problem in kind(place, rng)] + marks(place)


def _record_file(place: Path, rng: random.Random) -> list[str]:
    """Records in a file with modified bytes or lengths, the latter with valid checksums."""
    records = [rng.randbytes(rng.choice([0, 1, 30, 300])) for _ in range(rng.randint(0, 4))]
    compression = rng.choice(list(_COMPRESS))
    data = b"".join(map(frame_record, records))
    if rng.random() < 0.4:
        length = struct.pack("<Q", rng.choice([2**63, 2**64 - 1, 2**40, 2**31, 1000, 5]))
        data += length + struct.pack("<I", masked_crc32c(length)) + b"abc"
    packed = _COMPRESS[compression](data)
    packed = mutate_bytes(packed, rng) if rng.random() < 0.8 else packed[: rng.randrange(len(packed) + 1)]
    path = str(place / "records")
    Path(path).write_bytes(packed)
    read: list[bytes] = []

    def act() -> None:
        read.extend(x.numpy() for x in tf.data.TFRecordDataset(path, compression))

    outcome = attempt(act)
    problems = [f"{compression} {outcome.problem}"] if outcome.problem else []
    if compression is None and read != records[: len(read)] and not set(read) <= set(records):
        problems.append(f"{read} was read, and {records} written")
    fixed = attempt(lambda: list(tf.data.FixedLengthRecordDataset(path, rng.choice([1, 3, 1000]),
                                                                  compression_type=compression)))  # fmt: skip
    return problems + ([f"fixed {compression} {fixed.problem}"] if fixed.problem else [])


def _example(rng: random.Random) -> tf.train.Example:
    return tf.train.Example(features=tf.train.Features(feature={
        "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[rng.randint(-5, 500) for _ in range(3)])),
        "b": tf.train.Feature(float_list=tf.train.FloatList(value=[rng.random()])),
        "c": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x", rng.randbytes(4)])),
    }))  # fmt: skip


def _damaged(data: bytes, rng: random.Random) -> bytes:
    return mutate_protobuf(data, rng) if rng.random() < 0.7 else mutate_bytes(data, rng)


def _may_raise(error: Exception) -> bool:
    return is_documented(error) or type(error) is wire.DecodeError


def _examples(place: Path, rng: random.Random) -> list[str]:
    """Parses an example by the ops and as a message: both must agree."""
    data = _damaged(_example(rng).SerializeToString(), rng)
    specs = {
        "a": tf.io.RaggedFeature(tf.int64), "b": tf.io.VarLenFeature(tf.float32), "c": tf.io.VarLenFeature(tf.string),
    }  # fmt: skip
    message = attempt(lambda: tf.train.Example.FromString(data), _may_raise)
    parsed = attempt(lambda: tf.io.parse_single_example(data, specs))
    fixed = attempt(lambda: tf.io.parse_example([data, data], {"a": tf.io.FixedLenFeature([3], tf.int64)}))
    problems = [f"{data!r} {x.problem}" for x in (message, parsed, fixed) if x.problem]
    if not problems and message.error is None and parsed.error is None:
        problems += _different(message.value, parsed.value, data)
    return problems


def _different(message: Any, parsed: dict[str, Any], data: bytes) -> list[str]:
    found = []
    lists = {"a": "int64_list", "b": "float_list", "c": "bytes_list"}
    for name, kind in lists.items():
        value = parsed[name]
        numbers = np.asarray(value.values if hasattr(value, "values") else value).tolist()
        features = message.features.feature
        wanted = list(getattr(features[name], kind).value) if name in features else []
        wanted = wanted[: len(numbers)]  # as in TensorFlow, the ops read the first of several lists of a feature
        if not np.array_equal(np.array(numbers), np.array(wanted), equal_nan=name == "b"):
            found.append(f"{name} is {numbers}, and {wanted} in the message: {data!r}")
    return found


def _sequences(place: Path, rng: random.Random) -> list[str]:
    steps = tf.train.FeatureList(feature=[
        tf.train.Feature(float_list=tf.train.FloatList(value=[float(i)])) for i in range(3)
    ])  # fmt: skip
    example = tf.train.SequenceExample(
        context=_example(rng).features, feature_lists=tf.train.FeatureLists(feature_list={"s": steps})
    )
    data = _damaged(example.SerializeToString(), rng)
    outcomes = [
        attempt(lambda: tf.train.SequenceExample.FromString(data), _may_raise),
        attempt(lambda: tf.io.parse_single_sequence_example(
            data, {"a": tf.io.VarLenFeature(tf.int64)}, {"s": tf.io.FixedLenSequenceFeature([1], tf.float32)})),
        attempt(lambda: tf.io.parse_sequence_example(
            [data, data], {"c": tf.io.VarLenFeature(tf.string)}, {"s": tf.io.RaggedFeature(tf.float32)})),
    ]  # fmt: skip
    return [f"{data!r} {x.problem}" for x in outcomes if x.problem]


def _tensors(place: Path, rng: random.Random) -> list[str]:
    """A serialized tensor, dense or sparse."""
    dtype = rng.choice([tf.float32, tf.int64, tf.string, tf.complex64, tf.bool, tf.float16, tf.bfloat16, tf.uint8])
    value = tf.constant([["a", "b"], ["", "c"]]) if dtype is tf.string else tf.cast([[1, 0], [0, 1]], dtype)
    data = _damaged(tf.io.serialize_tensor(value).numpy(), rng)
    outcomes = [attempt(lambda: tf.io.parse_tensor(data, dtype))]
    if dtype is not tf.string:
        parts = tf.io.serialize_many_sparse(tf.sparse.from_dense(tf.cast(value, tf.float32))).numpy()
        at = rng.randrange(parts.size)
        parts.flat[at] = _damaged(parts.flat[at], rng)
        outcomes.append(attempt(lambda: tf.io.deserialize_many_sparse(parts, tf.float32)))
    return [f"{data!r} as {dtype.name} {x.problem}" for x in outcomes if x.problem]


def _text_file(place: Path, rng: random.Random) -> list[str]:
    """Lines and columns, compressed."""
    compression = rng.choice(list(_COMPRESS))
    data = _COMPRESS[compression](b"1,2.5,a\n3,4.5,\"b\"\n5,6.5,c\n")
    path = str(place / "lines.csv")
    Path(path).write_bytes(mutate_bytes(data, rng))
    lines = attempt(lambda: list(tf.data.TextLineDataset(path, compression)))
    columns = attempt(lambda: list(tf.data.experimental.CsvDataset(
        path, [tf.int32, tf.float32, tf.string], compression_type=compression)))  # fmt: skip
    return [f"{compression} {x.problem}" for x in (lines, columns) if x.problem]


def _vocabulary(place: Path, rng: random.Random) -> list[str]:
    """A table filled from a file."""
    path = place / "words.txt"
    path.write_bytes(mutate_bytes(b"a\t1\nb\t2\nc\t3\n", rng))
    key, value = rng.choice([(tf.string, tf.int64), (tf.int64, tf.string), (tf.string, tf.float32)])

    def act() -> Any:
        columns = (0, 1) if key is tf.string else (1, 0)
        rows = tf.lookup.TextFileInitializer(str(path), key, columns[0], value, columns[1])
        table = tf.lookup.StaticHashTable(rows, tf.constant("" if value is tf.string else -1, value))
        return table.lookup(tf.constant(["a"] if key is tf.string else [1], key))

    outcome = attempt(act)
    return [outcome.problem] if outcome.problem else []
