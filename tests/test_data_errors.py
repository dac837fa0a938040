"""`tf.data`: invalid input, errors of user functions, and the elements after an error."""

import numpy as np
import pytest
from small_datasets import Dataset, numbers, values

import gradtape as tf


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
        (lambda: numbers().padded_batch(2, [1]), ValueError, r"shape \(1,\) is not compatible with the shape \(\)"),
        (lambda: numbers().padded_batch(2, [[1], [1]]), ValueError, r"its shape was \(2, 1\)"),
        (lambda: numbers().padded_batch(2, [1.5]), TypeError, "its element type was float32"),
        (lambda: Dataset.from_generator(lambda: iter([1]), tf.int32).padded_batch(2), ValueError, "unknown rank"),
        (lambda: Dataset.from_generator(lambda: iter([1]), [tf.int32]), TypeError, "to a TensorFlow DType"),
        (lambda: values(numbers().apply(tf.data.experimental.assert_cardinality(1))),
         tf.errors.FailedPreconditionError, "expected to contain 1 element but contained at least 2 elements."),
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


def test_assert_cardinality():
    data = numbers().filter(lambda x: x < 3)
    assert values(data.apply(tf.data.experimental.assert_cardinality(3))) == [0, 1, 2]
    for wrong in (2, 4):
        with pytest.raises(tf.errors.FailedPreconditionError, match=f"expected to contain {wrong}"):
            values(data.apply(tf.data.experimental.assert_cardinality(wrong)))


def test_the_state_of_a_scan_keeps_its_types():
    with pytest.raises(TypeError, match=r"Invalid `scan_func`.*Expected tf.int32, got tf.int64"):
        values(numbers().scan(0, lambda s, x: (x, x)))
    with pytest.raises(TypeError, match="a pair"):
        values(numbers().scan(0, lambda s, x: s))
    with pytest.raises(tf.errors.InvalidArgumentError, match="structure"):
        values(numbers().scan(0, lambda s, x: ((s, s), x)))
    assert values(numbers(3).scan([0.0], lambda s, x: (tf.concat([s, s], 0), tf.size(s)))) == [1, 2, 4]


def reciprocals():
    return numbers(4).map(lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x - 1, tf.float32), "x"))


def test_elements_after_an_error():
    """TensorFlow's iterators continue after an error, whatever transformations follow."""
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


def failing(n=7, at=(1, 4)):
    """Returns the first numbers, some of which fail."""

    def check(x):
        tf.debugging.Assert(tf.reduce_all(x != tf.constant(at, tf.int64)), [x])
        return x

    return numbers(n).map(check)


def outcomes(dataset):
    """Returns the elements, and "!" for each error."""
    found, iterator = [], dataset.as_numpy_iterator()
    while True:
        try:
            found.append(tf.nest.map_structure(lambda x: x.tolist(), next(iterator)))
        except StopIteration:
            return found
        except tf.errors.OpError:
            found.append("!")


def in_turn(first, second, choices):
    return Dataset.choose_from_datasets([first, second], Dataset.from_tensor_slices(np.array(choices)))


@pytest.mark.parametrize(("make", "expected"), [  # recorded under TensorFlow 2.21
    (lambda: failing().batch(1).rebatch(2), ["!", [2, 3], "!", [5, 6]]),
    (lambda: failing().sparse_batch(2, []).map(tf.sparse.to_dense), ["!", [2, 3], "!", [5, 6]]),
    (lambda: failing().group_by_window(lambda x: x % 2, lambda k, g: g.batch(2), 2), ["!", [0, 2], "!", [3, 5], [6]]),
    (lambda: failing().interleave(lambda x: Dataset.from_tensors(x).repeat(2), cycle_length=2),
     [0, "!", 2, 0, 2, 3, "!", 5, 3, 5, 6, 6]),
    (lambda: numbers(3).interleave(lambda x: failing(3, [1]), cycle_length=2), [0, 0, "!", 2, "!", 2, 0, "!", 2]),
    (lambda: numbers(3).interleave(lambda x: failing(4, [1]), cycle_length=2, block_length=2),
     [0, "!", 2, 0, "!", 2, 3, 3, 0, "!", 2, 3]),
    (lambda: in_turn(failing(), Dataset.range(10, 15), [0, 1, 0, 1, 0, 0, 1, 0, 0]),
     [0, 10, "!", 11, 2, 3, 12, "!", 5]),
    (lambda: in_turn(numbers(), Dataset.range(10, 15), [0, 2, 1, 5, 0]), [0, "!", 10, "!", 1]),
    (lambda: Dataset.choose_from_datasets([numbers(), Dataset.range(10, 15)], failing(8, (2, 5)).map(lambda x: x % 2)),
     [0, 10, "!", 11, 1, "!", 2, 12]),
    (lambda: failing().map(lambda x: x // 2).unique(), [0, "!", 1, "!", 2, 3]),
    (lambda: Dataset.zip(failing(7, [1]), failing(7, [1, 3]), numbers(7)),
     [(0, 0, 0), "!", (2, 2, 2), "!", (4, 4, 4), (5, 5, 5), (6, 6, 6)]),
    (lambda: Dataset.zip(numbers(7), failing(7, [1, 3]), failing(7, [2])),
     [(0, 0, 0), "!", "!", "!", (4, 4, 4), (5, 5, 5), (6, 6, 6)]),
    (lambda: Dataset.zip(failing(5, [2, 3, 4]), numbers(3)), [(0, 0), (1, 1), "!", "!"]),
    (lambda: failing().skip(2), ["!", "!", 5, 6]),
    (lambda: failing(5, [3]).batch(3), [[0, 1, 2], "!"]),
    (lambda: failing(5, [3]).take(5).batch(3), [[0, 1, 2], "!", [4]]),
    (lambda: failing().ragged_batch(2), ["!", [2, 3], "!", [6]]),
    (lambda: failing().bucket_by_sequence_length(lambda x: tf.cast(x, tf.int32), [2], [2, 2]),
     ["!", [2, 3], "!", [5, 6], [0]]),
    (lambda: numbers(4).apply(tf.data.experimental.assert_cardinality(2)).window(2, drop_remainder=True).flat_map(
        lambda window: window.batch(2)), [[0, 1], "!"]),
])  # fmt: skip
def test_errors_take_the_places_of_elements(make, expected):
    assert outcomes(make()) == expected


def test_files_have_the_elements_without_errors(tmp_path):
    expected = [0, "!", 2, 3, "!", 5, 6]
    cached, snapshot = failing().cache(tmp_path / "cache"), failing().snapshot(tmp_path / "snapshot")
    assert outcomes(cached) == outcomes(snapshot) == expected
    assert outcomes(cached) == outcomes(snapshot) == [0, 2, 3, 5, 6]


def test_wrong_transformations_are_refused_when_they_are_made():
    for calls, cycle in ((2, 1), (0, None)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="num_parallel_calls"):
            numbers().interleave(lambda x: Dataset.range(x), cycle_length=cycle, num_parallel_calls=calls)
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_parallel_calls"):
        numbers().map(lambda x: x, num_parallel_calls=0)
    bytes_of_data = Dataset.from_tensor_slices(np.zeros(3, "uint8"))
    with pytest.raises(TypeError, match=r"does not support .*uint8.* -- only `tf.int32`"):
        bytes_of_data.unique()
    with pytest.raises(tf.errors.InvalidArgumentError, match="a single component"):
        Dataset.zip(numbers(), numbers()).unique()
    uneven = Dataset.from_tensor_slices((np.zeros((2, 3)), np.zeros((2, 4))))
    for change in (Dataset.unbatch, lambda data: data.rebatch(2)):
        with pytest.raises(ValueError, match=r"\[3, 4\]"):
            change(uneven)
    with pytest.raises(ValueError, match="scalar components"):
        numbers().rebatch(2)
    for data in (Dataset.zip(numbers(), numbers()), Dataset.from_tensor_slices(tf.ragged.constant([[1]]))):
        with pytest.raises(TypeError, match="a single component, a tensor"):
            data.sparse_batch(2, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one axis"):
        list(Dataset.from_tensors(tf.sparse.from_dense([0, 1])).unbatch())


def test_invalid_records_do_not_end_a_csv_file(tmp_path):
    path = str(tmp_path / "a.csv")
    text = b'1,"a ""b"""\r\n2,"c"d"\r3,e"\n4\n5,6,7\n,\n8,"x\ny'

    def outcomes(**options):
        rows, found = iter(tf.data.experimental.CsvDataset(path, [0, "-"], **options)), []
        while True:
            try:
                number, word = next(rows)
                found.append((int(number), word.numpy()))
            except tf.errors.InvalidArgumentError as error:
                found.append(error.message)
            except StopIteration:
                return found

    expected = [
        (1, b'a "b"'), "Quote inside a string has to be escaped by another quote",
        "Unquoted fields cannot have quotes inside", "Expect 2 fields but have 1 in record",
        "Expect 2 fields but have more in record", (0, b"-"),
        "Reached end of file without closing quoted field in record",
    ]  # fmt: skip
    for size in (1, 2, 7, 1000):
        tf.io.write_file(path, text)
        assert outcomes(buffer_size=size) == expected
    tf.io.write_file(path, "")
    assert outcomes() == [] and outcomes(header=True) == ["Can't read header of file"]


def test_a_generator_continues_after_an_invalid_element():
    elements = iter(Dataset.from_generator(lambda: iter([1, "a", [2], 3]), tf.int32, []))
    found = []
    for _ in range(4):
        try:
            found.append(int(next(elements)))
        except tf.errors.InvalidArgumentError:
            found.append(None)
    assert found == [1, None, None, 3] and next(elements, None) is None


def test_the_next_file_follows_a_damaged_one(tmp_path):
    paths = [str(tmp_path / name) for name in "ab"]
    for path in paths:
        with tf.io.TFRecordWriter(path) as writer:
            writer.write(b"record")
        with open(path, "ab") as file:
            file.write(b"damaged")
    assert values(tf.data.TFRecordDataset(paths).ignore_errors()) == [b"record", b"record"]


def test_an_index_beyond_the_elements_contradicts_an_asserted_cardinality():
    data = numbers(5).apply(tf.data.experimental.assert_cardinality(10))
    assert int(tf.data.experimental.at(data, 4)) == 4
    with pytest.raises(tf.errors.FailedPreconditionError, match="expected to contain 10 elements"):
        tf.data.experimental.at(data, 5)
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.data.experimental.at(data, 10)
