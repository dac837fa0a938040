"""The registry of causes: an explanation cause is one function in one module."""

import sys
import textwrap

import pytest

import gradtape as tf
from gradtape.inspect.causes import registry
from gradtape.inspect.causes.registry import detectors

TOY = """
from gradtape.inspect.causes.query import Finding, Query
from gradtape.inspect.causes.reasons import Cause
from gradtape.inspect.causes.registry import Priority, detector

@detector(Priority.SOURCE - 1, label="named after the moon")
def named_after_the_moon(query: Query) -> Finding | None:
    if not query.name.startswith("moon"):
        return None
    return Finding(Cause("named after the moon"), "it has the name of the moon", "Rename it", query.first_use())
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A module with one more cause, which is removed after the test."""
    monkeypatch.setattr(registry, "_registered", [*registry._registered])
    (tmp_path / "toy_cause.py").write_text(textwrap.dedent(TOY))
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("toy_cause")
    del sys.modules["toy_cause"]


def test_one_module_adds_a_cause_with_a_label_a_sentence_and_a_line(toy):
    moon, sun = tf.Variable(1.0, name="moon"), tf.Variable(1.0, name="sun")
    with tf.GradientTape(trace=True) as tape:
        y = tf.stop_gradient(moon * sun)
    of_moon, of_sun = tape.explain(y, [moon, sun]).reasons
    assert of_moon.cause is tf.inspect.Cause("named after the moon") and of_moon.cause.value == "named after the moon"
    assert of_moon.sentence == "it has the name of the moon. Rename it"
    assert of_sun.cause is tf.inspect.Cause.STOP_GRADIENT


def test_a_label_that_no_module_declares_is_an_error():
    with pytest.raises(ValueError, match="is not a valid Cause"):
        tf.inspect.Cause("named after the sun")


def test_detectors_have_unique_names_and_the_last_one_always_answers():
    names = [known.name for known in detectors()]
    assert len(set(names)) == len(names)
    assert [known.priority for known in detectors()] == sorted(known.priority for known in detectors())
    assert names[-1].endswith("no_path.other_sources")


@pytest.mark.parametrize("known", detectors(), ids=lambda known: known.name.rpartition(".")[2])
def test_each_detector_states_its_hypothesis(known):
    assert known.detect.__doc__ and known.detect.__doc__.strip().endswith(".")
