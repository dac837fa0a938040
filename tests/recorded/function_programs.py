"""Whole programs with `tf.function`: solvers, simulations, searches and mixtures of eager code and functions."""

from recorded_programs import SeededPrograms, normal

program = SeededPrograms()


@program
def newton_with_hessians(tf):
    @tf.function
    def newton(x):
        for _ in tf.range(6):
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = (1.0 - x[0]) ** 2 + 10.0 * (x[1] - x[0] ** 2) ** 2
                g = inner.gradient(y, x)
            hessian = outer.jacobian(g, x)
            x = x - tf.linalg.solve(hessian, g[:, None])[:, 0]
        return x, y

    return newton(tf.constant([-1.2, 1.0], tf.float64)), newton(tf.constant([0.5, 0.5], tf.float64))


@program
def conjugate_gradients_with_hessian_vector_products(tf):
    a = tf.constant(normal(6, 4))

    def loss(w):
        return tf.reduce_sum(tf.math.softplus(tf.linalg.matvec(a, w))) + 0.5 * tf.reduce_sum(w * w)

    @tf.function
    def product(w, v):
        with tf.autodiff.ForwardAccumulator(w, v) as accumulator, tf.GradientTape() as tape:
            tape.watch(w)
            y = loss(w)
            g = tape.gradient(y, w)
        return accumulator.jvp(g)

    @tf.function
    def solve(w, b):
        def body(i, x, r, p):
            q = product(w, p)
            rate = tf.reduce_sum(r * r) / tf.reduce_sum(p * q)
            new = r - rate * q
            return i + 1, x + rate * p, new, new + p * tf.reduce_sum(new * new) / tf.reduce_sum(r * r)

        start = (0, tf.zeros_like(b), b, b)
        return tf.while_loop(lambda i, x, r, p: tf.norm(r) > 1e-4, body, start, maximum_iterations=9)

    w, b = tf.constant(normal(4, seed=1)), tf.constant(normal(4, seed=2))
    _, x, _, _ = solve(w, b)
    return x, product(w, x)


@program
def custom_gradient_in_a_function(tf):
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(upstream):
            return upstream * (1.0 - 1.0 / (1.0 + e))

        return tf.math.log(1.0 + e), grad

    @tf.custom_gradient
    def reversed_gradient(x, strength):
        return tf.identity(x), lambda g: (-strength * g, None)

    v = tf.Variable([0.5, 100.0, -3.0])

    @tf.function
    def f(strength):
        with tf.GradientTape(persistent=True) as tape:
            y = tf.reduce_sum(log1pexp(v))
            z = tf.reduce_sum(reversed_gradient(v * v, strength))
        return tape.gradient(y, v), tape.gradient(z, v)

    return f(tf.constant(0.5)), f(tf.constant(2.0))


@program
def jacobians_in_functions(tf):
    w = tf.Variable(normal(3, 2))

    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.tanh(x @ w)
        return tape.batch_jacobian(y, x), tape.jacobian(y, w)

    return f(tf.constant(normal(4, 3, seed=1)))


@program
def beam_search(tf):
    transitions = tf.constant(normal(5, 5))
    width, steps = 3, 6

    @tf.function
    def search(start):
        scores = tf.concat([[0.0], tf.fill([width - 1], -1e9)], 0)
        paths = tf.fill([width, 1], start)

        def body(i, scores, paths):
            log = tf.nn.log_softmax(tf.gather(transitions, paths[:, -1]))
            best, at = tf.math.top_k(tf.reshape(scores[:, None] + log, [-1]), width)
            parents, tokens = at // 5, at % 5
            return i + 1, best, tf.concat([tf.gather(paths, parents), tokens[:, None]], 1)

        shapes = (tf.TensorShape([]), tf.TensorShape([width]), tf.TensorShape([width, None]))
        start_vars = (tf.constant(0), scores, paths)
        return tf.while_loop(lambda i, *_: i < steps, body, start_vars, shape_invariants=shapes)[1:]

    return search(tf.constant(0)), search(tf.constant(3))


@program
def runge_kutta(tf):
    k = tf.Variable(2.0)

    def field(t, y):
        return tf.stack([y[1], -k * y[0] - 0.1 * y[1] + tf.sin(t)])

    @tf.function
    def integrate(y, end, steps):
        h = end / tf.cast(steps, tf.float32)
        t = tf.constant(0.0)
        for _ in tf.range(steps):
            k1 = field(t, y)
            k2 = field(t + h / 2, y + h / 2 * k1)
            k3 = field(t + h / 2, y + h / 2 * k2)
            k4 = field(t + h, y + h * k3)
            y = y + h / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            t += h
        return y

    out = []
    for steps in (10, 25):
        y0 = tf.constant([1.0, 0.0])
        with tf.GradientTape() as tape:
            tape.watch(y0)
            y = integrate(y0, tf.constant(2.0), tf.constant(steps))
            loss = tf.reduce_sum(y**2)
        out += [y, tape.gradient(loss, [y0, k])]
    return out


@program
def adaptive_step_size(tf):
    @tf.function
    def integrate(y):
        t, h, tries = tf.constant(0.0, tf.float64), tf.constant(0.5, tf.float64), 0
        while t < 1.0:
            h = tf.minimum(h, 1.0 - t)
            coarse = y + h * (-5.0 * y)
            half = y + h / 2 * (-5.0 * y)
            fine = half + h / 2 * (-5.0 * half)
            if tf.reduce_max(tf.abs(fine - coarse)) < 1e-2:
                t, y, h = t + h, fine, h * 1.5
            else:
                h = h / 2
            tries += 1
        return y, tries

    y0 = tf.constant([1.0, 0.5], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(y0)
        y, tries = integrate(y0)
    return y, tries, tape.gradient(y, y0)


@program
def physics_of_springs(tf):
    edges = tf.constant([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
    rest = tf.Variable([1.0, 1.0, 1.0, 1.0, 1.5])

    def forces(x):
        a, b = tf.gather(x, edges[:, 0]), tf.gather(x, edges[:, 1])
        length = tf.norm(b - a, axis=1, keepdims=True)
        pull = 10.0 * (length - rest[:, None]) * (b - a) / length
        return tf.math.unsorted_segment_sum(
            tf.concat([pull, -pull], 0), tf.concat([edges[:, 0], edges[:, 1]], 0), 4
        ) - tf.constant([0.0, 1.0])

    @tf.function
    def simulate(x, v):
        for _ in tf.range(20):
            v = 0.99 * (v + 0.05 * forces(x))
            x = x + 0.05 * v
            below = x[:, 1] < -1.0
            x = tf.where(below[:, None], tf.stack([x[:, 0], tf.fill([4], -1.0)], 1), x)
            v = tf.where(below[:, None], tf.stack([v[:, 0], -0.5 * v[:, 1]], 1), v)
        return x

    start = tf.constant([[0.0, 0.0], [1.0, 0.1], [1.0, 1.0], [0.0, 1.2]])
    with tf.GradientTape() as tape:
        x = simulate(start, tf.zeros([4, 2]))
        height = tf.reduce_mean(x[:, 1])
    return x, tape.gradient(height, rest)


@program
def viterbi_and_forward_algorithm(tf):
    transitions, emissions = tf.Variable(normal(3, 3)), tf.Variable(normal(3, 4, seed=1))

    @tf.function
    def best_path(observed):
        score = tf.gather(emissions, observed[0], axis=1)
        pointers = tf.TensorArray(tf.int32, size=tf.shape(observed)[0] - 1)
        for t in tf.range(1, tf.shape(observed)[0]):
            candidates = score[:, None] + transitions
            pointers = pointers.write(t - 1, tf.argmax(candidates, 0, output_type=tf.int32))
            score = tf.reduce_max(candidates, 0) + tf.gather(emissions, observed[t], axis=1)
        back = pointers.stack()
        state = tf.argmax(score, output_type=tf.int32)
        path = tf.TensorArray(tf.int32, size=tf.shape(observed)[0])
        for t in tf.range(tf.shape(back)[0] - 1, -1, -1):
            path = path.write(t + 1, state)
            state = back[t, state]
        return tf.reduce_max(score), path.write(0, state).stack()

    @tf.function
    def likelihood(observed):
        alpha = tf.gather(emissions, observed[0], axis=1)
        for o in observed[1:]:
            alpha = tf.reduce_logsumexp(alpha[:, None] + transitions, 0) + tf.gather(emissions, o, axis=1)
        return tf.reduce_logsumexp(alpha)

    observed = tf.constant([0, 3, 2, 1, 1])
    with tf.GradientTape() as tape:
        y = likelihood(observed)
    return best_path(observed), y, tape.gradient(y, [transitions, emissions])


@program
def power_iteration_and_sinkhorn(tf):
    @tf.function
    def leading(a, v):
        last, value = tf.constant(0.0), tf.constant(1.0)
        while tf.abs(value - last) > 1e-4:
            last = value
            w = tf.linalg.matvec(a, v)
            value = tf.norm(w)
            v = w / value
        return value, v

    @tf.function
    def sinkhorn(cost):
        k = tf.exp(-cost / 0.5)
        u = tf.ones([tf.shape(cost)[0]])
        for _ in tf.range(15):
            u = 1.0 / tf.linalg.matvec(k, 1.0 / tf.linalg.matvec(k, u, transpose_a=True))
        v = 1.0 / tf.linalg.matvec(k, u, transpose_a=True)
        return tf.reduce_sum(u[:, None] * k * v[None] * cost)

    b = normal(4, 4)
    cost = tf.constant(normal(3, 3, seed=1) ** 2)
    with tf.GradientTape() as tape:
        tape.watch(cost)
        distance = sinkhorn(cost)
    return leading(tf.constant(b @ b.T), tf.ones([4])), distance, tape.gradient(distance, cost)


@program
def eager_and_functions_mixed(tf):
    v = tf.Variable(3.0)
    square = tf.function(lambda x: x * x)

    @tf.function
    def outer(x):
        y = square(x) + square(v)
        if y > 20.0:
            return square(y)
        return y

    def eager(x):
        return outer(tf.sin(x)) * 2.0 + square(outer(x))

    x = tf.constant(2.5)
    with tf.GradientTape(persistent=True) as second:
        second.watch(x)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = eager(x)
        slopes = tape.gradient(y, [x, v])
    return y, slopes, second.gradient(slopes[0], x), second.gradient(slopes[1], v)


@program
def fixed_points_by_implicit_differentiation(tf):
    w = tf.constant(normal(3, 3, scale=0.2))

    def solve(f, z):
        return tf.while_loop(
            lambda z, old: tf.norm(z - old) > 1e-6, lambda z, old: (f(z), z), (f(z), z), maximum_iterations=100
        )[0]

    @tf.custom_gradient
    def fixed_point(x):
        z = solve(lambda z: tf.tanh(tf.linalg.matvec(w, z) + x), tf.zeros_like(x))

        def grad(g):
            slope = 1.0 - tf.tanh(tf.linalg.matvec(w, z) + x) ** 2
            a = solve(lambda a: g + tf.linalg.matvec(w, slope * a, transpose_a=True), g)
            return slope * a

        return z, grad

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(fixed_point(x) ** 2)
        return y, tape.gradient(y, x)

    return f(tf.constant([0.5, -1.0, 0.3])), f(tf.constant([1.5, 0.1, 0.2]))


@program
def branches_that_fail_for_other_values(tf):
    x = tf.constant([1.0, 2.0, 3.0])

    @tf.function
    def f(x, i):
        return tf.cond(i >= 0, lambda: tf.gather(x, i) * 2.0, lambda: tf.reduce_sum(x) * tf.gather(x, -i))

    @tf.function
    def g(x, n):
        total = tf.constant(0.0)
        for i in tf.range(n):
            total += tf.cond(i < 1, lambda i=i: x[i], lambda i=i: tf.gather(x, i - 1) * x[i])
        return total

    out = []
    for h, i in ((f, 1), (f, -2), (f, 2), (f, -1), (g, 1), (g, 3), (g, 2)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = h(x, tf.constant(i))
        out += [y, tf.convert_to_tensor(tape.gradient(y, x))]
    return [*out, tf.function(lambda x: tf.gradients(g(x, tf.constant(3)), x))(x)]


CASES = program
