"""`gradient`: targets, sources, structures, weights, and unconnected sources."""

import collections

import numpy as np
import pytest

import gradtape as tf

Pair = collections.namedtuple("Pair", "first second")


def watched(*values):
    tape = tf.GradientTape(persistent=True)
    tape.__enter__()
    xs = [tf.constant(v) for v in values]
    tape.watch(xs)
    return tape, *xs


def done(tape):
    tape.__exit__(None, None, None)
    return tape


def test_a_vector_target_is_summed():
    tape, x = watched([1.0, 2.0])
    y = x * x
    assert done(tape).gradient(y, x).numpy().tolist() == [2, 4]


def test_targets_are_summed_and_counted_as_often_as_named():
    tape, x = watched(3.0)
    y, z = x * x, 5.0 * x
    done(tape)
    assert float(tape.gradient([y, z], x)) == 11
    assert float(tape.gradient({"a": y, "b": z}, x)) == 11
    assert float(tape.gradient([y, y], x)) == 12


def test_a_target_without_derivative_in_a_list_is_ignored():
    tape, x = watched(3.0)
    y = x * x
    done(tape)
    assert float(tape.gradient([y, tf.cast(x, tf.int32), tf.constant(1)], x)) == 6
    assert tape.gradient([], x) is None


def test_sources_of_any_structure():
    tape, a, b = watched(3.0, 2.0)
    y = a * b
    other = tf.constant(1.0)
    done(tape)
    for structure in (
        [a, b], (a, b), {"x": a, "y": b}, collections.OrderedDict(z=a, a=b), Pair(a, b), [a, {"k": (b, other)}],
    ):  # fmt: skip
        result = tape.gradient(y, structure)
        assert type(result) is type(structure)
        flat = tf.nest.flatten(result)
        expected = [{id(a): 2.0, id(b): 3.0}.get(id(s)) for s in tf.nest.flatten(structure)]
        assert [None if g is None else float(g) for g in flat] == expected
    assert list(tape.gradient(y, collections.OrderedDict(z=a, a=b))) == ["z", "a"]


def test_no_sources():
    tape, a = watched(3.0)
    y = a * a
    done(tape)
    assert tape.gradient(y, []) == []
    assert tape.gradient(y, {}) == {}


def test_values_of_a_dict_as_sources():
    tape, a = watched(3.0)
    y = a * a
    result = done(tape).gradient(y, {"a": a}.values())
    assert isinstance(result, list)
    assert float(result[0]) == 6


@pytest.mark.parametrize(
    ("source", "error"),
    [
        (lambda x: (s for s in [x]), TypeError),
        (lambda x: tf.Module(), TypeError),
        (lambda x: None, TypeError),
        (lambda x: [x, None], TypeError),
        (lambda x: "x", TypeError),
        (lambda x: 3.0, AttributeError),
        (lambda x: 3, AttributeError),
        (lambda x: np.ones(2), AttributeError),
        (lambda x: np.float32(1), AttributeError),
        (lambda x: tf.IndexedSlices(x, tf.constant([0])), AttributeError),
    ],
)
def test_sources_that_are_none(source, error):
    tape, x = watched([3.0])
    y = x * x
    with pytest.raises(error, match="got"):
        done(tape).gradient(y, source(x))


@pytest.mark.parametrize("target", [3.0, np.ones(2), np.float64(1)])
def test_targets_that_are_none(target):
    tape, x = watched([3.0])
    with pytest.raises(AttributeError, match="a gradient target must be a tensor"):
        done(tape).gradient(target, x)


def test_a_sparse_tensor_is_neither_source_nor_target_but_its_values_are():
    tape, x = watched([3.0, 4.0])
    sparse = tf.SparseTensor([[0, 1], [1, 2]], x * x, [2, 3])
    done(tape)
    message = "Type SparseTensor is not supported as a gradient source or gradient target"
    for ask in (tape.gradient, tape.jacobian):
        for target, source in ((sparse, x), (x, sparse)):
            with pytest.raises(ValueError, match=message):
                ask(target, source)
    with pytest.raises(ValueError, match=message):
        tape.gradient([x, sparse], x)
    with pytest.raises(ValueError, match=message):
        tape.gradient(x, [x, sparse])
    assert tape.gradient(sparse.values, x).numpy().tolist() == [6.0, 8.0]


def test_watching_a_sparse_tensor_watches_its_values():
    sparse = tf.SparseTensor([[0], [3]], tf.constant([1.0, 2.0]), [4])
    with tf.GradientTape() as tape:
        tape.watch(sparse)
        y = sparse.values * 3.0
    assert tape.gradient(y, sparse.values).numpy().tolist() == [3.0, 3.0]


@pytest.mark.parametrize("unconnected", ["none", "zero"])
def test_a_target_that_is_the_source(unconnected):
    x, v, w = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        v * 1.0
    assert tape.gradient(x, x, unconnected_gradients=unconnected).numpy().tolist() == [1, 1]
    assert tape.gradient(v, v, unconnected_gradients=unconnected).numpy().tolist() == [1, 1]
    other = tape.gradient(v, w, unconnected_gradients=unconnected)
    assert other is None if unconnected == "none" else other.numpy().tolist() == [0, 0]


def test_an_intermediate_value_is_a_source_and_does_not_block_the_flow():
    tape, x = watched(3.0)
    h = x * x
    y = h * h
    dx, dh = done(tape).gradient(y, [x, h])
    assert (float(dx), float(dh)) == (108, 18)


def test_what_is_not_on_the_path_has_no_gradient():
    tape, x = watched([3.0, 4.0])
    y = x * x
    later = y * 2.0
    part = x[0]
    twin = tf.constant([3.0, 4.0])
    done(tape)
    assert tape.gradient(y, later) is None
    assert tape.gradient(y, part) is None
    assert tape.gradient(y, twin) is None
    assert tape.gradient(part, x).numpy().tolist() == [1, 0]


def test_the_same_source_twice_gives_the_same_object_twice():
    tape, x = watched(3.0)
    y = x * x
    a, b = done(tape).gradient(y, [x, x])
    assert a is b


def test_second_gradient_of_a_linear_function_is_none():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = 2.0 * x
        g = inner.gradient(y, x)
    assert outer.gradient(g, x) is None


def test_zeros_have_the_sources_shape_and_dtype():
    x, i, v = tf.constant([1.0, 2.0], tf.float64), tf.constant([[1, 2]]), tf.Variable([[1.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[0] * 0.0
    dx, di, dv = tape.gradient(tf.constant(1.0), [x, i, v], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert (dx.dtype, di.dtype, dv.dtype) == (tf.float64, tf.int32, tf.float32)
    assert (dx.shape, di.shape, dv.shape) == ((2,), (1, 2), (1, 1))
    assert isinstance(dv, tf.Tensor)
    assert y.dtype == tf.float64


def test_a_gradient_is_a_tensor_in_the_sources_dtype():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.cast(tf.cast(v, tf.float16) * 3.0, tf.float64)
    g = tape.gradient(y, v)
    assert type(g) is tf.Tensor
    assert g.dtype == tf.float32
    assert float(g) == 3


def test_empty_tensors():
    tape, x = watched(np.zeros((0, 3), np.float32))
    y = x * 2.0
    mean = tf.reduce_mean(x)
    done(tape)
    assert tape.gradient(y, x).shape == (0, 3)
    assert np.isnan(mean.numpy())
    assert tape.gradient(mean, x).shape == (0, 3)


@pytest.mark.parametrize(
    "weights",
    [
        lambda: tf.constant([10.0, 100.0]),
        lambda: np.array([10.0, 100.0], np.float32),
        lambda: np.array([10.0, 100.0], np.float64),
        lambda: np.array([10, 100]),
        lambda: tf.Variable([10.0, 100.0]),
        lambda: [tf.constant([10.0, 100.0])],
        lambda: [10.0, 100.0],
        lambda: tf.constant([10.0, 100.0], tf.float64),
        lambda: tf.IndexedSlices(tf.constant([4.0, 6.0, 100.0]), tf.constant([0, 0, 1]), tf.constant([2])),
    ],
)
def test_output_gradients_weight_the_target(weights):
    tape, x = watched([1.0, 2.0])
    y = x * x
    assert done(tape).gradient(y, x, output_gradients=weights()).numpy().tolist() == [20, 400]


def test_a_scalar_weight_is_broadcast_and_none_means_ones():
    tape, x = watched([1.0, 2.0])
    y, z = x * x, x * 1.0
    done(tape)
    assert tape.gradient(y, x, output_gradients=tf.constant(10.0)).numpy().tolist() == [20, 40]
    assert tape.gradient(y, x, output_gradients=3).numpy().tolist() == [6, 12]
    assert tape.gradient([y, z], x, output_gradients=[None, tf.constant([5.0, 5.0])]).numpy().tolist() == [7, 9]


@pytest.mark.parametrize("shape", [(), (3,), (4, 0), (128, 256), (257, 128)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64"])
def test_ones_as_a_gradient_stay_ones(shape, dtype):
    """Gradients may share the memory of the default cotangent: nothing that is done with one changes another."""
    x = tf.zeros(shape, dtype)

    def gradient():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x + x
        return tape.gradient(y, y)

    first = gradient()
    variable = tf.Variable(first)
    variable.assign_add(tf.ones(shape, dtype))
    np.asarray(first.numpy()).fill(5)
    variable.assign(first)
    variable.assign_sub(first)
    for g in (first, gradient()):
        assert g.dtype == dtype and g.shape == shape
        assert (g.numpy() == 1).all()


def test_output_gradients_that_do_not_fit():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, z = x * x, x * 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs\. \[3\]"):
        tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="1 entries for 2 targets"):
        tape.gradient([y, z], x, output_gradients=[tf.constant([1.0, 1.0])])
    with pytest.raises(ValueError, match="3 entries for 2 targets"):
        tape.gradient([y, z], x, output_gradients=[None] * 3)
    assert tape.gradient(y, x).numpy().tolist() == [2, 4]


def test_the_walk_is_pruned_to_what_the_sources_need():
    """An op without a gradient, on a branch that leads to no source, is ignored."""
    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        values, _ = tf.unique(b)
        y = tf.reduce_sum(a) * tf.reduce_sum(values)
    assert tape.gradient(y, a).numpy().tolist() == [3, 3]
    with pytest.raises(LookupError, match="gradient registry has no entry for"):
        tape.gradient(y, b)


def test_unused_outputs_have_zero_cotangents():
    tape, x = watched([1.0, 2.0, 3.0, 4.0])
    _, second = tf.split(x, 2)
    y = second * second
    assert done(tape).gradient(y, x).numpy().tolist() == [0, 0, 6, 8]


def test_complex_values_follow_tensorflows_convention():
    tape, z = watched(1 + 2j)
    square, real, imag, conj = z * z, tf.math.real(z), tf.math.imag(z), tf.math.conj(z)
    modulus, angle = tf.abs(z), tf.math.angle(z)
    power = tf.math.real(z * tf.math.conj(z))
    done(tape)
    assert complex(tape.gradient(square, z)) == 2 - 4j
    assert complex(tape.gradient(power, z)) == 2 + 4j
    assert complex(tape.gradient(real, z)) == 1
    assert complex(tape.gradient(imag, z)) == 1j
    assert complex(tape.gradient(conj, z)) == 1
    np.testing.assert_allclose(complex(tape.gradient(angle, z)), -0.4 + 0.2j)
    np.testing.assert_allclose(complex(tape.gradient(modulus, z)), (1 + 2j) / np.sqrt(5))


def test_modulus_at_zero_has_gradient_zero():
    tape, z = watched(0j)
    y = tf.abs(z)
    assert complex(done(tape).gradient(y, z)) == 0


def rows_of(slices):
    return slices.values.numpy().tolist(), slices.indices.numpy().tolist()


def test_gather_leaves_a_sparse_gradient():
    v = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape(persistent=True) as tape:
        once = tf.gather(v, [0, 2, 0])
        twice = once * 2.0 + tf.gather(v, [1, 1, 1])
        mixed = tf.reduce_sum(once) + tf.reduce_sum(v)
        columns = tf.gather(v, [0], axis=1)
        row = v[1]
    g = tape.gradient(once, v)
    assert isinstance(g, tf.IndexedSlices)
    assert rows_of(g) == ([[1.0]] * 3, [0, 2, 0])
    assert g.dense_shape.numpy().tolist() == [3, 1]
    assert tf.convert_to_tensor(g).numpy().tolist() == [[2], [0], [1]]
    both = tape.gradient(twice, v)
    assert isinstance(both, tf.IndexedSlices)
    assert tf.convert_to_tensor(both).numpy().tolist() == [[4], [3], [2]]
    assert tape.gradient(mixed, v).numpy().tolist() == [[3], [1], [2]]
    assert tape.gradient(columns, v).numpy().tolist() == [[1], [1], [1]]
    assert tape.gradient(row, v).numpy().tolist() == [[0], [1], [0]]


def test_sparse_gradients_of_second_order():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.gather(v, [0, 2]) ** 3
        g = inner.gradient(y, v)
    h = outer.gradient(g.values, v)
    assert isinstance(h, tf.IndexedSlices)
    assert tf.convert_to_tensor(h).numpy().tolist() == [6, 0, 18]


@pytest.mark.parametrize("batch", [3, 1000])
def test_a_matrix_used_many_times_adds_up_its_gradients(batch):
    """Small products are deferred and multiplied together; large ones are computed at once."""
    rng = np.random.default_rng(0)
    xs = [rng.standard_normal((batch, 4)) for _ in range(30)]
    w = tf.Variable(rng.standard_normal((4, 2)))
    with tf.GradientTape() as tape:
        y = sum(tf.reduce_sum(tf.tanh(x @ w)) for x in xs) + tf.reduce_sum(w)
    expected = 1 + sum(x.T @ (1 - np.tanh(x @ w.numpy()) ** 2) for x in xs)
    np.testing.assert_allclose(tape.gradient(y, w), expected, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "rows, columns, uses", [(3, 4, 1), (3, 4, 7), (400, 5, 12), (600, 2, 3), (32, 1024, 4), (0, 3, 2)]
)
def test_a_row_added_many_times_adds_up_its_gradients(rows, columns, uses, dtype):
    rng = np.random.default_rng(0)
    b, c = tf.Variable(rng.standard_normal(columns).astype(dtype)), tf.Variable(np.ones(columns, dtype))
    weights = rng.standard_normal((uses, rows, columns)).astype(dtype)
    with tf.GradientTape(persistent=True) as tape:
        row = b * 2.0  # its gradient comes from the tape's sweep, not from its end
        y = tf.add_n([tf.reduce_sum(((tf.constant(w) + b) - row) * w + c) for w in weights])
    expected = weights.astype(np.float64).sum((0, 1))
    gradients = tape.gradient(y, [b, row, c])
    for found, right in zip(gradients, (-expected, -expected, np.full(columns, uses * rows)), strict=True):
        assert found.shape == (columns,) and found.dtype == dtype
        np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("persistent", [False, True])
def test_an_output_that_the_target_does_not_use_has_no_gradient_though_another_of_its_op_has(persistent):
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape(persistent) as tape:
        tape.watch(x)
        first, second = tf.split(x, 2)
        y = tf.reduce_sum(second * second)
    unused, used, whole = tape.gradient(y, [first, second, x])
    assert unused is None
    assert used.numpy().tolist() == [6.0, 8.0]
    assert whole.numpy().tolist() == [0.0, 0.0, 6.0, 8.0]


def test_slices_have_their_shape_as_a_tensor_whoever_records():
    v = tf.Variable(tf.ones([3, 1]))
    with tf.GradientTape():
        with tf.GradientTape(persistent=True) as tape:
            y = tf.gather(v, [0, 2])
        inside = tape.gradient(y, v)
    for g in (inside, tape.gradient(y, v, nan_safe=True)):
        assert g.dense_shape.numpy().tolist() == [3, 1]


def test_a_source_that_is_named_twice_has_its_gradient_twice():
    table, weights = tf.Variable([[1.0], [2.0], [3.0]]), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = weights * tf.reduce_sum(tf.gather(table, [0, 2, 2]))
    first, again, dw, dw_again = tape.gradient(y, [table, table, weights, weights])
    for rows in (first, again):
        assert isinstance(rows, tf.IndexedSlices)
        assert tf.convert_to_tensor(rows).numpy().tolist() == [[2.0], [0.0], [4.0]]
    assert (float(dw), float(dw_again)) == (7.0, 7.0)


CONSTANT = {
    "floor": tf.floor, "ceil": tf.math.ceil, "round": tf.round, "rint": tf.math.rint, "//": lambda x: x // 0.5,
    "zeros_like": tf.zeros_like, "ones_like": tf.ones_like, "shuffle": tf.random.shuffle,
    "one_hot": lambda x: tf.one_hot([0], 3, on_value=x[0])[0],
}  # fmt: skip


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("op", CONSTANT.values(), ids=CONSTANT)
def test_the_output_of_an_op_without_a_derivative_can_be_a_source(op, traced):
    def gradients(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = op(x)
            z = tf.reduce_sum(3.0 * y**2)
        assert tape.gradient(z, x) is None
        return y, tape.gradient(z, y), tape.gradient(z, x, unconnected_gradients="zero")

    run = tf.function(gradients) if traced else gradients
    for _ in range(2):
        y, by_y, by_x = run(tf.constant([0.3, 1.7, -2.2]))
        np.testing.assert_array_equal(by_y, 6.0 * y.numpy())
        assert by_x.numpy().tolist() == [0.0, 0.0, 0.0]


def test_a_one_shot_tape_is_asked_for_leaves_and_for_such_an_output():
    v = tf.Variable([0.3, 1.7, -2.2])
    with tf.GradientTape() as tape:
        y = tf.floor(v)
        z = tf.reduce_sum(3.0 * y**2 * v)
    by_v, by_y = tape.gradient(z, [v, y])
    np.testing.assert_allclose(by_v, 3.0 * np.floor(v) ** 2, rtol=1e-6)
    np.testing.assert_allclose(by_y, 6.0 * np.floor(v) * v.numpy(), rtol=1e-6)
    with tf.GradientTape() as tape:
        z = tf.reduce_sum(v * tf.floor(v))
    np.testing.assert_allclose(tape.gradient(z, v), np.floor(v), rtol=1e-6)


def test_an_outer_tape_and_an_inner_one_both_know_such_an_output():
    x = tf.constant([0.3, 1.7])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.floor(x)
            z = tf.reduce_sum(y**3)
        first = inner.gradient(z, y)
    assert first.numpy().tolist() == [0.0, 3.0]
    assert outer.gradient(first, y).numpy().tolist() == [0.0, 6.0]


@pytest.mark.parametrize("cut", [tf.stop_gradient, lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32)])
def test_what_is_severed_or_was_an_integer_is_no_source(cut):
    x = tf.constant([0.3, 1.7, -2.2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = cut(x)
        z = tf.reduce_sum(3.0 * y**2)
    assert tape.gradient(z, y) is None
    assert tape.gradient(z, x) is None


@pytest.mark.parametrize("trace", [False, True])
def test_the_op_without_a_derivative_is_still_the_cause(trace):
    x = tf.constant([0.3, 1.7, -2.2])
    with tf.GradientTape(persistent=True, trace=trace) as tape:
        tape.watch(x)
        y = tf.floor(x * 2.0)
        z = tf.reduce_sum(3.0 * y**2)
    about_x, about_y = tape.explain(z, [x, y]).reasons
    assert about_x.cause == "not differentiable"
    assert "floor" in about_x.sentence
    assert about_y.cause == "connected"


def test_forward_mode_ends_there():
    x = tf.constant([0.3, 1.7])
    with tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as acc:
        y = tf.floor(x)
        z = y * y
    assert acc.jvp(y) is None
    assert acc.jvp(z) is None


def test_a_source_that_is_none_is_told_what_it_may_be_first():
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = v * 2.0
    with pytest.raises(TypeError, match=r"^A gradient source must be a tensor, a variable, .* got 'v' of type str"):
        tape.gradient(y, "v")
