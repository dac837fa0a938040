"""Side effects of a `tf.function`: variables, random draws, prints, assertions, calls of Python."""

import tempfile
from pathlib import Path

import numpy as np

PROGRAMS = []


def program(f):
    """`f(tf)` returns a value to compare."""
    PROGRAMS.append((f.__name__, f))
    return f


def error_of(f, *args, **kwargs):
    """Returns the class of the exception that a call raises, or its result."""
    try:
        return f(*args, **kwargs)
    except Exception as error:
        return type(error).__name__


def printed(tf, run):
    """Returns what `run(where)` prints, where `where` is an `output_stream` of `tf.print`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        run(f"file://{path}")
        return path.read_text() if path.exists() else ""


@program
def python_effects_happen_once(tf):
    seen = []
    f = tf.function(lambda x: (seen.append(1), x * 2.0)[1], autograph=False)
    return [f(tf.constant(1.0)), f(tf.constant(2.0)), f(tf.constant(3.0)), len(seen)]


@program
def assigns_in_order(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        a = v * 1.0
        v.assign(x)
        b = v * 1.0
        v.assign_add(10.0)
        c = v + 0.0
        v.assign_sub(1.0)
        return a, b, c

    return [f(tf.constant(5.0)), v.numpy(), f(tf.constant(7.0)), v.numpy()]


@program
def two_variables(tf):
    v, w = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def swap():
        a = v.read_value()
        v.assign(w)
        w.assign(a)

    swap(), swap(), swap()
    return [v, w]


@program
def assign_returns(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        return v.assign(x) * 2.0, v.assign_add(1.0), v.assign(x)

    return [f(tf.constant(3.0)), f(tf.constant(4.0)), v]


@program
def assign_slices(tf):
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f(x):
        v[0].assign(x)
        v[1:].assign([x, x + 1.0])
        return v[1]

    return [f(tf.constant(5.0)), v.numpy(), f(tf.constant(8.0)), v.numpy()]


@program
def assign_shape_errors(tf):
    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda x: v.assign(x))
    return [error_of(f, tf.constant([1.0, 2.0, 3.0])), v]


@program
def scatter_updates(tf):
    out = []
    for name in (
        "scatter_update",
        "scatter_add",
        "scatter_sub",
        "scatter_mul",
        "scatter_div",
        "scatter_max",
        "scatter_min",
    ):
        v = tf.Variable([1.0, 2.0, 3.0, 4.0])
        update = getattr(v, name)
        f = tf.function(lambda i, x, update=update: update(tf.IndexedSlices(x, i)), autograph=False)
        for i in range(3):
            f(tf.constant([i, 3]), tf.constant([5.0, 7.0]))
        out.append(v.numpy())
    return out


@program
def scatter_nd_updates(tf):
    out = []
    for name in ("scatter_nd_update", "scatter_nd_add", "scatter_nd_sub"):
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        f = tf.function(getattr(v, name), autograph=False)
        for i in range(2):
            f(tf.constant([[i, 1]]), tf.constant([5.0]))
        out.append(v.numpy())
    return out


@program
def batch_scatter_update(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    f = tf.function(lambda i, x: v.batch_scatter_update(tf.IndexedSlices(x, i)), autograph=False)
    f(tf.constant([[0], [1]]), tf.constant([[5.0], [6.0]]))
    f(tf.constant([[1], [0]]), tf.constant([[7.0], [8.0]]))
    return v


@program
def reads_by_index(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    f = tf.function(lambda i: (v.sparse_read(i), v.gather_nd(i[:, None]), tf.gather(v, i)))
    return [f(tf.constant([0, 2])), f(tf.constant([1, 1]))]


@program
def reads_out_of_range(tf):
    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda i: tf.gather(v, i))
    return [f(tf.constant([0])), error_of(f, tf.constant([5])), f(tf.constant([1]))]


@program
def gradient_of_sparse_read(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    f = tf.function(lambda i: v.sparse_read(i))
    out = []
    for at in ([0, 2], [1, 1]):
        with tf.GradientTape() as tape:
            y = f(tf.constant(at))
        out.append(tf.convert_to_tensor(tape.gradient(y, v)))
    return out


@program
def made_on_the_first_call(tf):
    class A:
        w = None

        @tf.function
        def f(self, x):
            if self.w is None:
                self.w = tf.Variable(2.0)
            self.w.assign_add(1.0)
            return self.w * x

    a = A()
    return [a.f(tf.constant(1.0)), a.f(tf.constant(10.0)), a.w]


@program
def made_on_every_call(tf):
    @tf.function
    def f(x):
        v = tf.Variable(1.0)
        return v * x

    return [error_of(f, tf.constant(1.0)), error_of(f, tf.constant(1.0))]


@program
def made_on_a_later_trace(tf):
    kept = []

    @tf.function
    def f(x):
        if len(kept) < int(x.shape[0]):
            kept.append(tf.Variable(1.0))
        return x * kept[-1]

    return [f(tf.constant([1.0])), error_of(f, tf.constant([1.0, 2.0]))]


@program
def made_under_a_tape(tf):
    class A:
        w = None

        @tf.function
        def f(self, x):
            if self.w is None:
                self.w = tf.Variable(2.0)
            return self.w * x * x

    a = A()
    x = tf.constant(3.0)
    out = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = a.f(x)
        out.append([y, tape.gradient(y, [x, a.w]), [v is a.w for v in tape.watched_variables()]])
    return out


@program
def made_inside_another(tf):
    class A:
        w = None

        @tf.function
        def f(self, x):
            if self.w is None:
                self.w = tf.Variable(2.0)
            return self.w * x

    a = A()
    g = tf.function(lambda x: a.f(x) + a.f(x))
    return [g(tf.constant(1.0)), g(tf.constant(2.0)), a.w]


@program
def made_from_an_argument(tf):
    class A:
        w = None

        @tf.function
        def f(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.zeros_like(x) + 4.0)
            return self.w * x

    a = A()
    return [a.f(tf.constant([1.0, 2.0])), a.f(tf.constant([2.0, 3.0])), a.w]


@program
def made_with_random_values(tf):
    tf.random.set_seed(3)

    class A:
        w = None

        @tf.function
        def f(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.random.stateless_normal([2], [1, 2]))
            return self.w * x

    a = A()
    first = a.f(tf.constant(1.0))
    return [first, a.f(tf.constant(1.0)), a.w]


@program
def two_functions_share(tf):
    v = tf.Variable(1.0)
    f, g = tf.function(lambda: v.assign_add(1.0)), tf.function(lambda: v * 10.0)
    return [f(), g(), f(), g()]


@program
def changed_from_outside(tf):
    v = tf.Variable(1.0)
    f = tf.function(lambda: v * 10.0)
    out = [f()]
    v.assign(5.0)
    return [*out, f()]


@program
def replaced_variable(tf):
    box = [tf.Variable(1.0)]
    f = tf.function(lambda: box[0] * 10.0)
    first = f()
    box[0] = tf.Variable(2.0)
    return [first, f()]


@program
def stateless_draws(tf):
    f = tf.function(lambda s: tf.random.stateless_uniform([3], s))
    return [f(tf.constant([1, 2])), f(tf.constant([3, 4])), tf.random.stateless_uniform([3], [3, 4])]


@program
def seeded_draws_differ(tf):
    tf.random.set_seed(1)
    f = tf.function(lambda: tf.random.uniform([2], seed=3))
    a, b = f().numpy(), f().numpy()
    return [bool((a != b).any()), a.shape]


@program
def generators(tf):
    g = tf.random.Generator.from_seed(7)
    f = tf.function(lambda: g.normal([2]))
    drawn = [f() for _ in range(4)]
    h = tf.random.Generator.from_seed(7)
    return [drawn, [h.normal([2]) for _ in range(4)]]


@program
def generators_set_back(tf):
    g = tf.random.Generator.from_seed(7)

    @tf.function
    def f():
        x = g.normal([2])
        g.reset_from_seed(3)
        return x, g.normal([2]), g.uniform([], maxval=9, dtype=tf.int32), g.state

    return [f(), f(), f()]


@program
def shuffles_and_dropout(tf):
    f = tf.function(lambda x: tf.reduce_sum(tf.random.shuffle(x)))
    g = tf.function(lambda x: tf.nn.dropout(x, 0.5))
    y, z = g(tf.ones(1000)).numpy(), g(tf.ones(1000)).numpy()
    return [f(tf.range(5)), f(tf.range(5)), bool((y != z).any()), bool(abs(y.mean() - 1) < 0.2)]


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


CASES = PROGRAMS
