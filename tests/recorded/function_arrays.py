"""TensorArrays inside functions: in loops, in branches, in loops in loops; with gradients."""

import numpy as np
from recorded_programs import Programs

program = Programs()
DATA = np.arange(12.0, dtype=np.float32).reshape(4, 3) / 10
WEIGHTS = np.arange(9.0, dtype=np.float32).reshape(3, 3) / 10


def differentiated(f):
    """`f(tf, x, w)` returns a tensor: it and its gradients are compared, with `f` inside a function."""

    def run(tf):
        x, w = tf.constant(DATA), tf.Variable(WEIGHTS)
        g = tf.function(lambda x: f(tf, x, w))
        out = []
        for scale in (1.0, 0.5):
            with tf.GradientTape() as tape:
                z = x * scale
                tape.watch(z)
                y = g(z)
                loss = tf.reduce_sum(y * y)
            out.append([y, tape.gradient(loss, [z, w])])
        return out

    program.append((f.__name__, run))
    return f


@differentiated
def recurrent(tf, x, w):
    array = tf.TensorArray(tf.float32, size=4)
    h = tf.zeros([3])
    for t in tf.range(4):
        h = tf.tanh(tf.linalg.matvec(w, h) + x[t])
        array = array.write(t, h)
    return array.stack()


@differentiated
def recurrent_by_while_loop(tf, x, w):
    rows = tf.TensorArray(tf.float32, size=4).unstack(x)

    def body(t, h, array):
        h = tf.tanh(tf.linalg.matvec(w, h) + rows.read(t))
        return t + 1, h, array.write(t, h)

    start = (tf.constant(0), tf.zeros([3]), tf.TensorArray(tf.float32, size=4))
    return tf.while_loop(lambda t, *_: t < 4, body, start)[2].stack()


@differentiated
def backwards(tf, x, w):
    def body(t, h, array):
        h = tf.tanh(tf.linalg.matvec(w, h) + x[t])
        return t - 1, h, array.write(t, h)

    start = (tf.constant(3), tf.zeros([3]), tf.TensorArray(tf.float32, size=4, element_shape=[3]))
    return tf.while_loop(lambda t, *_: t >= 0, body, start)[2].stack()


@differentiated
def some_entries(tf, x, w):
    array = tf.TensorArray(tf.float32, size=6).write(5, tf.ones([3]))
    for t in tf.range(1, 4):
        array = array.write(t, x[t] * 2.0)
    return array.stack()


@differentiated
def written_in_both_branches(tf, x, w):
    array = tf.TensorArray(tf.float32, size=4)
    for t in tf.range(4):
        if t % 2 == 0:
            array = array.write(t, x[t] * 2.0)
        else:
            array = array.write(t, tf.linalg.matvec(w, x[t]))
    return array.stack()


@differentiated
def written_in_one_branch(tf, x, w):
    array = tf.TensorArray(tf.float32, size=4)
    for t in tf.range(4):
        if t % 2 == 1:
            array = array.write(t, x[t] * 2.0)
    return array.stack()


@differentiated
def read_what_was_written(tf, x, w):
    array = tf.TensorArray(tf.float32, size=5, clear_after_read=False).write(0, tf.ones([3]))
    for t in tf.range(4):
        array = array.write(t + 1, array.read(t) * x[t] + 1.0)
    return array.stack()


@differentiated
def written_twice(tf, x, w):
    array = tf.TensorArray(tf.float32, size=4)
    for t in tf.range(4):
        array = array.write(t, x[t] * 5.0)
        array = array.write(t, x[t] * x[t])
    return array.stack()


@differentiated
def growing(tf, x, w):
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for t in tf.range(4):
        array = array.write(t, x[t] * 2.0)
    return array.stack()


@differentiated
def until_a_sum_is_reached(tf, x, w):
    array = tf.TensorArray(tf.float32, size=4)
    total, t = tf.constant(0.0), tf.constant(0)
    while total < 1.5 and t < 4:
        array = array.write(t, x[t])
        total += tf.reduce_sum(x[t])
        t += 1
    return array.stack()


@differentiated
def arrays_in_arrays(tf, x, w):
    outer = tf.TensorArray(tf.float32, size=4)
    for t in tf.range(4):
        inner = tf.TensorArray(tf.float32, size=3)
        for s in tf.range(3):
            inner = inner.write(s, x[t, s] ** 2)
        outer = outer.write(t, inner.stack())
    return outer.stack()


@differentiated
def one_array_in_two_loops(tf, x, w):
    array = tf.TensorArray(tf.float32, size=12)
    for t in tf.range(4):
        for s in tf.range(3):
            array = array.write(t * 3 + s, x[t, s] * w[s, s])
    return tf.reshape(array.stack(), [4, 3])


@differentiated
def one_array_in_loops_and_branches(tf, x, w):
    array = tf.TensorArray(tf.float32, size=6)
    for t in tf.range(2):
        if t > 0:
            for s in tf.range(3):
                array = array.write(t * 3 + s, x[t, s])
        else:
            array = array.write(0, tf.reduce_sum(w))
    return array.stack()


@differentiated
def two_loops_on_one_array(tf, x, w):
    def first(i, array):
        row = tf.cond(tf.equal(i, 0), lambda: x[0], lambda: array.read(i - 1) * 2.0)
        return i + 1, array.write(i, row)

    array = tf.TensorArray(tf.float32, size=8, clear_after_read=False, element_shape=[3])
    i, array = tf.while_loop(lambda i, _: i < 5, first, [tf.constant(0), array])
    return tf.while_loop(lambda i, _: i < 8, lambda i, a: (i + 1, a.write(i, w[0])), [i, array])[1].stack()


@differentiated
def growing_behind_rows(tf, x, w):
    array = tf.TensorArray(tf.float32, size=4, dynamic_size=True).unstack(x)
    if tf.reduce_sum(w) > 0.0:
        array = array.write(1, w[0])
    return array.write(5, x[0] * 2.0).stack()


@differentiated
def in_a_dictionary(tf, x, w):
    state = {"h": tf.zeros([3]), "array": tf.TensorArray(tf.float32, size=4)}
    for t in tf.range(4):
        h = state["h"] + x[t]
        state = {"h": h, "array": state["array"].write(t, h)}
    return state["array"].stack() + state["h"]


@differentiated
def concatenated(tf, x, w):
    array = tf.TensorArray(tf.float32, size=4)
    for t in tf.range(4):
        array = array.write(t, tf.stack([x[t], tf.linalg.matvec(w, x[t])]))
    return array.concat()


@program
def number_of_rounds_that_varies(tf):
    @tf.function
    def f(n):
        array = tf.TensorArray(tf.float32, size=3)
        for t in tf.range(n):
            array = array.write(t, tf.cast(t, tf.float32) + 1.0)
        return array.stack()

    out = [f(tf.constant(n)) for n in (2, 0, 3, 1)]
    try:
        f(tf.constant(5))
    except tf.errors.InvalidArgumentError as error:
        out.append("Trying to modify element 3 in a list with 3 elements" in str(error))
    return out


@program
def branches_outside_of_loops(tf):
    @tf.function
    def f(x, p):
        array = tf.TensorArray(tf.float32, size=2).write(0, x[0])
        if p:
            array = array.write(1, x[1])
        else:
            array = array.write(1, x[2])
        return array.stack()

    x = tf.constant(DATA)
    return [f(x, tf.constant(True)), f(x, tf.constant(False))]


@program
def traced_indices(tf):
    @tf.function
    def f(x, i):
        array = tf.TensorArray(tf.float32, size=4).unstack(x)
        other = tf.TensorArray(tf.float32, size=4).scatter(i, x[:2])
        read = array.gather(i), array.read(i[0]), array.size(), array.concat()
        return read, other.stack(), other.write(i[1], x[0]).stack()

    return [f(tf.constant(DATA), tf.constant(i)) for i in ([2, 1], [0, 3])]


@program
def second_derivative(tf):
    w = tf.Variable(WEIGHTS)

    @tf.function
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(recurrent(tf, x, w) ** 2)
            g = tape.gradient(loss, x)
        return g, outer.gradient(g, x)

    return f(tf.constant(DATA))


@program
def given_to_a_function(tf):
    f = tf.function(lambda array: array.stack() * 2.0)
    return [f(tf.TensorArray(tf.float32, size=2).write(0, x).write(1, 2.0)) for x in (1.0, 3.0)]


CASES = program
