"""`DVariable`: a variable with a layout, whose value is sharded over the devices of a mesh."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core import dtypes, errors
from ...core.dtypes import as_dtype
from ...engine.run.convert import to_tensor
from ...engine.run.dispatch import thread
from ...state.variable import Variable
from .layouts import Layout, sharding_of
from .tensors import check_shape, layout_of

NAMESPACES = ("experimental.dtensor",)
__all__ = ["DVariable", "enable_save_as_bf16"]


class DVariable(Variable):
    """A variable with the layout of its initial value, or with the layout given.

    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> v = dtensor.DVariable(tf.ones([4, 2]), layout=dtensor.Layout(["x", dtensor.UNSHARDED], mesh))
    >>> v.assign_add(tf.ones([4, 2])).numpy()[0].tolist(), v.layout.sharding_specs
    ([2.0, 2.0], ['x', 'unsharded'])

    Args:
      initial_value: a DTensor, or another value if `layout` is given.
      dtype: the dtype to convert the value to.
      layout: the layout, a keyword argument.
    """

    layout: Layout

    def __init__(self, initial_value: Any, *args: Any, dtype: Any = None, **kwargs: Any) -> None:
        layout = kwargs.pop("layout", None)
        if thread.trace is not None:
            super().__init__(initial_value, *args, **kwargs, dtype=dtype)  # type: ignore[misc]
            if layout is not None:
                self.layout = layout
        else:
            value = initial_value() if callable(initial_value) else initial_value
            of_value = layout_of(value)
            if of_value is not None and layout is not None and layout != of_value:
                raise errors.InvalidArgumentError(
                    f"Conflicting layout are provided for initial value layout ({of_value}) and variable ({layout})."
                )
            layout = layout or of_value
            if layout is None:
                raise errors.InvalidArgumentError("Neither layout nor DTensor initial value are provided.")
            x = to_tensor(value, dtype=None if dtype is None else as_dtype(dtype))
            check_shape(layout, x.dims)
            super().__init__(x, *args, **kwargs)
            self.layout = layout
            sharding = sharding_of(layout)
            if sharding is not None:
                from ...state import sharded_storage, storage

                sharded_storage.sharded(self, storage.Layout(sharding))
        self._save_as_bf16 = False

    @property
    def save_as_bf16(self) -> bool:
        """Whether checkpoints contain the value as bfloat16; can be set for float32."""
        return self._save_as_bf16

    @save_as_bf16.setter
    def save_as_bf16(self, save_as_bf16: bool) -> None:
        self._save_as_bf16 = bool(save_as_bf16) and self.dtype == dtypes.float32

    @property
    def _saved_dtype(self) -> dtypes.DType:
        return dtypes.bfloat16 if self._save_as_bf16 else self.dtype


def enable_save_as_bf16(variables: Iterable[Variable]) -> None:
    """Makes checkpoints contain the float32 values of `DVariable`s as bfloat16; other variables are left alone.

    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> layout = dtensor.Layout.replicated(dtensor.create_mesh([("x", 1)], devices=["CPU:0"]), 0)
    >>> v = dtensor.DVariable(1.0, layout=layout)
    >>> dtensor.enable_save_as_bf16([v])
    >>> v.save_as_bf16
    True
    """
    for variable in variables:
        if isinstance(variable, DVariable):
            variable.save_as_bf16 = True
