"""Calls of a `tf.function`: when it is traced, its results, properties of concrete functions."""

import collections
import functools

import numpy as np
from recorded_programs import Counted, Programs, error_of, says

program = Programs()
Point = collections.namedtuple("Point", "x y")


def counting(tf, **options):
    """A decorator: `tf.function` with a `runs` attribute."""

    def decorate(f):
        def counted(*args, **kwargs):
            g.runs += 1
            return f(*args, **kwargs)

        counted = functools.wraps(f)(counted)
        g = tf.function(counted, autograph=False, **options)
        g.runs = 0
        return g

    return decorate


@program
def plain(tf):
    f = tf.function(lambda x, y: x * y + 1.0)
    return [f(tf.constant(2.0), tf.constant(3.0)), f(tf.constant([1.0, 2.0]), tf.constant(3.0))]


@program
def without_arguments(tf):
    f = tf.function(lambda: tf.constant(3.0))
    return [f(), f()]


@program
def returns_none(tf):
    f = tf.function(lambda x: None)
    return [f(tf.constant(1.0)), f(tf.constant(1.0))]


@program
def returns_structures(tf):
    @tf.function
    def f(x):
        return {"a": x, "b": [x + 1, (x * 2, None)], "c": Point(x, 3)}

    out = [f(tf.constant(2.0)), f(tf.constant(4.0))]
    return [
        [sorted(o), o["a"], o["b"], type(o["b"]).__name__, type(o["b"][1]).__name__, o["c"].x, o["c"].y] for o in out
    ]


@program
def returns_python_values(tf):
    f = tf.function(lambda x: (1, 2.5, True, "text", np.float64(3.0), x))
    return [list(f(tf.constant(2.0))), list(f(tf.constant(3.0)))]


@program
def returns_its_argument(tf):
    f = tf.function(lambda x: x)
    x = tf.constant(2.0)
    return [f(x), f(x) is x, f(x) is x]


@program
def returns_a_variable(tf):
    v = tf.Variable(2.0)
    f = tf.function(lambda: v)
    y = f()
    return [y, isinstance(y, tf.Variable), isinstance(f(), tf.Variable)]


@program
def returns_what_it_may_not(tf):
    return [error_of(tf.function(lambda: object())), error_of(tf.function(lambda: {1, 2}))]


@program
def returns_a_function(tf):
    return error_of(tf.function(lambda: len))


@program
def returns_slices(tf):
    @tf.function
    def f(x):
        return tf.IndexedSlices(x, tf.constant([0, 2]), tf.constant([4, 2]))

    y = f(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    y = f(tf.constant([[1.0, 2.0], [3.0, 5.0]]))
    return [type(y).__name__, y.values, y.indices]


@program
def polymorphism(tf):
    f = Counted(tf)
    counts = []
    for x in (1.0, 2.0, tf.constant(1.0), tf.constant(2.0), np.float32(1), [1], [2]):
        f(x)
        counts.append(f.runs)
    return [*counts, f.f.experimental_get_tracing_count()]


@program
def dtypes_and_shapes_retrace(tf):
    f = Counted(tf)
    counts = []
    for x in (
        tf.constant([1.0]),
        tf.constant([2.0]),
        tf.constant([1.0, 2.0]),
        tf.constant([[1.0]]),
        tf.constant([1], tf.int32),
        tf.constant([1], tf.int64),
        tf.constant(["a"]),
        tf.constant(["b"]),
    ):
        f(x)
        counts.append(f.runs)
    return counts


@program
def arrays_count_as_tensors(tf):
    f = Counted(tf)
    counts = []
    for x in (
        np.ones(2, np.float32),
        tf.ones(2),
        np.zeros(2, np.float32),
        np.ones(2),
        np.float64(1),
        np.ones((), np.float64),
    ):
        f(x)
        counts.append(f.runs)
    return counts


@program
def arrays_arrive_as_tensors(tf):
    seen = []
    f = tf.function(lambda x, y: seen.append((isinstance(x, tf.Tensor), type(y).__name__)), autograph=False)
    f(np.ones(2), 3.0)
    f([np.ones(2)], (1, 2))
    return [*seen[:1], [len(seen)]]


@program
def lists_are_not_arrays(tf):
    f = Counted(tf, lambda x: tf.reduce_sum(x))
    return [f([1.0, 2.0]), f([1.0, 3.0]), f([1.0, 2.0]), f.runs]


@program
def structures_and_keys(tf):
    f = Counted(tf, lambda x: 0)
    c = tf.constant
    counts = []
    for x in (
        [c(1.0)],
        (c(1.0),),
        [c(2.0)],
        {"a": c(1.0)},
        {"b": c(1.0)},
        {"a": c(3.0)},
        [[c(1.0)]],
        Point(c(1.0), 2),
        Point(c(1.0), 3),
        Point(c(5.0), 3),
        (c(1.0), 3),
        {"a": c(1.0), "b": c(2.0)},
        {"b": c(1.0), "a": c(2.0)},
        [],
        (),
        {},
    ):
        f(x)
        counts.append(f.runs)
    return counts


@program
def keyword_is_position(tf):
    @counting(tf)
    def f(x, y=2.0, *, z=3.0):
        return x * y * z

    c = tf.constant
    counts = []
    for args, kwargs in (
        ((c(1.0),), {}),
        ((), {"x": c(1.0)}),
        ((c(1.0), 2.0), {}),
        ((c(1.0),), {"y": 2.0}),
        ((c(1.0),), {"z": 3.0}),
        ((c(1.0),), {"y": 2.0, "z": 3.0}),
        ((c(1.0),), {"z": 3.0, "y": 2.0}),
        ((c(1.0),), {"y": c(2.0)}),
        ((), {"y": c(2.0), "x": c(4.0)}),
        ((c(1.0),), {"z": 4.0}),
    ):
        value = f(*args, **kwargs)
        counts.append([f.runs, value])
    return counts


@program
def variable_keywords(tf):
    @counting(tf)
    def f(*args, **kwargs):
        return [sorted(kwargs), len(args)]

    c = tf.constant
    counts = []
    for args, kwargs in (
        ((), {"a": c(1.0), "b": 2}),
        ((), {"b": 2, "a": c(5.0)}),
        ((c(1.0),), {}),
        ((c(1.0), c(1.0)), {}),
        ((c(1.0),), {"a": c(1.0)}),
        ((c(2.0),), {"a": c(1.0)}),
    ):
        f(*args, **kwargs)
        counts.append(f.runs)
    return counts


@program
def bad_calls(tf):
    f = tf.function(lambda x, y=1.0: x * y)
    c = tf.constant
    return [
        error_of(f),
        error_of(f, c(1.0), c(1.0), c(1.0)),
        error_of(f, c(1.0), x=c(2.0)),
        error_of(f, c(1.0), z=c(2.0)),
    ]


@program
def bad_call_texts(tf):
    def add(x, y):
        return x + y

    f = tf.function(add)
    return [
        says("missing a required argument: 'y'", f, tf.constant(1.0)),
        says("Binding inputs to tf.function failed due to", f, tf.constant(1.0)),
        says("too many positional arguments", f, 1.0, 2.0, 3.0),
        says("got an unexpected keyword argument 'z'", f, 1.0, 2.0, z=3.0),
        says("for signature: (x, y)", f, 1.0, 2.0, z=3.0),
        says("multiple values for argument 'x'", f, 1.0, 2.0, x=3.0),
    ]


@program
def reduce_retracing(tf):
    f = Counted(tf, lambda x: tf.reduce_sum(x), reduce_retracing=True)
    values = [f(tf.range(n)) for n in (1, 2, 3, 4, 5)]
    return [values, f.f.experimental_get_tracing_count()]


@program
def reduce_retracing_of_two_axes(tf):
    f = Counted(tf, lambda x, y: tf.reduce_sum(x) + y, reduce_retracing=True)
    counts = []
    for a, b in ((2, 3), (2, 4), (3, 4), (5, 4), (3, 6)):
        f(tf.ones((a, b)), tf.constant(1.0))
        counts.append(f.f.experimental_get_tracing_count())
    return counts


@program
def a_method(tf):
    class Model:
        runs = 0

        def __init__(self, w):
            self.w = w

        @tf.function
        def scaled(self, x, by=2.0):
            Model.runs += 1
            return self.w * x * by

    a, b = Model(2.0), Model(3.0)
    c = tf.constant
    return [
        a.scaled(c(1.0)),
        b.scaled(c(1.0)),
        a.scaled(c(5.0)),
        b.scaled(c(5.0), by=3.0),
        Model.runs,
        Model.scaled(a, c(7.0)),
    ]


@program
def inherited_methods(tf):
    class Base:
        @tf.function
        def f(self, x):
            return self.g(x) * 2.0

        def g(self, x):
            return x

    class Child(Base):
        def g(self, x):
            return x + 10.0

        @tf.function
        def h(self, x):
            return super().f(x) + self.f(x)

    c = tf.constant
    base, child = Base(), Child()
    return [base.f(c(1.0)), child.f(c(1.0)), child.h(c(1.0))]


@program
def static_and_class_methods(tf):
    class A:
        factor = 3.0

        @staticmethod
        @tf.function
        def s(x):
            return x * 2.0

        @classmethod
        @tf.function
        def c(cls, x):
            return x * cls.factor

    return [A.s(tf.constant(1.0)), A().s(tf.constant(2.0)), A.c(tf.constant(2.0)), A().c(tf.constant(3.0))]


@program
def a_method_wrapped_outside(tf):
    class A:
        def __init__(self):
            self.f = tf.function(self.g)

        def g(self, x):
            return x + 1.0

    a = A()
    return [a.f(tf.constant(1.0)), a.f(tf.constant(2.0))]


@program
def slots(tf):
    class A:
        __slots__ = ("__weakref__", "n")

        def __init__(self, n):
            self.n = n

        @tf.function
        def f(self, x):
            return x * self.n

    a, b = A(2.0), A(3.0)
    return [a.f(tf.constant(2.0)), b.f(tf.constant(2.0)), a.f(tf.constant(3.0))]


@program
def callable_objects(tf):
    class A:
        def __call__(self, x):
            return x * 3.0

    f = tf.function(A())
    return [f(tf.constant(2.0)), f(tf.constant(3.0))]


@program
def decorated_call(tf):
    class A:
        @tf.function
        def __call__(self, x):
            return x * 3.0

    return [A()(tf.constant(2.0)), A()(tf.constant(3.0))]


@program
def partials(tf):
    def g(x, y, z=1.0):
        return x * y + z

    f = tf.function(functools.partial(g, tf.constant(2.0), z=5.0))
    return [f(tf.constant(3.0)), f(y=tf.constant(4.0))]


@program
def decorated_twice(tf):
    f = tf.function(tf.function(lambda x: x * 2.0))
    return [f(tf.constant(2.0)), f(tf.constant(3.0))]


@program
def closures(tf):
    def make(n):
        @tf.function
        def f(x):
            return x * n

        return f

    return [make(2.0)(tf.constant(1.0)), make(3.0)(tf.constant(1.0))]


@program
def closed_over_tensors_are_fixed(tf):
    box = [tf.constant(1.0)]
    f = tf.function(lambda x: x + box[0])
    first = f(tf.constant(1.0))
    box[0] = tf.constant(5.0)
    return [first, f(tf.constant(1.0))]


@program
def names_and_docs(tf):
    @tf.function
    def scale(x, y=2.0):
        """Scales."""
        return x * y

    return [scale.__name__, scale.__doc__, scale.python_function(tf.constant(2.0)), scale.__wrapped__(3.0)]


@program
def as_decorator_with_options(tf):
    @tf.function(reduce_retracing=True, autograph=False)
    def f(x):
        return x * 2.0

    return f(tf.constant(2.0))


@program
def options_refused(tf):
    return [error_of(tf.function, 3), error_of(tf.function, lambda x: x, "text")]


@program
def no_such_attribute(tf):
    f = tf.function(lambda x: x)
    return [
        error_of(lambda: f.something),
        callable(f),
        hasattr(f, "python_function"),
        hasattr(f, "function_spec"),
        hasattr(f, "input_signature"),
    ]


@program
def running_eagerly(tf):
    f = Counted(tf, lambda x: x * 2.0)
    tf.config.run_functions_eagerly(True)
    try:
        inside = tf.config.functions_run_eagerly()
        values = [f(tf.constant(1.0)), f(tf.constant(2.0)), f.runs, inside, f.f.experimental_get_tracing_count()]
    finally:
        tf.config.run_functions_eagerly(False)
    return [*values, f(tf.constant(3.0)), f(tf.constant(4.0)), f.runs, tf.config.functions_run_eagerly()]


@program
def inside_and_outside(tf):
    seen = []

    @tf.function
    def f(x):
        seen.append(
            [
                tf.executing_eagerly(),
                tf.inside_function(),
                tf.is_symbolic_tensor(x),
                tf.is_tensor(x),
                tf.get_static_value(x),
                tf.get_static_value(tf.constant(3.0)),
            ]
        )
        with tf.init_scope():
            seen.append([tf.executing_eagerly()])
        return tf.shape(x)

    f(tf.ones((2, 3)))
    return [*seen[:2], tf.executing_eagerly(), tf.inside_function()]


@program
def static_shapes(tf):
    seen = []

    @tf.function
    def f(x):
        seen.append([x.shape.as_list(), x.shape.rank, x.dtype.name, len(x)])
        return tf.shape(x), tf.size(x), tf.rank(x)

    return [f(tf.ones((2, 3))), seen]


@program
def jit_compile(tf):
    return error_of(tf.function(lambda x: x * 2.0, jit_compile=False), tf.constant(2.0))


@program
def threads(tf):
    import threading

    f = tf.function(lambda x: x * 2.0)
    out = []
    ts = [threading.Thread(target=lambda i=i: out.append(f(tf.constant(float(i))).numpy())) for i in range(4)]
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    return sorted(float(x) for x in out) == [0.0, 2.0, 4.0, 6.0]


CASES = program
