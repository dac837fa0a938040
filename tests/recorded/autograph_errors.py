"""Programs that TensorFlow cannot trace; each case records the class of its error."""

from autograph_programs import Programs

tf = None  # the library under test, which `run` sets
program = PROGRAMS = Programs()
REASONS = {}


def refused(because):
    """Adds a program that fails; the error contains `because`."""

    def add(f):
        REASONS[f.__name__] = because
        return program(f)

    return add


class Sign:
    """A class whose objects cannot be values of a graph."""


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


CASES = PROGRAMS.cases()
