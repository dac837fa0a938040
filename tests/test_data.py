"""`tf.data`: the results, specs and cardinalities of the same programs under TensorFlow, in every pass."""

import collections
import pickle

import numpy as np
import pytest
from small_datasets import Dataset, numbers, values

import gradtape as tf

Point = collections.namedtuple("Point", "x y")

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


def test_datasets_made_by_functions_may_be_empty_and_are_followed_once():
    calls = []

    def seen(x):
        calls.append(int(x))
        return x

    data = numbers(3).flat_map(lambda n: Dataset.range(n).map(seen))
    assert values(data) == calls == [0, 0, 1]


def test_a_batch_of_strings_has_plain_strings():
    batch = next(iter(Dataset.from_tensor_slices(["a", "bcd"]).batch(2)))
    assert [(type(x), x) for x in batch.numpy()] == [(bytes, b"a"), (bytes, b"bcd")]


def test_sparse_elements():
    s = tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3])
    data = Dataset.from_tensor_slices(s)
    assert data.element_spec == tf.SparseTensorSpec([3], tf.int32)
    assert values(data.map(tf.sparse.to_dense)) == [[1, 0, 0], [0, 0, 2]]
    assert values(data.batch(2).map(tf.sparse.to_dense)) == [[[1, 0, 0], [0, 0, 2]]]


def test_elements_are_known_of_batches_that_only_repeating_fills():
    dataset = tf.data.Dataset.from_tensors([0, 1, 2]).repeat().batch(2, drop_remainder=True).map(lambda x: x + 1)
    assert dataset.element_spec == tf.TensorSpec([2, 3], tf.int32)
    assert next(iter(dataset)).numpy().tolist() == [[1, 2, 3]] * 2


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


def test_the_batch_after_an_error_of_a_sparse_batch_begins_with_the_next_element():
    data = tf.data.Dataset.range(1, 6).map(tf.range).sparse_batch(2, [3])  # the last two elements are too long
    iterator, found = iter(data), []
    for _ in range(5):
        try:
            found.append(tf.sparse.to_dense(next(iterator)).numpy().tolist())
        except tf.errors.DataLossError:
            found.append("error")
        except StopIteration:
            found.append("end")
    assert found == [[[0, 0, 0], [0, 1, 0]], "error", "error", "end", "end"]


def test_a_function_of_no_ragged_elements_keeps_uniform_sizes():
    data = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]])).batch(2, drop_remainder=True)
    empty = data.window(2, drop_remainder=True).flat_map(lambda window: window.batch(4))
    assert empty.map(lambda x: x).element_spec == tf.RaggedTensorSpec([None, 2, None], tf.int32, 2)


def test_sparse_batches():
    data = numbers(3).map(lambda n: tf.range(n) + 1)
    first, second = data.sparse_batch(2, [5])
    assert tf.sparse.to_dense(first).numpy().tolist() == [[0] * 5, [1, 0, 0, 0, 0]]
    assert tf.sparse.to_dense(second).numpy().tolist() == [[1, 2, 0, 0, 0]]
    assert data.sparse_batch(2, [5]).element_spec == tf.SparseTensorSpec([None, 5], tf.int64)
    assert len(data.sparse_batch(2, [5])) == 2
    with pytest.raises(tf.errors.DataLossError, match="larger than the row shape"):
        list(data.sparse_batch(3, [1]))


def test_batches_that_divide_have_known_sizes():
    assert numbers(8).batch(4, drop_remainder=True).rebatch(2).element_spec == tf.TensorSpec([2], tf.int64)
    assert numbers(8).batch(4, drop_remainder=True).rebatch(3).element_spec == tf.TensorSpec([None], tf.int64)


def test_ragged_batches_of_an_empty_dataset():
    empty = tf.data.Dataset.range(0).map(lambda i: tf.range(i))
    assert list(empty.ragged_batch(2)) == []
    assert list(tf.data.Dataset.range(3).map(tf.range).filter(lambda x: tf.size(x) > 5).ragged_batch(2)) == []
    batches = tf.data.Dataset.range(3).map(tf.range).ragged_batch(2)
    assert [x.to_list() for x in batches] == [[[], [0]], [[0, 1]]]


@pytest.mark.parametrize(
    "rows", [tf.sparse.from_dense([[0, 1], [2, 0], [0, 0]]), tf.ragged.constant([[1, 2], [], [3]])]
)
def test_batches_of_batches_have_one_size(rows):
    """As for dense tensors; the result of a function is a single value, whatever it consists of."""
    batches = Dataset.from_tensor_slices(rows).batch(2)
    for data in (batches, batches.cache(), batches.filter(lambda x: True), batches.take_while(lambda x: True),
                 batches.concatenate(batches.map(lambda x: x)), batches.window(2).flat_map(lambda w: w)):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"First element had shape \[2\] and element 1 had"):
            list(data.batch(2))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2, 1\] and element 1 had shape \[1, 1\]"):
        list(Dataset.from_tensor_slices(rows).batch(1).batch(2).batch(2))
    signature = batches.element_spec
    for data in (batches.map(lambda x: x), batches.scan(0, lambda s, x: (s, x)), batches.flat_map(Dataset.from_tensors),
                 Dataset.from_generator(lambda: iter(batches), output_signature=signature)):  # fmt: skip
        assert [x.shape[0] for x in data.batch(2)] == [2]
    assert [x.shape[0] for x in batches.batch(1).rebatch(2)] == [2]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \[2\] and element 1 had shape \[1\]"):
        list(numbers(3).window(1).batch(2).batch(2))


def test_unbatching_counts_the_rows_that_are_known():
    empty_rows = Dataset.from_tensor_slices(np.zeros((3, 0)))
    cases = {
        6: Dataset.from_tensor_slices(np.zeros((3, 2))),
        -1: Dataset.from_tensor_slices(np.zeros((3, 2))).repeat(),
        -2: empty_rows,
        0: empty_rows.take(0).batch(2, drop_remainder=True),
    }
    assert {int(data.unbatch().cardinality()) for data in cases.values()} == set(cases)
    assert all(int(data.unbatch().cardinality()) == expected for expected, data in cases.items())


def test_specs_tell_what_is_wrong_with_what_functions_make():
    """TensorFlow, which traces the functions, rejects these when they are created."""
    uneven = Dataset.from_tensor_slices((np.zeros((0, 1, 2)), np.zeros((0, 2)))).map(lambda x, y: (x, y)).unbatch()
    with pytest.raises(ValueError, match=r"\[1, 2\]"):
        repr(uneven)
    scalars = numbers().map(lambda x: x)
    with pytest.raises(ValueError, match="scalar components"):
        repr(scalars.unbatch())
    with pytest.raises(TypeError, match=r"only `tf.int32`"):
        repr(scalars.map(lambda x: 1.5).unique().map(lambda x: x).unbatch())
    with pytest.raises(TypeError, match="not a subclass of TensorSpec"):
        repr(scalars.map(lambda x: tf.ragged.constant([[1]])).padded_batch(2))


def test_specs_do_not_depend_on_errors_of_elements():
    failing = numbers().map(lambda x: tf.range(x % 2)).batch(2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not match"):
        list(failing.map(lambda x: tf.cast(x, tf.float32)))
    assert failing.map(lambda x: tf.cast(x, tf.float32)).element_spec == tf.TensorSpec([None, None], tf.float32)
    assert failing.flat_map(Dataset.from_tensors).element_spec == tf.TensorSpec([None, None], tf.int64)


def test_unique_compares_whole_tensors():
    rows = Dataset.from_tensor_slices([[1, 2], [1, 2], [2, 1]])
    assert values(rows.unique()) == [[1, 2], [2, 1]]
    assert values(numbers(5).map(lambda x: x * 0).batch(2).unique()) == [[0, 0], [0]]
    assert values(Dataset.from_tensor_slices([["a"], ["b"], ["a"]]).unique()) == [[b"a"], [b"b"]]
    assert values(Dataset.from_tensor_slices({"x": [1, 1, 2]}).unique()) == [{"x": 1}, {"x": 2}]


def test_entries_of_ragged_rows_are_batched():
    rows = Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]]))
    assert values(rows.unbatch().batch(2)) == [[1, 2], [3]]
    assert [x.to_list() for x in rows.batch(1).rebatch(2)] == [[[1, 2], []], [[3]]]


def test_values_without_rows_or_of_other_kinds_are_elements():
    pairs = Dataset.from_tensor_slices(([1, 2, 3], None))
    assert list(pairs.batch(2).unbatch().as_numpy_iterator()) == [(1, None), (2, None), (3, None)]
    sparse = numbers(2).map(lambda x: tf.compat.v1.SparseTensorValue([[0]], [x], [2])).batch(2)
    assert tf.sparse.to_dense(next(iter(sparse))).numpy().tolist() == [[0, 0], [1, 0]]
    ragged = Dataset.from_tensors(tf.compat.v1.ragged.constant_value([[1, 2], [3]]))
    assert next(iter(ragged)).to_list() == [[1, 2], [3]]
    assert values(Dataset.from_tensors([numbers(2), numbers(3)]).unbatch().flat_map(lambda x: x)) == [0, 1, 0, 1, 2]


def test_rebatch_makes_empty_batches():
    assert values(numbers(4).batch(4).rebatch([0, 2])) == [[], [0, 1], [], [2, 3], []]


def test_rows_are_found_by_index():
    rows = numbers(6).batch(3, drop_remainder=True).unbatch()
    assert [int(tf.data.experimental.at(rows, i)) for i in (0, 4)] == [0, 4]


class Masked:
    """A user's class of nests."""

    def __init__(self, mask, value):
        self.mask, self.value = mask, value

    def __tf_flatten__(self):
        return (self.mask,), (self.value,)

    def __tf_unflatten__(self, metadata, components):
        return Masked(*metadata, *components)


def test_elements_may_be_objects_of_nest_classes():
    (pair,) = Dataset.zip(Masked(True, numbers(4).batch(4)))
    assert pair.mask and pair.value.numpy().tolist() == [0, 1, 2, 3]


def test_finding_specs_does_not_assign_variables():
    v = tf.Variable(0)
    data = numbers(3).map(lambda x: v.assign_add(1))
    assert data.element_spec.dtype is tf.int32 and int(v) == 0
    assert values(data) == [1, 2, 3]


def test_fingerprints_cover_parameters_functions_and_inputs():
    def made(n=10, step=1, factor=2):
        return Dataset.range(0, n, step).map(lambda x: x * factor).batch(2)

    prints = [int(made(*args).fingerprint()) for args in ((), (), (11,), (10, 2), (10, 1, 3))]
    assert prints[0] == prints[1] and len({*prints}) == 4
    assert int(made().prefetch(1).fingerprint()) not in prints
    opaque = object()
    assert int(numbers().map(lambda x: (x, opaque)[0]).fingerprint()) != int(numbers().map(lambda x: x).fingerprint())


def test_debug_strings_list_the_inputs():
    lines = numbers(3).map(lambda x: x).filter(lambda x: True).__debug_string__().splitlines()
    assert [line.split()[0] for line in lines] == ["<_FilterDataset", "--<_MapDataset", "----<_RangeDataset"]


def test_a_dataset_with_the_type_of_its_elements_is_the_class():
    class Mine(Dataset[tf.Tensor]):
        pass

    assert Dataset[tf.Tensor].range(3).element_spec == Dataset.range(3).element_spec
    assert type(Dataset[tf.Tensor].range(3)) is Dataset and isinstance(Mine.range(3), Mine)
    assert pickle.loads(pickle.dumps(Dataset)) is Dataset
