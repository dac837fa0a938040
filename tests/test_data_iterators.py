"""`tf.data`: iterators, their threads and generators, and datasets inside functions."""

import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from small_datasets import Dataset, numbers, values

import gradtape as tf


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


def test_many_small_elements_are_quick():
    x, y = np.random.default_rng(0).normal(size=(10_000, 4)).astype("float32"), np.arange(10_000)
    data = Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a * 2.0, b + 1)).shuffle(1000, seed=0).batch(32)
    began = time.process_time()
    seen = np.concatenate([b.numpy() for _, b in data])
    assert time.process_time() - began < 3  # a quarter of a second on an idle machine
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


def test_functions_take_and_return_datasets():
    doubled = tf.function(lambda n: tf.data.Dataset.range(n).map(lambda x: 2 * x))
    assert [int(x) for x in doubled(tf.constant(3, tf.int64))] == [0, 2, 4]
    pairs = tf.function(lambda dataset: {"pairs": dataset.batch(2)})
    assert [x.numpy().tolist() for x in pairs(tf.data.Dataset.range(3))["pairs"]] == [[0, 1], [2]]


def test_prefetch_takes_none():
    assert values(numbers(3).prefetch(None)) == [0, 1, 2]


def test_a_closed_prefetch_iterator_has_no_thread():
    from gradtape.data.background import PrefetchIterator

    produced = []

    def elements():
        try:
            for i in range(100):
                produced.append(i)
                yield i
        finally:
            produced.append("closed")

    iterator = PrefetchIterator(elements(), 2)
    assert [next(iterator), next(iterator)] == [0, 1]
    thread = iterator._thread
    assert thread is not None and thread.is_alive()
    iterator.close()
    iterator.close()
    assert not thread.is_alive()
    assert produced[-1] == "closed" and len(produced) <= 6
    PrefetchIterator(iter([1]), 2).close()  # one that was never read


def test_a_function_with_an_iterator_as_argument_is_traced_for_the_elements_it_takes():
    total = tf.Variable(0, dtype=tf.int64)
    traces = []

    @tf.function
    def step(iterator):
        traces.append(1)
        x = next(iterator)
        total.assign_add(tf.reduce_sum(x))
        return x + iterator.get_next()

    dataset = tf.data.Dataset.range(8).batch(2)
    for _ in range(2):  # passes: another iterator needs no other trace
        iterator = iter(dataset)
        assert [step(iterator).numpy().tolist() for _ in range(2)] == [[2, 4], [10, 12]]
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            step(iterator)
    assert int(total) == 2 * (0 + 1 + 4 + 5)
    assert len(traces) == 1


def test_a_function_that_takes_elements_at_the_end_of_a_dataset_runs_as_far_as_it_can():
    taken = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def pairs(iterator):
        taken.assign_add(1 + 0 * next(iterator))
        taken.assign_add(1 + 0 * next(iterator))

    iterator = iter(tf.data.Dataset.range(3))
    pairs(iterator)
    with pytest.raises(tf.errors.OutOfRangeError):
        pairs(iterator)
    assert int(taken) == 3


def test_calls_take_the_elements_that_they_need():
    @tf.function
    def by_argument(iterator, n):
        total = tf.constant(0, tf.int64)
        for _ in range(n):
            total += next(iterator)
        return total

    @tf.function
    def by_value(iterator, n):
        total = tf.constant(0, tf.int64)
        for _ in tf.range(n):
            total += next(iterator)
        return total

    for f, number in ((by_argument, int), (by_value, tf.constant)):
        iterator = iter(tf.data.Dataset.range(1, 100))
        assert [int(f(iterator, number(n))) for n in (2, 1, 1, 2)] == [3, 3, 4, 11]
        assert int(next(iterator)) == 7
        assert int(tf.distribute.get_strategy().run(f, (iterator, number(2)))) == 17


def test_the_streams_of_a_function_are_independent_of_the_sizes_of_elements():
    @tf.function
    def f(iterator):
        return next(iterator), tf.random.uniform([], seed=3)

    tf.random.set_seed(1)
    iterator = iter(tf.data.Dataset.range(9).batch(5))
    np.testing.assert_allclose([float(f(iterator)[1]) for _ in range(2)], [0.7787856, 0.0978868], rtol=1e-6)


def test_called_functions_and_loops_that_take_elements_have_tensorflows_streams():
    @tf.function
    def inner(iterator):
        return tf.cast(next(iterator), tf.float32) + tf.random.uniform([])

    @tf.function
    def outer(iterator):
        return tf.random.uniform([]), inner(iterator), inner(iterator), tf.random.uniform([])

    @tf.function
    def loop(iterator, n):
        s = tf.constant(0.0)
        for _ in tf.range(n):
            s = 2 * s + tf.cast(next(iterator), tf.float32) + tf.random.uniform([])
        return s, tf.random.uniform([])

    tf.random.set_seed(4)
    iterator = iter(tf.data.Dataset.range(10))
    drawn = [inner(iterator), *outer(iterator), inner(iterator), *outer(iterator)]
    expected = [0.8043, 0.8043, 1.8043, 2.8043, 0.7332, 3.3994, 0.3994, 4.3994, 5.3994, 0.4664]
    np.testing.assert_allclose(drawn, expected, atol=5e-5)
    iterator = iter(tf.data.Dataset.range(30))
    drawn = [loop(iterator, tf.constant(n)) for n in (2, 1, 3)]
    np.testing.assert_allclose(drawn, [[3.008, 0.8043], [2.3908, 0.3994], [27.8523, 0.3908]], atol=5e-5)


def test_loops_of_functions_that_an_eager_run_calls_have_tensorflows_streams():
    def loop(n):
        s = tf.constant(0.0)
        for _ in tf.range(n):
            s += tf.random.uniform([], seed=2)
        return s

    @tf.function
    def f(iterator, n):
        iterator.get_next_as_optional()  # makes the function run eagerly
        return loop(n)

    tf.random.set_seed(7)
    iterator = iter(tf.data.Dataset.range(9))
    np.testing.assert_allclose([f(iterator, tf.constant(n)) for n in (0, 3, 2)], [0.0, 1.939856, 0.955133], rtol=1e-6)


def test_what_precedes_the_missing_element_has_happened():
    @tf.function
    def f(iterator):
        taken.assign_add(1)
        drawn = tf.random.uniform([], seed=9)
        next(iterator)
        return drawn

    tf.random.set_seed(4)
    taken, drawn = tf.Variable(0), []
    for _ in range(2):
        iterator = iter(tf.data.Dataset.range(2))
        drawn += [float(f(iterator)) for _ in range(2)]
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            f(iterator)
    assert int(taken) == 6
    np.testing.assert_allclose(drawn, [0.86399662, 0.96014738, 0.93775141, 0.145001173], rtol=1e-6)


def test_code_of_a_function_does_not_catch_the_end():
    @tf.function
    def f(iterator):
        try:
            return next(iterator, tf.constant(-1, tf.int64))
        except (StopIteration, tf.errors.OutOfRangeError):
            return tf.constant(-2, tf.int64)

    iterator = iter(tf.data.Dataset.range(2))
    assert [int(f(iterator)) for _ in range(2)] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError):
        f(iterator)


def test_a_trace_that_fails_gives_its_elements_back():
    @tf.function
    def f(iterator):
        x = next(iterator)
        if fails:
            raise ValueError("no")
        tf.debugging.assert_greater(x, tf.constant(0, tf.int64))
        return x + next(iterator)

    iterator, fails = iter(tf.data.Dataset.range(20)), True
    with pytest.raises(ValueError, match="no"):
        f(iterator)
    fails = False
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(iterator)
    assert [int(f(iterator)) for _ in range(2)] == [3, 7]


def test_a_checkpoint_saves_the_position_of_an_iterator_that_a_function_reads(tmp_path):
    @tf.function
    def f(iterator):
        x = next(iterator)
        return x + next(iterator) if tf.size(x) > 1 else x

    iterator = iter(tf.data.Dataset.range(10).batch(2, drop_remainder=True))
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    assert f(iterator).numpy().tolist() == [2, 4]
    path = checkpoint.write(tmp_path / "position")
    assert f(iterator).numpy().tolist() == [10, 12]
    checkpoint.read(path)
    assert f(iterator).numpy().tolist() == [10, 12]


def test_a_function_that_iterates_over_an_iterator_runs_eagerly():
    @tf.function
    def total(iterator):
        found = tf.constant(0, tf.int64)
        for x in iterator:
            found += x
        return found

    assert int(total(iter(tf.data.Dataset.range(5)))) == 10


def test_a_concrete_function_of_an_iterator_is_refused():
    f = tf.function(lambda iterator: next(iterator))
    iterator = iter(tf.data.Dataset.range(5))
    with pytest.raises(NotImplementedError, match="Call the function itself with the iterator"):
        f.get_concrete_function(iterator)
    assert int(f(iterator)) == 0
