"""Side effects of a `tf.function` other than on variables: prints, assertions, calls of Python, dependencies."""

import tempfile
from pathlib import Path

import numpy as np
from recorded_programs import Programs, error_of

program = Programs()


def printed(tf, run):
    """Returns what `run(where)` prints, where `where` is an `output_stream` of `tf.print`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        run(f"file://{path}")
        return path.read_text() if path.exists() else ""


@program
def prints(tf):
    def run(where):
        @tf.function
        def f(x):
            tf.print("start", output_stream=where)
            tf.print("x =", x, {"a": x, "b": [1, x]}, sep="|", end=".\n", output_stream=where)
            tf.print(x * 2.0, summarize=1, output_stream=where)
            return x

        f(tf.constant([1.0, 2.0, 3.0]))
        f(tf.constant([4.0, 5.0, 6.5]))

    return printed(tf, run)


@program
def prints_in_order_with_assigns(tf):
    v = tf.Variable(0)

    def run(where):
        @tf.function
        def f():
            tf.print(v, output_stream=where)
            v.assign_add(1)
            tf.print(v, output_stream=where)

        f(), f()

    return printed(tf, run)


@program
def prints_once_a_call_under_a_tape(tf):
    def run(where):
        @tf.function
        def f(x):
            tf.print("f", x, output_stream=where)
            return x * x

        g = tf.function(lambda x: f(x) + f(x))
        for h in (f, g):
            for _ in range(2):
                x = tf.constant(3.0)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = h(x)
                tape.gradient(y, x)

    return printed(tf, run)


@program
def prints_strings(tf):
    def run(where):
        f = tf.function(lambda s: [tf.print("s:", s, [s], output_stream=where), s][1], autograph=False)
        f(tf.constant("one")), f(tf.constant("two")), f("three")

    return printed(tf, run)


@program
def prints_to_a_stream(tf):
    f = tf.function(lambda x: [tf.print(x, output_stream=None), x][1], autograph=False)
    return error_of(f, tf.constant(1.0))


@program
def assertions(tf):
    out = []
    for name, good, bad in (
        ("assert_equal", 1.0, 2.0),
        ("assert_none_equal", 2.0, 1.0),
        ("assert_less", 0.0, 1.0),
        ("assert_less_equal", 1.0, 2.0),
        ("assert_greater", 2.0, 1.0),
        ("assert_greater_equal", 1.0, 0.0),
        ("assert_near", 1.0, 2.0),
    ):
        check = getattr(tf.debugging, name)
        f = tf.function(lambda x, check=check: (check(x, 1.0), x)[1], autograph=False)
        out.append([f(tf.constant(good)), error_of(f, tf.constant(bad)), f(tf.constant(good))])
    return out


@program
def assertions_of_signs(tf):
    out = []
    for name, good, bad in (
        ("assert_positive", 1.0, 0.0),
        ("assert_negative", -1.0, 0.0),
        ("assert_non_negative", 0.0, -1.0),
        ("assert_non_positive", 0.0, 1.0),
    ):
        check = getattr(tf.debugging, name)
        f = tf.function(lambda x, check=check: (check(x), x)[1], autograph=False)
        out.append([f(tf.constant(good)), error_of(f, tf.constant(bad)), f(tf.constant(good + good))])
    return out


@program
def plain_assertions(tf):
    f = tf.function(lambda x: (tf.debugging.Assert(x > 0.0, [x]), x)[1], autograph=False)
    return [f(tf.constant(1.0)), error_of(f, tf.constant(-1.0)), f(tf.constant(2.0))]


@program
def finite_checks(tf):
    f = tf.function(lambda x: tf.debugging.check_numerics(tf.math.log(x), "log"))
    g = tf.function(lambda x: tf.debugging.assert_all_finite(1.0 / x, "div"))
    return [
        error_of(f, tf.constant(1.0)),
        error_of(f, tf.constant(0.0)),
        error_of(f, tf.constant(1.0)),
        error_of(g, tf.constant(0.0)),
    ]


@program
def types_are_checked_while_tracing(tf):
    f = tf.function(lambda x: (tf.debugging.assert_integer(x), x)[1], autograph=False)
    g = tf.function(lambda x: (tf.debugging.assert_shapes([(x, (2,))]), x)[1], autograph=False)
    return [
        f(tf.constant(1)),
        error_of(f, tf.constant(1.0)),
        g(tf.ones(2)),
        error_of(g, tf.ones(3)),
        error_of(tf.function(lambda x: tf.debugging.assert_rank(x, 1)), tf.constant(1.0)),
    ]


@program
def python_functions(tf):
    seen = []

    def py(x):
        seen.append(float(x))
        return x * x

    f = tf.function(lambda x: tf.py_function(py, [x], tf.float32))
    return [f(tf.constant(2.0)), f(tf.constant(3.0)), f(tf.constant(3.0)), seen == [2.0, 3.0, 3.0]]


@program
def gradients_of_python_functions(tf):
    seen = []

    def py(x, y):
        seen.append(1)
        return x * x * y

    f = tf.function(lambda x, y: tf.py_function(py, [x, y], tf.float32) * 10.0)
    out = []
    for n in (2.0, 3.0, 4.0):
        x, y = tf.constant(n), tf.constant(5.0)
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(x, y)
        out.append(tape.gradient(z, [x, y]))
    return [out, len(seen)]


@program
def gradients_inside_of_python_functions(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda t: t * t * t, [x], tf.float32)
        return tape.gradient(y, x)

    return [f(tf.constant(2.0)), f(tf.constant(3.0))]


@program
def python_functions_of_several(tf):
    f = tf.function(lambda x: tf.py_function(lambda t: (t + 1.0, tf.cast(t, tf.int32)), [x], [tf.float32, tf.int32]))
    return [f(tf.constant(2.5)), f(tf.constant(3.5))]


@program
def python_functions_fail(tf):
    def py(x):
        if x > 2.0:
            raise ValueError("too large")
        return x

    f = tf.function(lambda x: tf.py_function(py, [x], tf.float32))
    return [f(tf.constant(1.0)), error_of(f, tf.constant(3.0)), f(tf.constant(2.0))]


@program
def numpy_functions(tf):
    seen = []

    def py(x):
        seen.append(type(x).__name__)
        return np.sin(x)

    f = tf.function(lambda x: tf.numpy_function(py, [x], tf.float32))
    return [f(tf.constant([2.0])), f(tf.constant([3.0])), seen]


@program
def numpy_functions_have_no_gradient(tf):
    f = tf.function(lambda x: tf.numpy_function(np.sin, [x], tf.float32))
    x = tf.constant([2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


@program
def numpy_functions_of_other_shapes(tf):
    f = tf.function(lambda x: tf.numpy_function(lambda t: t[t > 0], [x], tf.float32) * 2.0)
    return [f(tf.constant([1.0, -1.0])), f(tf.constant([1.0, 3.0])), f(tf.constant([-1.0, -1.0]))]


@program
def time_goes_on(tf):
    f = tf.function(lambda: tf.timestamp())
    a = float(f())
    b = float(f())
    return [b > a, b - a < 60]


@program
def init_scopes(tf):
    v = tf.Variable(1.0)
    seen = []

    @tf.function
    def f(x):
        with tf.init_scope():
            seen.append(float(v.numpy()))
            v.assign(10.0)
        return v * x

    return [f(tf.constant(2.0)), f(tf.constant(3.0)), seen == [1.0]]


@program
def control_dependencies(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        with tf.control_dependencies([v.assign_add(x)]):
            return tf.identity(v)

    return [f(tf.constant(2.0)), f(tf.constant(3.0))]


@program
def groups(tf):
    v, w = tf.Variable(1.0), tf.Variable(1.0)

    @tf.function
    def f(x):
        tf.group(v.assign(x), w.assign_add(x))

    return [f(tf.constant(2.0)), f(tf.constant(3.0)), v, w]


@program
def name_scopes(tf):
    @tf.function
    def f(x):
        with tf.name_scope("a"):
            return x + 1.0

    return f(tf.constant(2.0))


@program
def python_lists_keep_graph_tensors(tf):
    kept = []

    @tf.function
    def f(x):
        kept.append(x * 2.0)
        return x

    f(tf.constant(1.0))
    return error_of(lambda: kept[0] + 1.0)


@program
def counters(tf):
    v = tf.Variable(0, dtype=tf.int64)
    f = tf.function(lambda: v.assign_add(1))
    for _ in range(5):
        f()
    return v


@program
def an_optimizer_by_hand(tf):
    w, m = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w * x - y) ** 2)
        g = tape.gradient(loss, w)
        m.assign(0.9 * m + g)
        w.assign_sub(0.01 * m)
        return loss

    return [[step(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])) for _ in range(4)], w, m]


@program
def effects_without_results(tf):
    v = tf.Variable(0.0)

    @tf.function
    def f(x):
        v.assign_add(x)

    with tf.GradientTape() as tape:
        f(tf.constant(1.0))
        f(tf.constant(2.0))
        y = v * 2.0
    return [v, tape.gradient(y, v)]


CASES = program
