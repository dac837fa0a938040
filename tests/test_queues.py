"""Queues between threads, in functions, and closed; `recorded/queues.py` compares single calls with TensorFlow."""

import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape import queue as queues


def in_thread(do):
    """Starts a thread; its result or exception is in the list."""
    found = []

    def run():
        try:
            found.append(do())
        except tf.errors.OpError as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, found


def test_a_full_queue_lets_in_what_waits_in_order():
    queue = queues.FIFOQueue(2, tf.int32, shapes=[[]])
    thread, _ = in_thread(lambda: queue.enqueue_many([tf.range(20)]))
    assert queue.dequeue_many(20).numpy().tolist() == list(range(20))  # more than there is space for at once
    thread.join()
    assert int(queue.size()) == 0


def test_every_element_is_taken_once():
    queue = queues.FIFOQueue(3, tf.int32)
    threads = [in_thread(lambda n=n: queue.enqueue_many([tf.range(n * 50, n * 50 + 50)])) for n in range(4)]
    takers = [in_thread(lambda: [int(queue.dequeue()) for _ in range(50)]) for _ in range(4)]
    for thread, _ in threads + takers:
        thread.join()
    assert sorted(number for _, found in takers for number in found[0]) == list(range(200))


def test_closing_ends_the_wait_for_elements_which_stay():
    queue = queues.FIFOQueue(9, tf.int32, shapes=[[]])
    queue.enqueue_many([[1, 2, 3]])
    thread, found = in_thread(lambda: queue.dequeue_many(5))
    queue.close()
    thread.join()
    assert isinstance(found[0], tf.errors.OutOfRangeError)
    assert queue.dequeue_up_to(9).numpy().tolist() == [1, 2, 3]


def test_what_waits_for_room_when_the_queue_closes_still_comes_unless_it_is_cancelled():
    for cancel in (False, True):
        queue = queues.FIFOQueue(1, tf.int32)
        queue.enqueue(1)
        thread, found = in_thread(lambda queue=queue: queue.enqueue(2))
        while not queue.queue_ref._waiting:
            pass
        queue.close(cancel_pending_enqueues=cancel)
        taken = [int(queue.dequeue())]
        if not cancel:
            taken.append(int(queue.dequeue()))
        thread.join()
        assert taken == ([1] if cancel else [1, 2])
        assert isinstance(found[0], tf.errors.CancelledError) if cancel else found == [None]
        with pytest.raises(tf.errors.OutOfRangeError):
            queue.dequeue()


def test_a_shuffling_queue_keeps_some_until_it_is_closed():
    queue = queues.RandomShuffleQueue(9, 3, tf.int32, shapes=[[]])
    queue.enqueue_many([tf.range(5)])
    first = queue.dequeue_many(2).numpy().tolist()
    thread, found = in_thread(lambda: int(queue.dequeue()))
    assert not found
    queue.close()
    thread.join()
    assert sorted([*first, *found, *queue.dequeue_many(2).numpy().tolist()]) == list(range(5))


@pytest.mark.parametrize("jit_compile", [None, True])
def test_in_functions_calls_happen_at_every_run_in_order(jit_compile):
    if jit_compile:
        pytest.importorskip("jax")
    queue = queues.FIFOQueue(9, tf.float32, shapes=[[2]])

    @tf.function(jit_compile=jit_compile)
    def step(x):
        queue.enqueue([x])
        queue.enqueue([x + 1])
        return queue.dequeue() * 10, queue.size()

    found = [step(tf.constant([x, 0.0])) for x in (1.0, 5.0, 7.0)]
    np.testing.assert_array_equal([y.numpy() for y, _ in found], [[10, 0], [20, 10], [50, 0]])
    assert [int(size) for _, size in found] == [1, 2, 3]


def test_priorities_that_are_equal_come_in_the_order_they_were_put():
    queue = queues.PriorityQueue(9, tf.int32)
    queue.enqueue_many([[1, 1, 0, 1], [0, 1, 2, 3]])
    assert [int(queue.dequeue()[1]) for _ in range(4)] == [2, 0, 1, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="a priority is a scalar"):
        queue.enqueue([[1, 2], 3])
