"""Side effects of a `tf.function`: variables and random draws."""

from recorded_programs import Programs, error_of

program = Programs()


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


CASES = program
