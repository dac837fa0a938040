"""What `gradtape run --trace` reports about realistic programs: the cause, the line, the names; or nothing.

The programs run in this process, with the functions that the command uses.
"""

import contextlib
import io
import logging
import os
import sys
import warnings

import numpy as np
import pytest

import gradtape
import gradtape as tf
from gradtape.cli.run import _explanations
from gradtape.core import modes
from gradtape.core.extras import is_installed
from gradtape.inspect.causes.reported import Reporter

sys.path.insert(0, os.path.dirname(__file__))

from lost_gradients import HEALTHY, LOST


@pytest.fixture
def said(tmp_path, monkeypatch):
    """Returns what is printed on stderr while a program runs, and the reasons."""
    monkeypatch.setitem(sys.modules, "tensorflow", gradtape)

    def run(name, program, raises=False):
        if "keras" in program and not is_installed("keras"):
            pytest.skip("Keras is not installed")
        file = tmp_path / f"{name}.py"
        file.write_text(program)
        ends = pytest.raises(ValueError, match="No gradients provided") if raises else contextlib.nullcontext()
        code = compile(program, str(file), "exec", dont_inherit=True)
        with contextlib.redirect_stderr(io.StringIO()) as stderr, contextlib.redirect_stdout(io.StringIO()):
            with warnings.catch_warnings(action="ignore"), ends, _explanations() as found:
                logging.disable(logging.WARNING)  # TensorFlow's own, as for a watched integer
                try:
                    exec(code, {"__name__": "__main__"})
                finally:
                    logging.disable(logging.NOTSET)
        return stderr.getvalue(), found

    return run


@pytest.mark.parametrize("name", LOST)
def test_a_lost_gradient_is_explained_once_with_its_line(name, said):
    kind, cause, says, program, raises = LOST[name]
    text, reasons = said(name, program, raises)
    assert [reason.cause for reason in reasons] == [cause], text
    line = next(n for n, line in enumerate(program.splitlines(), 1) if "# here" in line)
    assert text.startswith(f"gradient is {kind} for `"), text
    assert text.count("gradient is") == 1, text
    assert f"{name}.py:{line}" in text, text
    for words in says:
        assert words in text, f"{words!r} is not said: {text}"


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_said_of_a_healthy_gradient(name, said):
    text, reasons = said(name, HEALTHY[name])
    assert reasons == []
    assert text == "" or (text.startswith("loss scaling skipped ") and text.count("\n") == 1)


SCALED = """
import tensorflow as tf
tf.keras.mixed_precision.set_global_policy("mixed_float16")
try:
    net = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.01), initial_scale=2.0**24)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.cast(net(tf.random.normal((8, 4))) - 1.0, tf.float32) ** 2)  # here
            scaled = optimizer.scale_loss(loss)
        optimizer.apply_gradients(zip(tape.gradient(scaled, net.trainable_variables), net.trainable_variables))
finally:
    tf.keras.mixed_precision.set_global_policy("float32")
"""


def test_steps_that_a_loss_scaler_skips_are_one_line(said):
    text, reasons = said("scaled", SCALED)
    line = next(n for n, line in enumerate(SCALED.splitlines(), 1) if "# here" in line)
    assert text.startswith("loss scaling skipped 3 steps. The first overflow: the derivative of `tf.cast("), text
    assert text.endswith(f"scaled.py:{line})\n") and text.count("\n") == 1, text
    assert reasons == []


@pytest.mark.parametrize("compiled", [lambda f: f, tf.function, tf.function(jit_compile=True)])
def test_a_gradient_of_rounding_errors_is_a_gradient_of_zeros(compiled):
    v = tf.Variable([[3.0], [0.7], [1.3]], name="v")

    @compiled
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.l2_normalize(v, -1) * [[1.0], [2.0], [3.0]])
        return tape.gradient(loss, v)

    def program():
        for _ in range(3):
            gradient = step()
        assert 0 < np.max(np.abs(gradient)) < 1e-6

    assert found_in(program) == [("`v`", "zero")]


def test_a_small_gradient_is_not_one_of_rounding_errors():
    v = tf.Variable([3.0, 2.0], name="v")

    def program():
        for _ in range(12):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * 1e-7) + 5.0
            tape.gradient(loss, v)

    assert found_in(program) == []


def found_in(program):
    stream = io.StringIO()
    with gradtape.inspect.tracing(stream) as reasons:
        program()
    assert stream.getvalue().count("gradient is") == len(reasons)
    return [(reason.source, reason.cause.value) for reason in reasons]


def test_none_zero_and_nan_of_one_question_are_told_apart():
    a, b, c, d = (tf.Variable([value], name=name) for name, value in zip("abcd", (1.0, -1.0, 0.0, 2.0), strict=True))

    def program():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.round(a) + tf.nn.relu(b) + tf.where(c > 0.0, tf.math.log(c), 0.0) + d)
        tape.gradient(loss, [a, b, c, d])

    assert found_in(program) == [("`a`", "not differentiable"), ("`c`", "not finite"), ("`b`", "zero")]


def test_jacobians_are_looked_at_too():
    x, w = tf.Variable([[-1.0, -2.0]]), tf.Variable([1.0])

    def program():
        with tf.GradientTape(persistent=True) as tape:
            y = tf.nn.relu(x)
        tape.jacobian(y, [x, w])
        tape.batch_jacobian(y, x)

    assert found_in(program) == [("`w`", "no path"), ("`x`", "zero")]


def test_what_was_said_once_is_not_said_of_every_step():
    v = tf.Variable([-1.0, -2.0])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.relu(v * x))
        return tape.gradient(loss, v)

    assert found_in(lambda: [step(tf.constant(x)) for x in (1.0, 2.0, 3.0)]) == [("`v`", "zero")]


@pytest.mark.parametrize("jit_compile", [False, True])
def test_the_numbers_of_a_run_are_looked_at_whoever_computes_it(jit_compile):
    v, w, seen = tf.Variable([2.0, 0.5]), tf.Variable([-1.0, -1.0]), tf.Variable(0.0, trainable=False)

    @tf.function(jit_compile=jit_compile)
    def step(x):
        seen.assign_add(1.0)
        kept = tf.nn.dropout(tf.ones([2]), 0.5)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.log(v * x) * kept) + tf.reduce_sum(tf.nn.relu(w * x * kept))
        v.assign(v + 0.01)
        return tape.gradient(loss, [v, w]), tf.random.uniform([2])

    def steps():
        tf.random.set_seed(7)
        v.assign([2.0, 0.5])
        return [step(tf.constant(x)) for x in (1.0, 2.0, 0.0, 0.0)]

    said = io.StringIO()
    with tf.inspect.tracing(said) as reasons:
        under = steps()
    assert [(reason.source, reason.cause.value) for reason in reasons] == [("`w`", "zero"), ("`v`", "not finite")]
    line = step.python_function.__code__.co_firstlineno + 5
    assert said.getvalue().count(f"test_trace_programs.py:{line}, in step") == 2
    assert float(seen) == 4.0
    alone = tf.nest.flatten(steps())
    for a, b in zip(tf.nest.flatten(under), alone, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_function_that_was_traced_before_is_traced_again(jit_compile):
    v, traces = tf.Variable(np.random.default_rng(0).normal(size=(30, 30)).astype(np.float32)), []

    @tf.function(jit_compile=jit_compile)
    def step(x):
        traces.append("step")
        with tf.GradientTape() as tape:
            y = tf.tanh(x @ v) * tf.random.uniform([30]) + tf.tanh(x @ v)
            loss = tf.reduce_sum(tf.sqrt(tf.reduce_sum(y**2)))
        v.assign_sub(0.01 * tape.gradient(loss, v))
        return loss

    @tf.function
    def forward(x):
        traces.append("forward")
        return x @ v

    x = tf.constant(np.random.default_rng(1).normal(size=(20, 30)).astype(np.float32))

    def losses(block):
        tf.random.set_seed(1)
        v.assign(np.random.default_rng(0).normal(size=(30, 30)).astype(np.float32))
        before = [step(x), step(x), forward(x)]
        with block:
            inside = [step(x), forward(x), step(x), step(0.0 * x)]
        return [*before, *inside, step(x)]

    losses(contextlib.nullcontext())  # a first call returns the numbers of a trace
    alone = losses(contextlib.nullcontext())
    assert traces == ["step", "forward"]
    said = io.StringIO()
    watched = losses(tf.inspect.tracing(said))
    assert traces == ["step", "forward", "step"]
    for a, b in zip(alone, watched, strict=True):
        np.testing.assert_array_equal(a, b)
    assert said.getvalue().count("gradient is not finite for `v`") == 1
    assert "tf.sqrt(tf.reduce_sum(y ** 2))" in said.getvalue().replace("y**2", "y ** 2")


def test_a_custom_gradient_in_a_function_is_looked_into():
    v, w = tf.Variable([2.0, 0.5]), tf.Variable([1.0, 3.0])

    @tf.custom_gradient
    def reversed_gradient(x):
        return tf.identity(x), lambda g: -g

    @tf.custom_gradient
    def blocked(x):
        return x * 2.0, lambda g: g * tf.cast(x > 100.0, tf.float32)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sqrt(reversed_gradient(v) * x)) + tf.reduce_sum(blocked(w))
        return tape.gradient(loss, [v, w])

    said = io.StringIO()
    with tf.inspect.tracing(said) as reasons:
        for x in (1.0, 0.0):
            step(tf.constant(x))
    assert [(reason.source, reason.cause.value) for reason in reasons] == [("`w`", "zero"), ("`v`", "not finite")]
    assert "tf.sqrt(reversed_gradient(v) * x)" in said.getvalue()


def test_a_function_is_looked_into_where_nothing_before_it_can_run_again():
    v = tf.Variable(tf.ones([9, 3]))
    clipped = tf.custom_gradient(lambda x: (2.0 * x, lambda g: tf.clip_by_value(g, -1.0, 1.0)))

    def stopped_before(h):
        h = h + tf.stop_gradient(0.1 * tf.round(h))
        return tf.ones_like(h) * 0.3

    def indices(h):
        for _ in tf.range(2):
            h = tf.cast(tf.math.top_k(h, 3)[1], tf.float32)
        return h

    for part, cause, said in (
        (lambda h: tf.tanh(tf.sigmoid(h + 800.0)), "zero", "the sigmoid is saturated"),
        (stopped_before, "not differentiable", "tf.ones_like(h)"),
        (indices, "integer", "output 2 of tf.nn.top_k"),
    ):
        function, stream = tf.function(part), io.StringIO()
        with tf.inspect.tracing(stream) as reasons:
            for _ in range(12):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(function(clipped(v)))
                tape.gradient(loss, v)
        assert [reason.cause.value for reason in reasons] == [cause] and said in stream.getvalue()
        assert reasons[0].line[2] in ("<lambda>", part.__name__)


def test_second_derivatives_are_looked_at():
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable([3.0], name="w")
    z = tf.Variable([0.0, 1.0], name="z")

    def products(loss, sources, wrap=lambda f: f):
        def ask():
            with tf.GradientTape(persistent=True) as tape:
                y = loss()
            tape.hvp(y, sources, [tf.ones_like(x) for x in sources])
            return tape.hessian(y, sources)

        return list(dict.fromkeys(found_in(lambda: wrap(ask)())))

    for wrap in (lambda f: f, tf.function):
        assert products(lambda: tf.reduce_sum(tf.exp(v)) * w[0], [v, w], wrap) == []
        assert products(lambda: tf.reduce_sum(tf.nn.relu(v)), [v], wrap) == []  # a correct zero
        assert products(lambda: tf.reduce_sum(tf.round(v) ** 2), [v], wrap) == [("`v`", "not differentiable")]
        assert products(lambda: tf.reduce_sum(v**2), [v, w], wrap) == [("`w`", "no path")]
        assert products(lambda: tf.reduce_sum(z**1.5), [z], wrap) == [("`z`", "not finite")]
        assert products(lambda: tf.reduce_sum(tf.sqrt(z)), [z], wrap) == [("`z`", "not finite")]
        assert products(lambda: tf.reduce_sum(tf.nn.relu(-v) ** 2), [v], wrap) == [("`v`", "zero")]


def test_what_is_linear_has_no_second_derivative():
    w = tf.Variable([1.0, 2.0])

    def nested():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = tf.reduce_sum(w * 3.0)
            slope = inner.gradient(loss, w)
            penalty = tf.reduce_sum(slope**2)
        assert outer.gradient(penalty, w) is None

    def alone():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * 3.0)
        assert tape.hvp(loss, w, [1.0, 1.0]) is None

    assert found_in(nested) == found_in(alone) == [("`w`", "linear")]


def test_a_gradient_that_dies_is_told_of_when_it_stays_dead():
    v = tf.Variable([1.0])

    def program(zeros):
        for x in [1.0] + zeros * [-1.0]:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((tf.nn.relu(v * x) - 2.0) ** 2)
            tape.gradient(loss, v)

    assert found_in(lambda: program(9)) == []
    assert found_in(lambda: program(10)) == [("`v`", "zero")]


def test_a_function_that_was_traced_under_tracing_is_silent_afterwards():
    v, said = tf.Variable([1.0]), io.StringIO()

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.log(v * x))
        return tape.gradient(loss, v)

    with tf.inspect.tracing(said) as reasons:
        step(tf.constant(1.0))
    with contextlib.redirect_stderr(said):
        step(tf.constant(0.0))
    assert said.getvalue() == "" and reasons == []
    assert not any(isinstance(mode, Reporter) for mode in modes.entered)


def test_the_question_that_was_asked_stays_the_last_one():
    v, w = tf.Variable([-1.0]), tf.Variable([2.0])
    with tf.inspect.tracing(io.StringIO()):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.nn.relu(v) + w
        tape.gradient(loss, [w, v])
        assert [id(source) for source in tape._log.last_query[2]] == [id(w), id(v)]


@pytest.mark.parametrize(
    "line", ["y = tf.round(x * 2.0) + 1.0", "y = (3.0 + x > 2.0)", "y = [tf.sign(tf.floor(\n    x))]"], ids=str
)
def test_expressions_are_read_off_the_source(line, tmp_path):
    from gradtape.inspect.causes.messages import expression, phrase

    file = tmp_path / "program.py"
    file.write_text(line)
    x = tf.Variable(1.0)
    with tf.GradientTape(trace=True) as tape:
        exec(compile(line, str(file), "exec"), {"tf": tf, "x": x})
    (_, op), reference = tape._log.disconnections[-1], tape._log.exit_lines[len(tape._log.disconnections) - 1]
    assert expression(reference) in ("tf.round(x * 2.0)", "3.0 + x > 2.0", "tf.floor(x)")
    assert phrase(op, (str(file), 1, "<module>")).strip("`").startswith(("tf.round(", "3.0 +", "tf.floor"))
