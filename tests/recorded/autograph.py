"""Python conditionals, calls and structures in traced functions; `autograph_loops.py` has the loops."""

import functools

from autograph_programs import Programs

tf = None  # the library under test, which `run` sets
program = PROGRAMS = Programs()
KEPT = {}  # variables, by library


@program
def if_else(x):
    if x[0] > 2:
        y = x * 2
    else:
        y = -x
    return y


@program
def if_only(x):
    y = tf.zeros_like(x)
    if x[0] > 5:
        y = x
    return y


@program
def if_elif(x):
    if x[0] > 5:
        y = 1
    elif x[1] > 3:
        y = 2
    else:
        y = 3
    return y


@program
def if_of_one_element(x):
    if x[:1] > 0:
        return 1
    return 2


@program
def if_of_strings(x):
    if x[0] > 0:
        s = "a"
    else:
        s = "b"
    return s


@program
def if_with_structures(x):
    if x[0] > 3:
        y = {"a": (x, 1), "b": [x]}
    else:
        y = {"a": (x + 1, 2), "b": [x * 2]}
    return y


@program
def if_with_unused_objects(x):
    if x[0] > 0:
        s = object()
    else:
        s = 1  # noqa: F841
    return x


@program
def if_sets_attribute(x):
    o = functools.partial(print)
    o.v = 1
    if x[0] > 0:
        o.v = 2
    for _ in tf.range(3):
        o.v += 1
    return o.v


@program
def if_sets_item(x):
    d = {"a": 1}
    if x[0] > 0:
        d["a"] = 2
    return d["a"]


@program
def if_makes_item(x):
    d = {}
    if x[0] > 0:
        d["a"] = 2
    else:
        d["a"] = 3
    return d["a"]


@program
def if_in_try(x):
    try:
        if x[0] > 0:
            y = 1
        else:
            y = 2
    except ValueError:
        y = 3
    return y


@program
def if_in_with(x):
    with tf.name_scope("a"):
        if x[0] > 0:
            y = 1
        else:
            y = 2
    return y


@program
def if_assigns_variable(x):
    v = KEPT.setdefault(tf.__name__, None)
    if v is None:
        v = KEPT[tf.__name__] = tf.Variable(0)
    v.assign(5)
    if x[0] > 2:
        v.assign_add(x[0])
    else:
        v.assign_sub(x[0])
    return v.read_value()


@program
def early_returns(x):
    if x[0] > 10:
        return x * 2
    x = x + 1
    if x[1] > 3:
        return x * 3
    else:
        return x


@program
def nested_ifs(x):
    y = 0
    if x[0] > 1:
        if x[1] > 10:
            y = 1
        else:
            y = 2
    return y


@program
def conditional_expression(x):
    return 1 if x[0] > 0 else 2


@program
def logical(x):
    return (x[0] > 1 and x[1] > 5) or x[0] < 0, not x[0] > 2, x[0] > 1 or x[1] > 100


@program
def chained_comparison(x):
    return 0 < x[0] < 5


@program
def lazy_and(x):
    i = tf.constant(1)
    return i < 2 and x[i] > 3


@program
def equality(x):
    return x[0] == 3, x[0] != 3, x is None


@program
def builtins(x):
    return len(x), abs(-x), int(x[0] * 2), float(x[0]), range(x[0]), sorted(-x)


@program
def nested_function(x):
    def g(y):
        if y > 3:
            return y * 2
        return y

    return g(x[0]) + g(x[1])


def larger(y):
    return 1 if y[0] > 0 else 2


@program
def called_function(x):
    return larger(x) + larger(y=-x)


@program
def lambda_with_condition(x):
    f = lambda y: y if y > 3 else -y  # noqa: E731
    return f(x[0]), f(x[1])


@program
def partial_function(x):
    return functools.partial(larger)(x)


class Sign:
    scale = 2

    def __call__(self, y):
        if y > 0:
            return self.scale
        return -self.scale

    def of(self, y):
        return self(y) * 10

    @classmethod
    def made(cls, y):
        return 1 if y > 0 else cls.scale

    @staticmethod
    def fixed(y):
        return 1 if y > 0 else 0


class Twice(Sign):
    def __call__(self, y):
        first = super().__call__(y)
        return first * 2


@program
def methods(x):
    return Sign()(x[0]), Sign().of(-x[0]), Sign.made(-x[0]), Sign.fixed(x[0]), Twice()(-x[0])


@program
def arguments_of_all_kinds(x):
    def g(*a, k=2, **named):
        if a[0][0] > 1:
            return k
        return named["n"]

    return g(*[x], **{"k": 5, "n": 3})


@program
def nonlocal_variable(x):
    s = 0

    def inc():
        nonlocal s
        s = s + x[0]

    inc()
    inc()
    return s


@program
def given_to_map_fn(x):
    return tf.map_fn(above_three, x)


def above_three(y):
    return 1 if y > 3 else 2


@program
def given_to_cond(x):
    return tf.cond(x[0] > 1, lambda: larger(x), lambda: 5)


@program
def generator(x):
    def g():
        yield x
        yield x + 1

    s = 0
    for v in g():
        s += v
    return s


@program
def raised_and_caught(x):
    try:
        for _ in tf.range(3):
            x = x + 1
        raise KeyError("a")
    except KeyError:
        return x


@program
def numpy_array(x):
    import numpy as np

    y = np.zeros(2)
    if x[0] > 1:
        y = np.ones(2)
    return y


@program
def is_none(x):
    if x is None:
        return 1
    return 2


@program
def function_in_function(x):
    return inner(x) + 1


def inner(x):
    return tf.function(larger)(x)


CASES = PROGRAMS.cases()
