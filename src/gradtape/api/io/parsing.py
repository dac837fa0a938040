"""`tf.io.parse_example`: parses serialized examples into tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import errors
from ...core.tensor import Tensor
from ...core.type_hints import StringLike
from ..runtime.system import py_function
from ..strings.strings import text_tensor
from .columns import Column, columns_of
from .reading import examples

NAMESPACES = ("io",)
__all__ = ["parse_example", "parse_single_example"]


def parse_example(
    serialized: StringLike, features: Any, example_names: StringLike | None = None, name: str | None = None
) -> dict[str, Any]:
    """Parses a batch of serialized `tf.train.Example`s, or one, into a dict of tensors.

    Args:
      features: descriptions by name: `tf.io.FixedLenFeature` gives a dense tensor, `VarLenFeature` and `SparseFeature`
        a sparse one, `RaggedFeature` a ragged one, `FixedLenSequenceFeature` a padded dense one.

    >>> example = tf.train.Example()
    >>> example.features.feature["age"].int64_list.value.append(29)
    >>> rows = tf.constant([example.SerializeToString()] * 2)
    >>> tf.io.parse_example(rows, {"age": tf.io.FixedLenFeature([], tf.int64)})["age"].numpy().tolist()
    [29, 29]
    """
    columns = columns_of(_check_features(features, "features"))
    texts = text_tensor(serialized)
    if len(texts.dims) > 1:
        raise errors.InvalidArgumentError(
            f"Expected serialized to be a scalar or vector, got shape: {list(texts.dims)}"
        )
    wanted = {key for column in columns.values() for key in column.keys}

    def call(tensor: Tensor) -> list[Any]:
        data = [tensor.array] if isinstance(tensor.array, bytes) else np.ravel(tensor.array).tolist()
        rows = examples(data, wanted)
        names = described(len(rows), example_names, single=not texts.dims)
        return [array for column in columns.values() for array in column.arrays(rows, names)]

    return tensors_of(columns, py_function(call, [texts], declared(columns)), single=not texts.dims)


def parse_single_example(
    serialized: StringLike, features: Any, example_names: StringLike | None = None, name: str | None = None
) -> dict[str, Any]:
    """Parses one serialized `tf.train.Example` into a dict of tensors.

    >>> example = tf.train.Example()
    >>> example.features.feature["words"].bytes_list.value.extend([b"a", b"b"])
    >>> found = tf.io.parse_single_example(example.SerializeToString(), {"words": tf.io.VarLenFeature(tf.string)})
    >>> found["words"].values.numpy().tolist()
    [b'a', b'b']
    """
    texts = text_tensor(serialized)
    if texts.dims:
        raise ValueError(f"Input serialized must be a scalar, got shape {list(texts.dims)}: use tf.io.parse_example")
    return parse_example(texts, features, example_names, name)


def _check_features(features: Any, what: str) -> dict[str, Any]:
    if not features:
        raise ValueError(f"Invalid argument: {what} cannot be {'None' if features is None else 'empty'}.")
    return features


def described(count: int, names: Any, single: bool) -> list[str]:
    """Returns the start of an error message about an example."""
    if names is not None:
        return [f"Name: {name.decode()}, " for name in np.ravel(text_tensor(names).numpy())]
    return [""] if single else [f"Name: <unknown>, Index: {i}.  " for i in range(count)]


def declared(columns: dict[str, Column]) -> list[Any]:
    """Returns the dtypes of the arrays of all columns."""
    return [dtype for column in columns.values() for dtype in column.declared]


def tensors_of(columns: dict[str, Column], arrays: list[Tensor], single: bool) -> dict[str, Any]:
    """Returns the tensors of all columns, from their arrays."""
    found, place = {}, 0
    for key, column in columns.items():
        count = len(column.declared)
        found[key] = column.tensor(arrays[place : place + count], single)
        place += count
    return found
