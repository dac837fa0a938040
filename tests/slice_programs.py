"""Random programs of slices, and checks of their gradients against sweeps that outer tapes record."""

import contextlib

import numpy as np

import gradtape as tf
from gradtape.engine.tape import compiled_sweeps


def random_key(rng, shape):
    """A key for a value of this shape: indices, slices of any bounds and steps, new axes, an ellipsis."""
    key = []
    for n in shape[: rng.integers(0, len(shape) + 1)]:
        choice = rng.integers(5)
        if choice == 0 and n:
            key.append(int(rng.integers(-n, n)))
        elif choice == 1:
            key.append(slice(None))
        else:
            bounds = [None if rng.integers(3) == 0 else int(rng.integers(-n - 1, n + 2)) for _ in range(2)]
            key.append(slice(*bounds, [None, 1, 2, -1, -2][rng.integers(5)]))
    if rng.integers(4) == 0:
        key.append(Ellipsis)
        key += [slice(None, int(rng.integers(1, 4)))] * (len(key) - 1 < len(shape) and int(rng.integers(2)))
    if rng.integers(4) == 0:
        key.insert(rng.integers(len(key) + 1), None)
    return tuple(key)


def random_program(seed):
    """A function of two arrays that returns all values that it computes from them."""

    def program(x, y):
        rng = np.random.default_rng(seed)
        values = [x, y]
        for _ in range(rng.integers(3, 12)):
            value = values[rng.integers(len(values))]
            shape = tuple(value.shape)
            choice = rng.integers(6)
            if choice == 0:  # a partition, in any order
                at = int(rng.integers(0, shape[0] + 1)) if shape else 0
                parts = [value[:at], value[at:]] if shape else [value[None]]
                values += parts[:: rng.choice([-1, 1])]
            elif choice == 1 and shape and shape[-1]:
                values += [value[..., i] for i in rng.permutation(shape[-1]).tolist()]
            elif choice == 2:
                values.append(value * value)  # its cotangent goes to the value and to slices of it
            elif choice == 3:
                values.append(value + value[...])
            else:
                values.append(value[random_key(rng, shape)])
        return values

    return program


def weigh(values, seed):
    """The weighted sum of all elements of all values; some weights are 0."""
    rng = np.random.default_rng(seed)
    return tf.add_n([tf.reduce_sum(v * tf.constant(rng.integers(0, 4, v.shape), v.dtype)) for v in values])


def arguments(seed, dtype):
    """Two random tensors; of some seeds they may be empty."""
    rng = np.random.default_rng(seed)
    shapes = [rng.integers(0 if seed % 7 == 0 else 1, 5, rng.integers(0, 4)) for _ in range(2)]
    return [tf.constant(rng.normal(size=shape), dtype) for shape in shapes]


def gradients(seed, dtype, recorded=False, persistent=False, between=False):
    """The gradients of a program's inputs or, `between`, of all its values; an outer tape may record the sweep."""
    given = arguments(seed, dtype)
    with tf.GradientTape() as outer:
        outer.watch(given)
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(given)
            values = random_program(seed)(*given)
            loss, other = weigh(values, seed), weigh(values, seed + 1)
        sources = values if between else given
        with contextlib.nullcontext() if recorded else outer.stop_recording():
            return _queries(tape, loss, other, values, sources) if persistent else [tape.gradient(loss, sources)]


def _queries(tape, loss, other, values, sources):
    weights = [tf.ones_like(v) * 2 for v in values]
    found = [tape.gradient(loss, sources), tape.gradient([loss, other], sources)]
    found += [tape.gradient(values, sources, output_gradients=weights), tape.gradient(loss, sources)]
    assert all((w.numpy() == 2).all() for w in weights)
    for first, again in zip(found[0], found[-1], strict=True):
        assert (first is None) == (again is None)
        assert first is None or np.array_equal(first.numpy(), again.numpy())
    return found


def check_program(seed, dtype="float64", tolerance=1e-12):
    """Compares sweeps over bare arrays, interpreted and compiled, with recorded ones."""
    for persistent, between in ((False, False), (True, False), (False, True), (True, True)):
        expected = gradients(seed, dtype, True, persistent, between)
        for _ in range(1 if persistent or between else compiled_sweeps._TIMES + 2):
            assert_close(gradients(seed, dtype, False, persistent, between), expected, tolerance)


def check_second_derivative(seed):
    """Compares the derivative of a gradient along a direction with a difference of two gradients."""
    given = arguments(seed, "float64")
    direction = [tf.constant(np.random.default_rng(seed).normal(size=x.shape)) for x in given]

    def gradient(points):
        with tf.GradientTape() as tape:
            tape.watch(points)
            loss = weigh(random_program(seed)(*points), seed)
        return tape.gradient(loss, points, unconnected_gradients="zero")

    with tf.GradientTape() as outer:
        outer.watch(given)
        found = gradient(given)
    found = outer.gradient(found, given, output_gradients=direction, unconnected_gradients="zero")
    ends = [gradient([x + step * d for x, d in zip(given, direction, strict=True)]) for step in (1e-5, -1e-5)]
    expected = [(first - second) / 2e-5 for first, second in zip(*ends, strict=True)]
    assert_close([found], [expected], 1e-5)


def assert_close(found, expected, tolerance):
    for gs, wanted in zip(found, expected, strict=True):
        for g, e in zip(gs, wanted, strict=True):
            assert (g is None) == (e is None)
            if g is not None:
                assert g.dtype is e.dtype
                g, e = (np.asarray(tf.cast(a, "complex128" if a.dtype.is_complex else "float64")) for a in (g, e))
                np.testing.assert_allclose(g, e, rtol=tolerance, atol=tolerance)
