"""Wrappers of recurrent cells: dropout, residual connections and devices, as in TensorFlow 1 and early versions of 2.

A cell is an object with `state_size`, `output_size`, `build` and `call(inputs, state) -> (output, new_state)`, such as
the cells of Keras.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from ...core import nest
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...state.module import Module
from ...state.tensor_array import TensorArray
from ..random.draws import uniform
from ..runtime.devices import device as device_scope
from .activations import dropout

NAMESPACES = ("nn",)
__all__ = ["RNNCellDeviceWrapper", "RNNCellDropoutWrapper", "RNNCellResidualWrapper"]


class _Wrapper(Module):
    """A cell that calls another one."""

    def __init__(self, cell: Any, **kwargs: Any) -> None:
        super().__init__(name=kwargs.get("name"))
        self.cell = cell
        self.built = False

    @property
    def wrapped_cell(self) -> Any:
        """The cell that was given."""
        return self.cell

    @property
    def state_size(self) -> Any:
        """The sizes of the states."""
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        return self.cell.output_size

    def build(self, inputs_shape: Any) -> None:
        """Builds the cell."""
        self.cell.build(inputs_shape)
        self.built = True

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the initial state."""
        if hasattr(self.cell, "zero_state"):
            return self.cell.zero_state(batch_size, dtype)
        return self.get_initial_state(batch_size=batch_size, dtype=dtype)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Returns the initial state: zeros, unless the cell has another one."""
        if inputs is not None:
            batch_size, dtype = ops.shape(to_tensor(inputs))[0], to_tensor(inputs).dtype
        if hasattr(self.cell, "get_initial_state"):
            return self.cell.get_initial_state(batch_size=batch_size)
        from ..arrays.creation import zeros

        return nest.map_structure(lambda size: zeros([batch_size, size], dtype), self.state_size)

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Runs a step of the cell, which has been built."""
        return self._step(inputs, state, self.cell.call, **kwargs)

    def __call__(self, inputs: Any, state: Any, **kwargs: Any) -> tuple[Any, Any]:
        if not self.built:
            self.build(nest.map_structure(lambda x: to_tensor(x).shape, inputs))
        return self._step(inputs, state, self.cell.__call__, **kwargs)

    def _step(self, inputs: Any, state: Any, cell: Callable[..., Any], **kwargs: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of the constructor."""
        config = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return {"name": self.name, "cell": config}


class RNNCellDropoutWrapper(_Wrapper):
    """A cell with dropout of its inputs, states and outputs.

    >>> import gradtape as tf
    >>> class Sum:
    ...     state_size = output_size = 2
    ...     def build(self, shape): pass
    ...     def call(self, x, state): return x + state[0], [x + state[0]]
    ...     __call__ = call
    >>> cell = tf.nn.RNNCellDropoutWrapper(Sum(), input_keep_prob=0.5, seed=1)
    >>> output, state = cell(tf.ones([1, 2]), [tf.zeros([1, 2])])
    >>> set(output.numpy().ravel().tolist()) <= {0.0, 2.0}
    True

    Args:
      cell: the cell; not a Keras LSTM cell, which has dropout of its own.
      input_keep_prob: the probability with which an input is kept, and similarly for the outputs and the new states.
      variational_recurrent: whether all steps use the same mask; then `dtype`, and `input_size` if inputs are dropped,
        must be given.
      seed: the seed.
      dropout_state_filter_visitor: returns which parts of a state may be dropped, as booleans.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._begin(*args, **kwargs)

    def _begin(
        self, cell: Any, input_keep_prob: Any = 1.0, output_keep_prob: Any = 1.0, state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False, input_size: Any = None, dtype: Any = None, seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(cell, **kwargs)
        if type(cell).__name__ == "LSTMCell":
            raise ValueError(
                "keras LSTM cell does not work with DropoutWrapper. Please use LSTMCell(dropout=x, "
                "recurrent_dropout=y) instead."
            )
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._filter = dropout_state_filter_visitor or _may_be_dropped
        self._keep = {"input": input_keep_prob, "state": state_keep_prob, "output": output_keep_prob}
        for name, probability in self._keep.items():
            if isinstance(probability, int | float) and not 0 <= probability <= 1:
                raise ValueError(f"Parameter {name}_keep_prob must be between 0 and 1: {probability}")
        self._seed, self._input_size = seed, input_size
        self._noise: dict[str, Any] = {}  # of all steps
        self._is_variational = variational_recurrent
        if variational_recurrent:
            if dtype is None:
                raise ValueError("When variational_recurrent=True, dtype must be provided")
            sizes = {"state": cell.state_size, "output": cell.output_size}
            if self._drops("input"):
                if input_size is None:
                    raise ValueError(
                        "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be "
                        "provided"
                    )
                sizes["input"] = input_size
            for what, structure in sizes.items():
                drawn = [
                    uniform([1, *_dims(size)], dtype=dtype, seed=self._seed_of(what, i))
                    for i, size in enumerate(nest.flatten(structure))
                ]
                self._noise[what] = drawn

    def _drops(self, what: str) -> bool:
        probability = self._keep[what]
        return not isinstance(probability, int | float) or probability < 1

    def _seed_of(self, what: str, index: int) -> int | None:
        """Returns the seed of a part, which is TensorFlow's."""
        if self._seed is None:
            return None
        salted = f"{self._seed}{what}_{index}".encode()
        return int(hashlib.md5(salted).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _dropped(self, values: Any, what: str, wanted: Any = None) -> Any:
        """Returns the values after dropout; `wanted` says of which of them."""
        keep = self._keep[what]
        parts = nest.flatten(values)
        chosen = [True] * len(parts) if wanted is None else wanted
        found = []
        for i, (part, drop) in enumerate(zip(parts, chosen, strict=True)):
            if not drop:
                found.append(part)
            elif self._is_variational:
                found.append(part / keep * ops.floor(keep + self._noise[what][i]))
            else:
                found.append(dropout(part, rate=1.0 - keep, seed=self._seed_of(what, i)))
        return nest.pack_sequence_as(values, found)

    def _step(self, inputs: Any, state: Any, cell: Callable[..., Any], **kwargs: Any) -> tuple[Any, Any]:
        if self._drops("input"):
            inputs = self._dropped(inputs, "input")
        output, new = cell(inputs, state, **kwargs)
        if self._drops("state"):
            new = self._dropped(new, "state", _chosen(self._filter, new))
        if self._drops("output"):
            output = self._dropped(output, "output")
        return output, new

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of the constructor."""
        keep = {f"{what}_keep_prob": probability for what, probability in self._keep.items()}
        own = {"variational_recurrent": self._is_variational, "input_size": self._input_size, "seed": self._seed}
        return {**super().get_config(), **keep, **own}


def _dims(size: Any) -> list[int]:
    return [int(size)] if isinstance(size, int) else list(size)


def _may_be_dropped(state: Any) -> Any:
    """The default filter: everything but the memory `c` of an LSTM's state, and tensor arrays."""
    if hasattr(state, "_fields") and {"c", "h"} <= set(state._fields):
        return type(state)(c=False, h=True)
    return not isinstance(state, TensorArray)


def _chosen(visit: Callable[[Any], Any], state: Any) -> list[bool]:
    """Returns for each part of a state whether it may be dropped. A boolean holds for all parts below it."""
    wanted = visit(state)
    if not nest.is_nested(state):
        return [bool(wanted)]
    if isinstance(wanted, bool):
        if not wanted:
            return [False] * len(nest.flatten(state))
        parts = state.values() if isinstance(state, dict) else state
        return [flag for part in parts for flag in _chosen(visit, part)]
    return [bool(flag) for flag in nest.flatten(wanted)]


class RNNCellResidualWrapper(_Wrapper):
    """A cell whose inputs are added to its outputs.

    >>> import gradtape as tf
    >>> class Sum:
    ...     state_size = output_size = 2
    ...     def build(self, shape): pass
    ...     def call(self, x, state): return x + state[0], [x + state[0]]
    ...     __call__ = call
    >>> output, state = tf.nn.RNNCellResidualWrapper(Sum())(tf.ones([1, 2]), [tf.zeros([1, 2])])
    >>> output.numpy().tolist(), state[0].numpy().tolist()
    ([[2.0, 2.0]], [[1.0, 1.0]])

    Args:
      cell: the cell.
      residual_fn: the function of inputs and outputs to use instead of the sum.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._begin(*args, **kwargs)

    def _begin(self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._residual = residual_fn or _add

    def _step(self, inputs: Any, state: Any, cell: Callable[..., Any], **kwargs: Any) -> tuple[Any, Any]:
        outputs, new = cell(inputs, state, **kwargs)
        return self._residual(inputs, outputs), new


def _add(inputs: Any, outputs: Any) -> Any:
    nest.assert_same_structure(inputs, outputs)

    def add(x: Any, y: Any) -> Tensor:
        x, y = to_tensor(x), to_tensor(y)
        x.shape.assert_is_compatible_with(y.shape)
        return ops.add(x, y)  # type: ignore[no-any-return]

    return nest.map_structure(add, inputs, outputs)


class RNNCellDeviceWrapper(_Wrapper):
    """A cell that runs on a device.

    >>> import gradtape as tf
    >>> class Sum:
    ...     state_size = output_size = 2
    ...     def build(self, shape): pass
    ...     def call(self, x, state): return x + state[0], [x + state[0]]
    ...     __call__ = call
    >>> cell = tf.nn.RNNCellDeviceWrapper(Sum(), "/cpu:0")
    >>> cell(tf.ones([1, 2]), [tf.zeros([1, 2])])[0].numpy().tolist()
    [[1.0, 1.0]]

    Args:
      cell: the cell.
      device: the device, as for `tf.device`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._begin(*args, **kwargs)

    def _begin(self, cell: Any, device: Any, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the initial state."""
        with device_scope(self._device):
            return super().zero_state(batch_size, dtype)

    def _step(self, inputs: Any, state: Any, cell: Callable[..., Any], **kwargs: Any) -> tuple[Any, Any]:
        with device_scope(self._device):
            return cell(inputs, state, **kwargs)  # type: ignore[no-any-return]

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of the constructor."""
        return {**super().get_config(), "device": self._device}
