"""`tf.gradients` and `tf.hessians` inside functions."""

from recorded_programs import Programs, error_of, says

program = Programs()


@program
def gradients(tf):
    @tf.function
    def f(x, y):
        h = x * x
        z = h * y + tf.sin(y)
        return tf.gradients(z, [x, y, h])

    return [f(tf.constant(2.0), tf.constant(3.0)), f(tf.constant(4.0), tf.constant(5.0))]


@program
def gradients_of_one(tf):
    f = tf.function(lambda x: tf.gradients(x * x * x, x))
    return [type(f(tf.constant(2.0))).__name__, f(tf.constant(3.0))]


@program
def gradients_of_several(tf):
    f = tf.function(lambda x: tf.gradients([x * x, x * 3.0], [x]))
    return [f(tf.constant(2.0)), f(tf.constant(3.0))]


@program
def gradients_weighted(tf):
    f = tf.function(lambda x, w: tf.gradients([x * x, x * 3.0], [x], grad_ys=[w, None]))
    return [f(tf.constant([2.0, 1.0]), tf.constant([1.0, 10.0])), f(tf.constant([5.0, 1.0]), tf.constant([1.0, 2.0]))]


@program
def gradients_stopped(tf):
    @tf.function
    def f(x):
        h = x * x
        return tf.gradients(h * x, [x, h], stop_gradients=[h]), tf.gradients(h * 1.0, [x], stop_gradients=[h])

    return [f(tf.constant(2.0)), f(tf.constant(3.0))]


@program
def gradients_unconnected(tf):
    f = tf.function(
        lambda x, y: (tf.gradients(x * 2.0, [x, y]), tf.gradients(x * 2.0, [y], unconnected_gradients="zero"))
    )
    return f(tf.constant(2.0), tf.constant(3.0))


@program
def gradients_of_variables(tf):
    v = tf.Variable(2.0)
    f = tf.function(lambda x: tf.gradients(v * v * x, [v, x]))
    return [f(tf.constant(2.0)), f(tf.constant(3.0))]


@program
def gradients_of_gradients(tf):
    @tf.function
    def f(x):
        (g,) = tf.gradients(x * x * x, x)
        return tf.gradients(g, x)

    return [f(tf.constant(2.0)), f(tf.constant(3.0))]


@program
def gradients_refuse(tf):
    def ask(**options):
        return error_of(tf.function(lambda x: tf.gradients(x * x, [x], **options)), tf.constant(2.0))

    return [
        ask(grad_ys=[1.0, 2.0]),
        ask(aggregation_method=77),
        ask(unconnected_gradients="nonsense"),
        error_of(tf.function(lambda z: tf.gradients(z * z, [z])), tf.constant(1 + 1j)),
        error_of(tf.function(lambda z: tf.gradients(z * z, [z])), tf.constant(1)),
        error_of(tf.gradients, tf.constant(1.0), tf.constant(1.0)),
        error_of(tf.hessians, tf.constant(1.0), tf.constant(1.0)),
    ]


@program
def gradients_refuse_texts(tf):
    return [
        says(
            "Length mismatch. Passed 2 grad_ys for 1 ys",
            tf.function(lambda x: tf.gradients(x * x, [x], grad_ys=[x, x])),
            tf.constant(2.0),
        ),
        says(
            "tf.gradients is not supported when eager execution is enabled",
            tf.gradients,
            tf.constant(1.0),
            tf.constant(1.0),
        ),
    ]


@program
def gradients_of_sparse(tf):
    v = tf.Variable([1.0, 2.0, 3.0])
    f = tf.function(lambda i: tf.gradients(tf.gather(v, i) ** 2.0, v))
    return [tf.convert_to_tensor(f(tf.constant([0, 2]))[0]), tf.convert_to_tensor(f(tf.constant([1, 1]))[0])]


@program
def gradients_under_a_tape(tf):
    f = tf.function(lambda x: tf.gradients(x * x * x, x)[0])
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return [y, tape.gradient(y, x)]


@program
def hessians(tf):
    f = tf.function(lambda x: tf.hessians(x[0] ** 2 * x[1], x))
    return [f(tf.constant([1.0, 2.0])), f(tf.constant([3.0, 4.0]))]


@program
def hessians_of_several(tf):
    f = tf.function(lambda x, y: tf.hessians(tf.reduce_sum(x * x * y), [x, y]))
    return f(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))


CASES = program
