"""`tf.queue`: order of elements, and errors."""

CASES = []


def program(f):
    """`f(tf, queue)` returns a value to compare; the global seed is set before."""

    def seeded(tf):
        tf.random.set_seed(7)
        return f(tf, tf.queue)

    CASES.append((f.__name__, seeded))
    return f


@program
def first_in_first_out(tf, queue):
    q = queue.FIFOQueue(9, [tf.int32, tf.string], shapes=[[2], []])
    q.enqueue(([1, 2], "a"))
    q.enqueue_many([[[3, 4], [5, 6], [7, 8]], ["b", "c", "d"]])
    found = [q.dequeue(), q.dequeue_many(2), q.size(), q.is_closed(), q.dequeue_many(0)]
    q.close()
    return [*found, q.dequeue_up_to(5), q.size(), q.is_closed()]


@program
def elements_of_any_shape(tf, queue):
    q = queue.FIFOQueue(-1, tf.float32)
    for n in range(3):
        q.enqueue(tf.ones([n, 2]))
    q.enqueue_many(tf.ones([2, 3]))
    return [q.dequeue() for _ in range(5)]


@program
def parts_with_names(tf, queue):
    q = queue.FIFOQueue(5, [tf.int32, tf.float32], names=["a", "b"], shapes=[[], []])
    q.enqueue({"b": 1.0, "a": 2})
    q.enqueue_many({"b": [3.0, 4.0], "a": [5, 6]})
    return [q.dequeue(), q.dequeue_many(2)]


@program
def padded(tf, queue):
    q = queue.PaddingFIFOQueue(9, [tf.int32, tf.string, tf.string], shapes=[[None, 2], [None], []])
    for n in range(1, 4):
        q.enqueue((tf.ones([n, 2], tf.int32), tf.fill([4 - n], "x"), "y"))
    q.enqueue_many(([[[8, 9]]], [["z"]], ["w"]))
    found = [q.dequeue(), q.dequeue_many(2)]
    q.close()
    return [*found, q.dequeue_up_to(3)]


@program
def by_priority(tf, queue):
    q = queue.PriorityQueue(9, [tf.string], shapes=[[]])
    q.enqueue_many([[5, 1, 3, -1, 2], ["a", "b", "c", "d", "e"]])
    q.enqueue((0, "z"))
    return [q.dequeue(), q.dequeue_many(3), q.size(), q.dequeue()]


@program
def by_chance(tf, queue):
    found = []
    for seed in (None, 3, 3):
        q = queue.RandomShuffleQueue(200, 2, [tf.int32], shapes=[[]], seed=seed)
        q.enqueue_many([tf.range(100)])
        found += [q.dequeue(), q.dequeue_many(60)]
        q.close()
        found.append(q.dequeue_up_to(60))
    return found


@program
def one_of_several(tf, queue):
    several = [queue.FIFOQueue(5, [tf.int32], shapes=[[n]]) for n in (2, 3)]
    several[1].enqueue([[1, 2, 3]])
    q = queue.QueueBase.from_list(1, several)
    return [q.size(), q.dequeue(), several[1].size()]


def refused(name, do):
    """A call that raises."""
    CASES.append((name, lambda tf: do(tf, tf.queue)))


def _closed(tf, queue):
    q = queue.FIFOQueue(5, tf.int32, shapes=[[]])
    q.enqueue(1)
    q.close()
    return q


refused("put_when_closed", lambda tf, queue: _closed(tf, queue).enqueue(1))
refused("taken_more_than_left", lambda tf, queue: _closed(tf, queue).dequeue_many(2))
refused("batch_without_shapes", lambda tf, queue: queue.FIFOQueue(5, tf.int32).dequeue_many(1))
refused("less_than_none", lambda tf, queue: _closed(tf, queue).dequeue_many(-1))
refused("other_shape", lambda tf, queue: queue.FIFOQueue(5, tf.int32, shapes=[[2]]).enqueue([[1, 2, 3]]))
refused("other_shape_of_rows", lambda tf, queue: queue.FIFOQueue(5, tf.int32, shapes=[[2]]).enqueue_many([[[1]]]))
refused("rows_of_a_scalar", lambda tf, queue: queue.FIFOQueue(5, tf.int32).enqueue_many(1))
refused("rows_that_differ", lambda tf, queue: queue.FIFOQueue(5, [tf.int32] * 2).enqueue_many([[1, 2], [1]]))
refused("other_dtype", lambda tf, queue: queue.FIFOQueue(5, tf.int32).enqueue(1.5))
refused("tensor_of_other_dtype", lambda tf, queue: queue.FIFOQueue(5, tf.int32).enqueue(tf.constant(1.5)))
refused("too_few_parts", lambda tf, queue: queue.FIFOQueue(5, [tf.int32] * 2).enqueue([1]))
refused("names_without_need", lambda tf, queue: queue.FIFOQueue(5, tf.int32).enqueue({"a": 1}))
refused("names_needed", lambda tf, queue: queue.FIFOQueue(5, tf.int32, names="a").enqueue(1))
refused("other_names", lambda tf, queue: queue.FIFOQueue(5, tf.int32, names="a").enqueue({"b": 1}))
refused("too_many_names", lambda tf, queue: queue.FIFOQueue(5, tf.int32, names=["a", "b"]))
refused("too_many_shapes", lambda tf, queue: queue.FIFOQueue(5, tf.int32, shapes=[[2], [3]]))
refused("unknown_sizes", lambda tf, queue: queue.FIFOQueue(5, tf.int32, shapes=[[None]]))
refused("shapes_that_are_none", lambda tf, queue: queue.FIFOQueue(5, tf.int32, shapes=3))
refused("padded_without_shapes", lambda tf, queue: queue.PaddingFIFOQueue(9, tf.int32, shapes=None))
refused("padded_with_too_few_shapes", lambda tf, queue: queue.PaddingFIFOQueue(9, [tf.int32] * 2, shapes=[[None]]))
refused(
    "padded_other_shape", lambda tf, queue: queue.PaddingFIFOQueue(9, tf.int32, shapes=[[None, 2]]).enqueue([[[1]]])
)
refused("nothing_to_take", lambda tf, queue: queue.RandomShuffleQueue(20, 30, tf.int32))
refused("no_queues", lambda tf, queue: queue.QueueBase.from_list(0, []))
refused("no_such_queue", lambda tf, queue: queue.QueueBase.from_list(2, [queue.FIFOQueue(5, tf.int32)]))
refused(
    "queues_that_differ",
    lambda tf, queue: queue.QueueBase.from_list(0, [queue.FIFOQueue(5, t) for t in (tf.int32, tf.int64)]),
)
