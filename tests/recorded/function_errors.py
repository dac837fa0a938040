"""Errors of a `tf.function`: during tracing, while running, and afterward."""

import numpy as np
from recorded_programs import Programs

program = Programs()


def says(text, f, *args, **kwargs):
    """Returns the class of the exception, and whether its text contains `text`."""
    try:
        f(*args, **kwargs)
        return "no error"
    except Exception as error:
        return [type(error).__name__, text in str(error)]


def inside(tf, text, body, x=1.0):
    """Returns what `body(x)` raises during tracing."""
    return says(text, tf.function(body, autograph=False), tf.constant(x))


@program
def truth(tf):
    return [
        inside(tf, "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed", lambda x: 1 if x > 0 else 2),
        inside(tf, "as a Python `bool`", lambda x: x > 0 and x < 2),
        inside(tf, "as a Python `bool`", lambda x: not x),
        inside(tf, "as a Python `bool`", lambda x: bool(x)),
        inside(tf, "as a Python `bool`", lambda x: x in [1.0, 2.0]),
    ]


@program
def values(tf):
    return [
        inside(tf, "'SymbolicTensor' object has no attribute 'numpy'", lambda x: x.numpy()),
        inside(tf, "float() argument must be", lambda x: float(x)),
        inside(tf, "int() argument must be", lambda x: int(x)),
        inside(tf, "complex() ", lambda x: complex(x)),
        inside(tf, "object cannot be interpreted as an integer", lambda x: range(x), 1),
        inside(tf, "object cannot be interpreted as an integer", lambda x: [1, 2][x], 1)[0],
        inside(tf, "Cannot convert a symbolic tf.Tensor", lambda x: np.sin(x)),
        inside(tf, "Cannot convert a symbolic tf.Tensor", lambda x: np.array(x)),
        inside(tf, "Cannot convert a symbolic tf.Tensor", lambda x: np.asarray([x])),
        inside(tf, "", lambda x: x.tolist())[0],
        inside(tf, "", lambda x: hash(x))[0],
    ]


@program
def lengths(tf):
    return [
        inside(tf, "len", lambda x: len(x)),
        says("no signature found", tf.function, float),
    ]


@program
def lengths_that_are_known(tf):
    f = tf.function(lambda x: sum(x.shape) * x, autograph=False)
    return f(tf.constant([1.0, 2.0]))


@program
def texts(tf):
    seen = []
    f = tf.function(lambda x: seen.append((f"{x}"[:7], str(x)[-29:], repr(x)[:11], repr(x)[-24:])), autograph=False)
    f(tf.constant([1.0, 2.0]))
    return seen[0]


@program
def formats(tf):
    return inside(tf, "", lambda x: f"{x:.2f}")[0]


@program
def item_assignment(tf):
    def body(x):
        x[0] = 1.0

    return inside(tf, "does not support item assignment", body, [1.0, 2.0])


@program
def leaks(tf):
    kept = []

    @tf.function
    def f(x):
        kept.append(x * 2.0)
        return x

    f(tf.constant(1.0))
    t = kept[0]
    return [
        says("is out of scope", lambda: t + 1.0),
        says("is out of scope", lambda: tf.sin(t)),
        says("is out of scope", tf.function(lambda x: x + t), tf.constant(1.0))[0],
        t.shape,
        t.dtype.name,
        says("has no attribute 'numpy'", lambda: t.numpy()),
        says("", lambda: float(t))[0],
    ]


@program
def leaks_into_variables(tf):
    class A:
        x = None

        @tf.function
        def f(self, x):
            if self.x is None:
                self.x = x
            return self.x

    a = A()
    first = a.f(tf.constant(1.0))
    return [first, says("", a.f, tf.constant([1.0]))[0]]


@program
def errors_while_tracing(tf):
    def fails(x):
        raise KeyError("gone")

    v = tf.Variable(1.0)
    calls = []

    @tf.function(autograph=False)
    def f(x):
        calls.append(1)
        v.assign(5.0)
        if len(calls) == 1:
            raise ValueError("first")
        return v * x

    return [
        says("gone", tf.function(fails), tf.constant(1.0))[0],
        says("first", f, tf.constant(1.0)),
        v.numpy(),
        f(tf.constant(2.0)),
        v.numpy(),
        len(calls),
        f.experimental_get_tracing_count(),
    ]


@program
def errors_leave_tapes_alone(tf):
    @tf.function(autograph=False)
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            raise ValueError("inside")

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        said = says("inside", f, x)
        y = x * x
    return [said, tape.gradient(y, x), tf.executing_eagerly(), tf.inside_function()]


@program
def bad_shapes(tf):
    f = tf.function(lambda x, y: x @ y)
    g = tf.function(lambda x, y: x + y)
    return [
        says("", g, tf.ones(2), tf.ones(3))[0],
        f(tf.ones((1, 3)), tf.ones((3, 1))),
    ]


@program
def bad_dtypes(tf):
    f = tf.function(lambda x, y: x + y)
    g = tf.function(lambda x: tf.sin(x))
    return [says("", f, tf.constant(1.0), tf.constant(1))[0], says("", g, tf.constant(1))[0]]


@program
def failing_kernels(tf):
    f = tf.function(lambda x: tf.linalg.cholesky(x))
    good, bad = tf.constant([[2.0, 0.0], [0.0, 2.0]]), tf.constant([[1.0, 2.0], [2.0, 1.0]])
    g = tf.function(lambda i: tf.gather(tf.constant([1.0, 2.0]), i))
    h = tf.function(lambda a, b: a // b)
    c = tf.constant
    return [
        f(good),
        says("", f, bad)[0],
        f(good),
        g(c(1)),
        says("", g, c(5))[0],
        g(c(0)),
        h(c(6), c(2)),
        says("", h, c(6), c(0))[0],
        h(c(9), c(2)),
    ]


@program
def failing_kernels_leave_variables_alone(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(i):
        y = tf.gather(tf.constant([1.0, 2.0]), i)
        v.assign(y)
        return y

    f(tf.constant(0))
    return [says("", f, tf.constant(7))[0], v]


@program
def variables_of_another_shape(tf):
    v = tf.Variable([1.0], shape=tf.TensorShape([None]))

    @tf.function
    def f(x):
        v.assign(x)
        return tf.reduce_sum(v)

    return [f(tf.constant([1.0, 2.0])), v, f(tf.constant([1.0, 2.0, 3.0])), v]


@program
def recursion(tf):
    @tf.function(autograph=False)
    def f(n, x):
        return x if n == 0 else f(n - 1, x * 2.0)

    return f(3, tf.constant(1.0))


@program
def conversions(tf):
    f = tf.function(lambda x: tf.convert_to_tensor([x, x * 2.0, 3.0]))
    g = tf.function(lambda x: [x, x] * tf.stack([x, 1.0]))
    h = tf.function(lambda x: tf.constant([1.0, 2.0]) * x)
    return [f(tf.constant(1.0)), f(tf.constant(2.0)), g(tf.constant(1.0)), g(tf.constant(3.0)), h(tf.constant(3.0))]


@program
def sizes_from_tensors(tf):
    f = tf.function(lambda n: tf.ones([n, 2]) * 2.0)
    g = tf.function(lambda x, n: tf.reshape(x, [n, -1]))
    h = tf.function(lambda n: tf.range(n))
    k = tf.function(lambda x, a: tf.reduce_sum(x, axis=a))
    c = tf.constant
    x = tf.reshape(tf.range(6.0), [2, 3])
    return [f(c(1)), f(c(3)), g(x, c(3)), g(x, c(1)), h(c(2)), h(c(4)), k(x, c(0)), k(x, c(1)), f(c(1))]


@program
def shapes_from_tensors(tf):
    f = tf.function(lambda x: tf.zeros(tf.shape(x)) + tf.cast(tf.shape(x)[0], tf.float32))
    g = tf.function(lambda x, y: tf.reshape(x, tf.shape(y)))
    return [
        f(tf.ones((2, 3))),
        f(tf.ones((1, 3))),
        g(tf.range(4.0), tf.ones((2, 2))),
        g(tf.range(4.0), tf.ones((4, 1))),
    ]


@program
def shapes_from_values(tf):
    f = tf.function(lambda x: tf.boolean_mask(x, x > 0) * 2.0)
    g = tf.function(lambda x: tf.unique(x)[0])
    h = tf.function(lambda x: tf.where(x > 0))
    c = tf.constant
    return [
        f(c([1.0, -1.0, 2.0])),
        f(c([1.0, 3.0, 2.0])),
        f(c([-1.0, -3.0, -2.0])),
        f(c([1.0, -1.0, 5.0])),
        g(c([1, 1, 2])),
        g(c([1, 2, 3])),
        h(c([1.0, -1.0])),
        h(c([1.0, 1.0])),
    ]


@program
def many_values(tf):
    f = tf.function(lambda n: tf.reduce_sum(tf.range(n)))
    return [f(tf.constant(n)) for n in range(15)]


CASES = program
