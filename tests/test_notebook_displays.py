"""What notebooks show of tapes, explanations, reports, functions and strategies: HTML without scripts."""

from html.parser import HTMLParser

import pytest

import gradtape as tf


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
    """Returns the text and the elements that a notebook shows."""
    page = Checker()
    page.feed(value._repr_html_())
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
