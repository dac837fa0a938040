"""Paints a picture in the style of another one (style transfer), by gradients with respect to the pixels.

The style of a picture is the Gram matrix of a convolutional layer's features. No trained network is needed: a layer of
random filters, applied at three scales, captures textures (Ustyuzhaninov, Brendel, Gatys and Bethge, 2016). The content
is what remains of the picture after averaging blocks of pixels. The program draws both pictures by itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import gradtape as tf


def landscape(size: int) -> np.ndarray:
    """Returns the content: hills and a sun, as an image with values from 0 to 1."""
    y, x = np.mgrid[0:size, 0:size] / size
    image = np.stack([0.35 + 0.3 * y, 0.5 + 0.15 * y, 0.8 - 0.15 * y], axis=-1)
    image[np.hypot(x - 0.7, y - 0.27) < 0.15] = (0.9, 0.75, 0.3)
    image[y > 0.55 + 0.12 * np.sin(5 * x + 1)] = (0.3, 0.55, 0.4)
    image[y > 0.78 + 0.08 * np.sin(7 * x + 4)] = (0.15, 0.3, 0.25)
    return image.astype(np.float32)


def swirls(size: int, rng: np.random.Generator) -> np.ndarray:
    """Returns the style: lines that swirl around a few points, in the colors of a night sky."""
    y, x = np.mgrid[0:size, 0:size] * (128 / size)
    centers = rng.uniform(0, 128, size=(4, 2))
    phase = sum(0.35 * np.hypot(x - a, y - b) for a, b in centers) + 3 * np.sin(x / 17) * np.cos(y / 13)
    colors = np.array([[0.05, 0.1, 0.35], [0.2, 0.45, 0.75], [0.95, 0.85, 0.4]])
    channels = [np.interp(np.sin(phase), (-1, 0.4, 1), colors[:, c]) for c in range(3)]
    return np.stack(channels, axis=-1).astype(np.float32)


def features(image: tf.Tensor, filters: tf.Tensor, scales: int = 3) -> list[tf.Tensor]:
    """Returns the filters' responses at each scale, with the shape [pixels, filters]."""
    responses, x = [], image[None]
    for _ in range(scales):
        y = tf.nn.relu(tf.nn.conv2d(x, filters, strides=1, padding="VALID"))
        responses.append(tf.reshape(y, (-1, filters.shape[-1])))
        x = tf.nn.avg_pool2d(x, 2, strides=2, padding="VALID")
    return responses


def gram(responses: tf.Tensor) -> tf.Tensor:
    """Returns the mean over the pixels of the products of each two filters' responses."""
    return tf.matmul(responses, responses, transpose_a=True) / len(responses)


def style_distance(a: list[tf.Tensor], b: list[tf.Tensor]) -> tf.Tensor:
    """Returns the sum over the scales of the squared distance of the Gram matrices, relative to those of `b`."""
    squares = [tf.reduce_sum((gram(u) - gram(v)) ** 2) / tf.reduce_sum(gram(v) ** 2) for u, v in zip(a, b, strict=True)]
    return tf.add_n(squares)


def content_distance(a: tf.Tensor, b: tf.Tensor, block: int = 8) -> tf.Tensor:
    """Returns the squared distance of two images after averaging blocks of pixels, relative to the variance of `b`."""
    means = tf.nn.avg_pool2d(tf.stack([a, b]), block, strides=block, padding="VALID")
    return tf.reduce_mean((means[0] - means[1]) ** 2) / tf.math.reduce_variance(means[1])


def run(size: int = 128, steps: int = 150, weight: float = 3.0, filters: int = 48, seed: int = 1) -> dict[str, Any]:
    """Returns both pictures, the result, and the distances of style and content after each step."""
    rng = np.random.default_rng(seed)
    kernel = rng.normal(size=(5, 5, 3, filters))
    kernel = tf.constant(kernel - kernel.mean(axis=(0, 1)), tf.float32)  # sees no uniform color
    content, style = landscape(size), swirls(size, rng)
    style_features = features(tf.constant(style), kernel)
    image = tf.Variable(content)
    optimizer = tf.keras.optimizers.Adam(0.02)

    @tf.function
    def step() -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            of_style = style_distance(features(image, kernel), style_features)
            of_content = content_distance(image, content)
            loss = of_style + weight * of_content
        optimizer.apply_gradients([(tape.gradient(loss, image), image)])
        image.assign(tf.clip_by_value(image, 0.0, 1.0))
        return of_style, of_content

    distances = np.array([[float(d) for d in step()] for _ in range(steps)])
    return {"content": content, "style": style, "result": image.numpy(), "distances": distances}


def draw(results: dict[str, Any], file: Path) -> None:
    """Saves the three pictures, and the distances."""
    figure = Figure(figsize=(6, 6), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    for each, name in zip(axes, ("content", "style", "result"), strict=False):
        each.imshow(results[name], interpolation="bicubic")
        each.set(title=name.capitalize(), xticks=[], yticks=[])
    for distances, name in zip(results["distances"].T, ("to the style", "to the content"), strict=True):
        axes[3].semilogy(np.maximum(distances, 1e-4), label=name)
    axes[3].set(title="Relative squared distance", xlabel="step")
    axes[3].legend()
    figure.savefig(file, dpi=130)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    (first, _), (style, content) = results["distances"][[0, -1]]
    print(f"relative squared distance to the style: from {first:.2f} to {style:.3f}")
    print(f"relative squared distance to the content: {content:.5f}")
