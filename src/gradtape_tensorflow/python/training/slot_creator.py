"""`tensorflow.python.training.slot_creator`: variables of optimizers, named after the variable that they belong to."""

from __future__ import annotations

from typing import Any

import gradtape


def create_slot(
    primary: Any, val: Any, name: str, colocate_with_primary: bool = True, *, copy_xla_sharding: bool = False
) -> Any:
    """Creates a variable with the initial value `val`."""
    scope = primary.name.partition(":")[0]
    return gradtape.Variable(val, trainable=False, name=f"{scope}/{name}")


def create_slot_with_initializer(
    primary: Any, initializer: Any, shape: Any, dtype: Any, name: str, colocate_with_primary: bool = True,
    *, copy_xla_sharding: bool = False,
) -> Any:  # fmt: skip
    """Creates a variable of a shape and dtype."""
    value = initializer(gradtape.TensorShape(shape).as_list(), dtype=dtype) if callable(initializer) else initializer
    return create_slot(primary, value, name)


def create_zeros_slot(
    primary: Any, name: str, dtype: Any = None, colocate_with_primary: bool = True, *, copy_xla_sharding: bool = False
) -> Any:
    """Creates a variable of zeros with the shape of the primary one."""
    return create_slot(primary, gradtape.zeros(primary.shape, dtype or primary.dtype), name)
