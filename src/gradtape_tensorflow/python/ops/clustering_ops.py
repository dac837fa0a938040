"""`tensorflow.python.ops.clustering_ops`: first centers and nearest centers of k-means.

The draws have TensorFlow's distributions, but are other numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape

SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE = "squared_euclidean", "cosine"
RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT = "random", "kmeans_plus_plus", "kmc2"


def _squared_distances(points: Any, centers: Any) -> Any:
    """Returns the squared distances of points (rows) to centers (columns)."""
    squares = (points * points).sum(1)[:, None] + (centers * centers).sum(1)[None]
    return np.maximum(squares - 2 * points @ centers.T, 0)


def kmeans_plus_plus_initialization(
    points: Any, num_to_sample: Any, seed: Any, num_retries_per_sample: Any, name: str | None = None
) -> Any:
    """Selects centers among the points, each with a probability proportional to its squared distance to the others.

    Each selection draws `num_retries_per_sample` further candidates and takes the best.
    """

    def select(points: Any, count: Any, seed: Any, retries: Any) -> Any:
        if count > len(points):
            raise ValueError(f"num_to_sample, {count}, must not exceed the number of points, {len(points)}")
        draws = np.random.default_rng(int(seed))
        chosen = [int(draws.integers(len(points)))]
        nearest = _squared_distances(points, points[chosen])[:, 0]
        for _ in range(int(count) - 1):
            total = nearest.sum()
            weights = nearest / total if total > 0 else None  # all points are centers already
            candidates = draws.choice(len(points), int(max(retries, 0)) + 1, p=weights)
            after = np.minimum(nearest[:, None], _squared_distances(points, points[candidates]))
            best = int(after.sum(0).argmin())
            chosen.append(int(candidates[best]))
            nearest = after[:, best]
        return points[chosen]

    points = gradtape.convert_to_tensor(points, gradtape.float32)
    inputs = [points, *(gradtape.cast(x, gradtape.int64) for x in (num_to_sample, seed, num_retries_per_sample))]
    found = gradtape.numpy_function(select, inputs, gradtape.float32)
    return gradtape.ensure_shape(found, [None, points.shape[1]])


def kmc2_chain_initialization(distances: Any, seed: Any, name: str | None = None) -> Any:
    """Returns the state after a Markov chain over points whose stationary distribution is that of k-means++."""

    def walk(distances: Any, seed: Any) -> Any:
        draws = np.random.default_rng(int(seed))
        state = 0
        for candidate in range(1, len(distances)):
            if distances[candidate] > distances[state] * draws.uniform():
                state = candidate
        return np.int64(state)

    return gradtape.numpy_function(
        walk, [gradtape.cast(distances, gradtape.float32), gradtape.cast(seed, gradtape.int64)], gradtape.int64
    )


def nearest_neighbors(points: Any, centers: Any, k: Any, name: str | None = None) -> tuple[Any, Any]:
    """Returns the indices of the `k` nearest centers of each point, and their squared distances."""
    points, centers = (gradtape.convert_to_tensor(x, gradtape.float32) for x in (points, centers))
    squares = gradtape.reduce_sum(points**2, 1)[:, None] + gradtape.reduce_sum(centers**2, 1)[None]
    distances = gradtape.maximum(squares - 2 * gradtape.matmul(points, centers, transpose_b=True), 0.0)
    count = gradtape.minimum(gradtape.cast(k, gradtape.int32), gradtape.shape(centers)[0])
    negative, indices = gradtape.math.top_k(-distances, count)
    return gradtape.cast(indices, gradtape.int64), -negative
