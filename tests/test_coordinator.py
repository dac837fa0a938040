"""`tf.distribute.coordinator`: functions that run asynchronously."""

import threading

import pytest

import gradtape as tf

coordinator_lib = tf.distribute.coordinator


@pytest.fixture
def coordinator():
    return coordinator_lib.ClusterCoordinator(tf.distribute.OneDeviceStrategy("/cpu:0"))


def test_functions_run_in_order_on_a_worker(coordinator):
    with coordinator.strategy.scope():
        v = tf.Variable(0)

    @tf.function
    def step(iterator):
        v.assign_add(tf.cast(next(iterator), tf.int32))
        return {"v": v.read_value(), "worker": coordinator_lib.experimental_get_current_worker_index()}

    data = iter(coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.range(1, 10)))
    results = [coordinator.schedule(step, args=(data,)) for _ in range(4)]
    coordinator.join()
    assert coordinator.done() and coordinator.fetch(results[-1]) == {"v": 10, "worker": 0}
    assert [int(result.get()["v"]) for result in results] == [1, 3, 6, 10]
    assert coordinator_lib.ClusterCoordinator(coordinator.strategy) is coordinator


def test_an_error_cancels_what_waits(coordinator):
    started = threading.Event()

    @tf.function
    def fails():
        tf.py_function(lambda: started.wait(5), [], [])
        tf.debugging.assert_equal(1, 2)

    first = coordinator.schedule(fails)
    second = coordinator.schedule(tf.function(lambda: tf.constant(1)))
    started.set()
    with pytest.raises(tf.errors.InvalidArgumentError):
        coordinator.join()
    with pytest.raises(tf.errors.InvalidArgumentError):
        first.fetch()
    with pytest.raises(tf.errors.CancelledError, match="Please reschedule the function"):
        second.fetch()
    coordinator.join()  # the error was raised, and is forgotten
    assert int(coordinator.schedule(tf.function(lambda: tf.constant(2))).fetch()) == 2


def test_errors_are_tensorflows(coordinator):
    with pytest.raises(TypeError, match=r"only accepts a `tf.function` or a concrete function"):
        coordinator.schedule(lambda: 1)
    result = coordinator.schedule(tf.function(lambda: tf.constant(1)))
    with pytest.raises(ValueError, match="used as an input to scheduled function is not supported"):
        coordinator.schedule(tf.function(lambda x: x), args=(result,))
    with pytest.raises(AssertionError, match="should only take `RemoteValue`s"):
        coordinator_lib.PerWorkerValue([1])
    with pytest.raises(RuntimeError, match="Cannot retrieve the worker index"):
        coordinator_lib.experimental_get_current_worker_index()
    with pytest.raises(NotImplementedError):
        coordinator_lib.RemoteValue().fetch()
