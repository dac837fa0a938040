"""Variables under a tape: reads, assignments, and their gradients (TensorFlow's behavior)."""

import copy
import pickle
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape.state import storage


def values(*tensors):
    return [None if t is None else tf.convert_to_tensor(t).numpy().tolist() for t in tensors]


@pytest.mark.parametrize("persistent", [False, True])
def test_gradient_uses_the_value_at_the_time_of_reading(persistent):
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=persistent) as tape:
        y = v * v
    v.assign(10.0)
    for _ in range(2 if persistent else 1):
        assert float(tape.gradient(y, v)) == 6.0


def test_reads_around_an_assignment_add_up():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        v.assign(5.0)
        y += v * v
    assert float(tape.gradient(y, v)) == 4.0 + 10.0


def test_an_assigned_value_gets_no_gradient():
    v, x = tf.Variable(1.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        v.assign(x * x)
        y = 2.0 * v
    assert values(*tape.gradient(y, [x, v])) == [None, 2.0]


def test_the_result_of_assign_add_is_used_as_a_tensor():
    v, x = tf.Variable(1.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = v.assign_add(x) * 5.0
    assert values(y, *tape.gradient(y, [x, v])) == [20.0, None, 5.0]


def test_the_initial_value_is_not_differentiable():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        v = tf.Variable(x * x)
        y = v * x
    assert values(*tape.gradient(y, [x, v])) == [9.0, 3.0]


def test_a_variable_made_inside_the_tape_is_watched():
    with tf.GradientTape() as tape:
        v = tf.Variable(3.0)
        y = v * v
    assert float(tape.gradient(y, v)) == 6.0


@pytest.mark.parametrize("read", [tf.Variable.value, tf.Variable.read_value, tf.convert_to_tensor, tf.identity])
def test_a_value_read_inside_is_a_source_of_its_own(read):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        a, b = read(v), read(v)
        y = a * a * v + 7.0 * b
    assert a is not b
    assert values(*tape.gradient(y, [a, b, v])) == [18.0, 7.0, 18.0 + 9.0 + 7.0]


def test_a_value_read_outside_is_a_constant():
    v = tf.Variable(3.0)
    a = v.value()
    with tf.GradientTape() as tape:
        y = a * a
    assert tape.gradient(y, [a, v]) == [None, None]


def test_watching_a_value_read_before_leaves_the_variable_alone():
    v = tf.Variable(3.0)
    a = v.value()
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(a)
        y = a * v
    assert values(*tape.gradient(y, [a, v])) == [3.0, None]


def test_rebinding_loses_the_variable():
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        x = x + 1.0
        y = x * x
    with tf.GradientTape() as later:
        z = x * x
    assert isinstance(x, tf.Tensor)
    assert float(tape.gradient(y, x)) == 8.0
    assert later.gradient(z, x) is None


@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "**"])
def test_in_place_operators_are_refused(sign):
    with pytest.raises(RuntimeError, match=r"is not supported. Use `variable\.assign"):
        exec(f"v {sign}= 1.0", {"v": tf.Variable(1.0)})


def test_items_are_assigned_through_slices():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(TypeError, match="item assignment"):
        v[0] = 3.0
    v[0].assign(3.0)
    assert v.numpy().tolist() == [3.0, 2.0]
    assert not hasattr(tf.constant([1.0])[0], "assign")


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ([1.0, 2.0, 3.0], ValueError),
        (np.zeros((2, 1)), ValueError),
        (tf.constant([1.0, 2.0], tf.float64), ValueError),
        ("text", TypeError),
        (None, ValueError),
    ],
)
def test_a_failed_assignment_changes_nothing(value, error):
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(error):
        v.assign(value)
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        v.assign_add(value)
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        v[:].assign("text")
    assert v.numpy().tolist() == [1.0, 2.0]


def test_a_float64_array_is_converted_and_copied():
    v, array = tf.Variable([1.0, 2.0]), np.array([3.0, 4.0])
    v.assign(array)
    array[0] = 99.0
    assert v.dtype == tf.float32
    assert v.numpy().tolist() == [3.0, 4.0]
    start = np.array([1.0])
    w = tf.Variable(start)
    start[0] = 99.0
    w.numpy()[0] = 99.0
    np.asarray(w)[0] = 99.0
    assert w.numpy().tolist() == [1.0]


def test_variables_are_no_keys_but_their_references_are():
    v = tf.Variable(1.0)
    with pytest.raises(TypeError, match=r"use variable.ref\(\)"):
        hash(v)
    assert {v.ref(): "found"}[v.ref()] == "found"
    assert v.ref().deref() is v


def test_equality_is_elementwise():
    v = tf.Variable([1.0, 2.0])
    assert (v == [1.0, 5.0]).numpy().tolist() == [True, False]
    with pytest.raises(ValueError, match="ambiguous"):
        assert v in [tf.Variable([1.0, 2.0])]


def test_len_and_trainable_are_as_in_tensorflow():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(TypeError, match="len"):
        len(v)
    with pytest.raises(AttributeError, match="no setter"):
        v.trainable = False


def test_iteration_is_differentiable():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = sum(x * x for x in v)
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 4.0]


def test_scalars_convert():
    v = tf.Variable(2.5)
    assert (bool(v), float(v), int(v), complex(v)) == (True, 2.5, 2, 2.5 + 0j)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))])
def test_copies_are_independent(copied):
    v = tf.Variable([1.0, 2.0], trainable=False, name="v", shape=[None])
    w = copied(v)
    w.assign([5.0])
    assert v.numpy().tolist() == [1.0, 2.0]
    assert (w.trainable, w.name, w.shape, w.dtype) == (False, "v:0", tf.TensorShape([None]), tf.float32)


def test_the_constraint_is_for_optimizers():
    v = tf.Variable([-1.0], constraint=abs)
    assert v.assign([-2.0]).numpy().tolist() == [-2.0]
    assert v.constraint is abs


def test_reads_around_a_scatter_keep_their_own_values():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
        v.scatter_nd_update([[0]], [5.0])
        y += v * v
    assert tape.gradient(y, v).numpy().tolist() == [2.0 + 10.0, 4.0 + 4.0]


def test_sparse_reads_have_sparse_gradients():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = v.sparse_read([1, 1]) * [1.0, 10.0]
        z = v.gather_nd([[2]])
    g = tape.gradient(y, v)
    assert isinstance(g, tf.IndexedSlices)
    assert values(g.indices, g.values, g) == [[1, 1], [1.0, 10.0], [0.0, 11.0, 0.0]]
    assert values(tape.gradient(z, v)) == [[0.0, 0.0, 1.0]]


READS = {
    "arithmetic": lambda v: v + 1.0,
    "read_value": lambda v: v.read_value(),
    "numpy": lambda v: v.numpy(),
    "array": np.asarray,
    "assign": lambda v: v.assign([1.0]),
    "assign_add": lambda v: v.assign_add([1.0]),
    "slice": lambda v: v[0],
    "slice_assign": lambda v: v[0].assign(1.0),
    "scatter": lambda v: v.scatter_nd_add([[0]], [1.0]),
    "equal": lambda v: v == v,
    "list": list,
    "repr": repr,
}
NO_READS = {
    "shape": lambda v: v.shape,
    "name": lambda v: v.name,
    "dtype": lambda v: v.dtype,
    "ref": lambda v: v.ref(),
    "handle": lambda v: v.handle,
    "is_initialized": lambda v: v.is_initialized(),
    "another": tf.Variable,
}


@pytest.mark.parametrize("name", [*READS, *NO_READS])
def test_what_counts_as_access(name):
    v = tf.Variable([1.0])
    with tf.GradientTape() as tape:
        (READS | NO_READS)[name](v)
    assert len(tape.watched_variables()) == (name in READS)


def test_reads_inside_stop_recording_do_not_count():
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape, tape.stop_recording():
        _ = v * v
    assert tape.watched_variables() == ()


def test_watched_variables_are_in_order_of_creation():
    a, b, c = (tf.Variable(float(i)) for i in range(3))
    with tf.GradientTape() as tape:
        _ = c * a * b * a
    watched = tape.watched_variables()
    assert isinstance(watched, tuple)
    assert [v.ref() for v in watched] == [a.ref(), b.ref(), c.ref()]
    tape.gradient(tf.constant(1.0), a)
    assert len(tape.watched_variables()) == 3


def test_every_tape_watches():
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = v * v * v
        g = inner.gradient(y, v)
    assert float(g) == 12.0
    assert float(outer.gradient(g, v)) == 12.0


def test_threads_with_tapes_of_their_own_share_a_variable():
    v, found = tf.Variable(3.0), {}

    def work(name):
        for _ in range(200):
            with tf.GradientTape() as tape:
                y = v * v * v
            found.setdefault(name, set()).add(float(tape.gradient(y, v)))
            float(v * 1.0)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == {i: {27.0} for i in range(4)}


def test_forward_mode_follows_assignments():
    v = tf.Variable([2.0, 3.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 1.0])) as acc:
        v.assign(v * v)
        v[0].assign(v[1] * 10.0)
        y = v + 0.0
    assert acc.jvp(y).numpy().tolist() == [60.0, 6.0]


def test_a_slice_lets_go_of_its_variable():
    from gradtape.state import variable_updates

    v = tf.Variable([1.0, 2.0])
    part = v[0]
    assert id(part) in variable_updates._sliced
    del part
    assert not variable_updates._sliced


@pytest.mark.parametrize("member", [name for name in dir(tf.Variable) if not name.startswith("_")])
def test_members_are_documented(member):
    assert getattr(tf.Variable, member).__doc__


@pytest.fixture(params=[0, 1 << 22], ids=["in place", "anew"])
def smallest_in_place(request, monkeypatch):
    monkeypatch.setattr(storage, "UPDATED_IN_PLACE", request.param)


def test_an_update_in_place_is_seen_by_nobody_who_read_before(smallest_in_place):
    v = tf.Variable([1.0, 2.0])
    start = tf.constant([3.0, 4.0])
    w = tf.Variable(start)
    read, view = v.value(), np.asarray(v[:1])
    with tf.GradientTape() as tape:
        y = v * v
    v.assign_sub([1.0, 1.0])
    w.assign_add([1.0, 1.0])
    assert v.numpy().tolist() == [0, 1]
    assert (read.numpy().tolist(), view.tolist(), start.numpy().tolist()) == ([1, 2], [1], [3, 4])
    assert tape.gradient(y, v).numpy().tolist() == [2, 4]
    kept = v.numpy()
    v.assign_sub([1.0, 1.0])
    assert kept.tolist() == [0, 1]


@pytest.mark.parametrize(
    "view",
    [lambda t: tf.reshape(t, [2, 2]), lambda t: tf.transpose(tf.reshape(t, [2, 2])), lambda t: t[:2], tf.identity],
)
def test_an_update_leaves_the_tensors_that_share_memory_with_the_value_alone(view, smallest_in_place):
    t = tf.constant([1.0, 2.0, 3.0, 4.0])
    made = tf.Variable(view(t))
    given = tf.Variable(tf.zeros_like(made))
    given.assign(view(t))
    for v in (made, given):
        before, part = v.numpy(), v[:1]
        v.assign_add(tf.ones_like(v)).assign_sub(3.0 * tf.ones_like(v))
        assert v.numpy().tolist() == (before - 2).tolist()
        assert part.numpy().tolist() == before[:1].tolist()
    assert t.numpy().tolist() == [1.0, 2.0, 3.0, 4.0]


SCATTERS = {
    "scatter_add": np.add,
    "scatter_sub": np.subtract,
    "scatter_mul": np.multiply,
    "scatter_div": np.divide,
    "scatter_max": np.maximum,
    "scatter_min": np.minimum,
    "scatter_update": lambda old, new: new,
}


@pytest.mark.parametrize("name", SCATTERS)
@pytest.mark.parametrize("rows", [[2, 0], [1, 3, 1, 1, 0]], ids=["once", "again"])
@pytest.mark.parametrize("shape", [(4,), (4, 3), (4, 2, 2)], ids=str)
def test_rows_are_updated_one_after_the_other_and_nobody_who_read_before_sees_it(name, rows, shape):
    rng = np.random.default_rng(1)
    start, updates = rng.uniform(1, 2, shape), rng.uniform(1, 2, (len(rows), *shape[1:]))
    expected = start.copy()
    for row, update in zip(rows, updates, strict=True):
        expected[row] = SCATTERS[name](expected[row], update)
    slices = tf.IndexedSlices(tf.constant(updates), tf.constant(rows))
    alone, shared = tf.Variable(start), tf.Variable(start)
    part, whole = shared[1:], shared.value()
    with tf.GradientTape() as tape:
        y = shared * shared
    for v in (alone, shared):
        getattr(v, name)(slices)
        np.testing.assert_allclose(v.numpy(), expected)
    assert (part.numpy() == start[1:]).all() and (whole.numpy() == start).all()
    assert (tape.gradient(y, shared).numpy() == 2 * start).all()
    with pytest.raises(tf.errors.InvalidArgumentError):
        getattr(alone, name)(tf.IndexedSlices(tf.constant(updates), tf.constant(rows) + 3))
    np.testing.assert_allclose(alone.numpy(), expected)


def test_rows_of_a_value_that_a_function_has_just_assigned_are_updated():
    v = tf.Variable([1.0, 2.0], shape=tf.TensorShape([None]))

    @tf.function
    def longer():
        v.assign([1.0, 2.0, 3.0])
        v.scatter_nd_add([[2]], [10.0])

    longer()
    assert v.numpy().tolist() == [1.0, 2.0, 13.0]


def test_rows_of_a_variable_that_nobody_holds_are_written_in_place():
    v = tf.Variable(np.zeros((100, 4)))
    v.scatter_nd_add([[0]], tf.ones([1, 4], tf.float64))  # the initial value may be referenced elsewhere
    memory = v._storage.array.ctypes.data
    v.scatter_nd_add([[2], [2]], tf.ones([2, 4], tf.float64))
    assert v._storage.array.ctypes.data == memory
    assert v.numpy()[:3, 0].tolist() == [1.0, 0.0, 2.0]


def test_a_broadcast_value_can_be_updated():
    v = tf.Variable(tf.broadcast_to(tf.constant(1.0), [3]))
    assert v.assign_add(tf.ones([3])).numpy().tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("same", [tf.math.real, tf.math.conj, lambda v: tf.add_n([v]), tf.constant])
def test_a_function_that_changes_nothing_gives_a_tensor_that_can_be_watched(same):
    v = tf.Variable(3.0)
    t = same(v)
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = v * v * t
    assert values(*tape.gradient(y, [v, t])) == [18.0, 9.0]


def test_what_a_thread_reads_while_another_updates_never_changes():
    v = tf.Variable(np.zeros(1 << 16))
    done, torn = threading.Event(), []

    def read():
        while not done.is_set():
            x = v.value()
            first, second = x.numpy(), x.numpy()
            torn.append(first[0] != first[-1] or not np.array_equal(first, second) or v.dims != first.shape)

    reader = threading.Thread(target=read)
    reader.start()
    one = tf.ones_like(v)
    for _ in range(200):
        v.assign_add(one)
    done.set()
    reader.join()
    assert v.numpy().tolist() == [200.0] * (1 << 16)
    assert not any(torn)


def test_creators_are_asked_the_innermost_first():
    asked = []

    def outer(next_creator, **arguments):
        asked.append(("outer", arguments["initial_value"], arguments["name"]))
        return next_creator(**arguments)

    def doubling(next_creator, **arguments):
        asked.append(("doubling", arguments["initial_value"], arguments["name"]))
        return next_creator(**{**arguments, "initial_value": arguments["initial_value"] * 2.0})

    with tf.variable_creator_scope(outer):
        with tf.variable_creator_scope(doubling):
            v = tf.Variable(3.0, name="v")
        tf.Variable(1.0)
    assert type(v) is tf.Variable and float(v) == 6.0 and v.name == "v:0"
    assert asked == [("doubling", 3.0, "v"), ("outer", 6.0, "v"), ("outer", 1.0, None)]
    assert float(tf.Variable(1.0)) == 1.0 and len(asked) == 3


class Held(tf.Variable):
    """A variable that holds a tensor, without the initialization of `tf.Variable`."""

    def __init__(self, held):
        self.held = held

    dtype = property(lambda self: self.held.dtype)
    shape = property(lambda self: self.held.shape)

    def value(self):
        return self.held


def test_a_creator_may_return_a_variable_of_a_class_of_its_own():
    """Its `__init__` is not called again; operators and conversions read it by `value`, or by a registered function."""
    with tf.variable_creator_scope(lambda next_creator, **arguments: Held(tf.constant(arguments["initial_value"]))):
        v = tf.Variable(3.0, name="v")
    assert type(v) is Held
    assert float(v * 2.0) == 6.0 and float(1.0 - v) == -2.0 and float(tf.square(v)) == 9.0
    assert float(tf.function(lambda: v + 1.0)()) == 4.0
    tf.register_tensor_conversion_function(Held, lambda value, dtype=None, name=None, as_ref=False: value.held * 10.0)
    assert float(tf.convert_to_tensor(v)) == 30.0 and float(tf.convert_to_tensor(tf.Variable(1.0))) == 1.0


def test_a_creator_may_return_something_else_or_fail():
    with tf.variable_creator_scope(lambda next_creator, **arguments: "another"):
        assert tf.Variable(1.0) == "another"

    def failing(next_creator, **arguments):
        raise RuntimeError("no more variables")

    with pytest.raises(RuntimeError, match="no more variables"), tf.variable_creator_scope(failing):
        tf.Variable(1.0)
    assert float(tf.Variable(1.0)) == 1.0


def test_a_tape_watches_the_variable_that_another_wraps():
    class Wrapped(tf.Variable):
        def __init__(self, variable):
            self.variable = variable

        def __getattr__(self, name):
            return getattr(self.__dict__["variable"], name)

        def value(self):
            return self.variable.value()

    wrapped = Wrapped(tf.Variable(3.0))
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(wrapped)
        square = wrapped * wrapped
    assert float(tape.gradient(square, wrapped)) == 6.0


def test_creators_do_not_touch_subclasses():
    class Mine(tf.Variable):
        pass

    with tf.variable_creator_scope(lambda next_creator, **arguments: "another"):
        assert type(Mine(1.0)) is Mine


@pytest.mark.parametrize("how", [lambda f: f, tf.function, tf.function(jit_compile=True)], ids="egx")
def test_rows_of_integers_are_divided_without_a_rest(how):
    v = tf.Variable([1, -7, 9])
    how(lambda: v.scatter_div(tf.IndexedSlices(tf.constant([4, 2]), tf.constant([1, 2]))))()
    assert v.numpy().tolist() == [1, -1, 4]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("0", "space-separated"), ("a b", "full_shape must"), ("0 0:0", "comma-separated"),
        ("0 a,0:0", "var_offset must"),
        ("0 0,a:0", "var_shape must"),
    ],
)  # fmt: skip
def test_places_in_larger_variables(spec, message):
    place = tf.Variable.SaveSliceInfo("whole", [2, 3], [0, 2], [2, 1])
    assert place.spec == "2 3 0,2:2,1"
    assert tf.compat.v1.Variable.SaveSliceInfo.from_spec(place.spec).var_offset == [0, 2]
    with pytest.raises(ValueError, match=message):
        tf.Variable.SaveSliceInfo.from_spec(spec)
