"""Trains a Keras CNN on handwritten digits twice: by `fit`, and by a hand-written GradientTape loop.

    make demo        or        python examples/keras_digits.py [--epochs 8]

Both start from the same weights and see the same batches, so they end with the same accuracy. The example saves
a plot of the losses next to this file.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import gradtape as tf

HERE = Path(__file__).parent
BATCH = 32


def load() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Returns training images and labels, then test images and labels."""
    with np.load(HERE / "data" / "digits.npz") as data:
        images = data["images"].reshape(-1, 8, 8, 1).astype(np.float32) / 16
        labels = data["labels"].astype(np.int32)
    order = np.random.default_rng(0).permutation(len(images))
    images, labels = images[order], labels[order]
    return images[:1440], labels[:1440], images[1440:], labels[1440:]


def network() -> tf.keras.Model:
    """Returns a network of two convolutions and a layer of logits, with the same weights in every call."""
    tf.keras.utils.set_random_seed(1)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(10),
        ]
    )
    model.compile(
        optimizer=tf.keras.optimizers.Adam(2e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def trained_by_fit(epochs: int) -> tuple[tf.keras.Model, list[float]]:
    """Returns a model trained by `fit`, and the mean loss of each epoch."""
    images, labels, _, _ = load()
    model = network()
    history = model.fit(images, labels, batch_size=BATCH, epochs=epochs, shuffle=False, verbose=2)
    return model, history.history["loss"]


def trained_by_hand(epochs: int) -> tuple[tf.keras.Model, list[float]]:
    """Returns the same from a custom loop, whose step is a `tf.function`."""
    images, labels, _, _ = load()
    model = network()

    @tf.function
    def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = model.loss(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    losses: list[float] = []
    loss_column = TextColumn("loss {task.fields[loss]:.4f}")
    with Progress(TextColumn("{task.description}"), BarColumn(), loss_column, TimeElapsedColumn()) as progress:
        task = progress.add_task("by hand", total=epochs, loss=float("nan"))
        for _ in range(epochs):
            parts = (slice(i, i + BATCH) for i in range(0, len(images), BATCH))
            batches = [(tf.constant(images[part]), tf.constant(labels[part])) for part in parts]
            losses.append(float(np.mean([step(x, y) for x, y in batches])))
            progress.update(task, advance=1, loss=losses[-1])
    return model, losses


def accuracy(model: tf.keras.Model) -> float:
    """Returns the accuracy of the model on unseen digits."""
    _, _, images, labels = load()
    return float(np.mean(model.predict(images, verbose=0).argmax(axis=1) == labels))


def draw(curves: dict[str, list[float]], file: Path) -> None:
    """Saves the loss curves."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    styles = {"linewidth": 5, "color": "#b9c7e0"}, {"linewidth": 1.5, "color": "#1f4e9c"}
    for (name, losses), style in zip(curves.items(), styles, strict=True):
        axes.semilogy(np.arange(1, len(losses) + 1), losses, label=name, **style)
    axes.set(xlabel="epoch", ylabel="cross-entropy", title="A Keras CNN on handwritten digits")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--picture", type=Path, default=HERE / "keras_digits_loss.png")
    options = parser.parse_args()
    console = Console()
    console.print(f"A Keras CNN on 1,440 handwritten digits, on the {tf.keras.config.backend()} backend.")
    curves = {}
    for way, train in (("model.fit", trained_by_fit), ("tf.GradientTape", trained_by_hand)):
        model, curves[way] = train(options.epochs)
        console.print(f"{way}: accuracy on 357 unseen digits [bold]{accuracy(model):.1%}[/]")
    if importlib.util.find_spec("matplotlib") is None:
        console.print("Without Matplotlib there is no picture of the loss: pip install 'gradtape\\[examples]'")
        return
    draw(curves, options.picture)
    console.print(f"The loss curves are in {options.picture}")


if __name__ == "__main__":
    main()
