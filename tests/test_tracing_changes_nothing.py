"""A traced program computes the same results, and no method of its tapes raises."""

import gc
import io
import logging
import sys

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.extras import is_installed
from gradtape.inspect.records import event_log, never_raises

PROGRAMS = {}


def program(f):
    """A program takes a tape factory; it returns (tape, target, sources, results)."""
    PROGRAMS[f.__name__] = f
    return f


def asked(tape, target, sources):
    """Returns the usual result of a program: the gradients, computed while the tape is usable."""
    return tape, target, sources, tape.gradient(target, sources)


@program
def broadcast_of_a_constant(make):
    v, w, fixed = tf.Variable([2.0]), tf.Variable(5.0), tf.Variable([[1.0, 3.0]], trainable=False)
    with make() as tape:
        loss = tf.reduce_sum((fixed * v) * w + fixed)
    return asked(tape, loss, [v, w, fixed])


@program
def variables_of_all_kinds(make):
    w = tf.Variable([[1.0, -2.0], [0.5, 3.0]])
    bias, count = tf.Variable([1.0, 2.0], trainable=False), tf.Variable([1, 2])
    with make() as tape:
        shifted = (w + bias) * tf.cast(count, tf.float32)
        loss = tf.reduce_sum(tf.nn.relu(shifted - bias) / (1.0 + bias))
    return asked(tape, loss, [w, bias])


@program
def several_outputs(make):
    x = tf.Variable([[4.0, 1.0], [2.0, 3.0]])
    with make() as tape:
        a, b = tf.split(x, 2, axis=1)
        values, _ = tf.math.top_k(x, 1)
        loss = tf.reduce_sum(a * b) + tf.reduce_sum(values)
    return asked(tape, loss, x)


@program
def nothing_depends_on_it(make):
    v, w = tf.Variable([1.0]), tf.Variable([2.0])
    with make() as tape:
        loss = tf.reduce_sum(tf.stop_gradient(v) + tf.cast(tf.argmax(w), tf.float32))
    return asked(tape, loss, [v, w])


@program
def watched_tensors_of_all_dtypes(make):
    x, z, h = tf.constant([1.0, 2.0]), tf.constant([1 + 2j], tf.complex64), tf.constant([0.5, 1.5], tf.bfloat16)
    with make() as tape:
        tape.watch([x, z, h])
        loss = tf.reduce_sum(x * x) + tf.reduce_sum(tf.math.real(z * z)) + tf.reduce_sum(tf.cast(h * h, tf.float32))
    return asked(tape, loss, [x, z, h])


@program
def not_finite(make):
    v = tf.Variable([0.0, 4.0])
    with make() as tape:
        loss = tf.reduce_sum(tf.where(v > 0.0, tf.math.log(v), 0.0)) + tf.reduce_sum(tf.sqrt(v))
    return asked(tape, loss, v)


@program
def sparse_rows(make):
    table = tf.Variable(np.arange(12.0, dtype=np.float32).reshape(6, 2))
    with make() as tape:
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1, 4]) ** 2)
    return asked(tape, loss, table)


@program
def rows_that_are_updated_twice(make):
    table = tf.Variable(np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32))
    for _ in range(3):
        with make() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 4, 1, 1, 4, 0, 1]) ** 3)
        table.scatter_sub(tape.gradient(loss, table))
    with make() as tape:
        loss = tf.reduce_sum(table)
    return tape, loss, table, [table, tape.gradient(loss, table)]


@program
def steps_of_an_optimizer(make):
    keras = keras_model()
    w = tf.Variable(np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32))
    table = tf.Variable(np.random.default_rng(1).normal(size=(7, 5)).astype(np.float32))
    optimizer, losses = keras.optimizers.Adam(0.1), []
    for _ in range(12):
        with make() as tape:
            loss = tf.reduce_sum(tf.sin(w @ tf.transpose(w)) + tf.reduce_sum(tf.gather(table, [2, 3, 2, 2]) ** 2))
        optimizer.apply_gradients(zip(tape.gradient(loss, [w, table]), [w, table], strict=True))
        losses.append(loss)
    return tape, loss, [w, table], [losses, w, table]


@program
def a_function_whose_values_are_shared(make):
    a, b = (tf.Variable(np.random.default_rng(i).normal(size=(40, 40)).astype(np.float32)) for i in (0, 1))

    @tf.function
    def step(x):
        with make() as tape:
            y = tf.tanh(x @ a) @ b + tf.tanh(x @ a)
            loss = tf.reduce_mean(tf.exp(y * 0.1) * y)
        gradients = tape.gradient(loss, [a, b])
        a.assign_sub(gradients[0])
        b.assign_sub(gradients[1])
        return loss

    losses = [step(tf.constant(np.random.default_rng(i).normal(size=(30, 40)).astype(np.float32))) for i in range(4)]
    with make() as tape:
        loss = tf.reduce_sum(a * b)
    return tape, loss, [a, b], [losses, a, b, tape.gradient(loss, [a, b])]


@program
def a_sparse_product(make):
    w = tf.Variable([[1.0], [2.0], [3.0]])
    values = tf.Variable([2.0, 5.0])
    with make() as tape:
        a = tf.SparseTensor([[0, 0], [1, 2]], values, [2, 3])
        loss = tf.reduce_sum(tf.sparse.sparse_dense_matmul(a, w))
    return asked(tape, loss, [w, values])


@program
def a_function(make):
    v, seen = tf.Variable([1.0, 2.0]), tf.Variable(0.0, trainable=False)

    @tf.function
    def step(x):
        seen.assign_add(1.0)
        return tf.reduce_sum(tf.exp(v) * x) * seen

    with make() as tape:
        loss = step(tf.constant([3.0, 4.0])) + step(tf.constant([1.0, 1.0]))
    return asked(tape, loss, [v, seen])


@program
def a_tape_inside_a_function(make):
    v, fixed, kept = tf.Variable([2.0]), tf.Variable([[1.0, 3.0]], trainable=False), []

    @tf.function
    def step(x):
        with make() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(fixed * v * x + tf.nn.relu(x))
        if not kept:
            ask_everything(tape, loss, [v, x])
        kept.append(tape)
        return tape.gradient(loss, [v, x])

    step(tf.constant([[1.0, -1.0]]))
    gradients = step(tf.constant([[5.0, 1.0]]))
    with make() as tape:
        loss = tf.reduce_sum(v * v)
    return tape, loss, v, [gradients, tape.gradient(loss, v), len(kept)]


@program
def a_step_whose_later_runs_are_not_finite(make):
    v, w, steps = tf.Variable([2.0, 1.0]), tf.Variable([-1.0, -1.0]), []

    @tf.function
    def step(x):
        noise = tf.random.stateless_uniform([2], [1, 2])
        with make() as tape:
            loss = tf.reduce_sum(tf.math.log(v * x) + tf.nn.relu(w * x)) + tf.reduce_sum(noise * v)
        gradients = tape.gradient(loss, [v, w])
        v.assign_sub(0.1 * gradients[0])
        return loss, gradients

    for x in (1.0, 2.0, 0.0, 1.0):
        steps.append(step(tf.constant([x, 1.0])))
    with make() as tape:
        loss = tf.reduce_sum(w * w)
    return tape, loss, w, [steps, tape.gradient(loss, w), v]


@program
def control_flow(make):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def power(n):
        y = v
        for _ in tf.range(n):
            if tf.reduce_sum(y) > 10.0:
                y = y * 0.5
            else:
                y = y * v + 1.0
        return tf.reduce_sum(y)

    with make() as tape:
        chosen = tf.cond(tf.reduce_sum(v) > 0.0, lambda: v * 2.0, lambda: v)
        looped = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * v), (0, chosen))[1]
        loss = power(tf.constant(5)) + tf.reduce_sum(looped)
    return asked(tape, loss, v)


@program
def custom_gradients(make):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 1.0])

    @tf.custom_gradient
    def clipped(x, y):
        return x * y, lambda g: (tf.clip_by_norm(g * y, 1.0), None)

    @tf.recompute_grad
    def again(x):
        return tf.sin(x * w)

    with make() as tape:
        loss = tf.reduce_sum(clipped(v, w)) + tf.reduce_sum(again(v))
    return asked(tape, loss, [v, w])


@program
def nested_tapes(make):
    v = tf.Variable([1.0, 2.0])
    with make() as outer:
        with make() as inner:
            y = tf.reduce_sum(v**3)
        first = inner.gradient(y, v)
        loss = tf.reduce_sum(first * first)
    ask_everything(inner, y, v, used_up=True)
    return asked(outer, loss, v)


@program
def a_persistent_tape_inside_itself(make):
    v = tf.Variable([1.0, 2.0])
    with make(persistent=True) as tape:
        y = tf.reduce_sum(v**3)
        loss = tf.reduce_sum(tape.gradient(y, v))
    return asked(tape, loss, v)


@program
def vectorized_inside(make):
    v, x = tf.Variable([2.0]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    kept = []

    def one(row):
        with make() as tape:
            tape.watch(row)
            loss = tf.reduce_sum(row * row * v)
        ask_everything(tape, loss, [row, v])
        kept.append(tape)
        return tape.gradient(loss, row)

    rows = tf.vectorized_map(one, x)
    with make() as tape:
        loss = tf.reduce_sum(tf.vectorized_map(lambda row: tf.reduce_sum(row * v), x))
    return tape, loss, v, [rows, tape.gradient(loss, v)]


@program
def jacobians(make):
    v = tf.Variable([1.0, 2.0])
    with make(persistent=True) as tape:
        y = tf.sin(v) * tf.reduce_sum(v)
    return tape, y, v, [tape.jacobian(y, v), tape.gradient(y, v)]


@program
def forward_over_reverse(make):
    v, fixed = tf.Variable([2.0]), tf.constant([[1.0, 3.0]])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0])) as accumulator:
        with make() as tape:
            loss = tf.reduce_sum(fixed * v * v)
        gradient = tape.gradient(loss, v)
    return tape, loss, v, [gradient, accumulator.jvp(gradient), accumulator.jvp(loss)]


@program
def stopped_and_resumed(make):
    v = tf.Variable([1.0, 2.0])
    with make() as tape:
        y = v * v
        with tape.stop_recording():
            z = v * 3.0
        loss = tf.reduce_sum(y * z)
        v.assign_add([1.0, 1.0])
    return asked(tape, loss, [v, z])


@program
def values_that_leave(make):
    v = tf.Variable([1.0, 2.0])
    with make() as tape:
        y = v * v
        loss = tf.reduce_sum(tf.constant(y.numpy())) + float(tf.reduce_sum(y)) + tf.reduce_sum(np.square(y))
    return asked(tape, loss, v)


@program
def arrays_of_tensors(make):
    v = tf.Variable([1.0, 2.0])
    with make() as tape:
        array = tf.TensorArray(tf.float32, 2).write(0, v[0] * 2.0).write(1, v[1] ** 2)
        loss = tf.reduce_sum(array.stack())
    return asked(tape, loss, v)


@program
def nothing_recorded(make):
    v = tf.Variable([1.0])
    y = tf.reduce_sum(v * v)
    with make() as tape:
        pass
    return asked(tape, y, v)


def keras_model():
    if not is_installed("keras"):
        pytest.skip("Keras is not installed")
    tf.keras.utils.set_random_seed(0)
    return tf.keras


@program
def batch_normalization_in_inference(make):
    keras = keras_model()
    layers = [keras.layers.Dense(3, activation="relu"), keras.layers.BatchNormalization(), keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((4,)), *layers])
    x = tf.constant(np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4))
    with make() as tape:
        loss = tf.reduce_mean(model(x, training=False) ** 2)
    return asked(tape, loss, model.variables)


@program
def frozen_layers_in_training(make):
    keras = keras_model()
    layers = [keras.layers.Dense(3), keras.layers.BatchNormalization(), keras.layers.Dropout(0.5, seed=1)]
    model = keras.Sequential([keras.Input((4,)), *layers])
    model.layers[0].trainable = False
    x = tf.constant(np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4))
    with make() as tape:
        loss = tf.reduce_mean(model(x, training=True) ** 2)
    return asked(tape, loss, model.trainable_variables + model.non_trainable_variables[:2])


def ask_everything(tape, target, sources, used_up=False, folder=None):
    """Calls all methods of a tape. A released plain tape supports few of them, and says so."""
    questions = [
        lambda: tape.explain(target, sources),
        lambda: tape.diagnose(target, sources),
        lambda: tape.profile(target, sources),
        lambda: tape.memory(),
        lambda: tape.flow(target, sources),
        lambda: tape.flow(target, sources, by="layer"),
        lambda: tape.check(target, sources),
        lambda: tape.explain(target, []),
        lambda: tape.diagnose(),
        lambda: tape.profile(),
        lambda: tape.flow(),
        lambda: tape.check(),
    ]
    if folder is not None:
        questions += [lambda: tape.report(folder / "1.html", target, sources), lambda: tape.report(folder / "2.html")]
    for question in questions:
        try:
            assert str(question()) is not None
        except RuntimeError as error:
            assert "releases its records" in str(error) and not getattr(tape._past, "keeps", False)


def flat(results):
    found = tf.nest.flatten(results, expand_composites=True)
    return [None if x is None else np.asarray(tf.convert_to_tensor(x)) for x in found]


def assert_same(name, one, other):
    assert len(one) == len(other), name
    for a, b in zip(one, other, strict=True):
        assert (a is None) == (b is None), name
        if a is not None:
            np.testing.assert_array_equal(a, b, err_msg=name)
            assert a.dtype == b.dtype


@pytest.fixture
def no_failure(caplog, monkeypatch):
    """Internal failures of a hook are logged, not raised: these tests fail on them."""
    monkeypatch.setattr(never_raises, "_said", set())
    with caplog.at_level(logging.WARNING, "gradtape"):
        yield
    assert not [r.getMessage() for r in caplog.records if "explanation" in r.getMessage()]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_watched_program_is_the_same_program(name, tmp_path, no_failure):
    plain = PROGRAMS[name](lambda **kinds: tf.GradientTape(**kinds))
    assert event_log.events.holders == 0
    ask_everything(*plain[:3], folder=tmp_path)
    traced = PROGRAMS[name](lambda **kinds: tf.GradientTape(**kinds, trace=True))
    assert_same(name, flat(plain[3]), flat(traced[3]))
    ask_everything(*traced[:3], folder=tmp_path)
    del traced
    with tf.inspect.tracing(io.StringIO()):  # as `gradtape run --trace` does
        under = PROGRAMS[name](lambda **kinds: tf.GradientTape(**kinds))
        ask_everything(*under[:3], folder=tmp_path)
    assert_same(name, flat(plain[3]), flat(under[3]))


def test_a_traced_tape_that_is_kept_alive_makes_no_others_traced():
    v = tf.Variable(3.0)
    with tf.GradientTape(trace=True) as kept:
        tf.square(v)
    kept.itself = kept
    del kept
    with tf.GradientTape() as tape:
        tf.square(v)
    assert not tape._log.traces
    with tf.inspect.tracing(io.StringIO()), tf.GradientTape() as tape:
        tf.square(v)
    assert tape._log.traces
    gc.collect()
    assert event_log.events.holders == 0


class _Broken(Exception):
    pass


def _breaks(*args, **kinds):
    raise _Broken("planted")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_broken_hook_is_said_once_and_the_program_goes_on(name, monkeypatch, caplog):
    results = flat(PROGRAMS[name](lambda **kinds: tf.GradientTape(**kinds))[3])
    monkeypatch.setattr(event_log, "here", _breaks)
    monkeypatch.setattr(event_log.scopes, "parts", _breaks)
    monkeypatch.setattr(never_raises, "_said", set())
    monkeypatch.setattr(sys.modules["gradtape.inspect.causes.explain"], "explain", _breaks)
    with caplog.at_level(logging.WARNING, "gradtape"), tf.inspect.tracing():
        under = flat(PROGRAMS[name](lambda **kinds: tf.GradientTape(**kinds))[3])
    assert_same(name, results, under)
    said = [r.getMessage() for r in caplog.records if "explanation" in r.getMessage()]
    assert said and len(said) == len(set(said))
