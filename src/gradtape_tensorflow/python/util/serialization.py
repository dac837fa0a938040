"""`tensorflow.python.util.serialization`: values as JSON."""

from __future__ import annotations

import collections.abc
from typing import Any

import numpy as np

import gradtape


def get_json_type(obj: Any) -> Any:
    """Returns what `json.dumps` writes for a value it does not know."""
    if hasattr(obj, "get_config"):
        return {"class_name": obj.__class__.__name__, "config": obj.get_config()}
    if type(obj).__module__ == np.__name__:
        return obj.tolist() if isinstance(obj, np.ndarray) else obj.item()
    if callable(obj) and hasattr(obj, "__name__"):
        return obj.__name__
    if isinstance(obj, gradtape.TensorShape):
        return None if obj.rank is None else obj.as_list()
    if isinstance(obj, gradtape.DType):
        return obj.name
    if isinstance(obj, collections.abc.Mapping):
        return dict(obj)
    if obj is Ellipsis:
        return {"class_name": "__ellipsis__"}
    raise TypeError(f"Object {obj} is not JSON-serializable. You may implement a `get_config()` method on the class")
