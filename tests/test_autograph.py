"""AutoGraph: control flow on tensors, in converted code that runs eagerly and in traced code."""

import functools
import json
import logging
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from autograph_programs import run
from test_recorded import FOLDER, compare, recorder

import gradtape as tf
from gradtape.autograph.on_demand import convert
from gradtape.graph.ir.graph import all_nodes

SUBJECTS = ("autograph", "autograph_loops")
for subject in (*SUBJECTS, "autograph_errors"):
    recorder.load(subject)
errors = sys.modules["subject_autograph_errors"]
PROGRAMS = {name: f for subject in SUBJECTS for name, f in sys.modules[f"subject_{subject}"].PROGRAMS.items()}
ANSWERS = {
    name: answer
    for subject in SUBJECTS
    for name, answer in json.loads((FOLDER / f"{subject}.json").read_text())["answers"].items()
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_converted_code_runs_eagerly(name):
    value = run(tf, PROGRAMS[name], convert)
    given = tf.function(lambda: value, autograph=False)()  # a function returns numbers as tensors
    compare(recorder.described(given), ANSWERS[name]["value"])


@pytest.mark.parametrize("name", errors.REASONS)
def test_what_is_refused_names_the_line_and_says_why(name):
    with pytest.raises(Exception, match=re.escape(errors.REASONS[name])) as caught:
        run(tf, errors.PROGRAMS[name], tf.function)
    if name not in ("no_iteration", "while_else"):  # the one is found when the graph runs, the other is not converted
        lines = str(caught.value).split("\n")
        assert lines[0] == "in user code:"
        assert lines[2].endswith(f"in {name}  *")


class Counted:
    """A callable object."""

    calls = 0

    def __call__(self, x):
        self.calls += 1
        return x if x > 0 else -x


def positive(x):
    if x > 0:
        return x
    return -x


def same(x):
    return x


@pytest.mark.parametrize(
    "f", [positive, Counted(), Counted().__call__, functools.partial(positive), functools.partial(positive, x=-2.0)]
)
def test_whatever_can_be_called_is_converted(f):
    args = () if isinstance(f, functools.partial) and f.keywords else (tf.constant(-2.0),)
    assert float(tf.function(f)(*args)) == 2.0
    assert float(convert(f)(*args)) == 2.0


def test_one_graph_serves_both_branches():
    traces = []

    @tf.function
    def f(x, n):
        traces.append(1)
        for _ in tf.range(n):
            if x > 10.0:
                x = x - 10.0
            else:
                x = x * 3.0
        return x

    def plain(x, n):
        for _ in range(n):
            x = x - 10.0 if x > 10.0 else x * 3.0
        return x

    for x, n in ((1.0, 3), (11.0, 2), (2.0, 7), (50.0, 0)):
        assert float(f(tf.constant(x), tf.constant(n))) == plain(x, n)
    assert len(traces) == 1


def test_functions_marked_are_not_converted():
    @tf.autograph.experimental.do_not_convert
    def marked(x):
        return positive(x)

    @tf.autograph.experimental.do_not_convert()
    def marked_too(x):
        return positive(x)

    for f in (marked, marked_too, lambda x: marked(x)):
        with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="as a Python `bool` is not allowed"):
            tf.function(f)(tf.constant(1.0))
        assert float(convert(f)(tf.constant(-1.0))) == 1.0


def test_autograph_can_be_switched_off():
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(positive, autograph=False)(tf.constant(1.0))


def test_a_function_in_one_that_is_not_converted_is_converted():
    inner = tf.function(lambda x: positive(x))
    assert float(tf.function(lambda x: inner(x), autograph=False)(tf.constant(-1.0))) == 1.0


def test_functions_without_source_run_as_they_are(caplog):
    scope = {}
    exec(compile("def f(x):\n    return x if x > 0 else -x", "<nowhere>", "exec"), scope)
    with caplog.at_level(logging.WARNING, "gradtape"):
        assert float(convert(scope["f"])(tf.constant(-1.0))) == 1.0
        assert float(convert(scope["f"])(tf.constant(-1.0))) == 1.0
    assert len(caplog.records) == 1
    assert "AutoGraph could not transform" in caplog.text
    assert "will run it as-is" in caplog.text
    caplog.clear()
    assert float(convert(eval("lambda x: x if x > 0 else -x"))(tf.constant(-1.0))) == 1.0
    assert not caplog.records


def test_libraries_are_called_as_they_are():
    seen = []
    called = convert(lambda: seen.extend([np.sum([1, 2]), json.dumps({}), tf.add(1, 2), sum([3, 4])]))
    called()
    assert seen[:2] == [3, "{}"] and seen[3] == 7


def test_recursive_conversion_can_be_left_out():
    outer = tf.autograph.to_graph(lambda x: same(x), recursive=False)
    assert outer(3) == 3
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(tf.autograph.to_graph(lambda x: positive(x), recursive=False))(tf.constant(1.0))


def test_to_graph_and_to_code():
    assert float(tf.autograph.to_graph(positive)(tf.constant(-2.0))) == 2.0
    code = tf.autograph.to_code(positive)
    assert code.startswith("def tf__positive(x):")
    assert "ag__.if_stmt(" in code
    for entity in (5, print, tf.function(positive), Counted):
        with pytest.raises(Exception, match="Cannot apply autograph to a function that doesn't expose a __code__"):
            tf.autograph.to_graph(entity)


def test_features():
    Feature = tf.autograph.experimental.Feature

    def checked(x):
        assert x > 0, "too small"
        return x

    def written(x):
        x[1] = 7.0
        parts = [x]
        parts.append(x + 1.0)
        return parts.pop()

    def printed(x):
        print("x is", x)
        return x == 1.0

    assert_feature = tf.function(checked, experimental_autograph_options=Feature.ASSERT_STATEMENTS)
    assert float(assert_feature(tf.constant(1.0))) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
        assert_feature(tf.constant(-1.0))
    lists = tf.function(written, experimental_autograph_options=Feature.LISTS)
    assert lists(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 8.0]
    every = tf.function(printed, experimental_autograph_options=Feature.ALL)
    assert bool(every(tf.constant(1.0)))
    assert Feature.ALL in Feature.all()
    assert Feature.LISTS not in Feature.all_but([Feature.LISTS])


class Own(Exception):
    def __init__(self, code, reason):
        super().__init__(f"{reason} ({code})")
        self.code = code


@pytest.mark.parametrize(
    "error",
    [
        ValueError("wrong"),
        ZeroDivisionError("wrong"),
        KeyError("wrong"),
        OSError("wrong"),
        Own(5, "wrong"),
        tf.errors.InvalidArgumentError("wrong"),
        tf.errors.OutOfRangeError(None, None, "wrong"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_keep_their_class_and_name_the_users_line(error):
    def inner():
        raise error

    def outer(x):
        return same(inner())

    with pytest.raises(type(error)) as caught:
        tf.function(outer)(tf.constant(1.0))
    lines = str(caught.value).split("\n")
    assert lines[0] == "in user code:"
    assert str(Path(__file__).name) in lines[2] and lines[2].endswith("*")
    assert "wrong" in lines[-2]
    if isinstance(error, Own):
        assert caught.value.code == 5
    if isinstance(error, tf.errors.OpError):
        assert caught.value.message == str(caught.value)


def test_errors_of_functions_that_call_one_another():
    def outer(x):
        y = x + 1.0
        return middle(y)

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.function(outer)(tf.constant([1.0]))
    starred = [line.split(" in ")[1] for line in str(caught.value).split("\n") if line.endswith("*")]
    assert starred == ["outer  *", "middle  *", "innermost  *"]


def middle(x):
    return innermost(x)


def innermost(x):
    return tf.matmul(x, x)


def test_loops_over_rows_of_tensors_in_python():
    @tf.function
    def f(x):
        total = 0.0
        for i, v in enumerate(x):
            total += i * v
        for a, b in zip(x, x, strict=True):
            total += a * b
        smallest, largest = min(x), max(x[0], x[1])
        return total, sum(x), smallest, largest, any(x > 3.0), all(x > 3.0), list(map(lambda v: v * 2, x))

    got = tf.nest.map_structure(lambda y: y.numpy().tolist(), f(tf.constant([3.0, 4.0])))
    assert got == (29.0, 7.0, 3.0, 4.0, True, False, [6.0, 8.0])


def test_eager_loops_keep_to_their_maximum():
    def f(x):
        n = 0
        for _ in x:
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
            n += 1
        return n

    assert convert(f)(tf.range(5)) == 2
    assert convert(f)(range(5)) == 5


def test_set_loop_options_comes_first():
    def f(x):
        for _ in x:
            x = x + 1
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
        return x

    with pytest.raises(Exception, match="must be the first statement in the loop block"):
        tf.autograph.to_graph(f)


def test_converted_methods_see_their_class():
    class Base:
        def value(self):
            return 1

    class Derived(Base):
        def value(self):
            return super().value() + 1

        def names(self):
            here = 1
            return sorted(locals()), eval("here + 1")

    assert convert(Derived().value)() == 2
    names, two = convert(Derived().names)()
    assert "here" in names and two == 2


def test_trace_and_verbosity(capsys):
    tf.autograph.trace("seen", 1)
    assert capsys.readouterr().out == "seen 1\n"
    tf.autograph.set_verbosity(0)


def test_converter_is_loaded_when_it_is_needed():
    code = "import sys, gradtape as tf; tf.autograph.experimental.set_loop_options(); print('malt' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


class Rows:
    """The part of a dataset's interface that a loop needs."""

    element_spec = tf.TensorSpec([], tf.float32)

    def __init__(self, x):
        self.x = x

    def reduce(self, state, step):
        return tf.while_loop(
            lambda i, *state: i < len(self.x),
            lambda i, *state: (i + 1, *step(state, tf.gather(self.x, i))),
            (tf.constant(0), *state),
        )[1:]


def test_loops_over_datasets_are_reductions():
    @tf.function
    def f(x):
        total, count = 0.0, 0
        for v in Rows(x):
            if v < 0.0:
                break
            total += v
            count += 1
        return total, count

    assert [y.numpy() for y in f(tf.constant([1.0, 2.0, -1.0, 5.0]))] == [3.0, 2]
    assert [y.numpy() for y in f(tf.constant([1.0, 2.0, 4.0, 5.0]))] == [12.0, 4]
    assert f.experimental_get_tracing_count() == 1


def test_a_function_without_conditions_on_tensors_is_not_converted():
    frames, values = [], [1.0, 2.0]

    def step(x):
        frames.append(sys._getframe().f_code.co_filename)
        for value in values:
            x = x * value
        return x

    assert float(tf.function(step)(tf.constant(3.0))) == 6.0
    assert frames == [__file__]


def test_a_function_is_converted_when_what_it_calls_needs_it():
    runs = []

    def relu(x):
        if x > 0.0:
            return x
        return 0.0 * x

    @tf.function
    def f(x):
        runs.append(x)
        return relu(x) + 1.0

    assert [float(f(tf.constant(v))) for v in (2.0, -2.0)] == [3.0, 1.0]
    assert len(runs) == 2  # once unconverted, up to the condition, and once converted


def test_a_loop_over_a_constant_range_is_one_node():
    def total(x):
        for _ in tf.range(100):
            x += 1.0
        return x

    f = tf.function(lambda x: total(x))
    assert float(f(tf.constant(0.0))) == 100.0
    assert len(f.get_concrete_function(tf.constant(0.0)).graph.nodes) < 10


def test_an_error_in_a_function_that_is_not_converted_names_the_users_line():
    def bad(x):
        return x + tf.constant([1.0, 2.0, 3.0])

    with pytest.raises(ValueError, match="Incompatible shapes") as caught:
        tf.function(bad)(tf.constant([1.0, 2.0]))
    lines = str(caught.value).split("\n")
    assert lines[0] == "in user code:"
    assert any("return x + tf.constant([1.0, 2.0, 3.0])" in line for line in lines)


def test_nodes_know_the_lines_of_the_source_that_was_written():
    @tf.function
    def f(x):
        if x > 0.0:
            y = tf.sin(x)
        else:
            y = -x
        return y

    f(tf.constant(1.0))
    first = f.python_function.__code__.co_firstlineno
    lines = {n.op.name: n.line for n in all_nodes(f.get_concrete_function(tf.constant(1.0)).graph)}
    assert lines["sin"] == (__file__, first + 3, "f")
    assert lines["neg"] == (__file__, first + 5, "f")
    assert lines["cond"] == (__file__, first + 2, "f")


def _caught_by_name(x):
    y = x
    try:
        y = y * int("no number")
    except (KeyError, TypeError) as e:
        y = x * len(e.args)
    except ValueError as e:
        n = len(e.args)
        if tf.reduce_sum(x) > 0:
            y = y + n
        else:
            y = y - 2 * len(str(e.args[0])[:3])
    return y


def _caught_again(x):
    y: tf.Tensor
    try:
        try:
            raise KeyError("inner")
        except KeyError as e:
            raise ValueError("outer") from e
    except ValueError as e:
        assert isinstance(e.__cause__, KeyError)
        if tf.reduce_sum(x) > 0:
            y = x * 2
        else:
            y = x * 3
    return y


def _caught_in_branch(x):
    y = x
    for i in tf.range(3):
        if tf.reduce_sum(x) > 0:
            try:
                y = y + int("q")
            except ValueError as e:
                y = y - len(e.args) * tf.cast(i, tf.float32)
    return y


def _returns_in_try(x):
    try:
        if tf.reduce_sum(x) > 0:
            return x
        return -2 * x
    except ValueError as e:
        raise RuntimeError from e


def _strings_of_the_tree(x):
    """Imports under other names, `nonlocal`, formats, named expressions: names that are not nodes of the tree."""
    import math as m
    from math import e
    from math import pi as p

    n = 1

    def more():
        nonlocal n
        n = n + 1

    more()
    text = f"{n!r:>{n}}{n=}"
    if (total := tf.reduce_sum(x)) > 0:
        y = x * m.pi * n + total
    else:
        y = x * p + e * len(text)
    return y


@pytest.mark.parametrize(
    "f", [_caught_by_name, _caught_again, _caught_in_branch, _returns_in_try, _strings_of_the_tree]
)
def test_names_that_are_strings_in_the_syntax_tree(f, caplog):
    compiled = tf.function(f)
    for value in ([1.0, 2.0], [-1.0, -3.0]):
        np.testing.assert_allclose(compiled(tf.constant(value)), f(tf.constant(value)))
    assert "could not transform" not in caplog.text


def test_numbers_of_a_string_tensor():
    @tf.function
    def f(text):
        if tf.strings.length(text) > 0:
            number = int(text), float(text)
        else:
            number = 0, 0.0
        return number

    whole, real = f(tf.constant(" 12 "))
    assert (int(whole), float(real), whole.dtype, real.dtype) == (12, 12.0, tf.int32, tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant("twelve"))
