"""`tf.data.experimental.service`: datasets that workers of this process compute."""

import itertools

import pytest

import gradtape as tf

service = tf.data.experimental.service
Policy = service.ShardingPolicy


@pytest.fixture
def dispatcher():
    found = service.DispatchServer()
    yield found
    found.stop()


def workers(dispatcher, count):
    config = service.WorkerConfig(dispatcher.target.split("://")[1])
    return [service.WorkerServer(config) for _ in range(count)]


def numbers(data):
    return [int(x) for x in data]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("parallel_epochs", sorted([*range(6)] * 2)),
        (Policy.OFF, sorted([*range(6)] * 2)),
        ("distributed_epoch", [*range(6)]),
        (Policy.DATA, [*range(6)]),
        (Policy.FILE_OR_DATA, [*range(6)]),
    ],
)
def test_elements_are_divided_by_policy(dispatcher, mode, expected):
    kept = workers(dispatcher, 2)
    data = tf.data.Dataset.range(6).map(lambda x: x + 1 - 1).apply(service.distribute(mode, dispatcher.target))
    for _ in range(2):  # every pass is a job of its own
        assert sorted(numbers(data)) == expected
    assert data.element_spec == tf.TensorSpec([], tf.int64) and dispatcher._num_workers() == len(kept)
    assert int(data.cardinality()) == tf.data.UNKNOWN_CARDINALITY


def test_readers_of_a_job_share_its_elements(dispatcher):
    kept = workers(dispatcher, 1)
    shared = service.distribute(Policy.DYNAMIC, dispatcher.target, job_name="shared")
    first, second = (iter(tf.data.Dataset.range(6).apply(shared)) for _ in range(2))
    found = [int(next(reader)) for reader in (first, second, second, first)]
    assert found == [0, 1, 2, 3] and numbers(first) == [4, 5] and not numbers(second)
    turns = [
        tf.data.Dataset.range(100).apply(
            service.distribute("parallel_epochs", dispatcher.target, "turns", consumer_index=i, num_consumers=2)
        )
        for i in range(2)
    ]
    assert [numbers(itertools.islice(reader, 3)) for reader in turns] == [[0, 2, 4], [1, 3, 5]] and kept
    cached = [
        service.distribute(
            "parallel_epochs", dispatcher.target, "cached", cross_trainer_cache=service.CrossTrainerCache(i)
        )
        for i in "ab"
    ]
    assert [numbers(tf.data.Dataset.range(3).apply(trainer)) for trainer in cached] == [[0, 1, 2]] * 2


def test_a_dataset_is_registered(dispatcher):
    kept = workers(dispatcher, 1)
    number = service.register_dataset(dispatcher.target, tf.data.Dataset.range(3).batch(2))
    data = service.from_dataset_id("parallel_epochs", dispatcher.target, number)
    assert [x.numpy().tolist() for x in data] == [[0, 1], [2]] and data.element_spec.shape.as_list() == [None] and kept
    named = service.register_dataset(dispatcher.target, tf.data.Dataset.range(2), dataset_id="mine")
    assert named.numpy() == b"mine"
    with pytest.raises(tf.errors.InvalidArgumentError, match="is registered with other elements"):
        service.register_dataset(dispatcher.target, tf.data.Dataset.from_tensors(1.0), dataset_id="mine")
    with pytest.raises(ValueError, match="Failed to fetch element spec for dataset id 7"):
        service.from_dataset_id("parallel_epochs", dispatcher.target, "7")


def test_a_dataset_is_saved_by_workers(dispatcher, tmp_path):
    kept = workers(dispatcher, 1)
    path = str(tmp_path / "data")
    tf.data.experimental.distributed_save(tf.data.Dataset.range(3), path, dispatcher.target)
    assert numbers(tf.data.Dataset.load(path)) == [0, 1, 2] and kept
    with pytest.raises(tf.errors.AlreadyExistsError, match="is already started or completed"):
        tf.data.experimental.distributed_save(tf.data.Dataset.range(3), path, dispatcher.target)


def test_a_model_reads_from_the_service(dispatcher):
    kept = workers(dispatcher, 1)
    data = tf.data.Dataset.range(4).apply(service.distribute("parallel_epochs", dispatcher.target)).batch(2)
    total = tf.function(lambda: data.reduce(tf.constant(0, tf.int64), lambda s, x: s + tf.reduce_sum(x)))
    assert int(total()) == 6 and kept


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: service.distribute("other", "a"), ValueError, "tf.data service processing mode should be a"),
        (lambda: service.distribute("parallel_epochs", 1), ValueError, "`service` must be a string"),
        (lambda: service.distribute("parallel_epochs", ""), ValueError, "`service` must not be empty"),
        (lambda: service.distribute("parallel_epochs", "a", job_name=1), ValueError, "`job_name` must be a string"),
        (lambda: service.distribute("parallel_epochs", "a", "b", 0), ValueError, "Must either set both"),
        (lambda: service.distribute("parallel_epochs", "a", None, 0, 1), ValueError, "`job_name` must be set"),
        (lambda: service.distribute("parallel_epochs", "a", compression="?"), ValueError, "Invalid `compression`"),
        (lambda: service.CrossTrainerCache(""), ValueError, "requires a non-empty trainer ID"),
        (lambda: service.DispatchServer(service.DispatcherConfig(fault_tolerant_mode=True)), ValueError, "work dir"),
        (lambda: service.WorkerServer(service.WorkerConfig(None)), ValueError, "Must specify a `dispatcher_address`"),
        (lambda: service.WorkerServer(service.WorkerConfig("a:1")), tf.errors.UnavailableError, "no dispatcher at a:1"),
        (
            lambda: list(tf.data.Dataset.range(1).apply(service.distribute("parallel_epochs", "a:1"))),
            tf.errors.UnavailableError,
            "works within a process",
        ),
        (lambda: tf.data.experimental.distributed_save(None, "p", ""), ValueError, "must not be empty"),
    ],
)
def test_errors_are_tensorflows(call, error, message):
    with pytest.raises(error, match=message):
        call()
