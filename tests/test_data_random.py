"""`tf.data`: the order of shuffled datasets and the random numbers of functions, as under TensorFlow 2.21."""

import numpy as np
import pytest
from small_datasets import Dataset, numbers, values

import gradtape as tf

DRAWS = [0.39, 0.99, 0.96, 0.83, 0.08, 0.92, 0.45, 0.02]  # of `draws(8)` after `set_seed(5)`, rounded


def draws(n):
    return Dataset.range(n).map(lambda x: tf.random.uniform([], seed=1))


def passes(make):
    tf.random.set_seed(5)
    data = make()
    return [[tuple(round(float(x), 2) for x in tf.nest.flatten(element)) for element in data] for _ in range(2)]


def same(draw):
    return draw, draw


def zipped(d):
    return Dataset.zip(d, d)


def concatenated(d):
    return d.concatenate(d)


def in_turn(d):
    return Dataset.choose_from_datasets([d, d.skip(1)], Dataset.from_tensor_slices(np.array([0, 1, 0, 1])))


@pytest.mark.parametrize(("make", "expected"), [
    (lambda: zipped(draws(3)), [same(x) for x in DRAWS[:3]]),
    (lambda: zipped(draws(3).prefetch(1)), [same(x) for x in DRAWS[:3]]),
    (lambda: zipped(draws(3).cache()), [same(x) for x in DRAWS[:3]]),
    (lambda: zipped(zipped(draws(2))), [same(x) * 2 for x in DRAWS[:2]]),
    (lambda: concatenated(draws(2)), DRAWS[:2] * 2),
    (lambda: concatenated(draws(2).repeat(2)), DRAWS[:4] * 2),
    (lambda: in_turn(draws(3)), [DRAWS[0], DRAWS[1], DRAWS[1], DRAWS[2]]),
    (lambda: Dataset.sample_from_datasets([draws(3)] * 2, seed=3), [DRAWS[i] for i in (0, 0, 1, 2, 1, 2)]),
    (lambda: zipped(draws(2)).repeat(2), [same(x) for x in DRAWS[:4]]),
])  # fmt: skip
def test_every_path_to_a_dataset_has_its_own_streams(make, expected):
    expected = [x if isinstance(x, tuple) else (x,) for x in expected]
    assert passes(make) == [expected, expected]


def in_functions(make):
    return Dataset.range(2).flat_map(lambda _: make())


def captured(use):
    d = draws(2)
    return Dataset.range(2).flat_map(lambda _: use(d))


def captured_twice():
    d = draws(2)
    return Dataset.zip(*[Dataset.range(2).flat_map(lambda _: d) for _ in range(2)])


PAIRS = [(DRAWS[i], DRAWS[i + 1]) for i in range(0, 8, 2)]


@pytest.mark.parametrize(("make", "expected"), [
    (lambda: in_functions(lambda: draws(2)), DRAWS[:4]),
    (lambda: Dataset.range(2).interleave(lambda _: draws(2), cycle_length=2), DRAWS[:4]),
    (lambda: in_functions(lambda: draws(2)).repeat(2), DRAWS),
    (lambda: in_functions(lambda: in_functions(lambda: draws(2))), DRAWS),
    (lambda: zipped(in_functions(lambda: draws(2))), [same(x) for x in DRAWS[:4]]),
    (lambda: in_functions(lambda: draws(2).concatenate(draws(2))), [DRAWS[i] for i in (0, 1, 0, 1, 2, 3, 2, 3)]),
    (lambda: in_functions(lambda: concatenated(draws(2))), DRAWS),
    (lambda: captured(zipped), PAIRS),
    (captured_twice, PAIRS),
    (lambda: Dataset.range(6).window(2).flat_map(lambda w: w.map(lambda x: tf.random.uniform([], seed=1))), DRAWS[:6]),
    (lambda: Dataset.range(6).group_by_window(
        lambda x: x % 2, lambda k, g: g.map(lambda x: tf.random.uniform([], seed=1)), 2), DRAWS[:6]),
])  # fmt: skip
def test_datasets_of_functions_go_on_in_the_streams_of_their_functions(make, expected):
    expected = [x if isinstance(x, tuple) else (x,) for x in expected]
    assert passes(make) == [expected, expected]


def test_a_resampled_dataset_may_be_used_twice():
    tf.random.set_seed(5)
    data = Dataset.range(12).rejection_resample(lambda x: tf.cast(x % 3, tf.int32), [0.2, 0.3, 0.5], seed=2)
    once = [int(x) for _, x in data]
    assert once == [0, 1, 1, 2, 2, 3, 4, 5, 8, 5, 6, 10, 7, 11]
    assert [(int(x), int(y)) for (_, x), (_, y) in Dataset.zip(data, data)] == [same(x) for x in once]
    assert [int(x) for _, x in data.concatenate(data)] == once * 2


def test_shuffle_is_a_function_of_the_seeds():
    def passes(seed, **options):
        data = numbers(30).shuffle(10, seed=seed, **options)
        return [values(data) for _ in range(2)]

    assert passes(1) == passes(1) != passes(2)
    first, second = passes(1)
    assert first != second and sorted(first) == sorted(second) == list(range(30))
    assert all(x < at + 10 for at, x in enumerate(first))  # no element is produced before the buffer has reached it
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


def test_what_has_no_weight_is_not_waited_for():
    assert values(Dataset.sample_from_datasets([numbers(3), numbers()], weights=[1.0, 0.0])) == [0, 1, 2]


def counting(epochs):
    """A dataset whose passes have the given numbers of elements, and none after those."""
    left = iter(epochs)
    return Dataset.from_generator(lambda: iter(range(next(left, 0))), output_signature=tf.TensorSpec([], tf.int32))


def test_an_empty_epoch_ends_endless_passes_unless_they_are_shuffled():
    assert values(counting([3, 0, 3]).repeat().take(5)) == [0, 1, 2]
    assert values(counting([3, 0, 3]).repeat(3).take(5)) == [0, 1, 2, 0, 1]
    assert sorted(values(counting([3, 0, 3]).shuffle(10).repeat().take(5))[:3]) == [0, 1, 2]
    assert len(values(counting([3, 0, 3]).shuffle(10).repeat().take(5))) == 5
    assert values(numbers(0).shuffle(10).repeat()) == []


def test_a_shuffle_below_another_takes_no_seeds_for_a_pass_that_nobody_goes_through():
    tf.random.set_seed(2)
    data = Dataset.from_tensor_slices([1, 2, 3]).shuffle(2, seed=1).shuffle(8, seed=0).enumerate().repeat(3)
    found = [[int(x) for _, x in data] for _ in range(3)]  # as under TensorFlow 2.21
    assert found == [[1, 2, 3, 3, 1, 2, 3, 2, 1], [1, 3, 2, 1, 3, 2, 2, 3, 1], [3, 1, 2, 1, 2, 3, 2, 1, 3]]
