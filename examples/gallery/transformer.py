"""Teaches a small transformer to sort: after a sequence of numbers, it writes the same numbers in order.

The model is a decoder like GPT, built from Keras layers: causal self-attention and feed-forward networks. It sees the
numbers and what it has written so far, and predicts the next number. The step of training is a `tf.function` with a
`GradientTape` around the model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import gradtape as tf

keras = tf.keras
layers = keras.layers


class Embedding(layers.Layer):
    """The sum of an embedding of each token and an embedding of its position."""

    def __init__(self, symbols: int, length: int, width: int) -> None:
        super().__init__()
        self.tokens, self.positions = layers.Embedding(symbols, width), layers.Embedding(length, width)

    def call(self, tokens: tf.Tensor) -> tf.Tensor:
        return self.tokens(tokens) + self.positions(tf.range(tokens.shape[1]))


def decoder(symbols: int, length: int, width: int, depth: int, heads: int) -> keras.Model:
    """Returns a model of sequences: the logits of each next token, and the attention scores of each layer."""
    tokens = layers.Input((length,), dtype="int32")
    x, attention = Embedding(symbols, length, width)(tokens), []
    for _ in range(depth):
        attend = layers.MultiHeadAttention(heads, width // heads)
        y = layers.LayerNormalization()(x)
        y, scores = attend(y, y, use_causal_mask=True, return_attention_scores=True)
        x = x + y
        y = layers.Dense(4 * width, activation="gelu")(layers.LayerNormalization()(x))
        x = x + layers.Dense(width)(y)
        attention.append(scores)
    return keras.Model(tokens, [layers.Dense(symbols)(layers.LayerNormalization()(x)), attention])


def sequences(shape: tuple[int, ...], symbols: int, rng: np.random.Generator) -> np.ndarray:
    """Returns sequences of distinct numbers below `symbols`, along the last axis."""
    *batch, count = shape
    return rng.permuted(np.broadcast_to(np.arange(symbols, dtype=np.int32), (*batch, symbols)), axis=-1)[..., :count]


def train(model: keras.Model, numbers: np.ndarray, rate: float) -> list[float]:
    """Takes a step on each batch of `numbers`, which has the shape [steps, batch, count]; returns the losses."""
    steps, _, count = numbers.shape
    optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(rate, steps))

    @tf.function
    def step(batch: tf.Tensor) -> tf.Tensor:
        answers = tf.sort(batch, axis=1)
        with tf.GradientTape() as tape:
            logits, _ = model(tf.concat([batch, answers[:, :-1]], axis=1))
            logits = logits[:, count - 1 :]  # what follows the last number of the input
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(answers, logits))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return [float(step(tf.constant(batch))) for batch in numbers]


def write(model: keras.Model, numbers: np.ndarray) -> np.ndarray:
    """Returns the numbers and what the model writes after them: each token is the likeliest after those before it."""
    count = numbers.shape[1]
    tokens = np.concatenate([numbers, np.zeros_like(numbers)], axis=1)
    for i in range(count, 2 * count):  # the zeros from i on have no effect, because attention is causal
        logits, _ = model(tf.constant(tokens[:, :-1]))
        tokens[:, i] = logits.numpy()[:, i - 1].argmax(axis=1)
    return tokens


def run(
    count: int = 8, symbols: int = 20, width: int = 64, depth: int = 2, heads: int = 4, steps: int = 300, seed: int = 1
) -> dict[str, Any]:
    """Returns the losses, the accuracy on 1,000 new sequences, and the attention of an example."""
    keras.utils.set_random_seed(seed)
    rng = np.random.default_rng(seed)
    model = decoder(symbols, 2 * count - 1, width, depth, heads)
    losses = train(model, sequences((steps, 64, count), symbols, rng), rate=3e-3)
    test = sequences((1000, count), symbols, rng)
    tokens = write(model, test)
    correct = tokens[:, count:] == np.sort(test, axis=1)
    _, attention = model(tf.constant(tokens[:1, :-1]))
    return {
        "losses": losses, "numbers": correct.mean(), "sequences": correct.all(axis=1).mean(),
        "attention": attention[-1][0].numpy(), "tokens": tokens[0],
    }  # fmt: skip


def draw(results: dict[str, Any], file: Path) -> None:
    """Saves the losses, and how much each number that is written attends to each number of the input."""
    figure = Figure(figsize=(6, 6), layout="constrained")
    top, bottom = figure.subplots(2, 1, height_ratios=[1, 2])
    top.semilogy(results["losses"])
    top.set(xlabel="step", ylabel="cross-entropy")
    tokens, count = results["tokens"], len(results["tokens"]) // 2
    order = [*np.argsort(tokens[:count]), *range(count, 2 * count - 1)]
    weights = results["attention"].mean(axis=0)[count - 1 :, order]  # the mean of the heads
    image = bottom.imshow(weights, cmap="Blues", vmin=0)
    bottom.set(xticks=range(2 * count - 1), xticklabels=tokens[order], yticks=range(count), yticklabels=tokens[count:])
    bottom.axvline(count - 0.5, color="black", lw=1)
    bottom.set(title="Attention of the last layer", ylabel="next number")
    bottom.set_xlabel("attends to: the input, here in order | what is written")
    figure.colorbar(image, ax=bottom)
    figure.savefig(file, dpi=130)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    print(f"numbers right: {results['numbers']:.1%}, whole sequences right: {results['sequences']:.1%}")
