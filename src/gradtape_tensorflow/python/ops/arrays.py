"""Stand-ins for modules of ops, such as `tensorflow.python.ops.array_ops`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Any:
    """Returns the value; taking its gradient raises LookupError with a reason."""

    @gradtape.custom_gradient
    def prevented(x: Any) -> Any:
        def grad(_: Any) -> Any:
            raise LookupError(f"Gradient explicitly disabled. Reason: {message}")

        return gradtape.identity(x), grad

    return prevented(input)


def _slice_helper(tensor: Any, slice_spec: Any, var: Any = None) -> Any:
    """Returns `tensor[slice_spec]` of a value that converts to a tensor."""
    return gradtape.convert_to_tensor(tensor)[slice_spec]


def _SliceHelperVar(var: Any, slice_spec: Any) -> Any:
    """Returns `var[slice_spec]` of the value of a variable."""
    return gradtape.convert_to_tensor(var.value())[slice_spec]


def shape_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = None) -> Any:
    """Same as `tf.shape`."""
    return gradtape.shape(input, out_type or gradtape.int32, name)


def _bucketize(input: Any, boundaries: Any, name: str | None = None) -> Any:
    """Returns for each value the number of boundaries that do not exceed it."""
    flat = gradtape.reshape(input, [-1])
    edges = gradtape.cast(boundaries, gradtape.float64)
    found = gradtape.searchsorted(edges, gradtape.cast(flat, gradtape.float64), side="right")
    return gradtape.reshape(found, gradtape.shape(input))


class Convolution:
    """A convolution with given strides, padding and dilations, to be called with an input and filters."""

    def __init__(
        self, input_shape: Any, filter_shape: Any, padding: str, strides: Any = None, dilation_rate: Any = None,
        name: str | None = None, data_format: str | None = None, num_spatial_dims: int | None = None,
    ) -> None:  # fmt: skip
        self.input_shape, self.filter_shape = gradtape.TensorShape(input_shape), gradtape.TensorShape(filter_shape)
        self.padding, self.strides, self.dilation_rate = padding, strides, dilation_rate
        self.name, self.data_format = name, data_format

    def __call__(self, inp: Any, filter: Any) -> Any:
        """Convolves an input with filters."""
        return gradtape.nn.convolution(
            inp, filter, self.strides, self.padding, self.data_format, self.dilation_rate, self.name
        )


def remove_squeezable_dimensions(
    labels: Any, predictions: Any, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Any, Any]:
    """Removes the last axis of one of two tensors, if it has size 1 and the ranks differ by one more than expected."""
    labels, predictions = gradtape.convert_to_tensor(labels), gradtape.convert_to_tensor(predictions)
    ranks = labels.shape.rank, predictions.shape.rank
    if None not in ranks:
        difference = ranks[1] - ranks[0] - expected_rank_diff
        if difference == 1 and predictions.shape[-1] in (1, None):
            predictions = gradtape.squeeze(predictions, [-1])
        elif difference == -1 and labels.shape[-1] in (1, None):
            labels = gradtape.squeeze(labels, [-1])
    return labels, predictions


def broadcast_weights(weights: Any, values: Any) -> Any:
    """Broadcasts weights to the shape of values, if each of their sizes is 1 or the same."""
    weights, values = gradtape.convert_to_tensor(weights), gradtape.convert_to_tensor(values)
    if weights.shape.rank == 0 or (weights.shape.is_fully_defined() and weights.shape == values.shape):
        return weights if weights.shape.rank else gradtape.multiply(weights, gradtape.ones_like(values, weights.dtype))
    if None not in (weights.shape.rank, values.shape.rank) and weights.shape.rank != values.shape.rank:
        raise ValueError(
            f"weights can not be broadcast to values. values.rank={values.shape.rank}. "
            f"weights.rank={weights.shape.rank}. values.shape={values.shape}. weights.shape={weights.shape}."
        )
    for given, wanted in zip(weights.shape, values.shape, strict=True):
        if None not in (given, wanted) and given not in (1, wanted):
            raise ValueError(
                f"weights can not be broadcast to values. Mismatch at dim. values.shape={values.shape}. "
                f"weights.shape={weights.shape}."
            )
    return gradtape.multiply(weights, gradtape.ones_like(values, weights.dtype))


def variable(initial_value: Any = None, trainable: bool | None = None, collections: Any = None, **kwargs: Any) -> Any:
    """Returns a new variable, and adds it to collections."""
    made = gradtape.compat.v1.Variable(initial_value, trainable=trainable, **kwargs)
    for name in collections or ():
        gradtape.compat.v1.add_to_collection(name, made)
    return made


def is_resource_variable(var: Any) -> bool:
    """Returns whether `var` is a variable."""
    return isinstance(var, gradtape.Variable) or hasattr(var, "_should_act_as_resource_variable")
