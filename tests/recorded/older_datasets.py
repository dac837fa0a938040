"""`tf.data.experimental`: functions that have become methods of datasets."""


def lists(tf, dataset):
    return [x.numpy() for x in dataset]


def windows(tf):
    window = tf.data.experimental.group_by_window(lambda x: x % 3, lambda key, d: d.batch(2), window_size=2)
    return lists(tf, tf.data.Dataset.range(9).apply(window))


def buckets(tf):
    data = tf.data.Dataset.range(1, 8).map(lambda n: tf.fill([n], n))
    bucket = tf.data.experimental.bucket_by_sequence_length(lambda x: tf.size(x), [3, 5], [2, 2, 2])
    return lists(tf, data.apply(bucket))


def mapped(tf):
    return lists(
        tf, tf.data.Dataset.range(5).apply(tf.data.experimental.map_and_batch(lambda x: x * x, 2, drop_remainder=True))
    )


def interleaved(tf):
    read = tf.data.experimental.parallel_interleave(lambda x: tf.data.Dataset.range(x, x + 3), 2, block_length=2)
    return lists(tf, tf.data.Dataset.range(0, 30, 10).apply(read))


def repeated(tf):
    mix = tf.data.experimental.shuffle_and_repeat(1, count=2)
    return lists(tf, tf.data.Dataset.range(3).apply(mix))


def reduced(tf):
    add = tf.data.experimental.Reducer(
        lambda key: (tf.constant(0, tf.int64), tf.constant(0, tf.int64)),
        lambda state, x: (state[0] + x, state[1] + 1),
        lambda total, count: total // count,
    )
    return lists(tf, tf.data.Dataset.range(7).apply(tf.data.experimental.group_by_reducer(lambda x: x % 3, add)))


def from_a_list(tf):
    data = tf.data.experimental.from_list([{"a": 1, "b": [1.0, 2.0]}, {"a": 3, "b": [3.0, 4.0]}])
    return [[x["a"], x["b"]] for x in data]


def from_nothing(tf):
    return tf.data.experimental.from_list([])


def at_a_place(tf):
    data = tf.data.Dataset.range(5).map(lambda x: x * 2)
    return [tf.data.experimental.at(data, 3), tf.data.experimental.at(data, 0)]


def at_no_place(tf):
    return tf.data.experimental.at(tf.data.Dataset.range(5), 5)


def on_a_device(tf):
    data = tf.data.Dataset.range(3)
    ahead = tf.data.experimental.prefetch_to_device("/cpu:0")
    return lists(tf, data.apply(ahead)) + lists(tf, data.apply(tf.data.experimental.copy_to_device("/cpu:0")))


def random_numbers(tf):
    return tf.data.experimental.RandomDataset(seed=3).take(2).element_spec.dtype.name


def settings(tf):
    tf.config.experimental.set_synchronous_execution(True)
    tf.config.experimental.enable_mlir_bridge()
    with tf.experimental.async_scope(), tf.experimental.function_executor_type(None):
        x = tf.constant(1.0) + 1.0
    tf.experimental.async_clear_error()
    return [
        tf.config.experimental.get_synchronous_execution(), tf.config.experimental.get_device_policy(), x,
        tf.test.is_built_with_rocm(), tf.version.VERSION,
        tf.version.GRAPH_DEF_VERSION,

    ]  # fmt: skip


def a_cluster(tf):
    spec = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": {1: "c:3"}})
    found = [
        spec.jobs, spec.num_tasks("worker"), spec.task_address("worker", 1), str(spec.as_dict()), spec.job_tasks("ps"),
        spec.task_indices("ps"), bool(spec), spec == tf.train.ClusterSpec(spec),
    ]  # fmt: skip
    for ask in (
        lambda: spec.num_tasks("x"), lambda: spec.task_address("worker", 7), lambda: tf.train.ClusterSpec([1]),
        lambda: tf.train.ClusterSpec({"worker": [1]}),
    ):  # fmt: skip
        try:
            ask()
        except Exception as error:
            found.append(type(error).__name__)
    return found


def threads(tf):
    import threading

    coordinator, seen = tf.train.Coordinator(), []

    def work(n):
        with coordinator.stop_on_exception():
            while not coordinator.should_stop():
                seen.append(n)
                if n == 1:
                    raise ValueError("enough")

    workers = [threading.Thread(target=work, args=(n,)) for n in range(2)]
    for worker in workers:
        worker.start()
    try:
        coordinator.join(workers)
    except ValueError as error:
        return [str(error), coordinator.should_stop(), coordinator.joined, 1 in seen]


def bad_target(tf):
    tf.test.is_cpu_target_available("abacus")


def bad_policy(tf):
    tf.config.experimental.set_device_policy("loud")


CASES = [
    (f.__name__, f)
    for f in (
        windows, buckets, mapped, interleaved, repeated, reduced, from_a_list, from_nothing, at_a_place, at_no_place,
        on_a_device, random_numbers, settings, bad_policy, bad_target, a_cluster, threads,
    )
]  # fmt: skip
