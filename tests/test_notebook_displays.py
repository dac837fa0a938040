"""What notebooks show of tapes, explanations, budgets, Jacobians, functions and strategies."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import gradtape as tf
from gradtape.engine.memory.policy import Timeline


class Checker(HTMLParser):
    """Collects the text of a page; raises if elements are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.tags = [], [], set()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def shown(value):
    """Returns the text and the elements that a notebook shows where no scripts run."""
    page = Checker()
    page.feed(re.sub(r"<script>.*</script>", "", value._repr_html_(), flags=re.DOTALL))
    assert not page.open and "script" not in page.tags
    return "".join(page.text), page.tags


def recorded():
    w = tf.Variable([[1.0, -1.0]], name="<w>")
    with tf.GradientTape(trace=True) as tape:
        loss = tf.reduce_sum(tf.exp(w) * tf.round(w))
    return tape, loss, w


def test_a_tape_shows_its_ops():
    tape, _, _ = recorded()
    text, tags = shown(tape)
    assert "GradientTape with 3 records" in text and "exp" in text and "table" in tags
    assert str(tf.inspect.overview(tape)).splitlines()[0] in text


def test_a_tape_whose_records_are_freed_shows_its_repr():
    with tf.GradientTape() as tape:
        loss = tf.Variable(2.0) ** 2
    tape.gradient(loss, [])
    assert tape._repr_html_() is None
    assert tf.GradientTape()._repr_html_() is None


def test_tapes_and_functions_print_what_they_hold():
    w, c = tf.Variable([[1.0, -1.0]]), tf.constant([3.0, 4.0])
    tape = tf.GradientTape()
    assert repr(tape) == "<GradientTape: not entered yet>"
    with tape:
        loss = tf.exp(w) * c
        assert repr(tape) == "<GradientTape: 2 ops, 1 variable, 16 B kept, recording>"
    assert str(tape) == "<GradientTape: 2 ops, 1 variable, 16 B kept>"
    for method in (tape.report, tape.save):  # the path is forgotten
        with pytest.raises(TypeError, match=r"takes the path of .*\(path, target, sources\): got <tf.Tensor"):
            method(loss, w)
    tape.gradient(loss, w)
    assert repr(tape) == "<GradientTape: used up, as its gradient was computed>"

    @tf.function
    def f(x):
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x
        shown.append(repr(inner))
        return inner.gradient(y, x)

    shown = []
    assert repr(f) == "<tf.function f: 0 traces, not compiled>"
    f(c), f(c[:1])
    assert repr(f) == "<tf.function f: 2 traces, not compiled>"
    assert shown[0] == "<GradientTape: 1 op, 0 variables, 1 watched tensor, 8 B kept>"
    assert repr(tf.function(f, jit_compile=True)).endswith("0 traces, compiled by XLA>")


@pytest.mark.parametrize("method", ["explain", "diagnose", "flow", "profile", "check", "audit_precision"])
def test_answers_show_the_words_of_their_text(method):
    tape, loss, w = recorded()
    answer = getattr(tape, method)(loss, w)
    text, _ = shown(answer)
    words = [word.strip("`") for line in str(answer).splitlines() for word in line.split() if "─" not in word]
    assert all(word.replace("`", "") in text for word in words)


def test_names_of_a_program_are_escaped():
    tape, loss, w = recorded()
    page = tape.flow(loss, w)._repr_html_()
    assert "<w>" not in page and "&lt;w&gt;" in page


def test_percentages_have_bars():
    table = tf.inspect.overview(recorded()[0])
    assert "linear-gradient(90deg,rgba(47,111,222,.28) 33%" in table._repr_html_()


def test_a_function_shows_its_traces():
    @tf.function
    def double(x):
        return x * 2.0

    assert "double: 0 traces" in shown(double)[0]
    double(tf.ones(2))
    double(tf.ones((2, 2)))
    text, _ = shown(double)
    assert "double: 2 traces" in text and "shape=(2, 2)" in text


def test_a_strategy_shows_its_devices():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    assert shown(strategy)[0] == "OneDeviceStrategy: 1 replica on CPU:0"


def test_a_memory_budget_shows_its_timeline():
    w = tf.Variable(tf.eye(64))
    with tf.GradientTape(memory_budget="2MB", persistent=True) as tape:
        h = tf.ones([1024, 64])
        for _ in range(20):
            h = tf.tanh(h @ w)
    forward = tape.memory()
    assert max(held for held, _ in forward.budget.recording) <= 2e6 == forward.limit < forward.budget.wanted
    assert forward.budget.recording[-1][1] == forward.budget.wanted and not forward.budget.sweeping
    tape.gradient(h, w)
    assert not forward.budget.sweeping  # a copy
    both = tape.memory()
    assert both.budget.sweeping and max(both.budget.sweeping) <= 2e6
    assert "Bytes held over time, within 2.0 MB" in str(both) and "backward pass" in str(both)
    text, tags = shown(both)
    assert "backward pass" in text and "budget 2.0 MB" in text and {"svg", "polyline"} <= tags
    assert "polyline" not in shown(recorded()[0].memory())[1]


def test_a_jacobian_shows_its_pattern_its_colors_and_its_sweeps():
    x = tf.Variable(tf.range(1.0, 701.0))
    with tf.GradientTape() as tape:
        y = x[2:] * x[1:-1] - x[:-2]
    found = tf.inspect.sparsity(tape, y, x)
    text, tags = shown(found)
    assert "Jacobian of 698 by 700 with 2,094 entries (0.0043 of all): 3 sweeps instead of 698" in text
    assert {"svg", "path"} <= tags and len(found._repr_html_()) < 20_000
    jacobian = tape.jacobian(y, x, sparse=True)  # the tape is not used up
    assert tape.sweeps == found.sweeps == 3 and (jacobian.astype(bool) != found.pattern.astype(bool)).nnz == 0


def test_a_jacobian_with_few_columns_is_swept_by_columns():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reshape(tf.ones([50, 1]) * x, [-1])
    found = tf.inspect.sparsity(tape, y, x)
    assert found.by_columns and found.sweeps == 1 and "1 sweep instead of 2" in str(found)
    with pytest.raises(ValueError, match=r"does not depend on the source. tape.explain"):
        tf.inspect.sparsity(tape, y, tf.Variable(1.0))


def test_gradient_norms_of_examples_are_summed_over_sources():
    x, w, b = np.arange(12, dtype="float32").reshape(6, 2), tf.Variable([[1.0], [2.0]]), tf.Variable(0.5)
    unused = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        losses = (x @ w)[:, 0] + b
    found = tf.inspect.example_norms(tape, losses, [w, b, unused])
    np.testing.assert_allclose(found.norms, np.sqrt((x**2).sum(1) + 1))
    np.testing.assert_allclose(found.losses, losses)
    assert found.largest == [5, 4, 3, 2, 1, 0] and list(found.by_source) == ["w", "b"]
    text, tags = shown(found)
    assert "Gradient norms of 6 examples: median 7.88" in text and {"svg", "rect"} <= tags
    assert float(tape.gradient(losses, b)) == 6  # the tape is not used up
    with pytest.raises(ValueError, match="a loss for each example"), tf.GradientTape() as scalar:
        tf.inspect.example_norms(scalar, tf.reduce_sum(w), w)


def test_variables_of_one_name_keep_their_norms_apart():
    v = [tf.Variable(2.0), tf.Variable(3.0)]
    with tf.GradientTape() as tape:
        losses = v[0] * tf.constant([1.0, 2.0]) + v[1]
    assert len(tf.inspect.example_norms(tape, losses, v).by_source) == 2


@pytest.mark.parametrize("count", [0, 1, 1023, 1024, 1025, 5000])
def test_a_timeline_is_bounded_and_keeps_the_largest_samples(count):
    samples = np.random.default_rng(count).integers(0, 1 << 40, count).tolist()
    timeline = Timeline(max)
    for sample in samples:
        timeline.add(sample)
    assert len(timeline) == (count if count < 1024 else pytest.approx(768, abs=256))
    assert max(timeline, default=0) == max(samples, default=0)
    step = next((n for n in (1, 2, 4, 8) if -(-count // n) == len(timeline)), 1)
    assert timeline == [max(samples[i : i + step]) for i in range(0, count, step)]
