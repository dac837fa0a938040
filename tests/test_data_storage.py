"""`tf.data`: caches, snapshots, files of lines and records, datasets saved and loaded."""

import gc
import shutil
import zlib

import pytest
from small_datasets import Dataset, numbers, values

import gradtape as tf


def test_caches(tmp_path):
    calls = []

    def count(x):
        calls.append(1)
        return {"x": x, "s": tf.constant(["a", "b"]), "h": tf.cast(x, tf.bfloat16)}

    memory = numbers(3).map(count).cache()
    next(iter(memory))
    assert values(memory) == values(memory) and len(calls) == 1 + 3
    calls.clear()
    file = numbers(3).map(count).cache(str(tmp_path / "cache"))
    first = values(file)
    assert len(calls) == 3 and (tmp_path / "cache.npz").exists()
    again = numbers(3).map(count).cache(str(tmp_path / "cache"))
    assert again.element_spec and values(again) == first
    unfinished = iter(numbers(3).cache(str(tmp_path / "other")))
    next(unfinished)
    del unfinished
    gc.collect()
    assert not list(tmp_path.glob("other*"))


def test_lines_of_text(tmp_path):
    text = b"a\r\nb\r\r\n\nc\rd\ne"
    (tmp_path / "plain").write_bytes(text)
    (tmp_path / "zlib").write_bytes(zlib.compress(text))
    for name, compression in (("plain", None), ("zlib", "ZLIB")):
        lines = values(tf.data.TextLineDataset(str(tmp_path / name), compression))
        assert lines == [b"a", b"b", b"", b"cd", b"e"]  # recorded under TensorFlow


def test_a_file_caches_nothing_too(tmp_path):
    empty = numbers(0).map(lambda x: x).cache(str(tmp_path / "empty"))
    assert values(empty) == values(empty) == []


def test_two_passes_may_write_the_same_cache(tmp_path):
    both = Dataset.zip(*(numbers(3).cache(str(tmp_path / "cache")) for _ in range(2)))
    for _ in range(2):
        assert values(both) == [(0, 0), (1, 1), (2, 2)]
    assert [path.name for path in tmp_path.iterdir()] == ["cache.npz"]


def test_a_cache_is_complete_after_as_many_elements_as_there_are():
    made = []
    data = numbers(3).map(lambda x: made.append(int(x)) or x).cache()
    iterator = iter(data)
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    assert values(data) == values(data.take(3)) == [0, 1, 2]
    assert made == [0, 1, 2]


def test_paths_may_be_of_pathlib(tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_text("a\nb\n")
    assert values(tf.data.TextLineDataset(lines)) == values(tf.data.TextLineDataset([lines])) == [b"a", b"b"]
    assert values(tf.data.FixedLengthRecordDataset(lines, 2)) == [b"a\n", b"b\n"]
    assert values(Dataset.list_files(lines)) == values(Dataset.list_files(tmp_path / "*.txt")) == [str(lines).encode()]
    assert values(numbers(2).cache(tmp_path / "cached")) == [0, 1]
    assert (tmp_path / "cached.npz").exists()
    with tf.io.TFRecordWriter(tmp_path / "records") as writer:
        writer.write(b"one")
    assert values(tf.data.TFRecordDataset(tmp_path / "records")) == [b"one"]


def test_datasets_are_saved_and_loaded(tmp_path):
    data = numbers(4).map(lambda x: {"a": (x, tf.strings.as_string(x)), "b": tf.cast(tf.range(x), tf.complex64)})
    data.save(tmp_path / "plain")
    loaded = Dataset.load(tmp_path / "plain")
    assert values(loaded) == values(data)
    assert loaded.element_spec == data.element_spec
    assert len(loaded) == 4
    numbers(7).save(str(tmp_path / "shards"), compression="GZIP", shard_func=lambda x: x % 3)
    in_turn = Dataset.load(
        str(tmp_path / "shards"), compression="GZIP", reader_func=lambda shards: shards.interleave(lambda x: x, 3)
    )
    assert values(in_turn) == list(range(7))
    assert sorted(values(Dataset.load(str(tmp_path / "shards"), compression="GZIP"))) == list(range(7))
    with pytest.raises(tf.errors.DataLossError, match="corrupted record"):
        values(Dataset.load(str(tmp_path / "shards")))
    with pytest.raises(tf.errors.NotFoundError, match="element_spec file not found"):
        Dataset.load(tmp_path / "none")
    numbers(0).save(tmp_path / "empty")
    assert values(Dataset.load(tmp_path / "empty")) == []
    ragged = numbers(4).map(tf.range).ragged_batch(2)
    ragged.save(tmp_path / "ragged")
    assert [x.to_list() for x in Dataset.load(tmp_path / "ragged")] == [[[], [0]], [[0, 1], [0, 1, 2]]]


# `Dataset.range(2).map(lambda x: (x, tf.strings.as_string(x))).save(...)` of TensorFlow 2.21.
SAVED_BY_TENSORFLOW = {
    "dataset_spec.pb": b"\xa2\x03\x12\n\x07\x8a\x02\x04\x12\x00\x18\t\n\x07\x8a\x02\x04\x12\x00\x18\x07",
    "snapshot.metadata": b"\x12\x0241\x18\xe4\xde\xa7\x8e\x90\x8e\x98\x03 \x02*\x02\t\x070\x02\xc0>\x01",
    "41/00000000.shard/00000000.snapshot": (
        b'\x0e\x00\x00\x00\x00\x00\x00\x00\xc5\xe5i?\x08\t\x12\x00"\x08\x00\x00\x00\x00\x00\x00\x00\x00\x88+\x95\xea'
        b'\x08\x00\x00\x00\x00\x00\x00\x00\xff\x86$\x0f\x08\x07\x12\x00"\x02\x010\x0c\x83N\xe8'
        b'\x0e\x00\x00\x00\x00\x00\x00\x00\xc5\xe5i?\x08\t\x12\x00"\x08\x01\x00\x00\x00\x00\x00\x00\x00\xa0\xbd\xdfT'
        b'\x08\x00\x00\x00\x00\x00\x00\x00\xff\x86$\x0f\x08\x07\x12\x00"\x02\x011\xbbgO\xe6'
    ),
}


def test_what_tensorflow_saved_is_loaded(tmp_path):
    for name, data in SAVED_BY_TENSORFLOW.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    loaded = Dataset.load(tmp_path)
    assert values(loaded) == [(0, b"0"), (1, b"1")]
    assert loaded.element_spec == (tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.string))
    assert len(loaded) == 2


def test_snapshots(tmp_path):
    made = []
    data = numbers(3).map(lambda x: made.append(int(x)) or x).snapshot(tmp_path)
    next(iter(data))
    assert values(data) == values(data) == values(numbers(9).snapshot(tmp_path)) == [0, 1, 2]
    assert len(made) <= 3 + 2 * 3  # the specs, an interrupted pass, and one that wrote


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_no_element_of_a_damaged_folder_is_lost_silently(tmp_path, compression):
    def cut(count):
        return lambda shard: shard.write_bytes(shard.read_bytes()[:count])

    damages = {
        "no file": (lambda shard: shard.unlink(), tf.errors.NotFoundError),
        "no folder of a shard": (lambda shard: shutil.rmtree(shard.parent), tf.errors.DataLossError),
        "no folder of shards": (lambda shard: shutil.rmtree(shard.parents[1]), tf.errors.NotFoundError),
        "empty": (cut(0), tf.errors.DataLossError),
        "a few bytes": (cut(5), tf.errors.DataLossError),
        "most bytes": (cut(-3), tf.errors.DataLossError),
        "no metadata": (lambda shard: (shard.parents[2] / "snapshot.metadata").unlink(), tf.errors.NotFoundError),
        "empty metadata": (lambda shard: (shard.parents[2] / "snapshot.metadata").write_bytes(b""),
                           tf.errors.DataLossError),
        "empty specs": (lambda shard: (shard.parents[2] / "dataset_spec.pb").write_bytes(b""),
                        tf.errors.NotFoundError),
    }  # fmt: skip
    for name, (damage, error) in damages.items():
        folder = tmp_path / name
        numbers(6).save(str(folder), compression, shard_func=lambda x: x % 2)
        damage(min(folder.glob("*/*/*.snapshot")))
        with pytest.raises(error):
            values(Dataset.load(str(folder), compression=compression))


def test_a_reader_function_may_leave_out_shards(tmp_path):
    numbers(6).save(str(tmp_path / "d"), shard_func=lambda x: x % 2)
    odd = Dataset.load(str(tmp_path / "d"), reader_func=lambda shards: shards.skip(1).flat_map(lambda x: x))
    assert values(odd) == [1, 3, 5]
