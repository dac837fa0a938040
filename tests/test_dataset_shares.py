"""How the workers of a strategy shard a dataset: the shares of TensorFlow's `AutoShardPolicy`."""

import types

import pytest

import gradtape as tf
from gradtape.distribute.input import Share, shard_dataset

Policy = tf.data.experimental.AutoShardPolicy


@pytest.fixture
def files(tmp_path):
    """Creates three files of four records each, and three of four lines."""
    names = {"records": [], "lines": []}
    for letter in "abc":
        rows = [f"{letter}{i}" for i in range(4)]
        names["records"].append(str(tmp_path / f"{letter}.tfrecord"))
        with tf.io.TFRecordWriter(names["records"][-1]) as writer:
            for row in rows:
                writer.write(row.encode())
        names["lines"].append(str(tmp_path / f"{letter}.txt"))
        (tmp_path / f"{letter}.txt").write_text("\n".join(rows))
    return names


def policy(which):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = which
    return options


def seen(dataset, which, rank, local=1, count=2):
    """Returns the batches of a worker, replica by replica."""
    workers = types.SimpleNamespace(
        count=count, rank=rank, local=local, first=rank * local, of_each=lambda value, name: [value]
    )
    found = shard_dataset(dataset.with_options(policy(which)), workers)
    parts = (part for element in found for part in element.values) if isinstance(found, Share) else found._source
    return [" ".join(str(x.decode() if isinstance(x, bytes) else x) for x in part.numpy()) for part in parts]


BY_FILE = (["a0 a1", "a2 a3", "c0 c1", "c2 c3"], ["b0 b1", "b2 b3"])
BY_ROW = (["a0 a1", "b0 b1", "c0 c1"], ["a2 a3", "b2 b3", "c2 c3"])
ALL = (["a0 a1", "a2 a3", "b0 b1", "b2 b3", "c0 c1", "c2 c3"],) * 2
PIPELINES = {
    "lines": lambda files: tf.data.TextLineDataset(files["lines"]),
    "records": lambda files: tf.data.TFRecordDataset(files["records"]).map(lambda x: x),
    "at once": lambda files: tf.data.TFRecordDataset(files["records"], num_parallel_reads=1),
    "named": lambda files: tf.data.Dataset.from_tensor_slices(files["records"]).flat_map(tf.data.TFRecordDataset),
    "mapped": lambda files: tf.data.Dataset.from_tensor_slices(files["lines"]).interleave(
        lambda name: tf.data.TextLineDataset(name).map(lambda x: x), cycle_length=1
    ),
    "pairs": lambda files: tf.data.Dataset.zip(
        tf.data.TextLineDataset(files["lines"]), tf.data.TFRecordDataset(files["records"])
    ).map(lambda a, b: a),
    "cached": lambda files: tf.data.TFRecordDataset(files["records"]).cache().repeat(1).prefetch(2),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_files_are_shared(files, name):
    for which, expected in ((Policy.AUTO, BY_FILE), (Policy.FILE, BY_FILE), (Policy.DATA, BY_ROW), (Policy.OFF, ALL)):
        for rank in (0, 1):
            assert seen(PIPELINES[name](files).batch(4), which, rank) == expected[rank], (which, rank)


def test_without_files_rows_are_shared():
    assert [seen(tf.data.Dataset.range(10).batch(4), Policy.AUTO, rank) for rank in (0, 1)] == [
        ["0 1", "4 5", "8"], ["2 3", "6 7", "9"]
    ]  # fmt: skip
    for source in (tf.data.Dataset.range(6).batch(4), tf.data.TFRecordDataset([]).concatenate(
        tf.data.Dataset.from_tensors("a")).batch(2)):  # fmt: skip
        with pytest.raises(tf.errors.NotFoundError, match=r"unshardable source dataset.*AutoShardPolicy\.DATA"):
            seen(source, Policy.FILE, 0)


def test_batches_have_the_sizes_of_the_replicas():
    """All workers together process a global batch in every step, even if it cannot be divided evenly."""
    five = tf.data.Dataset.range(10).batch(5)
    assert seen(five, Policy.OFF, 0) == ["0 1 2", "3 4", "5 6 7", "8 9"]
    assert seen(five, Policy.OFF, 1) == ["0 1", "2 3 4", "5 6", "7 8 9"]
    four = tf.data.Dataset.range(10).batch(4)
    assert seen(four, Policy.OFF, 1) == ["0 1", "2 3", "4 5", "6 7", "8 9"]  # the last batch is short, but no part is
    assert seen(four, Policy.OFF, 0, local=2) == [*"0123456789"]
    assert seen(four.map(lambda x: x + 0), Policy.OFF, 0) == ["0 1", "2 3", "4 5", "6 7", "8", "9"]  # size unknown
    assert seen(four.shuffle(1).take(1), Policy.OFF, 0) == ["0 1", "2 3"]


def test_shuffled_names_are_shared_before(files, tmp_path):
    """However each worker shuffles them, every file is read once."""
    read = []
    for rank, seed in ((0, 1), (1, 7)):
        names = tf.data.Dataset.list_files(f"{tmp_path}/*.txt", seed=seed)
        read += seen(names.interleave(tf.data.TextLineDataset).batch(4), Policy.AUTO, rank)
    assert sorted(" ".join(read).split()) == [f"{letter}{i}" for letter in "abc" for i in range(4)]


def test_too_few_files(files):
    for which in (Policy.AUTO, Policy.FILE):
        for rank in (0, 1):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"only has 1 file\(s\).*required 2 shards"):
                seen(tf.data.TFRecordDataset(files["records"][:1]).batch(4), which, rank)
    with pytest.raises(tf.errors.UnimplementedError, match="HINT is not there"):
        seen(tf.data.Dataset.range(2).batch(2), Policy.HINT, 0)


def test_the_option():
    options = tf.data.Options()
    assert options.experimental_distribute.auto_shard_policy is Policy.AUTO
    assert options.experimental_distribute.num_devices is None
    for wrong in ("FILE", 1, None):
        with pytest.raises(TypeError, match='"auto_shard_policy" must be of type'):
            options.experimental_distribute.auto_shard_policy = wrong
    with pytest.raises(AttributeError, match="Cannot set the property other on DistributeOptions"):
        options.experimental_distribute.other = 1
    found = tf.data.Dataset.range(2).with_options(policy(Policy.DATA)).with_options(options).options()
    assert found.experimental_distribute.auto_shard_policy is Policy.DATA
