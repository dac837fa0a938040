"""Functions that TensorFlow composes of public ones, so that users' types reach the functions registered for them.

gradtape computes these with ops of its own. A front (`api.catalogue.fronts`) calls the function here of the same name
if an argument is a value of a user's type. TensorFlow's other compositions convert their arguments to tensors first, or
are elementwise and have registrations of their own.
"""

from __future__ import annotations

from typing import Any

from ..namespace import resolve


def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: str | None = None
) -> Any:
    multiply, subtract = resolve("multiply"), resolve("subtract")
    factor = resolve("math.rsqrt")(resolve("add")(variance, variance_epsilon))
    factor = factor if scale is None else multiply(factor, scale)
    shift = multiply(mean, factor)
    shift = resolve("negative")(shift) if offset is None else subtract(offset, shift)
    return resolve("add")(multiply(x, factor), shift)


def normalize_moments(counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None) -> Any:
    multiply, share = resolve("multiply"), resolve("math.reciprocal")(counts)
    shifted = multiply(mean_ss, share)
    variance = resolve("subtract")(multiply(variance_ss, share), resolve("square")(shifted))
    return (shifted if shift is None else resolve("add")(shifted, shift)), variance


def scale_regularization_loss(regularization_loss: Any) -> Any:
    return resolve("divide")(resolve("reduce_sum")(regularization_loss), 1.0)
