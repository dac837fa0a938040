"""The examples run, with tiny settings, and do what they promise."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return __import__


def test_digits_by_hand(example):
    digits = example("digits")
    model, losses = digits.train(epochs=3)
    assert losses[-1] < losses[0] / 2
    assert digits.accuracy(model) > 0.85


@pytest.mark.skipif(find_spec("keras") is None, reason="Keras is not installed")
def test_a_keras_model_is_trained_by_fit_as_by_hand(example):
    digits = example("keras_digits")
    by_fit, losses_of_fit = digits.trained_by_fit(epochs=2)
    by_hand, losses_by_hand = digits.trained_by_hand(epochs=2)
    assert losses_of_fit == pytest.approx(losses_by_hand, rel=1e-3)
    assert digits.accuracy(by_fit) == pytest.approx(digits.accuracy(by_hand), abs=0.01)
    assert losses_of_fit[-1] < 0.6


def test_the_picture_of_a_demo(example, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    digits = example("digits")
    file = tmp_path / "loss.png"
    monkeypatch.setattr(sys, "argv", ["digits.py", "--epochs", "1", "--picture", str(file)])
    digits.main()
    assert file.stat().st_size > 5000
