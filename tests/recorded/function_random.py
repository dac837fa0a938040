"""Random numbers in functions: every op has its own stream, from the global seed and its number in the graph."""

PROGRAMS = []


def program(f):
    """`f(tf)` returns a value to compare; the global seed is set before."""

    def seeded(tf):
        tf.random.set_seed(22)
        return f(tf)

    PROGRAMS.append((f.__name__, seeded))
    return f


@program
def two_functions(tf):
    f, g = (tf.function(lambda: tf.random.uniform([])) for _ in range(2))
    out = [f(), g(), f(), g(), tf.random.uniform([]), f()]
    tf.random.set_seed(5)
    out += [f(), f(), tf.random.uniform([])]
    tf.random.set_seed(22)
    return [*out, f()]


@program
def one_for_each_signature(tf):
    f = tf.function(lambda x: tf.random.uniform([]) + 0 * x)
    return [f(tf.constant(1.0)), f(tf.constant(1.0)), f(tf.constant([1.0])), f(tf.constant(1.0))]


@program
def in_branches(tf):
    @tf.function
    def f(x):
        return tf.cond(x > 0, lambda: tf.random.uniform([]), lambda: tf.random.normal([])), tf.random.uniform([])

    return [f(tf.constant(x)) for x in (1.0, 1.0, -1.0, 1.0)]


@program
def in_a_loop(tf):
    @tf.function
    def f():
        x = tf.constant(1.0)
        for _ in tf.range(3):
            x = x * tf.random.uniform([])
        return x, tf.random.uniform([])

    return [f(), f()]


@program
def functions_in_a_function(tf):
    inner = tf.function(lambda: tf.random.uniform([]))
    outer = tf.function(lambda: (inner(), inner(), tf.random.uniform([])))
    return [outer(), outer(), inner()]


@program
def with_and_without_seeds(tf):
    @tf.function
    def f():
        return (
            tf.random.uniform([]), tf.random.uniform([]), tf.random.normal([]), tf.random.normal([], seed=1),
            tf.random.uniform([]),
        )  # fmt: skip

    return [f(), f()]


@program
def all_kinds(tf):
    @tf.function
    def f(x):
        return (
            tf.nn.dropout(x, 0.5), tf.random.shuffle(tf.range(5)), tf.random.categorical(tf.zeros([1, 5]), 3),
            tf.random.truncated_normal([2]), tf.random.gamma([2], 1.0), tf.random.poisson([2], 3.0),
            tf.random.uniform([2], maxval=10, dtype=tf.int32),
        )  # fmt: skip

    return [f(tf.ones([6])), f(tf.ones([6]))]


@program
def with_tapes_inside_and_outside(tf):
    x = tf.ones([3])

    @tf.function
    def inside(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * tf.random.uniform([3]))
        return y, tape.gradient(y, x)

    outside = tf.function(lambda x: x * tf.random.uniform([3]))
    out = [inside(x), inside(x)]
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = outside(x)
        out.append([y, tape.gradient(y, x)])
    return [*out, outside(x)]


@program
def initial_values(tf):
    made = []

    @tf.function
    def f():
        if not made:
            made.append(tf.Variable(tf.random.uniform([2])))
            made.append(tf.Variable(lambda: tf.random.uniform([2])))
        return made[0] + made[1]

    return [f(), f()]


@program
def methods(tf):
    class Model(tf.Module):
        @tf.function
        def __call__(self):
            return tf.random.uniform([])

    a, b = Model(), Model()
    return [a(), b(), a()]


CASES = PROGRAMS
