"""Python control flow on tensors: each program is a function of `x`, traced by `tf.function` and run for several `x`.

`tf` is the library under test. A program that TensorFlow rejects is recorded as the class of its error.
"""

import functools

PROGRAMS = {}
REFUSED = {}


def program(f):
    """`f` returns a value."""
    PROGRAMS[f.__name__] = f
    return f


def refused(because):
    """The function cannot be staged; records TensorFlow's error."""

    def note(f):
        REFUSED[f.__name__] = f, because
        return f

    return note


def run(tf_, f, make):
    """Returns the results of `f`, prepared by `make`, for successive values."""
    global tf
    tf = tf_
    made = make(f)
    return [made(tf.constant(x)) for x in ([3, 4], [1, 9], [6, 2])]


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


KEPT = {}


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
def while_loop(x):
    i = tf.constant(0)
    s = 0
    while i < x[1]:
        i += 1
        s += i * i
    return i, s


@program
def while_with_break_and_continue(x):
    i = tf.constant(0)
    s = 0
    while i < x[1] + 5:
        i += 1
        if i == 2:
            continue
        if i == 4:
            break
        s += i
    return i, s


@program
def while_never(x):
    i = x[0]
    while i < 0:
        i += 1
    return i


@program
def while_in_python(x):
    i = 0
    while i < 3:
        x = x + i
        i += 1
    return x


@program
def while_with_maximum(x):
    s = tf.constant(0)
    while s < 100:
        tf.autograph.experimental.set_loop_options(maximum_iterations=x[0], parallel_iterations=1, swap_memory=True)
        s += 1
    return s


@program
def while_of_floats(x):
    v = tf.constant(100.0)
    while v > 1.0:
        v = v / 2.0
    return v


@program
def collatz(x):
    n, count = tf.constant(27), 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        count += 1
    return count


@program
def for_rows(x):
    total = 0
    for a in x:
        total += a
    return total, a


@program
def for_rows_of_matrix(x):
    m = tf.reshape(tf.range(6), [3, 2])
    s = tf.zeros([2], tf.int32)
    for row in m:
        s = s * 2 + row
    return s


@program
def for_nested(x):
    for a in x:
        for b in x:
            x = x + a * b
    return x


@program
def for_range(x):
    s = 0
    for i in tf.range(x[0]):
        s += i
    return s, i


@program
def for_range_of_constants(x):
    s = 0
    for i in tf.range(2, 11, 3):
        s = s * 10 + i
    return s


@program
def for_range_backwards(x):
    s = 0
    for i in tf.range(x[0], 0, -1):
        s = s * 10 + i
    return s


@program
def for_range_of_floats(x):
    s = 0.0
    for i in tf.range(0.0, 1.0, 0.25):
        s = s * 10 + i
    return s


@program
def for_range_of_int64(x):
    s = tf.constant(0, tf.int64)
    for i in tf.range(5, dtype=tf.int64):
        s += i
    return s


@program
def for_python_range_of_tensor(x):
    s = 0
    for i in range(x[0], x[1] + 3):
        s = s * 10 + i
    return s


@program
def for_python_range_empty(x):
    s = 0
    for i in range(x[1], x[0]):
        s = s * 10 + i
    return s


@program
def for_python(x):
    s = 0
    for i, v in enumerate([1, 2]):
        s += i * v * x
    return s


@program
def for_python_with_tensor_if(x):
    for i in range(3):
        if x[0] > i:
            x = x + 1
    return x


@program
def for_with_break(x):
    s = 0
    for i in tf.range(10):
        if i > x[0]:
            break
        s += i
    return s


@program
def for_with_continue(x):
    s = 0
    for i in tf.range(10):
        if i % 2 == 0:
            continue
        s += i
    return s


@program
def for_with_maximum(x):
    s = 0
    for _ in tf.range(10):
        tf.autograph.experimental.set_loop_options(maximum_iterations=3)
        s += 1
    return s


@program
def for_with_shape_invariant(x):
    v = tf.zeros([1])
    for _ in tf.range(x[0]):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
        v = tf.concat([v, v], 0)
    return v


@program
def for_defines_variable(x):
    for i in tf.range(x[0]):
        v = i * 2
    return v


@program
def for_replaces_none(x):
    v = None
    for i in tf.range(x[0]):
        v = i
    return v


@program
def for_with_local(x):
    for i in tf.range(3):
        t = i * 2
        x = x + t
    return x


@program
def for_with_structures(x):
    d = {"a": x[0], "b": (x[1], 1)}
    for _ in tf.range(2):
        d = {"a": d["a"] + 1, "b": (d["b"][0], 2)}
    return d


@program
def for_returns_at_once(x):
    for i in tf.range(x[0]):
        return i


@program
def for_over_empty(x):
    s = tf.constant(1)
    for row in tf.zeros([0, 2], tf.int32):
        s += row[0]
    return s


@program
def tensor_array(x):
    a = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in tf.range(x[0]):
        a = a.write(i, i * i)
    return a.stack()


@program
def tensor_array_of_known_size(x):
    a = tf.TensorArray(tf.int32, size=4)
    for i in tf.range(4):
        a = a.write(i, x[0] * i)
    return a.stack(), len(a)


@program
def list_in_python_loop(x):
    made = []
    for i in range(3):
        made.append(x * i)
    return tf.stack(made)


@program
def list_of_branches(x):
    made = []
    if x[0] > 1:
        made.append(1)
    else:
        made.append(2)
    return len(made) > 0


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
def gradient_of_loop(x):
    w = tf.cast(x[0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = tf.constant(1.0, tf.float64)
        for _ in tf.range(x[1]):
            if y < 30.0:
                y = y * w
            else:
                y = y + w * w
    return y, tape.gradient(y, w)


@program
def function_in_function(x):
    return inner(x) + 1


def inner(x):
    return tf.function(larger)(x)


@refused("'y' must also be initialized in the else branch")
def undefined_in_else(x):
    if x[0] > 0:
        y = x
    return y


@refused("'y' must also be initialized in the main branch")
def undefined_in_main(x):
    if x[0] > 0:
        pass
    else:
        y = x
    return y


@refused("'d['a']' must also be initialized in the else branch")
def item_in_one_branch(x):
    d = {}
    if x[0] > 0:
        d["a"] = 2
    return d["a"]


@refused("the else branch must also have a return statement.")
def returns_in_one_branch(x):
    if x[0] > 0:
        return x


@refused("'retval_' is None at the end of the else branch.")
def returns_none_in_one_branch(x):
    if x[0] > 0:
        return x
    return None


@refused("'y' has dtype int32 in the main branch, but dtype float32 in the else branch")
def other_dtype_in_branch(x):
    if x[0] > 0:
        y = 1
    else:
        y = 1.0
    return y


@refused("'y' must have the same nested structure in the main and else branches:")
def other_structure_in_branch(x):
    if x[0] > 0:
        y = (1, 2)
    else:
        y = 1.0
    return y


@refused("'x[0] > 0' has dtype int32 in the main branch, but dtype float32 in the else branch")
def other_dtype_in_expression(x):
    return 1 if x[0] > 0 else 2.0


@refused("To be compatible with tf.function, Python functions must return zero or more Tensors")
def object_from_branch(x):
    if x[0] > 0:
        s = Sign()
    else:
        s = Sign()
    return s(x[0])


@refused("condition of if statement expected to be `tf.bool` scalar, got Tensor(")
def condition_not_bool(x):
    if x[0]:
        return 1
    return 2


@refused("condition of if statement expected to be `tf.bool` scalar, got Tensor(")
def condition_not_scalar(x):
    if x > 0:
        return 1
    return 2


@refused("'s' has dtype int32 before the loop, but dtype float32 after one iteration")
def other_dtype_after_iteration(x):
    s = tf.constant(0)
    for _ in tf.range(x[0]):
        s = tf.cast(s, tf.float32) + 1.5
    return s


@refused("'v' has shape (1,) before the loop, but shape (2,) after one iteration.")
def other_shape_after_iteration(x):
    v = tf.zeros([1])
    for _ in tf.range(x[0]):
        v = tf.concat([v, v], 0)
    return v


@refused("'v' does not have the same nested structure after one iteration.")
def other_structure_after_iteration(x):
    v = (tf.zeros([1]),)
    for _ in tf.range(x[0]):
        v = (*v, tf.zeros([1]))
    return v


@refused("'v' is None at the end of the iteration.")
def none_after_iteration(x):
    v = tf.constant(0)
    for _ in tf.range(x[0]):
        v = None
    return v


@refused("'v' must be defined before the loop")
def undefined_before_loop(x):
    for i in tf.range(x[0]):
        v = v + i  # noqa: F821
    return v


@refused("Found an unsupported type 'Sign' while creating placeholder")
def object_made_by_loop(x):
    for _ in tf.range(x[0]):
        v = Sign()
    return v(x[0])


@refused("loop must iterate at least once to initialize v")
def no_iteration(x):
    for i in tf.range(x[0] - 3):
        v = i * 2
    return v


@refused("a return statement cannot be placed inside this TensorFlow loop;")
def return_in_loop(x):
    for i in tf.range(x[0]):
        if i == 2:
            return i
    return -1


@refused("a return statement cannot be placed inside this TensorFlow loop;")
def return_in_while(x):
    i = tf.constant(0)
    while i < x[0]:
        i += 1
        if i > 2:
            return i
    return i * 100


@refused("break and return statements which depend on a TF condition are not supported")
def break_of_python_loop(x):
    for i in range(3):
        if x[0] > i:
            break
    return i


@refused("The condition of while loop started as non-Tensor, then changed to Tensor.")
def python_while_becomes_tensor(x):
    i = 0
    while i < 5:
        i = i + x[0]
    return i


@refused("The condition of while loop started as non-Tensor, then changed to Tensor.")
def endless_while_with_break(x):
    i = x[0]
    while True:
        i = i - 1
        if i < 0:
            break
    return i


@refused("len requires a non-scalar tensor, got one of shape")
def scalar_rows(x):
    for _ in x[0]:
        pass
    return 1


@refused("Using a symbolic `tf.Tensor` as a Python `bool` is not allowed.")
def while_else(x):
    i = x[0]
    while i < 5:
        i += 1
    else:
        i += 2
    return i


@refused("Using a symbolic `tf.Tensor` as a Python `bool` is not allowed.")
def assertion(x):
    assert x[0] > 5, "too small"
    return x


@refused("Using a symbolic `tf.Tensor` as a Python `bool` is not allowed.")
def truth(x):
    return bool(x[0] > 0)


@refused("ValueError: custom")
def error_of_the_user(x):
    if x[0] > 0:
        raise ValueError("custom")
    return x


@refused("KeyError: 'k'")
def key_error(x):
    return {}["k"]


@refused("name 'nowhere' is not defined")
def undefined_name(x):
    if x[0] > 0:
        pass
    return nowhere  # noqa: F821


@refused("'y'")
def deleted_name(x):
    y = x
    del y
    return y  # noqa: F821


CASES = [
    (name, lambda tf, f=f: run(tf, f, tf.function))
    for name, f in {**PROGRAMS, **{name: f for name, (f, _) in REFUSED.items()}}.items()
]
