"""Trains a small character-level GPT on Python's manual, and samples from it.

    python examples/gpt.py [--steps 600]

The text is `pydoc_data.topics`, the half a million characters behind `help("for")`. Four layers of causal attention
with 128 channels read up to 128 characters and predict the next one. Prints samples from the model before and after
training.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pydoc_data.topics import topics

import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

import gradtape as tf

keras = tf.keras
TEXT = "\n".join(topics.values())
ALPHABET = "".join(sorted(set(TEXT)))
PROMPT = "The function "


def encode(text: str) -> np.ndarray:
    """Returns the token ids of the characters."""
    return np.array([ALPHABET.index(character) for character in text], np.int32)


def waves(shape: tuple[int, int], dtype: str | None = None) -> np.ndarray:
    """Initializes positions with sinusoids: similar vectors for neighbors make it easy to attend backward."""
    time, width = shape
    angles = np.arange(time)[:, None] * np.geomspace(1, 1 / time, width // 2)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(dtype)


class Positions(keras.layers.Layer):
    """Adds a learned vector to each position of a sequence."""

    def build(self, shape: tuple[int, ...]) -> None:
        self.vectors = self.add_weight(shape=shape[1:], initializer=waves, name="vectors")

    def call(self, x: tf.Tensor) -> tf.Tensor:
        return x + self.vectors


def block(x: keras.KerasTensor, heads: int) -> keras.KerasTensor:
    """Applies a transformer block: causal attention, then a feed-forward network."""
    layers = keras.layers
    width = x.shape[-1]
    seen = layers.LayerNormalization()(x)
    x = x + layers.MultiHeadAttention(heads, width // heads)(seen, seen, use_causal_mask=True)
    thought = layers.Dense(4 * width, activation="gelu")(layers.LayerNormalization()(x))
    return x + layers.Dense(width)(thought)


def network(depth: int = 4, width: int = 128, heads: int = 4, time: int = 128) -> keras.Model:
    """Returns a model that maps characters to the logits of the next character at each position."""
    keras.utils.set_random_seed(1)
    layers = keras.layers
    characters = layers.Input((time,), dtype="int32")
    # Standard normal vectors give the embedding the same initial scale as the outputs of the layers.
    x = Positions()(layers.Embedding(len(ALPHABET), width, keras.initializers.RandomNormal(stddev=1.0))(characters))
    for _ in range(depth):
        x = block(x, heads)
    return keras.Model(characters, layers.Dense(len(ALPHABET))(layers.LayerNormalization()(x)))


def windows(time: int, batch: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yields batches of random windows of the text, and their next characters."""
    text = encode(TEXT)
    rng = np.random.default_rng(0)
    while True:
        starts = rng.integers(len(text) - time, size=batch)
        found = text[starts[:, None] + np.arange(time + 1)]
        yield found[:, :-1], found[:, 1:]


def train(model: keras.Model, steps: int, batch: int = 8, epochs: int = 8) -> list[float]:
    """Trains for `steps` steps in total; returns the mean loss of each epoch."""
    rate = keras.optimizers.schedules.CosineDecay(0.0, steps, warmup_target=3e-3, warmup_steps=steps // 20)
    model.compile(
        optimizer=keras.optimizers.AdamW(rate, beta_2=0.99, global_clipnorm=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    batches = windows(model.input_shape[1], batch)
    history = model.fit(batches, steps_per_epoch=steps // epochs, epochs=epochs, shuffle=False, verbose=2)
    return history.history["loss"]


def written(model: keras.Model, count: int, prompt: str = PROMPT, temperature: float = 0.7) -> str:
    """Returns the prompt and `count` more characters, sampled from the model."""
    time = model.input_shape[1]
    rng = np.random.default_rng(0)
    text = list(encode(prompt))
    for _ in range(count):
        seen = text[-time:]
        window = np.zeros((1, time), np.int32)
        window[0, : len(seen)] = seen  # the causal mask hides the padding
        logits = model.predict_on_batch(window)[0, len(seen) - 1] / temperature
        chances = np.exp(logits - logits.max())
        text.append(rng.choice(len(chances), p=chances / chances.sum()))
    return "".join(ALPHABET[i] for i in text)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=600)
    options = parser.parse_args()
    console = Console()
    model = network()
    console.print(f"A GPT of {model.count_params():,} weights learns Python's manual, on {keras.config.backend()}.")
    console.print(Panel(Text(written(model, 200)), title="before"))
    losses = train(model, options.steps)
    console.print(Panel(Text(written(model, 600)), title=f"after, {losses[-1] / np.log(2):.2f} bits per character"))


if __name__ == "__main__":
    main()
