"""The order of elements in `tf.data`: shuffled, sampled from several datasets, or with random numbers in a function."""

CASES = []


def program(f):
    """`f(tf, passes)` returns a value to compare; the global seed is set before."""

    def seeded(tf):
        tf.random.set_seed(5)
        return f(tf, lambda data, times=3: [tf.stack(list(data) or [[]]) for _ in range(times)])

    CASES.append((f.__name__, seeded))
    return f


@program
def passes_of_a_shuffle(tf, passes):
    data = tf.data.Dataset.range(9)
    return [passes(data.shuffle(size, seed=1, reshuffle_each_iteration=again))
            for size in (1, 4, 9, 20, tf.data.UNKNOWN_CARDINALITY) for again in (True, False)]  # fmt: skip


@program
def seeds_of_a_shuffle(tf, passes):
    found = []
    for everywhere in (0, 7, 2**31 + 5):
        for seed in (None, 0, 3, -4, 2**31 + 5):
            tf.random.set_seed(everywhere)
            found.append(passes(tf.data.Dataset.range(6).shuffle(4, seed=seed), 2))
    return found


@program
def more_words_than_a_few(tf, passes):
    return passes(tf.data.Dataset.range(200).shuffle(50, seed=1).batch(200))


@program
def a_shuffle_repeated(tf, passes):
    data = tf.data.Dataset.range(5).shuffle(5, seed=1)
    repeated = data.repeat(2)
    return [passes(repeated), passes(data.repeat().take(12)), passes(data.repeat(1))]


@program
def a_repeated_dataset_shuffled(tf, passes):
    return passes(tf.data.Dataset.range(4).repeat(3).shuffle(5, seed=1))


@program
def something_between_shuffle_and_repeat(tf, passes):
    data = tf.data.Dataset.range(5).shuffle(5, seed=1)
    return [
        passes(data.map(lambda x: x + 1).repeat(2)),
        passes(data.prefetch(2).repeat(2)),
        passes(data.map(lambda x: x + 1).repeat(1)),
        passes(data.map(lambda x: x + 1).repeat().take(12)),
        passes(tf.data.Dataset.range(4).shuffle(5, seed=1).repeat(2).batch(4).repeat(2)),
    ]


@program
def shuffles_of_shuffles(tf, passes):
    data = tf.data.Dataset.range(8).shuffle(3, seed=1).shuffle(4, seed=2)
    return [passes(data), passes(data.repeat(2))]


@program
def shuffles_side_by_side(tf, passes):
    numbers = tf.data.Dataset.range
    both = tf.data.Dataset.zip((numbers(5).shuffle(5, seed=1), numbers(5).shuffle(5, seed=3)))
    return [
        passes(both.map(lambda a, b: a * 10 + b)),
        passes(numbers(5).shuffle(5).concatenate(numbers(5, 9).shuffle(4))),
    ]


@program
def cached_before_and_after(tf, passes):
    numbers = tf.data.Dataset.range(5)
    return [passes(numbers.shuffle(5, seed=1).cache().repeat(2)), passes(numbers.cache().shuffle(5, seed=1).repeat(2))]


@program
def in_functions(tf, passes):
    inner = tf.data.Dataset.range
    return [
        passes(inner(3).flat_map(lambda n: inner(4).shuffle(4, seed=1))),
        passes(inner(3).flat_map(lambda n: inner(4).shuffle(4))),
    ]


@program
def shuffle_and_repeat(tf, passes):
    make = tf.data.experimental.shuffle_and_repeat
    return [passes(tf.data.Dataset.range(5).apply(make(3, count=2, seed=4))),
            passes(tf.data.Dataset.range(5).apply(make(3, seed=4)).take(13))]  # fmt: skip


@program
def random_numbers(tf, passes):
    make = tf.data.Dataset.random
    return [passes(data.take(40)) for data in (make(4), make(4, rerandomize_each_iteration=True), make())]


@program
def drawn_from_datasets(tf, passes):
    numbers, sample = tf.data.Dataset.range, tf.data.Dataset.sample_from_datasets
    some = [numbers(6), numbers(10, 16), numbers(20, 26)]
    return [
        passes(sample(some, seed=4)),
        passes(sample(some, [0.2, 0.5, 0.3], 4, stop_on_empty_dataset=True, rerandomize_each_iteration=True)),
        passes(sample(some, [0.2, 0.0, 0.8])),
        passes(sample(some[:2], tf.constant([0.2, 0.8], tf.float64), seed=1)),
        passes(sample(some[:2], tf.data.Dataset.from_tensors([0.2, 0.8]).repeat(7), seed=1)),
        passes(sample(some, [0.0, 1.0, 0.0])),
        passes(sample(some, [0.0, 0.0, 0.0])),
    ]


@program
def resampled(tf, passes):
    data, kind = tf.data.Dataset.range(100).map(lambda x: x % 3), lambda x: tf.cast(x, tf.int32)
    distributions = [
        ([0.2, 0.3, 0.5], [1 / 3, 1 / 3, 1 / 3]), ([0.2, 0.3, 0.5], None), ([0.5, 0.5, 0.0], [0.4, 0.3, 0.3]),
    ]  # fmt: skip
    found = [data.rejection_resample(kind, target, initial, seed=3) for target, initial in distributions]
    return [passes(pairs.map(lambda c, x: tf.cast(c, x.dtype) * 10 + x), 2) for pairs in found]


@program
def random_numbers_in_functions(tf, passes):
    numbers, uniform = tf.data.Dataset.range, tf.random.uniform
    return [
        passes(numbers(4).map(lambda x: uniform([]))),
        passes(
            numbers(4).map(lambda x: tf.stack([uniform([]), uniform([], seed=3), uniform([]), uniform([], seed=3)]))
        ),
        passes(numbers(3).map(lambda x: uniform([], seed=3)).repeat(2)),
        passes(numbers(3).map(lambda x: tf.random.shuffle(tf.range(6)))),
        passes(numbers(9).filter(lambda x: uniform([]) < 0.5)),
    ]
