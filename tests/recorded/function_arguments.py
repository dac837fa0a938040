"""Arguments of a `tf.function` other than tensors: objects, dataclasses, specs, composites, variables."""

import dataclasses

from recorded_programs import Counted, Programs, error_of, says

program = Programs()


@program
def strange_arguments(tf):
    class Unhashable:
        __hash__ = None

        def __eq__(self, other):
            return True

    class Plain:
        pass

    f = Counted(tf, lambda x: 0)
    p, q = Plain(), Plain()
    counts = []
    for x in (p, p, q, tf.float32, tf.float32, tf.float64, len, len, int, range(3), range(3), range(4)):
        counts.append([error_of(f, x) if isinstance(error_of(f, x), str) else "fine", f.runs])
    return [*counts, error_of(f, Unhashable())]


@program
def sets_as_arguments(tf):
    return [error_of(tf.function(lambda x: 0), {1, 2}), error_of(tf.function(lambda x: 0), frozenset([1]))]


@program
def unsortable_keys(tf):
    return error_of(tf.function(lambda x: 0), {1: tf.constant(1.0), "a": tf.constant(2.0)})


@program
def equal_objects(tf):
    class Equal:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return isinstance(other, Equal) and self.n == other.n

        def __hash__(self):
            return hash(self.n)

    f = Counted(tf, lambda x: tf.constant(x.n))
    kept = [Equal(1), Equal(1), Equal(2)]
    return [[f(x), f.runs] for x in kept]


@program
def dataclasses_as_arguments(tf):
    @dataclasses.dataclass(frozen=True)
    class Options:
        n: int

    f = Counted(tf, lambda o, x: x * o.n)
    kept = [Options(2), Options(2), Options(3)]
    return [[f(o, tf.constant(5)), f.runs] for o in kept]


@program
def specs_as_arguments(tf):
    f = Counted(tf, lambda s: tf.zeros(s.shape, s.dtype))
    return says("", f, tf.TensorSpec([2], tf.float32))[0]


@program
def shapes_as_arguments(tf):
    f = Counted(tf, lambda s: tf.zeros(s))
    counts = []
    for s in (tf.TensorShape([2]), tf.TensorShape([2]), tf.TensorShape([3])):
        counts.append([f(s), f.runs])
    return counts


@program
def slices_as_arguments(tf):
    f = Counted(tf, lambda s: s.values * 2.0)

    def make(n):
        return tf.IndexedSlices(tf.constant([[n]]), tf.constant([1]), tf.constant([3, 1]))

    return [[f(make(n)), f.runs] for n in (1.0, 2.0, 3.0)]


@program
def sparse_tensors_as_arguments(tf):
    f = Counted(tf, lambda s: s.values * 2.0)

    def make(n):
        return tf.sparse.SparseTensor([[0], [2]], [n, 1.0], [4])

    return [[f(make(n)), f.runs] for n in (1.0, 2.0, 3.0)]


@program
def sparse_tensors_come_back(tf):
    f = tf.function(lambda s: tf.sparse.SparseTensor(s.indices, s.values * 2.0, s.dense_shape))
    f(tf.sparse.SparseTensor([[0], [2]], [5.0, 1.0], [4]))
    y = f(tf.sparse.SparseTensor([[0], [3]], [6.0, 1.0], [4]))
    return [type(y).__name__, y.indices, y.values, y.dense_shape]


@program
def variables_as_arguments(tf):
    f = tf.function(lambda v: v * 2.0)
    a, b, c = tf.Variable(1.0), tf.Variable(2.0), tf.Variable([1.0])
    return [[f(v), f.experimental_get_tracing_count()] for v in (a, b, a, c)]


@program
def variables_as_arguments_are_variables(tf):
    f = Counted(tf, lambda v, n: v.assign_add(n))
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    return [f(a, tf.constant(1.0)), f(b, tf.constant(10.0)), f(a, tf.constant(1.0)), a, b]


@program
def gradients_of_variables_as_arguments(tf):
    f = tf.function(lambda v: v * v)
    out = []
    for v in (tf.Variable(3.0), tf.Variable(4.0)):
        with tf.GradientTape() as tape:
            y = f(v)
        out.append(tape.gradient(y, v))
    return out


@program
def same_variable_twice(tf):
    f = tf.function(lambda v, w: v.assign_add(w))
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    return [f(a, b).numpy(), f(a, a).numpy(), a, b]


CASES = program
