"""`tf.data`: the results of the same programs under TensorFlow, in every pass, and what happens when something fails."""  # noqa: E501

import collections
import gc
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gradtape as tf

Dataset = tf.data.Dataset
Point = collections.namedtuple("Point", "x y")


def values(dataset):
    return [tf.nest.map_structure(lambda x: x.tolist() if hasattr(x, "tolist") else x, e)
            for e in dataset.as_numpy_iterator()]  # fmt: skip


def numbers(n=5):
    return Dataset.range(n)


# Recorded under TensorFlow 2.21: kind, specs, cardinality.
SCALAR = "TensorSpec(shape=(), dtype=tf.int64, name=None)"
ROWS = "TensorSpec(shape=(None,), dtype=tf.int64, name=None)"
DESCRIPTIONS = [
    (lambda: numbers(), "_RangeDataset", SCALAR, 5),
    (lambda: Dataset.range(2, 9, 3), "_RangeDataset", SCALAR, 3),
    (lambda: numbers().map(lambda x: x), "_MapDataset", SCALAR, 5),
    (lambda: numbers().map(lambda x: x, num_parallel_calls=2), "_ParallelMapDataset", SCALAR, 5),
    (lambda: numbers().batch(2), "_BatchDataset", ROWS, 3),
    (lambda: numbers().batch(2, drop_remainder=True), "_BatchDataset", ROWS.replace("None,)", "2,)"), 2),
    (lambda: numbers().shuffle(2), "_ShuffleDataset", SCALAR, 5),
    (lambda: numbers().repeat(), "_RepeatDataset", SCALAR, -1),
    (lambda: numbers().repeat(3), "_RepeatDataset", SCALAR, 15),
    (lambda: numbers().take(2), "_TakeDataset", SCALAR, 2),
    (lambda: numbers().skip(1), "_SkipDataset", SCALAR, 4),
    (lambda: numbers().filter(lambda x: x > 1), "_FilterDataset", SCALAR, -2),
    (lambda: numbers().cache(), "CacheDataset", SCALAR, 5),
    (lambda: numbers().concatenate(numbers()), "_ConcatenateDataset", SCALAR, 10),
    (lambda: numbers().flat_map(Dataset.range), "_FlatMapDataset", SCALAR, -2),
    (lambda: numbers().interleave(Dataset.range), "_InterleaveDataset", SCALAR, -2),
    (lambda: numbers().enumerate(), "_ZipDataset", f"({SCALAR}, {SCALAR})", 5),
    (lambda: numbers().prefetch(1), "_PrefetchDataset", SCALAR, 5),
    (lambda: numbers().window(2), "_WindowDataset", f"DatasetSpec({SCALAR}, TensorShape([]))", 3),
    (lambda: Dataset.zip(numbers(), numbers(3)), "_ZipDataset", f"({SCALAR}, {SCALAR})", 3),
    (lambda: numbers().batch(2).unbatch(), "_UnbatchDataset", SCALAR, -2),
    (lambda: numbers().shard(2, 0), "_ShardDataset", SCALAR, 3),
    (lambda: numbers().padded_batch(2, []), "_PaddedBatchDataset", ROWS, 3),
    (lambda: numbers().take_while(lambda x: x < 3), "_TakeWhileDataset", SCALAR, -2),
    (lambda: numbers().unique(), "_UniqueDataset", SCALAR, -2),
    (lambda: numbers().batch(2).rebatch(3), "_RebatchDataset", ROWS, -2),
    (lambda: Dataset.random(seed=1), "_RandomDataset", SCALAR, -1),
    (lambda: Dataset.counter(), "_ScanDataset", SCALAR, -1),
    (lambda: numbers().with_options(tf.data.Options()), "_OptionsDataset", SCALAR, 5),
    (lambda: Dataset.sample_from_datasets([numbers(), numbers()]), "_DirectedInterleaveDataset", SCALAR, -2),
]


@pytest.mark.parametrize(("make", "kind", "spec", "size"), DESCRIPTIONS)
def test_descriptions_are_those_of_tensorflow(make, kind, spec, size):
    dataset = make()
    assert repr(dataset) == f"<{kind} element_spec={spec}>"
    assert int(dataset.cardinality()) == size and dataset.cardinality().dtype is tf.int64


# Recorded under TensorFlow 2.21.
RESULTS = [
    (lambda: Dataset.from_tensor_slices(Point([1, 2], [3, 4])).map(lambda p: p.x + p.y), [4, 6]),
    (lambda: Dataset.from_tensor_slices({"a": [1, 2]}).map(lambda d: {"b": d["a"] + 1}), [{"b": 2}, {"b": 3}]),
    (lambda: numbers(2).map(lambda x: [x, x]), [(0, 0), (1, 1)]),
    (lambda: numbers(2).map(lambda x: (x, None)), [(0, None), (1, None)]),
    (lambda: numbers().enumerate().filter(lambda i, x: i > 2), [(3, 3), (4, 4)]),
    (lambda: numbers().take(-1), [0, 1, 2, 3, 4]),
    (lambda: numbers().skip(-1), []),
    (lambda: numbers().repeat(0), []),
    (lambda: numbers().map(lambda x: tf.fill([x], x)).skip(1).padded_batch(2), [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4] * 4]]),  # noqa: E501
    (
        lambda: Dataset.range(1, 3).map(lambda x: (tf.fill([x], x), "s"))
        .padded_batch(2, padded_shapes=([3], []), padding_values=(tf.constant(-1, tf.int64), "z")),
        [([[1, -1, -1], [2, 2, -1]], [b"s", b"s"])],
    ),
    (lambda: numbers(7).window(3, 1).flat_map(lambda w: w.batch(3)), [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6], [5, 6], [6]]),  # noqa: E501
    (lambda: numbers(7).window(3, 2, 2, drop_remainder=True).flat_map(lambda w: w.batch(3)), [[0, 2, 4], [2, 4, 6]]),
    (lambda: numbers(5).window(1, 3).flat_map(lambda w: w), [0, 3]),
    (
        lambda: Dataset.range(1, 5).interleave(lambda x: Dataset.from_tensors(x).repeat(4), cycle_length=2, block_length=3),  # noqa: E501
        [1, 1, 1, 2, 2, 2, 1, 2, 3, 3, 3, 4, 4, 4, 3, 4],
    ),
    (lambda: Dataset.zip({"a": numbers(2), "b": (numbers(2), numbers(3).skip(1))}), [{"a": 0, "b": (0, 1)}, {"a": 1, "b": (1, 2)}]),  # noqa: E501
    (lambda: Dataset.range(10).batch(4).rebatch([3, 1]), [[0, 1, 2], [3], [4, 5, 6], [7], [8, 9]]),
    (lambda: Dataset.from_tensor_slices([[1, 2], [3, 4]]).unbatch(), [1, 2, 3, 4]),
    (
        lambda: Dataset.choose_from_datasets([Dataset.from_tensors(i).repeat(2) for i in range(2)], numbers(2).repeat(4)),  # noqa: E501
        [0, 1, 0, 1],
    ),
    (
        lambda: Dataset.from_generator(
            lambda: iter([[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11], [13, 14, 15, 16, 19, 20], [21, 22]]), tf.int64, [None]  # noqa: E501
        ).bucket_by_sequence_length(lambda e: tf.shape(e)[0], [3, 5], [2, 2, 2]),
        [[[1, 2, 3, 4], [5, 6, 7, 0]], [[7, 8, 9, 10, 11, 0], [13, 14, 15, 16, 19, 20]], [[0, 0], [21, 22]]],
    ),
    (lambda: Dataset.from_generator(lambda: iter([(1, [2, 3]), (4, [5])]), (tf.int32, tf.int32), ([], [None])), [(1, [2, 3]), (4, [5])]),  # noqa: E501
    (lambda: Dataset.from_generator(lambda: iter([1.5]), output_signature=tf.TensorSpec([], tf.int32)), [1]),
    (lambda: Dataset.from_tensors({"a": [1, 2], "b": (3, [4])}), [{"a": [1, 2], "b": (3, [4])}]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), RESULTS)
def test_results_are_those_of_tensorflow_in_every_pass(make, expected):
    dataset = make()
    assert values(dataset) == expected
    assert values(dataset) == expected
    assert values(dataset.prefetch(2)) == expected


def test_specs_of_what_functions_make():
    assert numbers().map(lambda x: tf.ones([x])).element_spec == tf.TensorSpec([None], tf.float32)
    spec = numbers().map(lambda x: (1, 2.5, "a", True)).element_spec
    assert [s.dtype for s in spec] == [tf.int32, tf.float32, tf.string, tf.bool]
    different = Dataset.from_tensors([1, 2]).concatenate(Dataset.from_tensors([1]))
    assert different.element_spec == tf.TensorSpec([None], tf.int32)


def test_asking_for_specs_changes_no_order():
    first, second = (numbers(20).shuffle(20, seed=1) for _ in range(2))
    assert first.map(lambda x: x).element_spec == tf.TensorSpec([], tf.int64)
    assert values(first) == values(second)
    first, second = (Dataset.random(4, rerandomize_each_iteration=True).map(lambda x: x).take(3) for _ in range(2))
    assert first.element_spec == tf.TensorSpec([], tf.int64)
    assert values(first) == values(second)


def test_reduce():
    assert int(numbers().reduce(np.int64(0), lambda s, x: s + x)) == 10
    total, count = numbers().enumerate().reduce((0.0, 0), lambda s, e: (s[0] + tf.cast(e[1], tf.float32), s[1] + 1))
    assert (float(total), int(count)) == (10, 5)
    with pytest.raises(TypeError, match="must match the initial state"):
        numbers().reduce(0, lambda s, x: x)


@pytest.mark.parametrize(
    ("do", "error", "message"),
    [
        (lambda: len(numbers().repeat()), TypeError, "infinite"),
        (lambda: len(numbers().filter(lambda x: True)), TypeError, "unknown"),
        (lambda: numbers().batch(0), tf.errors.InvalidArgumentError, "Batch size must be greater than zero"),
        (lambda: numbers().shuffle(0), tf.errors.InvalidArgumentError, "buffer_size must be greater"),
        (lambda: numbers().shard(2, 2), tf.errors.InvalidArgumentError, "Index must be between 0 and 1"),
        (lambda: values(numbers().filter(lambda x: x)), ValueError, "must return a `tf.bool` scalar"),
        (lambda: values(numbers().map(lambda x: tf.ones([x])).batch(2)), tf.errors.InvalidArgumentError, "not match"),
        (lambda: values(numbers().map(lambda x: x if x < 2 else 0.5).batch(5)), tf.errors.InvalidArgumentError,
         "float32, int64"),
        (lambda: values(numbers().map(lambda x: tf.ones([1] * int(x))).padded_batch(5)),
         tf.errors.InvalidArgumentError, "same rank"),
        (lambda: values(numbers().map(lambda x: tf.ones([x])).padded_batch(5, [2])), tf.errors.DataLossError, "small"),
        (lambda: values(numbers().flat_map(lambda x: x)), TypeError, "must return a `Dataset`"),
        (lambda: Dataset.from_tensor_slices(([1, 2], [1, 2, 3])), ValueError, "2 and 3 are not compatible"),
        (lambda: Dataset.from_tensor_slices(3), ValueError, "rank >= 1"),
        (lambda: Dataset.from_generator([1], tf.int32), TypeError, "callable"),
        (lambda: Dataset.from_generator(lambda: iter([1])), TypeError, "output_signature"),
        (lambda: numbers().concatenate(Dataset.from_tensors("a")), TypeError, "Incompatible dataset elements"),
        (lambda: numbers(0).get_single_element(), tf.errors.InvalidArgumentError, "empty"),
        (lambda: numbers(2).get_single_element(), tf.errors.InvalidArgumentError, "more than one"),
        (lambda: iter(numbers(0)).get_next(), tf.errors.OutOfRangeError, "End of sequence"),
        (lambda: Dataset.range(1, 5, 0), tf.errors.InvalidArgumentError, "must not be zero"),
        (lambda: numbers().batch(2.5), TypeError, "integer"),
        (lambda: numbers().unbatch(), ValueError, "scalar components"),
        (lambda: values(Dataset.choose_from_datasets([numbers()], numbers(2))),
         tf.errors.InvalidArgumentError, "range"),
        (lambda: values(Dataset.choose_from_datasets([numbers()], Dataset.range(-1, 0))),
         tf.errors.InvalidArgumentError, "range"),
        (lambda: Dataset.sample_from_datasets([numbers()], [0.5, 0.5]), ValueError, "one number for each of the 1"),
        (lambda: Dataset.sample_from_datasets([numbers()], [1]), TypeError, "float32 or float64"),
        (lambda: Dataset.list_files("/nowhere/*.x"), tf.errors.InvalidArgumentError, "No files matched"),
        (lambda: values(tf.data.TextLineDataset("/nowhere/x")), tf.errors.NotFoundError, "No such file"),
    ],
)  # fmt: skip
def test_bad_input(do, error, message):
    with pytest.raises(error, match=message):
        do()


def test_generators_that_yield_something_else():
    for wrong, message in [("a", "could not be converted"), ((1, 2), r"shape \(2,\) where an element of shape \(\)")]:
        data = Dataset.from_generator(
            lambda wrong=wrong: iter([1, wrong]), output_signature=tf.TensorSpec([], tf.int32)
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            values(data)


def test_errors_of_functions_come_as_they_are_with_their_line():
    def fails(x):
        if x == 2:
            raise KeyError("mine")  # the line
        return x

    for data in (numbers().map(fails), numbers().map(fails).batch(2).prefetch(2)):
        with pytest.raises(KeyError, match="mine") as caught:
            values(data)
        assert caught.traceback[-1].name == "fails"


def test_errors_of_generators_have_their_cause():
    def fails():
        yield 1
        raise ValueError("mine")

    with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: mine") as caught:
        values(Dataset.from_generator(fails, tf.int32))
    assert isinstance(caught.value.__cause__, ValueError)


def test_generators_are_closed():
    closed = []

    def generator():
        try:
            yield from range(100)
        finally:
            closed.append(True)

    data = Dataset.from_generator(generator, tf.int32, [])
    assert values(data.take(2)) == [0, 1]
    iterator = iter(data)
    next(iterator)
    del iterator
    gc.collect()
    assert closed == [True, True]


def prefetching():
    return [thread for thread in threading.enumerate() if thread.name == "gradtape-prefetch"]


def test_threads_end_with_their_iterator():
    iterator = iter(Dataset.counter().prefetch(3))
    assert int(next(iterator)) == 0
    assert len(prefetching()) == 1
    del iterator
    gc.collect()
    for _ in range(200):
        if not prefetching():
            break
        time.sleep(0.01)
    assert not prefetching()


def test_prefetch_works_ahead():
    made = []
    iterator = iter(numbers(10).map(lambda x: made.append(int(x)) or x).prefetch(3))
    next(iterator)
    for _ in range(200):
        if len(made) >= 4:
            break
        time.sleep(0.01)
    assert 4 <= len(made) <= 6


def test_shuffle_is_a_function_of_the_seeds():
    def passes(seed, **options):
        data = numbers(30).shuffle(10, seed=seed, **options)
        return [values(data) for _ in range(2)]

    assert passes(1) == passes(1) != passes(2)
    first, second = passes(1)
    assert first != second and sorted(first) == sorted(second) == list(range(30))
    assert all(x < at + 10 for at, x in enumerate(first))  # no element comes before the buffer has reached it
    one, other = passes(1, reshuffle_each_iteration=False)
    assert one == other
    tf.random.set_seed(7)
    a = passes(None)
    tf.random.set_seed(7)
    assert passes(None) == a
    repeated = numbers(30).shuffle(30, seed=1).repeat(2)
    all_of_it = values(repeated)
    assert sorted(all_of_it[:30]) == sorted(all_of_it[30:]) and all_of_it[:30] != all_of_it[30:]


def test_random_numbers_in_a_function_are_tensorflows_and_begin_again_with_each_pass():
    tf.random.set_seed(1)
    data = numbers(3).map(lambda x: tf.random.uniform([], seed=3))
    recorded = [0.7787856, 0.0978868, 0.24208665]  # by TensorFlow
    for _ in range(2):
        np.testing.assert_allclose(values(data), recorded, rtol=1e-6)
    tf.random.set_seed(1)
    without = numbers(3).map(lambda x: tf.random.uniform([])).prefetch(2)
    before = values(without)
    tf.random.uniform([])
    assert values(without) == before


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


def test_datasets_made_by_functions_may_be_empty_and_are_followed_once():
    calls = []

    def seen(x):
        calls.append(int(x))
        return x

    data = numbers(3).flat_map(lambda n: Dataset.range(n).map(seen))
    assert values(data) == calls == [0, 0, 1]


def test_what_has_no_weight_is_not_waited_for():
    assert values(Dataset.sample_from_datasets([numbers(3), numbers()], weights=[1.0, 0.0])) == [0, 1, 2]


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


def test_a_batch_of_strings_has_plain_strings():
    batch = next(iter(Dataset.from_tensor_slices(["a", "bcd"]).batch(2)))
    assert [(type(x), x) for x in batch.numpy()] == [(bytes, b"a"), (bytes, b"bcd")]


def test_sparse_elements():
    s = tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3])
    data = Dataset.from_tensor_slices(s)
    assert data.element_spec == tf.SparseTensorSpec([3], tf.int32)
    assert values(data.map(tf.sparse.to_dense)) == [[1, 0, 0], [0, 0, 2]]
    assert values(data.batch(2).map(tf.sparse.to_dense)) == [[[1, 0, 0], [0, 0, 2]]]


def test_no_tape_records_a_pipeline():
    v = tf.Variable(2.0)
    data = Dataset.from_tensor_slices([1.0, 2.0]).map(lambda x: x * v)
    with tf.GradientTape() as tape:
        y = sum(x for x in data)
        z = y * v
    assert float(tape.gradient(z, v)) == 6
    with tf.GradientTape() as tape:
        y = sum(data)
    assert tape.gradient(y, v) is None


def test_datasets_in_functions():
    @tf.function
    def total(data, limit):
        s = tf.constant(0, tf.int64)
        for x in data:
            if x > limit:
                break
            s += x
        return s

    assert int(total(numbers(), tf.constant(3, tf.int64))) == 6
    assert int(total(numbers(), tf.constant(1, tf.int64))) == 1
    assert int(total(numbers(3), tf.constant(3, tf.int64))) == 3

    @tf.function
    def next_two(iterator):
        return next(iterator), iterator.get_next()

    iterator = iter(numbers())
    assert [int(x) for x in next_two(iterator)] == [0, 1]
    assert [int(x) for x in next_two(iterator)] == [2, 3]

    w = tf.Variable(1.0)

    @tf.function
    def epoch(data):
        for x in data:
            with tf.GradientTape() as tape:
                loss = (w * x - 1.0) ** 2
            w.assign_sub(0.1 * tape.gradient(loss, w))
        return w + 0.0

    expected = 1.0
    for x in (1.0, 2.0):
        expected -= 0.1 * 2 * (expected * x - 1) * x
    np.testing.assert_allclose(epoch(Dataset.from_tensor_slices([1.0, 2.0])), expected, rtol=1e-6)


def test_iterators():
    iterator = iter(numbers(2))
    assert iter(iterator) is iterator and iterator.element_spec == tf.TensorSpec([], tf.int64)
    assert int(iterator.get_next_as_optional().get_value()) == 0
    assert int(iterator.get_next()) == 1
    nothing = iterator.get_next_as_optional()
    assert not nothing.has_value()
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        nothing.get_value()
    with pytest.raises(StopIteration):
        next(iterator)


def test_threads_share_an_iterator():
    iterator = iter(numbers(200).map(lambda x: (time.sleep(0), x)[1]).batch(2).unbatch())
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: int(next(iterator)), range(200)))
    assert sorted(found) == list(range(200))


def test_assert_cardinality():
    data = numbers().filter(lambda x: x < 3)
    assert values(data.apply(tf.data.experimental.assert_cardinality(3))) == [0, 1, 2]
    for wrong in (2, 4):
        with pytest.raises(tf.errors.FailedPreconditionError, match=f"expected to contain {wrong}"):
            values(data.apply(tf.data.experimental.assert_cardinality(wrong)))


def test_many_small_elements_are_quick():
    x, y = np.random.default_rng(0).normal(size=(10_000, 4)).astype("float32"), np.arange(10_000)
    data = Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a * 2.0, b + 1)).shuffle(1000, seed=0).batch(32)
    began = time.process_time()
    seen = np.concatenate([b.numpy() for _, b in data])
    assert time.process_time() - began < 3  # a quarter of a second on a quiet machine
    assert sorted(seen) == list(range(1, 10_001))


@pytest.mark.parametrize("autograph", [True, False])
def test_the_end_of_a_dataset_in_a_function_is_an_error_of_the_function(autograph):
    iterator = iter(Dataset.range(3))

    @tf.function(autograph=autograph)
    def inner():
        return next(iterator)

    @tf.function(autograph=autograph)
    def step():
        return inner() * 2

    assert [int(step()) for _ in range(3)] == [0, 2, 4]
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        step()

    @tf.function
    def total(count):
        found = tf.constant(0, tf.int64)
        for _ in tf.range(count):
            found += next(iterator)
        return found

    iterator = iter(Dataset.range(3))
    assert int(total(tf.constant(2))) == 1
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        total(tf.constant(2))


def test_elements_are_known_of_batches_that_only_repeating_fills():
    dataset = tf.data.Dataset.from_tensors([0, 1, 2]).repeat().batch(2, drop_remainder=True).map(lambda x: x + 1)
    assert dataset.element_spec == tf.TensorSpec([2, 3], tf.int32)
    assert next(iter(dataset)).numpy().tolist() == [[1, 2, 3]] * 2


def test_functions_take_and_return_datasets():
    doubled = tf.function(lambda n: tf.data.Dataset.range(n).map(lambda x: 2 * x))
    assert [int(x) for x in doubled(tf.constant(3, tf.int64))] == [0, 2, 4]
    pairs = tf.function(lambda dataset: {"pairs": dataset.batch(2)})
    assert [x.numpy().tolist() for x in pairs(tf.data.Dataset.range(3))["pairs"]] == [[0, 1], [2]]


# What follows was found by comparing random pipelines with TensorFlow 2.21 (`tests/fuzz/datasets.py`).


def counting(epochs):
    """A dataset whose passes have the numbers of elements given, and none after those."""
    left = iter(epochs)
    return Dataset.from_generator(lambda: iter(range(next(left, 0))), output_signature=tf.TensorSpec([], tf.int32))


def test_an_empty_epoch_ends_endless_passes_unless_they_are_shuffled():
    assert values(counting([3, 0, 3]).repeat().take(5)) == [0, 1, 2]
    assert values(counting([3, 0, 3]).repeat(3).take(5)) == [0, 1, 2, 0, 1]
    assert sorted(values(counting([3, 0, 3]).shuffle(10).repeat().take(5))[:3]) == [0, 1, 2]
    assert len(values(counting([3, 0, 3]).shuffle(10).repeat().take(5))) == 5
    assert values(numbers(0).shuffle(10).repeat()) == []


def test_a_cache_is_complete_after_as_many_elements_as_there_are():
    made = []
    data = numbers(3).map(lambda x: made.append(int(x)) or x).cache()
    iterator = iter(data)
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    assert values(data) == values(data.take(3)) == [0, 1, 2]
    assert made == [0, 1, 2]


def test_random_access():
    at = tf.data.experimental.at
    tf.random.set_seed(1)
    shuffled = numbers(6).shuffle(2, seed=3)
    assert [int(at(shuffled, i)) for i in range(6)] == [int(at(shuffled, i)) for i in range(6)] == [5, 3, 0, 1, 2, 4]
    fixed = numbers(6).shuffle(6, seed=3, reshuffle_each_iteration=False)
    assert [int(at(fixed, i)) for i in range(6)] == [0, 4, 5, 1, 2, 3]
    assert values(fixed) == [5, 3, 0, 1, 2, 4]
    assert at(shuffled.batch(4), 1).numpy().tolist() == [2, 4]
    data = numbers(6).map(lambda x: x * 2).skip(2).take(3).cache().prefetch(1).concatenate(numbers(2)).shard(2, 0)
    assert [int(at(data, i)) for i in range(len(data))] == values(data)
    assert int(at(numbers(3).repeat(2), 4)) == 1
    assert [int(x) for x in at(Dataset.zip(numbers(), numbers(3)).enumerate(), 2)[1]] == [2, 2]
    for index in (-1, 6):
        with pytest.raises(tf.errors.OutOfRangeError, match=r"out of range \[0, 6\)"):
            at(shuffled, index)
    with pytest.raises(tf.errors.UnimplementedError, match="FilterDataset"):
        at(numbers().filter(lambda x: True), 0)
    with pytest.raises(tf.errors.FailedPreconditionError, match="infinite"):
        at(numbers().repeat(), 0)


def test_what_is_made_of_endless_datasets_is_endless():
    endless, some = numbers().repeat(), numbers()
    assert int(endless.group_by_window(lambda x: x % 2, lambda k, g: g.batch(2), 2).cardinality()) == -1
    lengths = endless.map(lambda n: tf.ones([n]))
    assert int(lengths.bucket_by_sequence_length(lambda x: tf.size(x), [2], [2, 2]).cardinality()) == -1
    for datasets in ([endless, endless], [some, endless]):
        assert int(Dataset.sample_from_datasets(datasets).cardinality()) == -1
        assert int(Dataset.choose_from_datasets(datasets, numbers(2)).cardinality()) == -1
    assert int(Dataset.sample_from_datasets([some, some]).cardinality()) == -2


def test_options_of_several_datasets_are_merged():
    first, second = tf.data.Options(), tf.data.Options()
    first.deterministic, second.deterministic, second.threading.private_threadpool_size = False, True, 3
    a, b = numbers().with_options(first), numbers().with_options(second)
    both = [Dataset.zip(a, b), a.concatenate(b), Dataset.sample_from_datasets([a, b])]
    assert [(x.options().deterministic, x.options().threading.private_threadpool_size) for x in both] == [(True, 3)] * 3
    assert Dataset.zip(b, a).options().deterministic is False


def test_the_state_of_a_scan_keeps_its_types():
    with pytest.raises(TypeError, match=r"Invalid `scan_func`.*Expected tf.int32, got tf.int64"):
        values(numbers().scan(0, lambda s, x: (x, x)))
    with pytest.raises(TypeError, match="a pair"):
        values(numbers().scan(0, lambda s, x: s))
    with pytest.raises(tf.errors.InvalidArgumentError, match="structure"):
        values(numbers().scan(0, lambda s, x: ((s, s), x)))
    assert values(numbers(3).scan([0.0], lambda s, x: (tf.concat([s, s], 0), tf.size(s)))) == [1, 2, 4]


def test_specs_of_empty_datasets():
    floats = tf.TensorSpec([None], tf.float32)
    assert numbers(0).map(lambda n: tf.ones([n])).element_spec == floats
    pair = numbers(0).map(lambda x: (tf.cast(x, tf.float32), tf.ones([2])))
    assert pair.element_spec == (tf.TensorSpec([]), tf.TensorSpec([2]))
    assert numbers(0).batch(2).map(lambda x: x * 2).element_spec == tf.TensorSpec([None], tf.int64)
    assert numbers(0).flat_map(lambda n: Dataset.range(n).batch(2)).element_spec == tf.TensorSpec([None], tf.int64)
    ragged = numbers(0).map(lambda n: tf.ones([n])).ragged_batch(2)
    assert ragged.element_spec == tf.RaggedTensorSpec([None, None], tf.float32)
    assert list(ragged) == []
    assert numbers(0).window(2).map(lambda w: w.batch(2)).element_spec == tf.data.DatasetSpec(
        tf.TensorSpec([None], tf.int64)
    )
    assert ragged.map(lambda x: x.to_tensor()).element_spec == tf.TensorSpec([None, None], tf.float32)
    with pytest.raises(tf.errors.OutOfRangeError, match="made-up elements, with NotFoundError"):
        repr(Dataset.from_tensor_slices(tf.constant([], tf.string)).map(lambda name: tf.io.read_file(name)))


def test_specs_of_datasets_in_functions_are_those_of_the_datasets():
    windows = numbers(6).window(2)
    assert windows.flat_map(lambda w: w.batch(2)).element_spec == tf.TensorSpec([None], tf.int64)
    groups = numbers(6).group_by_window(lambda x: x % 2, lambda key, group: group.batch(3), 3)
    assert groups.element_spec == tf.TensorSpec([None], tf.int64)


def test_datasets_of_datasets():
    twice = numbers(6).window(2).window(2).flat_map(lambda w: w.flat_map(lambda v: v.batch(2)))
    assert values(twice) == [[0, 1], [2, 3], [4, 5]]
    batches = numbers(5).window(2).batch(2)
    assert batches.element_spec == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64), [None])
    assert [values(window) for window in batches.unbatch()] == [[0, 1], [2, 3], [4]]
    nested = Dataset.from_tensors((numbers(3), 2, {"a": numbers(2)}))
    ((first, two, rest),) = list(nested)
    assert (values(first), int(two), values(rest["a"])) == ([0, 1, 2], 2, [0, 1])
    with pytest.raises(ValueError, match="rank 0"):
        Dataset.from_tensor_slices(numbers())
    with pytest.raises(TypeError, match="datasets of datasets"):
        numbers().window(2).padded_batch(2)


def test_tensor_arrays_as_elements():
    def array(n):
        return tf.TensorArray(tf.int64, 3).unstack(n + tf.range(3, dtype=tf.int64))

    data = numbers(2).map(lambda n: (n, {"a": array(n)})).cache()
    kept = data.repeat(2).filter(lambda n, parts: parts["a"].read(0) > 0)
    assert [(int(n), parts["a"].stack().numpy().tolist()) for n, parts in kept] == [(1, [1, 2, 3])] * 2
    assert [x.read(0).numpy() for x in Dataset.from_tensors(array(5)).repeat(2)] == [5, 5]
    with pytest.raises(TypeError, match="cannot be batched"):
        list(numbers(2).map(array).batch(2))


def test_sparse_batches():
    data = numbers(3).map(lambda n: tf.range(n) + 1)
    first, second = data.sparse_batch(2, [5])
    assert tf.sparse.to_dense(first).numpy().tolist() == [[0] * 5, [1, 0, 0, 0, 0]]
    assert tf.sparse.to_dense(second).numpy().tolist() == [[1, 2, 0, 0, 0]]
    assert data.sparse_batch(2, [5]).element_spec == tf.SparseTensorSpec([None, 5], tf.int64)
    assert len(data.sparse_batch(2, [5])) == 2
    with pytest.raises(tf.errors.DataLossError, match="larger than the row shape"):
        list(data.sparse_batch(3, [1]))


def reciprocals():
    return numbers(4).map(lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x - 1, tf.float32), "x"))


def test_elements_after_an_error():
    """TensorFlow's iterators go on after an error, whatever is between it and the program."""
    assert values(reciprocals().ignore_errors()) == [-1.0, 1.0, 0.5]
    assert int(reciprocals().ignore_errors().cardinality()) == -2
    changed = {
        "prefetch": reciprocals().prefetch(2),
        "take": reciprocals().take(3),
        "repeat": reciprocals().repeat(1),
        "flat_map": reciprocals().flat_map(lambda x: Dataset.from_tensors(x)),
        "cache": reciprocals().cache(),
        "unbatch": reciprocals().map(lambda x: [[x]]).unbatch(),
    }
    for name, data in changed.items():
        found = [float(np.ravel(x)[0]) for x in data.ignore_errors()]
        assert found == [-1.0, 1.0, 0.5], name
    assert values(reciprocals().batch(2).ignore_errors()) == [[1.0, 0.5]]
    assert values(reciprocals().window(2).flat_map(lambda w: w).ignore_errors()) == [1.0, 0.5]
    assert values(reciprocals().enumerate().ignore_errors()) == [(0, -1.0), (2, 1.0), (3, 0.5)]
    iterator = iter(reciprocals().scan(0.0, lambda s, x: (s + x, s)).prefetch(1))
    assert float(next(iterator)) == 0
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iterator)
    assert [float(x) for x in iterator] == [-1.0, 0.0]


def test_prefetch_takes_none():
    assert values(numbers(3).prefetch(None)) == [0, 1, 2]


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
    assert len(made) <= 3 + 2 * 3  # the specs, a pass that was left, and one that wrote


def test_wrong_transformations_are_refused_when_they_are_made():
    for calls, cycle in ((2, 1), (0, None)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="num_parallel_calls"):
            numbers().interleave(lambda x: Dataset.range(x), cycle_length=cycle, num_parallel_calls=calls)
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_parallel_calls"):
        numbers().map(lambda x: x, num_parallel_calls=0)
    bytes_of_data = Dataset.from_tensor_slices(np.zeros(3, "uint8"))
    for data in (bytes_of_data, numbers().batch(2), Dataset.zip(numbers(), numbers())):
        with pytest.raises(TypeError, match="only supports scalars of type"):
            data.unique()
    uneven = Dataset.from_tensor_slices((np.zeros((2, 3)), np.zeros((2, 4))))
    for change in (Dataset.unbatch, lambda data: data.rebatch(2)):
        with pytest.raises(ValueError, match=r"\[3, 4\]"):
            change(uneven)
    with pytest.raises(ValueError, match="scalar components"):
        numbers().rebatch(2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one axis"):
        list(Dataset.from_tensors(tf.sparse.from_dense([0, 1])).unbatch())


def test_batches_that_divide_have_known_sizes():
    assert numbers(8).batch(4, drop_remainder=True).rebatch(2).element_spec == tf.TensorSpec([2], tf.int64)
    assert numbers(8).batch(4, drop_remainder=True).rebatch(3).element_spec == tf.TensorSpec([None], tf.int64)


def test_a_shuffle_below_another_takes_no_seeds_for_a_pass_that_nobody_goes_through():
    tf.random.set_seed(2)
    data = Dataset.from_tensor_slices([1, 2, 3]).shuffle(2, seed=1).shuffle(8, seed=0).enumerate().repeat(3)
    found = [[int(x) for _, x in data] for _ in range(3)]  # as under TensorFlow 2.21
    assert found == [[1, 2, 3, 3, 1, 2, 3, 2, 1], [1, 3, 2, 1, 3, 2, 2, 3, 1], [3, 1, 2, 1, 2, 3, 2, 1, 3]]


def test_ragged_batches_of_an_empty_dataset():
    empty = tf.data.Dataset.range(0).map(lambda i: tf.range(i))
    assert list(empty.ragged_batch(2)) == []
    assert list(tf.data.Dataset.range(3).map(tf.range).filter(lambda x: tf.size(x) > 5).ragged_batch(2)) == []
    batches = tf.data.Dataset.range(3).map(tf.range).ragged_batch(2)
    assert [x.to_list() for x in batches] == [[[], [0]], [[0, 1]]]
