"""The examples run with tiny settings and produce their results."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from gradtape.core.extras import is_installed

EXAMPLES = Path(__file__).parent.parent / "examples"


with_keras = pytest.mark.skipif(not is_installed("keras"), reason="Keras is not installed")


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return __import__


def test_digits_by_hand(example):
    digits = example("digits")
    model, losses = digits.train(epochs=3)
    assert losses[-1] < losses[0] / 2
    assert digits.accuracy(model) > 0.85


@with_keras
def test_a_keras_model_is_trained_by_fit_as_by_hand(example):
    digits = example("keras_digits")
    by_fit, losses_of_fit = digits.trained_by_fit(epochs=2)
    by_hand, losses_by_hand = digits.trained_by_hand(epochs=2)
    assert losses_of_fit == pytest.approx(losses_by_hand, rel=1e-3)
    assert digits.accuracy(by_fit) == pytest.approx(digits.accuracy(by_hand), abs=0.01)
    assert losses_of_fit[-1] < 0.6


@with_keras
def test_an_lstm_tells_english_from_python(example, quick_xla):
    text_lstm = example("text_lstm")
    source = 'def f(x):\n    """Returns it,\n    or None."""\n    return x\n'
    assert text_lstm.lines_of(source) == ({"Returns it,", "or None."}, {"def f(x):", "", "return x"})
    model, accuracies = text_lstm.train(epochs=2, count=1500)
    assert accuracies[-1] > 0.75
    english, python = "and this is what we call the end of a line", "self._lines = {}; x.y(self._z[0])"
    verdicts = text_lstm.verdicts(model, (english, python))
    assert verdicts[english] < verdicts[python]


@with_keras
def test_a_gpt_looks_back_only_and_learns_to_spell(example, quick_xla):
    gpt = example("gpt")
    model = gpt.network(depth=1, width=32, heads=2, time=32)
    text = gpt.encode(gpt.TEXT[:32])
    changed = np.where(np.arange(32) < 20, text, 0)
    of_text, of_changed = model.predict(np.stack([text, changed]), verbose=0)
    np.testing.assert_allclose(of_text[:20], of_changed[:20], atol=1e-5)
    assert not np.allclose(of_text[20:], of_changed[20:], atol=1e-2)
    losses = gpt.train(model, steps=80, epochs=2)
    assert losses[-1] < 3.3 < np.log(len(gpt.ALPHABET)) - 1
    written = gpt.written(model, 40)
    assert written.startswith(gpt.PROMPT) and len(written) == len(gpt.PROMPT) + 40


@with_keras
def test_an_autoencoder_puts_digits_of_a_kind_together(example, tmp_path, quick_xla):
    vae = example("vae")
    images, labels = vae.load()
    model, losses = vae.train(epochs=6)
    assert losses["loss"] == pytest.approx(np.add(losses["reconstruction_loss"], losses["kl_loss"]).tolist(), rel=1e-3)
    assert losses["loss"][-1] < losses["loss"][0] - 4
    means, _, _ = model.encoder.predict(images, verbose=0)
    distances = np.square(means[:, None] - means).sum(-1) + 1e9 * np.eye(len(means))
    assert np.mean(labels[distances.argmin(1)] == labels) > 0.45
    vae.draw(model, tmp_path / "vae.png")
    assert (tmp_path / "vae.png").stat().st_size > 5000


@with_keras
def test_a_forger_learns_from_an_expert(example, tmp_path):
    gan = example("gan")
    _, shown = gan.train(steps=60, stages=3)
    mean = gan.load().mean(axis=0)
    likeness = [np.corrcoef(images.mean(axis=0).ravel(), mean.ravel())[0, 1] for images in shown]
    assert len(shown) == 3 and abs(likeness[0]) < 0.4 and likeness[-1] > 0.6
    gan.draw(shown, tmp_path / "gan.png")
    assert (tmp_path / "gan.png").stat().st_size > 5000


def test_the_picture_of_a_demo(example, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    digits = example("digits")
    file = tmp_path / "loss.png"
    monkeypatch.setattr(sys, "argv", ["digits.py", "--epochs", "1", "--picture", str(file)])
    digits.main()
    assert file.stat().st_size > 5000
