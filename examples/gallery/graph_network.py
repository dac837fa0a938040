"""Classifies the nodes of a random graph with a graph convolutional network (GCN).

The graph comes from a stochastic block model: three communities, and edges that are more likely within a community
than between two. The features of a node say little about its community, and only a few nodes have a label. The same
network without the graph classifies by the features alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import gradtape as tf

COMMUNITIES = 3


def block_model(size: int, inner: float, outer: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Returns the community of each node, and the sources and targets of the edges, in both directions."""
    labels = np.repeat(np.arange(COMMUNITIES), size)
    chances = np.where(labels[:, None] == labels, inner, outer)
    upper = np.triu(rng.uniform(size=chances.shape) < chances, k=1)
    targets, sources = np.nonzero(upper | upper.T)
    return labels, np.stack([sources, targets])


def normalize(edges: np.ndarray, count: int) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns the entries of $D^{-1/2} (A + I) D^{-1/2}$: rows, columns and values, sorted by row."""
    loops = np.tile(np.arange(count), (2, 1))
    columns, rows = np.concatenate([edges, loops], axis=1)
    order = np.lexsort((columns, rows))
    columns, rows = columns[order], rows[order]
    degrees = np.bincount(rows, minlength=count)
    return tf.constant(rows), tf.constant(columns), tf.constant((degrees[rows] * degrees[columns]) ** -0.5, tf.float32)


def propagate(graph: tuple[tf.Tensor, tf.Tensor, tf.Tensor], x: tf.Tensor) -> tf.Tensor:
    """Returns the weighted sum of each node's neighbors: one message along each edge, summed per target."""
    rows, columns, values = graph
    return tf.math.segment_sum(values[:, None] * tf.gather(x, columns), rows)


class GCN(tf.Module):
    """Two graph convolutions: $Z = \\hat A \\, \\mathrm{relu}(\\hat A X W_1 + b_1) W_2 + b_2$."""

    def __init__(self, features: int, width: int, seed: int) -> None:
        super().__init__()
        draw = tf.keras.initializers.GlorotUniform
        self.w1 = tf.Variable(draw(seed)((features, width)))
        self.b1 = tf.Variable(tf.zeros(width))
        self.w2 = tf.Variable(draw(seed + 1)((width, COMMUNITIES)))
        self.b2 = tf.Variable(tf.zeros(COMMUNITIES))

    def __call__(self, graph: tuple[tf.Tensor, tf.Tensor, tf.Tensor], x: tf.Tensor) -> tf.Tensor:
        hidden = tf.nn.relu(propagate(graph, x @ self.w1) + self.b1)
        return propagate(graph, hidden @ self.w2) + self.b2


def train(graph: Any, x: tf.Tensor, labels: np.ndarray, train: np.ndarray, steps: int, seed: int) -> dict[str, Any]:
    """Returns the logits, and the accuracy on the nodes without a label, step by step."""
    model = GCN(x.shape[1], 16, seed)
    optimizer = tf.keras.optimizers.Adam(0.01)
    test = np.setdiff1d(np.arange(len(labels)), train)

    @tf.function
    def step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            logits = model(graph, x)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels[train], tf.gather(logits, train))
            penalty = tf.nn.l2_loss(model.w1) + tf.nn.l2_loss(model.w2)
            loss = tf.reduce_mean(losses) + 5e-3 * penalty
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return logits

    outputs = [step().numpy() for _ in range(steps)]
    return {"logits": outputs[-1], "accuracy": [np.mean(z.argmax(1)[test] == labels[test]) for z in outputs]}


def run(size: int = 100, labeled: int = 5, steps: int = 200, seed: int = 1) -> dict[str, Any]:
    """Returns the results of the network with the graph and without it, and the data; `labeled` per community."""
    rng = np.random.default_rng(seed)
    labels, edges = block_model(size, inner=0.06, outer=0.008, rng=rng)
    angles = labels * 2 * np.pi / COMMUNITIES
    x = np.stack([np.cos(angles), np.sin(angles)], axis=1) + rng.normal(scale=1.5, size=(len(labels), 2))
    nodes = np.concatenate([rng.choice(np.flatnonzero(labels == c), labeled, False) for c in range(COMMUNITIES)])
    no_edges = np.zeros((2, 0), np.int64)
    graphs = {"with the graph": normalize(edges, len(labels)), "features alone": normalize(no_edges, len(labels))}
    results = {k: train(g, tf.constant(x, tf.float32), labels, nodes, steps, seed) for k, g in graphs.items()}
    return {"results": results, "labels": labels, "edges": edges, "x": x, "train": nodes}


def draw(results: dict[str, Any], file: Path) -> None:
    """Saves the nodes at their features, the nodes at the network's outputs, and the accuracies."""
    figure = Figure(figsize=(6, 6), layout="constrained")
    places = figure.subplot_mosaic("ab;cc", height_ratios=[3, 2])
    axes = [places[name] for name in "abc"]
    logits = results["results"]["with the graph"]["logits"]
    outputs = (logits - logits.mean(1, keepdims=True)) @ [[1, 0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]]
    for each, points, title in zip(axes, (results["x"], outputs), ("Features", "Outputs of the GCN"), strict=False):
        sources, targets = results["edges"]
        each.plot(*np.stack([points[sources], points[targets]]).transpose(2, 0, 1), color="0.85", lw=0.2, zorder=0)
        each.scatter(*points.T, color=[f"C{label}" for label in results["labels"]], s=8)
        each.scatter(*points[results["train"]].T, s=50, facecolors="none", edgecolors="black", label="label known")
        each.set(title=title, xticks=[], yticks=[])
    axes[0].legend(loc="upper right", framealpha=1)
    for name, result in results["results"].items():
        axes[2].plot(result["accuracy"], label=name)
    axes[2].set(title="Accuracy on unlabeled nodes", xlabel="step", ylim=(0, 1))
    axes[2].legend(loc="lower right")
    figure.savefig(file, dpi=130)


if __name__ == "__main__":
    results = run()
    draw(results, Path(__file__).with_suffix(".png"))
    for name, result in results["results"].items():
        print(f"accuracy on unlabeled nodes, {name}: {result['accuracy'][-1]:.0%}")
