"""Python loops on tensors in traced functions."""

from autograph_programs import Programs

tf = None  # the library under test, which `run` sets
program = PROGRAMS = Programs()


@program
def while_loop(x):
    i = tf.constant(0)
    s = 0
    while i < x[1]:
        i += 1
        s += i * i
    return i, s


@program
def while_with_break_and_continue(x):
    i = tf.constant(0)
    s = 0
    while i < x[1] + 5:
        i += 1
        if i == 2:
            continue
        if i == 4:
            break
        s += i
    return i, s


@program
def while_never(x):
    i = x[0]
    while i < 0:
        i += 1
    return i


@program
def while_in_python(x):
    i = 0
    while i < 3:
        x = x + i
        i += 1
    return x


@program
def while_with_maximum(x):
    s = tf.constant(0)
    while s < 100:
        tf.autograph.experimental.set_loop_options(maximum_iterations=x[0], parallel_iterations=1, swap_memory=True)
        s += 1
    return s


@program
def while_of_floats(x):
    v = tf.constant(100.0)
    while v > 1.0:
        v = v / 2.0
    return v


@program
def collatz(x):
    n, count = tf.constant(27), 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        count += 1
    return count


@program
def for_rows(x):
    total = 0
    for a in x:
        total += a
    return total, a


@program
def for_rows_of_matrix(x):
    m = tf.reshape(tf.range(6), [3, 2])
    s = tf.zeros([2], tf.int32)
    for row in m:
        s = s * 2 + row
    return s


@program
def for_nested(x):
    for a in x:
        for b in x:
            x = x + a * b
    return x


@program
def for_range(x):
    s = 0
    for i in tf.range(x[0]):
        s += i
    return s, i


@program
def for_range_of_constants(x):
    s = 0
    for i in tf.range(2, 11, 3):
        s = s * 10 + i
    return s


@program
def for_range_backwards(x):
    s = 0
    for i in tf.range(x[0], 0, -1):
        s = s * 10 + i
    return s


@program
def for_range_of_floats(x):
    s = 0.0
    for i in tf.range(0.0, 1.0, 0.25):
        s = s * 10 + i
    return s


@program
def for_range_of_int64(x):
    s = tf.constant(0, tf.int64)
    for i in tf.range(5, dtype=tf.int64):
        s += i
    return s


@program
def for_python_range_of_tensor(x):
    s = 0
    for i in range(x[0], x[1] + 3):
        s = s * 10 + i
    return s


@program
def for_python_range_empty(x):
    s = 0
    for i in range(x[1], x[0]):
        s = s * 10 + i
    return s


@program
def for_python(x):
    s = 0
    for i, v in enumerate([1, 2]):
        s += i * v * x
    return s


@program
def for_python_with_tensor_if(x):
    for i in range(3):
        if x[0] > i:
            x = x + 1
    return x


@program
def for_with_break(x):
    s = 0
    for i in tf.range(10):
        if i > x[0]:
            break
        s += i
    return s


@program
def for_with_continue(x):
    s = 0
    for i in tf.range(10):
        if i % 2 == 0:
            continue
        s += i
    return s


@program
def for_with_maximum(x):
    s = 0
    for _ in tf.range(10):
        tf.autograph.experimental.set_loop_options(maximum_iterations=3)
        s += 1
    return s


@program
def for_with_shape_invariant(x):
    v = tf.zeros([1])
    for _ in tf.range(x[0]):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
        v = tf.concat([v, v], 0)
    return v


@program
def for_defines_variable(x):
    for i in tf.range(x[0]):
        v = i * 2
    return v


@program
def for_replaces_none(x):
    v = None
    for i in tf.range(x[0]):
        v = i
    return v


@program
def for_with_local(x):
    for i in tf.range(3):
        t = i * 2
        x = x + t
    return x


@program
def for_with_structures(x):
    d = {"a": x[0], "b": (x[1], 1)}
    for _ in tf.range(2):
        d = {"a": d["a"] + 1, "b": (d["b"][0], 2)}
    return d


@program
def for_returns_at_once(x):
    for i in tf.range(x[0]):
        return i


@program
def for_over_empty(x):
    s = tf.constant(1)
    for row in tf.zeros([0, 2], tf.int32):
        s += row[0]
    return s


@program
def tensor_array(x):
    a = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in tf.range(x[0]):
        a = a.write(i, i * i)
    return a.stack()


@program
def tensor_array_of_known_size(x):
    a = tf.TensorArray(tf.int32, size=4)
    for i in tf.range(4):
        a = a.write(i, x[0] * i)
    return a.stack(), len(a)


@program
def list_in_python_loop(x):
    made = []
    for i in range(3):
        made.append(x * i)
    return tf.stack(made)


@program
def list_of_branches(x):
    made = []
    if x[0] > 1:
        made.append(1)
    else:
        made.append(2)
    return len(made) > 0


@program
def gradient_of_loop(x):
    w = tf.cast(x[0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = tf.constant(1.0, tf.float64)
        for _ in tf.range(x[1]):
            if y < 30.0:
                y = y * w
            else:
                y = y + w * w
    return y, tape.gradient(y, w)


CASES = PROGRAMS.cases()
