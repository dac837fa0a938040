"""`tensorflow.python.framework.tensor_conversion`, and the conversion registry."""

from __future__ import annotations

from typing import Any

import gradtape


def convert_to_tensor_v1(
    value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None, dtype_hint: Any = None
) -> Any:
    """`tf.convert_to_tensor` with TensorFlow 1's argument order."""
    hint = preferred_dtype if dtype_hint is None else dtype_hint
    return gradtape.convert_to_tensor(value, dtype, dtype_hint=hint, name=name)


def convert_to_tensor_v2(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """`tf.convert_to_tensor`."""
    return gradtape.convert_to_tensor(value, dtype, dtype_hint=dtype_hint, name=name)


convert_to_tensor_v2_with_dispatch = convert_to_tensor_v2
convert_to_tensor_v1_with_dispatch = convert_to_tensor_v1


def convert(value: Any, dtype: Any = None, name: str | None = None, *args: Any, **kwargs: Any) -> Any:
    """Converts a value to a tensor."""
    return gradtape.convert_to_tensor(value, dtype, name=name)
