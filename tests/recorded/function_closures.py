"""Captures of functions: outer tensors and variables, and tensors of an enclosing function."""

from recorded_programs import Programs

program = Programs()


def raised(f, *args):
    """Returns the class of the exception, and the start of its text after the name of the tensor."""
    try:
        return ["no error", f(*args)]
    except Exception as error:
        text = str(error)
        return [type(error).__name__, "is out of scope and cannot be used here" in text, "is accessed from" in text]


@program
def watched_in_the_first_call(tf):
    x = tf.constant(3.0)
    f = tf.function(lambda: x * x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f()
    return y, tape.gradient(y, x)


@program
def watched_in_a_later_call(tf):
    x = tf.constant(3.0)
    f = tf.function(lambda y: tf.sin(x) * y)
    out = [f(tf.constant(2.0))]
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(tf.constant(2.0))
        out += [y, tape.gradient(y, x)]
    return [*out, f(tf.constant(1.0))]


@program
def watched_attributes_and_lists(tf):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.constant(3.0)
            self.parts = [tf.constant(4.0), tf.constant(5.0)]

        @tf.function
        def __call__(self, x):
            return self.scale * self.scale * self.parts[0] * x + self.parts[1]

    model = Model()
    out = [model(tf.constant(1.0))]
    with tf.GradientTape() as tape:
        tape.watch([model.scale, *model.parts])
        y = model(tf.constant(2.0))
    return [*out, y, tape.gradient(y, [model.scale, *model.parts])]


@program
def second_derivative_through_two_functions(tf):
    x = tf.constant(1.0)
    inner = tf.function(lambda: tf.sin(x) * 2.0)
    outer = tf.function(lambda y: inner() * y)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.GradientTape() as first:
            first.watch(x)
            y = outer(tf.constant(2.0))
        slope = first.gradient(y, x)
    return y, slope, tape.gradient(slope, x)


@program
def tape_inside_and_outside(tf):
    x = tf.constant([2.0, 3.0])

    @tf.function
    def slope():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * x * x)
        return tape.gradient(y, x)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = slope()
    return y, tape.gradient(y, x)


@program
def watched_in_a_loop_and_a_choice(tf):
    x = tf.constant(2.0)

    @tf.function
    def f(p):
        _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x * x), [0, 1.0])
        return tf.cond(p > 0, lambda: x * x * y, lambda: x)

    out = []
    for p in (1.0, -1.0):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(tf.constant(p))
        out += [y, tape.gradient(y, x)]
    return out


@program
def constant_watched_in_a_loop(tf):
    @tf.function
    def f(p):
        x = tf.constant(2.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x * x), [0, 1.0])
            z = tf.cond(p > 0, lambda: x * x * x, lambda: x)
        return tape.gradient(y, x), tape.gradient(z, x)

    return f(tf.constant(1.0)), f(tf.constant(-1.0))


@program
def forward_mode(tf):
    x = tf.constant(1.0)
    f = tf.function(lambda: tf.sin(x) * 2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y = f()
    return y, accumulator.jvp(y)


@program
def gradients_of_constants(tf):
    c = tf.constant(2.0)

    @tf.function
    def f(z):
        x = tf.constant(3.0)
        y = c * x * x * z
        return tf.gradients(y, [c, x, z])

    return f(tf.constant(2.0))


@program
def function_of_a_variable(tf):
    v = tf.Variable([0.5, -1.5])
    f = tf.function(lambda: tf.cos(v) + tf.nn.relu(v))
    out = [f()]
    v.assign([2.0, 1.0])
    with tf.GradientTape() as tape:
        y = f()
    return [*out, y, tape.gradient(y, v)]


@program
def higher_derivatives_by_a_variable(tf):
    v = tf.Variable(1.0)
    f = tf.function(lambda: tf.cos(v))
    with tf.GradientTape(persistent=True) as tape:
        out = [f()]
        for _ in range(3):
            out.append(tape.gradient(out[-1], v))
    return out


@program
def functions_use_tensors_of_the_function_around(tf):
    @tf.function
    def f(x):
        y = tf.function(lambda: tf.cos(x))()
        return y, tf.gradients(y, x)[0]

    @tf.function
    def g(x):
        @tf.function
        def scaled(y):
            return y * x

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = scaled(x) + scaled(tf.constant(2.0))
        return z, tape.gradient(z, x)

    return f(tf.constant(1.0)), g(tf.constant(3.0)), g(tf.constant(4.0))


@program
def kept_beyond_the_function(tf):
    kept = []

    @tf.function
    def f(x):
        kept.append(x + 1.0)
        return x

    x = f(tf.constant(1.0))
    return [
        raised(lambda: kept[0] + 1.0),
        raised(tf.function(lambda y: y + kept[0]), x),
        raised(tf.function(lambda y: y), kept[0]),
    ]


@program
def kept_beyond_a_loop_or_a_branch(tf):
    @tf.function
    def loop(n):
        kept = []

        def body(i):
            kept.append(i * 2)
            return i + 1

        tf.while_loop(lambda i: i < n, body, [tf.constant(0)])
        return kept[0] + 1

    @tf.function
    def statement(n):
        kept = []
        for i in tf.range(n):
            kept.append(i * 2)
        return kept[0]

    @tf.function
    def branch(n):
        kept = []

        def first():
            kept.append(n * 2)
            return n

        tf.cond(n > 2, first, lambda: n + 1)
        return kept[0] + 1

    @tf.function
    def other_branch(n):
        kept = []

        def first():
            kept.append(n * 2)
            return n

        return tf.cond(n > 2, first, lambda: kept[0] + 1)

    return [raised(f, tf.constant(3)) for f in (loop, statement, branch, other_branch)]


@program
def order_of_branches(tf):
    seen = []

    def note(name, x):
        seen.append(name)
        return x

    @tf.function
    def f(x):
        tf.cond(x > 0, lambda: note("true", x), lambda: note("false", x))
        tf.switch_case(tf.cast(x, tf.int32), [lambda: note("zero", x), lambda: note("one", x)])
        tf.case([(x < 1.0, lambda: note("a", x)), (x < 2.0, lambda: note("b", x))], default=lambda: note("c", x))
        return x

    f(tf.constant(-1.0))
    return seen


@program
def cases(tf):
    @tf.function
    def f(x):
        return tf.case([(x < 1.0, lambda: x), (x < 9.0, lambda: 2.0 * x)], default=lambda: -x)

    @tf.function
    def exclusive(x):
        return tf.case([(x < 1.0, lambda: x), (x < 9.0, lambda: 2.0 * x)], exclusive=True)

    return [
        *[f(tf.constant(x)) for x in (0.5, 3.0, 10.0)],
        *[raised(exclusive, tf.constant(x)) for x in (3.0, 10.0)],
    ]


CASES = program
