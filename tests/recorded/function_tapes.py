"""Tapes and functions in every nesting."""

import numpy as np
from recorded_programs import Programs

program = Programs()


@program
def tape_outside(tf):
    v = tf.Variable(2.0)
    f = tf.function(lambda x: v * x * x + tf.sin(x))
    out = []
    for n in (1.0, 3.0):
        x = tf.constant(n)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        out.append([y, tape.gradient(y, [x, v]), len(tape.watched_variables())])
    return out


@program
def tape_inside(tf):
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = v * x * x
        return tape.gradient(y, [x, v])

    return [f(tf.constant(1.0)), f(tf.constant(3.0))]


@program
def tapes_on_both_sides(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x * x
        return tape.gradient(y, x)

    out = []
    for n in (1.0, 3.0):
        x = tf.constant(n)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        out.append([y, tape.gradient(y, x)])
    return out


@program
def nested_tapes_outside(tf):
    f = tf.function(lambda x: x * x * x)
    out = []
    for n in (1.0, 3.0):
        x = tf.constant(n)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
        out.append([g, outer.gradient(g, x)])
    return out


@program
def third_order(tf):
    v = tf.Variable(2.0)
    f = tf.function(lambda: v * v * v * v)
    with tf.GradientTape() as a:
        with tf.GradientTape() as b:
            with tf.GradientTape() as c:
                y = f()
            g = c.gradient(y, v)
        h = b.gradient(g, v)
    return [g, h, a.gradient(h, v)]


@program
def persistent(tf):
    f = tf.function(lambda x: (x * x, x * 3.0))
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = f(x)
    return [tape.gradient(y, x), tape.gradient(z, x), tape.gradient([y, z], x), tape.gradient(y, x)]


@program
def outputs_of_all_kinds(tf):
    f = tf.function(
        lambda x: {"a": x * x, "n": tf.constant(3), "m": tf.cast(x, tf.int32), "c": tf.constant(1.0), "x": x}
    )
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    return [tape.gradient(y[k], x) for k in ("a", "c", "x")] + [tape.gradient(y["a"] * y["x"], x)]


@program
def unused_arguments(tf):
    f = tf.function(lambda x, y: x * 2.0)
    x, y = tf.constant(1.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = f(x, y)
    return tape.gradient(z, [x, y])


@program
def unused_arguments_as_zeros(tf):
    f = tf.function(lambda x, y: x * 2.0)
    x, y = tf.constant(1.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = f(x, y)
    return tape.gradient(z, [x, y], unconnected_gradients="zero")


@program
def intermediate_results(tf):
    @tf.function
    def f(x):
        h = x * x
        return h, h * 3.0

    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        h, y = f(x)
    return [tape.gradient(y, h), tape.gradient(y, x), tape.gradient(h, x)]


@program
def output_gradients(tf):
    f = tf.function(lambda x: x * x)
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, output_gradients=tf.constant([1.0, 10.0]))


@program
def stopped_gradients(tf):
    f = tf.function(lambda x: x * tf.stop_gradient(x))
    g = tf.function(lambda x: tf.stop_gradient(x * x))
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = f(x), g(x)
    return [tape.gradient(y, x), tape.gradient(z, x)]


@program
def sparse_gradients(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    f = tf.function(lambda i: tf.gather(v, i) * 2.0)
    out = []
    for at in ([0, 2], [1, 1]):
        with tf.GradientTape() as tape:
            y = f(tf.constant(at))
        g = tape.gradient(y, v)
        out.append([type(g).__name__, tf.convert_to_tensor(g)])
    return out


@program
def sparse_gradients_inside(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.function
    def f(i):
        with tf.GradientTape() as tape:
            y = tf.gather(v, i) * 2.0
        return tape.gradient(y, v)

    out = [f(tf.constant([0, 2])), f(tf.constant([1, 1]))]
    return [[type(g).__name__, tf.convert_to_tensor(g)] for g in out]


@program
def functions_of_functions(tf):
    v = tf.Variable(2.0)
    f = tf.function(lambda x: v * x)
    g = tf.function(lambda x: f(x) + f(x * x))
    h = tf.function(lambda x: g(x) * f(x))
    out = []
    for n in (2.0, 3.0):
        x = tf.constant(n)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = h(x)
        out.append([y, tape.gradient(y, [x, v])])
    return out


@program
def tape_around_a_function_in_a_function(tf):
    f = tf.function(lambda x: x * x * x)

    @tf.function
    def g(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x) + f(x)

    return [g(tf.constant(2.0)), g(tf.constant(3.0))]


@program
def second_order_inside(tf):
    f = tf.function(lambda x: x * x * x)

    @tf.function
    def g(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            d = inner.gradient(y, x)
        return outer.gradient(d, x)

    return [g(tf.constant(2.0)), g(tf.constant(3.0))]


@program
def jacobians(tf):
    f = tf.function(lambda x: tf.stack([x[0] * x[1], tf.sin(x[0]), x[1] ** 3]))
    out = []
    for at in ([1.0, 2.0], [3.0, 4.0]):
        x = tf.constant(at)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        out.append(tape.jacobian(y, x))
    return out


@program
def jacobians_inside(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.stack([x[0] * x[1], tf.sin(x[0]), x[1] ** 3])
        return tape.jacobian(y, x)

    return [f(tf.constant([1.0, 2.0])), f(tf.constant([3.0, 4.0]))]


@program
def batch_jacobians(tf):
    f = tf.function(lambda x: x * x * tf.reduce_sum(x, axis=1, keepdims=True))

    @tf.function
    def inside(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.batch_jacobian(y, x)

    out = []
    for at in ([[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [2.0, 5.0]]):
        x = tf.constant(at)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        out.append([tape.batch_jacobian(y, x), inside(x)])
    return out


@program
def hessian_by_nesting(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x[0] ** 2 * x[1]
            g = inner.gradient(y, x)
        return outer.jacobian(g, x)

    return [f(tf.constant([1.0, 2.0])), f(tf.constant([3.0, 4.0]))]


@program
def forward_mode(tf):
    v = tf.Variable(2.0)
    f = tf.function(lambda x: v * x * x)
    out = []
    for n in (1.0, 3.0):
        x = tf.constant(n)
        with tf.autodiff.ForwardAccumulator([x, v], [tf.constant(1.0), tf.constant(10.0)]) as acc:
            y = f(x)
        out.append([y, acc.jvp(y)])
    return out


@program
def forward_mode_inside(tf):
    @tf.function
    def f(x):
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            y = x * x * x
        return acc.jvp(y)

    return [f(tf.constant(2.0)), f(tf.constant(3.0))]


@program
def forward_over_reverse(tf):
    f = tf.function(lambda x: x * x * x)
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        g = tape.gradient(y, x)
    return [g, acc.jvp(g)]


@program
def functions_in_vectorized_map(tf):
    v = tf.Variable(3.0)
    f = tf.function(lambda x: tf.reduce_sum(x) * v)
    return [
        tf.vectorized_map(f, tf.constant([[1.0, 2.0], [3.0, 4.0]])),
        tf.map_fn(f, tf.constant([[1.0, 2.0], [3.0, 4.0]])),
    ]


@program
def vectorized_map_in_functions(tf):
    f = tf.function(lambda x: tf.vectorized_map(lambda row: tf.reduce_sum(row * row), x))
    return [f(tf.constant([[1.0, 2.0], [3.0, 4.0]])), f(tf.constant([[1.0, 2.0], [3.0, 5.0]]))]


@program
def tape_outside_asked_inside(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    f = tf.function(lambda: tape.gradient(y, x))
    return f()


@program
def watched_inside(tf):
    @tf.function
    def f(x, y):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            h = x * y
            tape.watch(h)
            z = h * h
        return tape.gradient(z, h), tape.gradient(z, x) if False else h

    return [f(tf.constant(2.0), tf.constant(3.0)), f(tf.constant(4.0), tf.constant(3.0))]


@program
def not_watching_variables(tf):
    v = tf.Variable(2.0)
    f = tf.function(lambda x: v * x)
    x = tf.constant(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = f(x)
    return [tape.gradient(y, [x, v]), len(tape.watched_variables())]


@program
def watching_one_variable(tf):
    v, w = tf.Variable(2.0), tf.Variable(5.0)
    f = tf.function(lambda: v * w)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = f()
    return [tape.gradient(y, [v, w]), [u is v for u in tape.watched_variables()]]


@program
def untrainable_variables(tf):
    v = tf.Variable(2.0, trainable=False)
    f = tf.function(lambda x: v * x)
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, [x, v])


@program
def watched_variables(tf):
    v, w, u = tf.Variable(2.0), tf.Variable(5.0), tf.Variable(1.0)
    f = tf.function(lambda: v * w)
    with tf.GradientTape() as tape:
        f()
    return [len(tape.watched_variables()), any(x is u for x in tape.watched_variables())]


@program
def stop_recording(tf):
    f = tf.function(lambda x: x * x)
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        with tape.stop_recording():
            y = f(x)
        z = f(x)
    return [tape.gradient(y, x), tape.gradient(z, x)]


@program
def stop_recording_inside(tf):
    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            with tape.stop_recording():
                y = x * x
            z = x * x * y
        return tape.gradient(z, x)

    return [f(tf.constant(3.0)), f(tf.constant(4.0))]


@program
def assigned_variables(tf):
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        v.assign(x * 3.0)
        return v * v

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return [y, tape.gradient(y, [x, v]), v]


@program
def custom_gradients(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda g: g * 100.0

    h = tf.function(lambda x: f(x) * 2.0)
    out = []
    for n in (2.0, 3.0):
        x = tf.constant(n)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = h(x)
        out.append([y, tape.gradient(y, x)])
    return out


@program
def custom_gradients_around_functions(tf):
    inner = tf.function(lambda x: x * x)

    @tf.custom_gradient
    def f(x):
        return inner(x), lambda g: g * inner(x)

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return [y, tape.gradient(y, x)]


@program
def recomputed(tf):
    v = tf.Variable(2.0)
    f = tf.function(tf.recompute_grad(lambda x: tf.sin(v * x)))
    out = []
    for n in (1.0, 3.0):
        x = tf.constant(n)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        out.append([y, tape.gradient(y, [x, v])])
    return out


@program
def integer_arguments(tf):
    f = tf.function(lambda x, n: x * tf.cast(n, tf.float32))
    x, n = tf.constant(3.0), tf.constant(2)
    with tf.GradientTape() as tape:
        tape.watch([x])
        y = f(x, n)
    return tape.gradient(y, [x])


@program
def complex_arguments(tf):
    f = tf.function(lambda z: tf.math.real(z * z * tf.math.conj(z)))
    out = []
    for z in (1 + 2j, 3 - 1j):
        x = tf.constant(z, tf.complex64)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        out.append(tape.gradient(y, x))
    return out


@program
def half_precision(tf):
    f = tf.function(lambda x: tf.nn.softmax(x * x))
    x = tf.constant([1.0, 2.0], tf.bfloat16)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)[0]
    return [y.dtype.name, tape.gradient(y, x).dtype.name]


@program
def same_tensor_twice(tf):
    f = tf.function(lambda x, y: x * y)
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, x)
    return tape.gradient(y, x)


@program
def two_calls(tf):
    f = tf.function(lambda x: x * x)
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(f(x)) + f(x)
    return tape.gradient(y, x)


@program
def structures_as_arguments(tf):
    f = tf.function(lambda d: d["a"] * d["b"][0] + d["b"][1])
    d = {"a": tf.constant(2.0), "b": [tf.constant(3.0), tf.constant(4.0)]}
    with tf.GradientTape() as tape:
        tape.watch(d)
        y = f(d)
    return tape.gradient(y, d)


@program
def training(tf):
    rng = np.random.default_rng(0)
    w1, b1 = tf.Variable(rng.normal(size=(3, 4)) * 0.5), tf.Variable(np.zeros(4))
    w2 = tf.Variable(rng.normal(size=(4, 1)) * 0.5)
    x, y = tf.constant(rng.normal(size=(8, 3))), tf.constant(rng.normal(size=(8, 1)))

    @tf.function
    def loss(x, y):
        return tf.reduce_mean((tf.tanh(x @ w1 + b1) @ w2 - y) ** 2)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            value = loss(x, y)
        for v, g in zip([w1, b1, w2], tape.gradient(value, [w1, b1, w2]), strict=True):
            v.assign_sub(0.1 * g)
        return value

    return [step(x, y) for _ in range(5)] + [w1, b1, w2]


CASES = program
