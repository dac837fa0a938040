"""Conversion between the values that Keras accepts as tensors and gradtape's tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend.common import KerasVariable, standardize_dtype
from keras.src.backend.common.dtypes import result_type
from keras.src.backend.config import floatx

import gradtape as tf
from gradtape.core import dtypes
from gradtape.core.tensor import wrap
from gradtape.engine.run.convert import own_read

from .. import sparse as sparse_tensors

_TENSORS = (tf.Tensor, tf.Variable)
_PYTHON = frozenset((bool, int, float, complex, list, tuple))


def convert_to_tensor(x, dtype=None, sparse=None, ragged=None):
    """Converts `x` to a tensor, cast to `dtype` if given; Python floats get Keras' default dtype.

    Sparse and ragged values stay so, unless `sparse` or `ragged` is False.
    """
    target = None if dtype is None else dtypes.as_dtype(standardize_dtype(dtype))
    if isinstance(x, KerasVariable):
        x = x.tensor()
    elif not isinstance(x, tf.Tensor):
        x = own_read(x) if isinstance(x, tf.Variable) else _new_tensor(x, target)
        if sparse is False:
            x = sparse_tensors.densified(x)
        if ragged is False and isinstance(x, tf.RaggedTensor):
            x = x.to_tensor()
    return x if target is None or x.dtype is target else tf.cast(x, target)


def dense_tensor(x, dtype=None):
    """Converts `x` to a dense tensor, for functions that do not preserve sparsity."""
    return convert_to_tensor(x, dtype, sparse=False)


def _new_tensor(x: Any, dtype: Any) -> Any:
    """Creates a tensor from a non-tensor value; `dtype` is the dtype that it will be cast to, if known."""
    kind = type(x)
    if kind is bool or kind is int or kind is float or kind is complex:
        return wrap(*_number(x, dtype))
    if sparse_tensors.is_sparse(x) or isinstance(x, tf.RaggedTensor):
        return x
    if isinstance(x, list | tuple) and any(isinstance(leaf, (*_TENSORS, KerasVariable)) for leaf in tree.flatten(x)):
        dtype = dtype or dtypes.as_dtype(result_type(*[getattr(v, "dtype", type(v)) for v in tree.flatten(x)]))
        return tf.stack([convert_to_tensor(part, dtype) for part in x])
    if not isinstance(x, np.ndarray | list | tuple):
        foreign = sparse_tensors.from_foreign(x)
        if foreign is not None:
            return foreign
    array = x if isinstance(x, np.ndarray) else np.asarray(x)
    if array.dtype.kind in "OSU":
        return tf.convert_to_tensor(array)
    if dtype is not None:
        return tf.convert_to_tensor(np.asarray(array, dtype.numpy))
    if isinstance(x, list | tuple) and array.dtype.kind in "ifu":
        kinds = {getattr(leaf, "dtype", type(leaf)) for leaf in tree.flatten(x)}
        array = array.astype(dtypes.as_dtype(result_type(*kinds)).numpy if kinds else floatx())
    return tf.convert_to_tensor(array)


def _number(x: Any, dtype: Any) -> Any:
    if dtype is None:
        name = "bool" if type(x) is bool else "int32" if type(x) is int else floatx()
        dtype = dtypes.complex64 if type(x) is complex else dtypes.as_dtype(name)
        if type(x) is int and not -(2**31) <= x < 2**31:
            dtype = dtypes.int64
    return np.asarray(x).astype(dtype.numpy)[()], dtype


def convert_to_numpy(x):
    """Copies the value to a new NumPy array."""
    if isinstance(x, KerasVariable):
        x = x.tensor()
    return np.array(x.to_tensor() if isinstance(x, tf.RaggedTensor) else sparse_tensors.densified(x))


def is_tensor(x):
    """Returns whether `x` is a tensor of gradtape, including sparse and ragged ones."""
    return isinstance(x, _TENSORS) or sparse_tensors.is_sparse(x) or isinstance(x, tf.RaggedTensor)


def cast(x, dtype):
    """Casts `x`. Python numbers first get TensorFlow's default dtypes: 0.999 is rounded to float32."""
    if type(x) in _PYTHON:
        x = tf.convert_to_tensor(x)
    return convert_to_tensor(x, dtype)
