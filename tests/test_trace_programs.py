"""What `gradtape run --trace` says of programs as people write them: the cause, the line, the names; or nothing at all.

The programs are run in this process, by what the command uses.
"""

import contextlib
import io
import os
import sys
import warnings

import pytest

import gradtape
import gradtape as tf
from gradtape.cli.run import _explanations
from gradtape.engine.tape import inspection

sys.path.insert(0, os.path.dirname(__file__))

from lost_gradients import HEALTHY, LOST


@pytest.fixture
def said(tmp_path, monkeypatch):
    """What is said on stderr while a program runs, and the reasons."""
    monkeypatch.setitem(sys.modules, "tensorflow", gradtape)

    def run(name, program, raises=False):
        file = tmp_path / f"{name}.py"
        file.write_text(program)
        ends = pytest.raises(ValueError, match="No gradients provided") if raises else contextlib.nullcontext()
        code = compile(program, str(file), "exec", dont_inherit=True)
        with contextlib.redirect_stderr(io.StringIO()) as stderr, contextlib.redirect_stdout(io.StringIO()):
            with warnings.catch_warnings(action="ignore"), ends, _explanations() as found:
                exec(code, {"__name__": "__main__"})
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
    assert said(name, HEALTHY[name]) == ("", [])


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
    assert inspection.when_asked is None


def test_the_question_that_was_asked_stays_the_last_one():
    v, w = tf.Variable([-1.0]), tf.Variable([2.0])
    with tf.inspect.tracing(io.StringIO()):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.nn.relu(v) + w
        tape.gradient(loss, [w, v])
        assert [id(source) for source in tape._log.question[2]] == [id(w), id(v)]


@pytest.mark.parametrize(
    "line", ["y = tf.round(x * 2.0) + 1.0", "y = (3.0 + x > 2.0)", "y = [tf.sign(tf.floor(\n    x))]"], ids=str
)
def test_expressions_are_read_off_the_source(line, tmp_path):
    from gradtape.inspect.causes.wording import expression, phrase

    file = tmp_path / "program.py"
    file.write_text(line)
    x = tf.Variable(1.0)
    with tf.GradientTape(trace=True) as tape:
        exec(compile(line, str(file), "exec"), {"tf": tf, "x": x})
    (_, op), reference = tape._log.exits[-1], tape._log.exit_lines[len(tape._log.exits) - 1]
    assert expression(reference) in ("tf.round(x * 2.0)", "3.0 + x > 2.0", "tf.floor(x)")
    assert phrase(op, (str(file), 1, "<module>")).strip("`").startswith(("tf.round(", "3.0 +", "tf.floor"))
