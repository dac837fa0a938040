"""`tf.compat.v1.losses`: TensorFlow 1's losses, which weight, reduce and collect."""

from __future__ import annotations

from typing import Any

from gradtape.api.namespace import resolve
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import ValueLike

from .variables import GraphKeys

NAMESPACES = ("compat.v1.losses",)
__all__ = [
    "Reduction", "absolute_difference", "add_loss", "compute_weighted_loss", "cosine_distance", "get_losses",
    "get_regularization_loss", "get_regularization_losses", "get_total_loss", "hinge_loss", "huber_loss", "log_loss",
    "mean_pairwise_squared_error", "mean_squared_error", "sigmoid_cross_entropy", "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]  # fmt: skip

LOSSES = GraphKeys.LOSSES


class Reduction:
    """How the weighted losses of a batch become the result."""

    __module__ = "gradtape.compat.v1.losses"

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Returns all reductions."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
                cls.SUM_BY_NONZERO_WEIGHTS)  # fmt: skip

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises ValueError unless `key` is a reduction."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. Must be one of {cls.all()}.")


def _converted(value: ValueLike) -> Tensor:
    return resolve("convert_to_tensor")(value)  # type: ignore[no-any-return]


def _tensor(x: Any, dtype: Any = None) -> Tensor:
    return resolve("cast")(x, "float32" if dtype is None else dtype)  # type: ignore[no-any-return]


def _check_same_shape(predictions: Tensor, labels: Tensor) -> None:
    predictions.shape.assert_is_compatible_with(labels.shape)


def compute_weighted_loss(
    losses: ValueLike, weights: Any = 1.0, scope: str | None = None, loss_collection: Any = LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """Weights losses and reduces them.

    >>> float(tf.compat.v1.losses.compute_weighted_loss([1.0, 2.0, 3.0], [1.0, 1.0, 0.0]))
    1.5
    """
    Reduction.validate(reduction)
    given = _converted(losses)
    dtype = given.dtype
    losses, weights = _tensor(given), _tensor(weights)
    _check_broadcastable(weights, losses)
    reduce_sum = resolve("reduce_sum")
    weighted = losses * weights
    everywhere = weights * resolve("ones_like")(losses)
    if reduction == Reduction.NONE:
        loss = weighted
    else:
        loss = reduce_sum(weighted)
        divide = resolve("math.divide_no_nan")
        if reduction == Reduction.MEAN:
            loss = divide(loss, reduce_sum(everywhere))
        elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
            loss = divide(loss, _tensor(resolve("size")(losses)))
        elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
            loss = divide(loss, _tensor(resolve("math.count_nonzero")(everywhere)))
    loss = resolve("cast")(loss, dtype)
    add_loss(loss, loss_collection)
    return loss  # type: ignore[no-any-return]


def _check_broadcastable(weights: Tensor, values: Tensor) -> None:
    """Raises TensorFlow's ValueError unless the weights are a scalar, or each size is 1 or that of the values."""
    if weights.shape.rank is None or values.shape.rank is None:
        return
    sizes, expected = weights.shape.as_list(), values.shape.as_list()
    shapes = f"values.shape={values.shape}. weights.shape={weights.shape}."
    if sizes and len(sizes) != len(expected):
        raise ValueError(
            f"weights can not be broadcast to values. values.rank={len(expected)}. weights.rank={len(sizes)}. {shapes}"
        )
    for i, (size, needed) in enumerate(zip(sizes, expected, strict=False)):
        if size not in (1, needed, None) and needed is not None:
            raise ValueError(f"weights can not be broadcast to values. Mismatch at dim {i}. {shapes}")


def add_loss(loss: Tensor, loss_collection: Any = LOSSES) -> None:
    """Adds a loss to a collection of the graph; eager programs have none.

    >>> tf.compat.v1.losses.add_loss(tf.constant(1.0))
    """
    if loss_collection and not resolve("executing_eagerly")():
        resolve("compat.v1.get_default_graph")().add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: Any = LOSSES) -> list[Tensor]:
    """Returns the losses of a collection.

    >>> tf.compat.v1.losses.get_losses()
    []
    """
    return resolve("compat.v1.get_default_graph")().get_collection(loss_collection, scope)  # type: ignore[no-any-return]


def get_regularization_losses(scope: str | None = None) -> list[Tensor]:
    """Returns the regularization losses that were collected.

    >>> tf.compat.v1.losses.get_regularization_losses()
    []
    """
    return get_losses(scope, GraphKeys.REGULARIZATION_LOSSES)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """Returns the sum of the regularization losses.

    >>> float(tf.compat.v1.losses.get_regularization_loss())
    0.0
    """
    return sum(get_regularization_losses(scope), resolve("constant")(0.0))


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Tensor:
    """Returns the sum of the losses that were collected.

    >>> float(tf.compat.v1.losses.get_total_loss())
    0.0
    """
    losses = get_losses(scope) + (get_regularization_losses(scope) if add_regularization_losses else [])
    return sum(losses, resolve("constant")(0.0))


def absolute_difference(
    labels: ValueLike, predictions: ValueLike, weights: Any = 1.0, scope: str | None = None,
    loss_collection: Any = LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """Returns the weighted mean of `|predictions - labels|`.

    >>> float(tf.compat.v1.losses.absolute_difference([1.0, 2.0], [2.0, 4.0]))
    1.5
    """
    labels, predictions = _pair(labels, predictions)
    return compute_weighted_loss(resolve("abs")(predictions - labels), weights, scope, loss_collection, reduction)


def _pair(labels: Any, predictions: Any) -> tuple[Tensor, Tensor]:
    if labels is None:
        raise ValueError("Argument `labels` must not be None.")
    if predictions is None:
        raise ValueError("Argument `predictions` must not be None.")
    labels, predictions = _tensor(labels), _tensor(predictions)
    _check_same_shape(predictions, labels)
    return labels, predictions


def cosine_distance(
    labels: ValueLike, predictions: ValueLike, axis: int | None = None, weights: Any = 1.0, scope: str | None = None,
    loss_collection: Any = LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS, dim: int | None = None,
) -> Tensor:  # fmt: skip
    """Returns the weighted mean of `1 - sum(labels * predictions)` along an axis, of unit vectors.

    >>> float(tf.compat.v1.losses.cosine_distance([[1.0, 0.0]], [[1.0, 0.0]], axis=1))
    0.0
    """
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify argument `axis`.")
    labels, predictions = _pair(labels, predictions)
    losses = 1 - resolve("reduce_sum")(predictions * labels, axis=axis, keepdims=True)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def hinge_loss(
    labels: ValueLike, logits: ValueLike, weights: Any = 1.0, scope: str | None = None, loss_collection: Any = LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """Returns the weighted mean of `max(0, 1 - labels * logits)` for labels 0 and 1, which become -1 and 1.

    >>> float(tf.compat.v1.losses.hinge_loss([1.0], [0.25]))
    0.75
    """
    labels, logits = _pair(labels, logits)
    losses = resolve("nn.relu")(1 - (2 * labels - 1) * logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def huber_loss(
    labels: ValueLike, predictions: ValueLike, weights: Any = 1.0, delta: float = 1.0, scope: str | None = None,
    loss_collection: Any = LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """Returns the weighted mean of a loss that is quadratic up to `delta` and linear beyond.

    >>> float(tf.compat.v1.losses.huber_loss([0.0, 0.0], [0.5, 3.0]))
    1.3125
    """
    labels, predictions = _pair(labels, predictions)
    error = resolve("abs")(predictions - labels)
    quadratic = resolve("minimum")(error, delta)
    losses = 0.5 * quadratic * quadratic + delta * (error - quadratic)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def log_loss(
    labels: ValueLike, predictions: ValueLike, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None,
    loss_collection: Any = LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """Returns the weighted mean of the log losses of probabilities.

    >>> round(float(tf.compat.v1.losses.log_loss([1.0], [0.5])), 4)
    0.6931
    """
    labels, predictions = _pair(labels, predictions)
    log = resolve("math.log")
    losses = -labels * log(predictions + epsilon) - (1 - labels) * log(1 - predictions + epsilon)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_squared_error(
    labels: ValueLike, predictions: ValueLike, weights: Any = 1.0, scope: str | None = None,
    loss_collection: Any = LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """Returns the weighted mean of the squared differences.

    >>> float(tf.compat.v1.losses.mean_squared_error([1.0, 2.0], [2.0, 4.0]))
    2.5
    """
    labels, predictions = _pair(labels, predictions)
    losses = resolve("math.squared_difference")(predictions, labels)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: ValueLike, predictions: ValueLike, weights: Any = 1.0, scope: str | None = None,
    loss_collection: Any = LOSSES,
) -> Tensor:  # fmt: skip
    """Returns the weighted sum over examples of the mean squared differences between pairs of errors.

    >>> float(tf.compat.v1.losses.mean_pairwise_squared_error([[0.0, 0.0]], [[1.0, 3.0]]))
    4.0
    """
    labels, predictions = _pair(labels, predictions)
    reduce_sum, divide = resolve("reduce_sum"), resolve("math.divide_no_nan")
    weights = _tensor(weights)
    _check_broadcastable(weights, labels)
    error = predictions - labels
    axes = list(range(1, len(error.dims)))
    each = resolve("ones_like")(error) * (weights if weights.shape.rank else resolve("ones_like")(error))
    count = reduce_sum(resolve("cast")(resolve("not_equal")(each, 0.0), "float32"), axis=axes, keepdims=True)
    squares = reduce_sum(error * error, axis=axes, keepdims=True)
    total = reduce_sum(error, axis=axes, keepdims=True)
    first = 2.0 * divide(squares, count - 1)
    second = 2.0 * divide(total * total, count * (count - 1))
    weighted = (first - second) * weights
    loss = reduce_sum(resolve("where")(reduce_sum(count) > 0, weighted, resolve("zeros_like")(weighted)))
    add_loss(loss, loss_collection)
    return loss  # type: ignore[no-any-return]


def _smoothed(labels: Tensor, smoothing: float, towards: Any) -> Tensor:
    return labels * (1 - smoothing) + towards * smoothing if smoothing else labels


def sigmoid_cross_entropy(
    multi_class_labels: ValueLike, logits: ValueLike, weights: Any = 1.0, label_smoothing: float = 0,
    scope: str | None = None, loss_collection: Any = LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """Returns the weighted mean of the cross entropies of independent labels.

    >>> round(float(tf.compat.v1.losses.sigmoid_cross_entropy([[1.0]], [[0.0]])), 4)
    0.6931
    """
    logits = _converted(logits)
    labels = _tensor(multi_class_labels, logits.dtype)
    _check_same_shape(logits, labels)
    losses = resolve("nn.sigmoid_cross_entropy_with_logits")(_smoothed(labels, label_smoothing, 0.5), logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: ValueLike, logits: ValueLike, weights: Any = 1.0, label_smoothing: float = 0,
    scope: str | None = None, loss_collection: Any = LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """Returns the weighted mean of the cross entropies of probabilities.

    >>> round(float(tf.compat.v1.losses.softmax_cross_entropy([[1.0, 0.0]], [[0.0, 0.0]])), 4)
    0.6931
    """
    logits = _converted(logits)
    labels = _tensor(onehot_labels, logits.dtype)
    _check_same_shape(logits, labels)
    classes = resolve("cast")(resolve("shape")(labels)[1], logits.dtype)
    labels = resolve("stop_gradient")(_smoothed(labels, label_smoothing, 1.0 / classes))
    losses = resolve("nn.softmax_cross_entropy_with_logits")(labels, logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: ValueLike, logits: ValueLike, weights: Any = 1.0, scope: str | None = None, loss_collection: Any = LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:  # fmt: skip
    """Returns the weighted mean of the cross entropies of classes.

    >>> round(float(tf.compat.v1.losses.sparse_softmax_cross_entropy([0], [[0.0, 0.0]])), 4)
    0.6931
    """
    logits, labels = _converted(logits), _converted(labels)
    if labels.shape.rank == logits.shape.rank:
        labels = resolve("squeeze")(labels, [-1])
    losses = resolve("nn.sparse_softmax_cross_entropy_with_logits")(labels, logits)
    weights = resolve("convert_to_tensor")(weights)
    if weights.shape.rank and weights.shape.rank - 1 == losses.shape.rank:
        weights = resolve("squeeze")(weights, [-1])
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)
