"""Signatures of a `tf.function`: given ones, and concrete functions for one."""

import numpy as np
from recorded_programs import Programs, error_of, says

program = Programs()


@program
def input_signature(tf):
    def g(x):
        return x * 2.0

    f = tf.function(g, input_signature=[tf.TensorSpec([None], tf.float32)])
    return [
        f(tf.constant([1.0])),
        f(tf.constant([1.0, 2.0])),
        f([1.0, 2.0, 3.0]),
        f(np.ones(2, np.float32)),
        f.experimental_get_tracing_count(),
    ]


@program
def input_signature_errors(tf):
    def g(x):
        return x * 2.0

    f = tf.function(g, input_signature=[tf.TensorSpec([None], tf.float32)])
    c = tf.constant
    return [
        says(
            "Can not cast TensorSpec(shape=(), dtype=tf.float32, name=None) to TensorSpec(shape=(None,)",
            f,
            c(1.0),
        ),
        says("Binding inputs to tf.function failed due to", f, c([1])),
        says("Can not cast", f, c([1])),
        error_of(f, np.ones(2)),
        error_of(f, [1, 2]),
        error_of(f, "text"),
        says("missing a required argument", f),
        says("too many positional arguments", f, c([1.0]), c([1.0])),
        says("unexpected keyword argument", f, c([1.0]), y=1),
    ]


@program
def input_signature_of_nests(tf):
    spec = tf.TensorSpec([None], tf.float32)

    def g(x, y):
        return x["a"] + x["b"][0] * y

    f = tf.function(g, input_signature=[{"a": spec, "b": [spec]}, tf.TensorSpec([], tf.float32)])
    c = tf.constant
    return [
        f({"a": c([1.0]), "b": [c([2.0])]}, c(3.0)),
        f({"a": [1.0], "b": [[2.0]]}, 3.0),
        f(y=c(1.0), x={"a": c([1.0]), "b": [c([2.0])]}),
        error_of(f, {"a": c([1.0])}, c(3.0)),
        error_of(f, [c([1.0])], c(3.0)),
        error_of(f, {"a": c([1.0]), "b": (c([2.0]),)}, c(3.0)),
    ]


@program
def input_signature_with_defaults(tf):
    def g(x, y=2.0):
        return x * y

    spec = tf.TensorSpec([], tf.float32)
    f = tf.function(g, input_signature=[spec])
    h = tf.function(g, input_signature=[spec, spec])
    c = tf.constant
    return [f(c(3.0)), error_of(f, c(3.0), c(5.0)), h(c(3.0), c(5.0)), h(c(3.0)), h(c(3.0), y=c(7.0)), error_of(h)]


@program
def input_signature_too_short(tf):
    def g(x, y):
        return x

    return [
        error_of(tf.function, g, input_signature=[tf.TensorSpec([], tf.float32)]),
        error_of(tf.function, g, input_signature=[tf.TensorSpec([], tf.float32)] * 3),
        error_of(tf.function, g, input_signature=tf.TensorSpec([], tf.float32)),
        error_of(tf.function, g, input_signature=[3, 4]),
    ]


@program
def input_signature_empty(tf):
    f = tf.function(lambda: tf.constant(1.0), input_signature=[])
    return [f(), error_of(f, 1.0)]


@program
def input_signature_of_a_method(tf):
    class A:
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(self, x):
            return x + 1.0

    a = A()
    return [a.f(tf.constant([1.0])), a.f(tf.constant([1.0, 2.0])), a.f(x=tf.constant([3.0]))]


@program
def input_signature_of_unknown_rank(tf):
    def g(x):
        return tf.reduce_sum(x)

    f = tf.function(g, input_signature=[tf.TensorSpec(None, tf.float32)])
    return [f(tf.constant(1.0)), f(tf.ones((2, 3))), f.experimental_get_tracing_count()]


@program
def concrete_functions(tf):
    def g(x, y):
        return {"sum": x + y, "list": [x * y]}

    c = tf.function(g).get_concrete_function(tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.float32))
    one, two = tf.constant([1.0, 2.0]), tf.constant(3.0)
    by_position, by_name = c(one, two), c(x=one, y=two)
    return [
        by_position["sum"],
        by_name["list"][0],
        len(c.inputs),
        len(c.outputs),
        [i.dtype.name for i in c.inputs],
        [i.shape for i in c.inputs],
        sorted(c.structured_outputs),
        c.output_dtypes["sum"].name,
        str(c.output_shapes["sum"]),
        len(c.structured_input_signature),
        len(c.structured_input_signature[0]),
        repr(c.structured_input_signature[0][0]),
        c.variables == (),
        len(c.captured_inputs),
    ]


@program
def concrete_function_errors(tf):
    def g(x, y=2):
        return x * y

    c = tf.function(g).get_concrete_function(tf.TensorSpec([2], tf.float32))
    x = tf.constant([1.0, 2.0])
    return [
        c(x),
        error_of(c),
        error_of(c, x, x),
        error_of(c, x, 2),
        error_of(c, x, 3),
        error_of(c, tf.constant([1.0])),
        error_of(c, tf.constant([1, 2])),
        error_of(c, z=x),
        c(x=x),
        error_of(c, x, x=x),
        error_of(c, "text"),
    ]


@program
def concrete_function_of_values(tf):
    def g(x, y):
        return x * y

    f = tf.function(g)
    c = f.get_concrete_function(tf.constant([1.0, 2.0]), 3.0)
    return [
        c(tf.constant([5.0, 6.0])),
        f.experimental_get_tracing_count(),
        f(tf.constant([5.0, 6.0]), 3.0),
        f.experimental_get_tracing_count(),
        f.get_concrete_function(tf.constant([1.0, 2.0]), 3.0) is c,
        [len(c.inputs)],
    ]


@program
def concrete_function_with_a_signature(tf):
    def g(x):
        return x + 1.0

    f = tf.function(g, input_signature=[tf.TensorSpec([None], tf.float32)])
    c = f.get_concrete_function()
    return [c(tf.constant([1.0])), c(tf.constant([1.0, 2.0])), f.get_concrete_function() is c, [c.inputs[0].shape.rank]]


@program
def concrete_function_with_variables(tf):
    v = tf.Variable(2.0)
    w = tf.Variable(3.0, trainable=False)
    f = tf.function(lambda x: v * x + w)
    c = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    first = c(tf.constant(2.0))
    v.assign(10.0)
    return [
        first,
        c(tf.constant(2.0)),
        len(c.variables),
        len(c.trainable_variables),
        c.variables[0] is v or c.variables[1] is v,
        len(c.captured_inputs),
    ]


@program
def concrete_functions_make_no_effects(tf):
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        v.assign_add(x)
        return v * 1.0

    c = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    before = v.numpy()
    return [before, c(tf.constant(1.0)), v, f(tf.constant(1.0)), v]


@program
def concrete_functions_make_variables(tf):
    class A:
        w = None

        @tf.function
        def f(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.ones_like(x) * 2.0)
            return self.w * x

    a = A()
    c = a.f.get_concrete_function(tf.TensorSpec([2], tf.float32))
    return [c(tf.constant([1.0, 3.0])), a.w, a.f(tf.constant([4.0, 5.0]))]


@program
def concrete_functions_are_differentiable(tf):
    f = tf.function(lambda x: x * x * x)
    c = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = c(x)
    return tape.gradient(y, x)


@program
def keyword_only_specs(tf):
    @tf.function
    def f(x, *, y=1.0, z=None):
        return x * y

    c = f.get_concrete_function(tf.TensorSpec([], tf.float32), y=tf.TensorSpec([], tf.float32))
    return [c(tf.constant(2.0), y=tf.constant(3.0)), sorted(c.structured_input_signature[1])]


@program
def names_in_concrete_functions(tf):
    def scale(x, y):
        return x * y

    c = tf.function(scale).get_concrete_function(
        tf.TensorSpec([], tf.float32, name="left"), tf.TensorSpec([], tf.float32)
    )
    return [
        b"scale" in c.name,
        c(tf.constant(2.0), tf.constant(3.0)),
        error_of(c, left=tf.constant(2.0), y=tf.constant(3.0)),
        error_of(c, x=tf.constant(2.0), y=tf.constant(3.0)),
    ]


CASES = program
