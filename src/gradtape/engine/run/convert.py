"""Conversion to tensors of Python numbers and lists, NumPy arrays, variables and types that users register.

Python numbers are weakly typed: they take the requested dtype, or float32 or int32 by default. NumPy values keep their
dtype unless one is requested. In a list the first number decides which rule applies. Tensors are never cast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from ...backends.numpy.floating_point import REPORTS, run_silently
from ...backends.numpy.memory import copy
from ...core import dtypes, errors
from ...core.dtypes import DType
from ...core.protocols import VariableLike
from ...core.shapes import Dimension, TensorShape
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor, constant, is_tensor_like
from .namespace import ops

# The kinds (of NumPy) of Python numbers that each kind of dtype accepts.
_TAKES = {
    dtypes.BOOL: "b", dtypes.INT: "biu", dtypes.FLOAT: "biuf", dtypes.COMPLEX: "biufc", dtypes.STRING: "",
    dtypes.QUANTIZED: "iu",
}  # fmt: skip
_DEFAULTS: dict[Any, DType] = {bool: dtypes.bool, float: dtypes.float32, complex: dtypes.complex128}
_KINDS: dict[Any, str] = {bool: "b", int: "i", float: "f", complex: "c"}
_SEQUENCES = {list, tuple}
_LARGEST = float(np.finfo(np.float32).max) * (1 + 2.0**-25)  # the largest number that rounds to a finite float32
_LIKE_AN_ARRAY = ("__array__", "__array_interface__", "__array_struct__")
readable: set[type] = set()  # types with `_as_tensor`, which is called without further checks
_registered: list[tuple[int, Any, Callable[..., Any]]] = []


def register(base_type: type | tuple[type, ...], conversion: Callable[..., Any], priority: int = 100) -> None:
    """Registers `conversion(value, dtype)` for values of `base_type`; a lower priority is tried first."""
    _registered.append((priority, base_type, conversion))
    _registered.sort(key=lambda entry: entry[0])


def is_registered(value: object) -> bool:
    """Whether a conversion is registered for the type of `value`."""
    return any(isinstance(value, base) for _, base, _ in _registered)


def to_tensor(value: Any, dtype: DType | None = None, hint: DType | None = None) -> Tensor:
    """Converts `value` to a tensor of `dtype`; `hint` is a preferred dtype, ignored if the value does not fit it."""
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype is not dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: {value!r}"
            )
        return value if type(value) is Tensor else value.computed()
    if hint is not None and dtype is None:
        try:
            return to_tensor(value, hint)
        except (TypeError, ValueError):
            return to_tensor(value)
    kind = type(value)
    if kind in readable and (dtype is None or dtype is value.dtype):
        return own_read(value)
    if kind in _KINDS:
        return _number(value, dtype)
    if kind is np.ndarray or isinstance(value, np.generic):
        return _from_numpy(value, dtype)
    if kind is list or kind is tuple:
        return _from_sequence(value, dtype, pack=True)
    for _, base, conversion in _registered:
        if isinstance(value, base):
            converted = conversion(value, dtype)
            if converted is not NotImplemented:
                return converted if isinstance(converted, Tensor) else to_tensor(converted, dtype)
    return _other(value, dtype)


def with_default(value: object, default: DType, kinds: int) -> Tensor:
    """Converts a value to a tensor for an op that accepts `kinds` of dtypes and has a default among them.

    NumPy arrays are converted to the default; other values keep their dtype if the op accepts it.
    """
    if isinstance(value, np.ndarray | np.generic):
        return to_tensor(value, default)
    x = to_tensor(value)
    return x if x.dtype.kind & kinds or is_tensor_like(value) else to_tensor(value, hint=default)


def own_read(variable: VariableLike) -> Tensor:
    """Reads a variable as a distinct tensor object, which a function may return to the user, who may watch it."""
    read: Tensor = variable._as_tensor()
    return read.own_read()


def to_operand(value: Any, dtype: DType | None = None) -> Tensor:
    """Same as `to_tensor`, for an operand that does not reach the user: a variable's value is not a distinct object."""
    if type(value) in readable and (dtype is None or dtype is value.dtype):
        return value._as_tensor()
    return to_tensor(value, dtype)


def read_both(a: Any, b: Any) -> tuple[Any, Any]:
    """Reads variables and converts a Python number beside a float tensor; returns other values unchanged."""
    if type(a) in readable:
        a = a._as_tensor()
    if type(b) in readable:
        b = b._as_tensor()
        if type(a) is Tensor:
            return a, b
    if isinstance(a, Tensor):
        if (type(b) is float or type(b) is int) and a.dtype.kind == dtypes.FLOAT:
            b = a.number(b)
    elif isinstance(b, Tensor) and (type(a) is float or type(a) is int) and b.dtype.kind == dtypes.FLOAT:
        a = b.number(a)
    return a, b


def to_constant(value: object, dtype: DType | None = None) -> Tensor:
    """Converts `value` to a tensor; unlike `to_tensor`, rejects a list that contains tensors."""
    if isinstance(value, Tensor) and dtype is not None and value.dtype is not dtype:
        raise TypeError(f"Expected tensor {value} with dtype {dtype!r}, but got dtype {value.dtype!r}.")
    if type(value) is list or type(value) is tuple:
        return _from_sequence(value, dtype, pack=False)
    return to_tensor(value, dtype)


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def wrong_input(title: str, position: int, expected: DType, given: DType) -> str:
    """Returns TensorFlow's message for an input of another dtype than the op expects, in words."""
    ordinal = _ORDINALS[position] if position < len(_ORDINALS) else f"{position + 1}th"
    return (
        f"cannot compute {title} as input #{position} (the {ordinal} input) was expected to be a "
        f"{expected.kernel_name()} tensor but is a {given.kernel_name()} tensor [Op:{title}]"
    )


def how_to_agree(expected: DType, given: DType) -> str:
    """Returns what to do about inputs of two dtypes: which of them to convert, and by which function."""
    if dtypes.STRING in (expected.kind, given.kind):
        return "Use tf.strings.to_number(text) to compute with the number, or tf.strings.as_string(x) to join texts"
    if max(expected.kind, given.kind) > dtypes.COMPLEX:  # those of quantized values
        return "Use tf.cast(x, ...) to make them agree"
    keeps = given.kind > expected.kind  # bool < int < float < complex: a cast to the other one would lose something
    return f"Use tf.cast(x, tf.{(given if keeps else expected).name}) to make them agree"


def to_tensors(values: Iterable[Any], title: str) -> list[Tensor]:
    """Converts values to tensors of one dtype, the first tensor's or else the first value's. `title` names the op."""
    values = list(values)
    known = next((v.dtype for v in values if is_tensor_like(v)), None)
    tensors: list[Tensor] = []
    for i, value in enumerate(values):
        tensor = is_tensor_like(value)
        x = to_tensor(value) if tensor or known is None else to_tensor(value, known)
        known = known or x.dtype
        if x.dtype is not known:
            raise errors.InvalidArgumentError(
                f"{wrong_input(title, i, known, x.dtype)}. {how_to_agree(known, x.dtype)}"
            )
        tensors.append(x)
    return tensors


def to_array(value: object, dtype: np.dtype[Any] | type | None = None) -> np.ndarray[Any, Any]:
    """Returns a value that must be statically known, such as an axis or a shape, as an array."""
    if type(value) is list or type(value) is tuple:
        kinds: set[type] = set()
        _collect(value, kinds)
        if kinds == {int}:
            try:
                return np.array(value, np.int32 if dtype is None else dtype)
            except (OverflowError, ValueError):  # of large numbers, which are int64, and of no array
                pass
    if type(value) is not np.ndarray and not isinstance(value, int | float):
        value = to_tensor(value).array
    return np.asarray(value, dtype=dtype)


def to_shape(value: object, title: str = "Fill") -> tuple[int, ...]:
    """Converts a shape given as a list, a TensorShape, a tensor or a number to a tuple."""
    if (type(value) is list or type(value) is tuple) and all(type(n) is int for n in value):
        shape = tuple(value)
    else:
        array = to_tensor(value, None, dtypes.int32 if isinstance(value, int | list | tuple) else None).array
        if array.size and array.dtype.kind not in "iu":
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype int32: a shape is made of integers")
        if array.ndim > 1:
            raise errors.InvalidArgumentError(
                f"dims must represent a vector, got shape {list(array.shape)} [Op:{title}]"
            )
        shape = tuple(array.reshape(-1).astype(np.int64).tolist())
    for n in shape:
        if n < 0:
            raise errors.InvalidArgumentError(f"Dimension {n} must be >= 0 [Op:{title}], got shape {list(shape)}")
    return shape


def integers(value: object, title: str, attribute: str = "Tidx") -> Any:
    """Converts an op's static argument (axes, sizes, paddings) to an integer array.

    As in TensorFlow, Python's booleans are integers, and NumPy's numbers are cast, but tensors must have integers.
    """
    if type(value) is int:
        return np.int64(value)
    if (type(value) is list or type(value) is tuple) and all(type(n) is int for n in value):
        return np.array(value, np.int64)
    tensor = to_tensor(value)
    if tensor.dtype.numpy.kind == "f" and isinstance(value, list | tuple):  # a list of float tensors, which are cast
        tensor = to_tensor(value, None, dtypes.int32)
    array = tensor.array
    kinds = "iu" if is_tensor_like(value) else "iubf" if isinstance(value, np.ndarray | np.generic) else "iub"
    if array.dtype.kind not in kinds and array.size:
        raise errors.InvalidArgumentError(
            f"Value for attr '{attribute}' of {dtypes.of_numpy(array.dtype).kernel_name()} is not in the list of "
            f"allowed values: int32, int64 [Op:{title}], got {value!r}"
        )
    return array.astype(np.int64)


def integer(value: object, name: str) -> int:
    """Converts an op's static argument `name` (an axis, a count) to an int."""
    if type(value) is int:
        return value
    if type(value) is float:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype int32: {name} must be an integer")
    array = integers(value, name)
    if array.ndim:
        raise errors.InvalidArgumentError(f"{name} must be a scalar, got {value!r} of shape {list(array.shape)}")
    return int(array)


def _number(value: Any, dtype: DType | None) -> Tensor:
    """Converts a Python number. Integers too large for the dtype wrap around, as in C."""
    if dtype is None:
        dtype = _DEFAULTS.get(type(value)) or _integer_dtype(value, value)
        if dtype is dtypes.float32 and _LARGEST < abs(value) < np.inf:
            raise ValueError(
                "Can't convert Python sequence with a value out of range for a double-precision float: "
                f"{value!r} is too large for float32. Give dtype=tf.float64"
            )
    elif _KINDS[type(value)] not in _TAKES.get(dtype.kind, "biuf"):
        raise _inconvertible(value, dtype)
    if dtype.is_quantized:
        return constant(np.array((value,), dtype.numpy), dtype)
    try:
        return constant(dtype.as_numpy_dtype(value), dtype)
    except REPORTS:
        return constant(run_silently(dtype.as_numpy_dtype, value), dtype)
    except OverflowError:
        if not -(2**63) <= value < 2**64:
            raise _out_of_range(value) from None
        return constant(np.array(value).astype(dtype.numpy)[()], dtype)


def _integer_dtype(low: int, high: int) -> DType:
    """Returns int32, or int64 if the values do not fit."""
    if -(2**31) <= low and high < 2**31:
        return dtypes.int32
    if -(2**63) <= low and high < 2**63:
        return dtypes.int64
    raise _out_of_range(high)


def _from_numpy(value: np.ndarray[Any, Any] | np.generic, dtype: DType | None) -> Tensor:
    try:
        own = dtypes.of_numpy(value.dtype)
    except TypeError:
        raise ValueError(
            f"Failed to convert a NumPy array to a Tensor (Unsupported numpy type: {value.dtype})."
        ) from None
    target = dtype or own
    if target is dtypes.string:
        return constant(_as_strings(value), dtypes.string)
    if own is dtypes.string:
        value = np.asarray(value).astype(target.numpy)
    elif own.is_complex and not target.is_complex:
        value = value.real
    try:
        if not value.shape:
            return constant(value.astype(target.numpy)[()], target)
        return constant(copy(value, target.numpy), target)
    except REPORTS:
        return constant(run_silently(value.astype, target.numpy)[()], target)


def _with_sizes(value: object) -> Any:
    """Replaces the `Dimension` objects in a list by their values."""
    if isinstance(value, list | tuple):
        return [_with_sizes(part) for part in value]
    return value.value if isinstance(value, Dimension) else value


def _as_strings(value: np.ndarray[Any, Any] | np.generic) -> Any:
    flat = [item.encode() if isinstance(item, str) else item for item in np.asarray(value).ravel().tolist()]
    for item in flat:
        if not isinstance(item, bytes):
            raise ValueError(
                f"Failed to convert a NumPy array to a Tensor (Unsupported object type {type(item).__name__})."
            )
    array = np.empty(len(flat), dtype=object)
    array[:] = flat
    return array.reshape(np.shape(value))


def _from_sequence(value: Sequence[Any], dtype: DType | None, pack: bool) -> Tensor:
    """Converts a list, whose first number decides the dtype."""
    kinds: set[type] = set()
    _collect(value, kinds)
    if not all(kind in _KINDS for kind in kinds):
        if Dimension in kinds:
            return _from_sequence(_with_sizes(value), dtype, pack)
        for kind in kinds:
            if _is_tensor(kind):
                if not pack:
                    raise ValueError(
                        "TypeError: Scalar tensor has no `len()`: a list with tensors in it is no constant, got "
                        f"{value!r}. Use tf.stack or tf.convert_to_tensor"
                    )
                return _pack(value, dtype, next((x.dtype for x in _leaves(value) if is_tensor_like(x)), None))
        for kind in kinds:
            if not issubclass(kind, str | bytes | bool | int | float | complex | np.generic):
                raise _unsupported(next(leaf for leaf in _leaves(value) if type(leaf) is kind))
    try:
        array = np.array(value)
    except UnicodeDecodeError:  # undecodable bytes beside text
        return _from_sequence(_as_bytes(value), dtype, pack)
    except ValueError:
        raise ValueError(f"Can't convert non-rectangular Python sequence to Tensor: {value!r}") from None
    if dtype is dtypes.uint64 and array.dtype.kind == "f" and kinds == {int}:
        try:
            array = np.array(value, np.uint64)  # NumPy makes floats of values on both sides of int64's maximum
        except OverflowError:
            raise _out_of_range(value) from None
    if array.dtype.kind == "O" and kinds == {int, float} and type(next(_leaves(value))) is float:
        array = np.array(value, np.float64)  # integers that fit no dtype, beside floats
    letter = "f" if array.dtype.kind == "V" else array.dtype.kind  # ml_dtypes reports kind V for bfloat16
    if letter in "SUO":
        if not all(issubclass(k, str | bytes) for k in kinds):
            raise _out_of_range(value) if kinds == {int} else _mixed(value)
        if dtype not in (None, dtypes.string):
            raise _inconvertible(value, dtype)
        return _from_numpy(np.array(value, dtype=object), dtypes.string)
    if dtype is None:
        dtype = _dtype_of_numbers(value, array) if array.size else dtypes.float32
    elif array.size and letter not in _TAKES.get(dtype.kind, "biuf"):
        raise _inconvertible(value, dtype)
    try:
        return constant(array.astype(dtype.numpy, copy=False), dtype)
    except REPORTS:
        return constant(run_silently(array.astype, dtype.numpy), dtype)


def _as_bytes(value: object) -> Any:
    """Encodes all strings of a nest as bytes."""
    if isinstance(value, list | tuple):
        return [_as_bytes(item) for item in value]
    return value.encode() if isinstance(value, str) else value


def _dtype_of_numbers(value: Sequence[Any], array: np.ndarray[Any, Any]) -> DType:
    """Returns the dtype of a list of numbers: floats are float32 unless the first is a NumPy float of another width."""
    first = next(_leaves(value))
    kind = array.dtype.kind
    is_bool, is_complex = isinstance(first, bool | np.bool_), isinstance(first, complex | np.complexfloating)
    if is_bool != (kind == "b") or is_complex != (kind == "c"):
        raise _mixed(value)
    if kind in "iu":
        return _integer_dtype(int(array.min()), int(array.max()))
    if kind == "f" and all(isinstance(leaf, Integral) for leaf in _leaves(value)):
        raise _out_of_range(value)
    if isinstance(first, np.generic) and not isinstance(first, np.integer | np.bool_):
        return dtypes.of_numpy(first.dtype)
    return _DEFAULTS[{"b": bool, "f": float, "c": complex}[kind]]


def _collect(value: Iterable[Any], kinds: set[type]) -> None:
    """Adds the types of the leaves of a nest to `kinds`."""
    found = set(map(type, value))
    if found <= _KINDS.keys():
        kinds |= found
        return
    if found <= _SEQUENCES:
        for item in value:
            _collect(item, kinds)
        return
    nested = False
    for kind in found:
        if issubclass(kind, np.ndarray) or (issubclass(kind, Sequence) and not issubclass(kind, str | bytes)):
            nested = True
        else:
            kinds.add(kind)
    if nested:
        for item in value:
            if isinstance(item, np.ndarray):
                kinds.add(item.dtype.type)
            elif isinstance(item, Sequence) and not isinstance(item, str | bytes):
                _collect(item, kinds)


def _leaves(value: object) -> Any:
    if isinstance(value, np.ndarray):
        yield from value.flat
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _is_tensor(kind: type) -> bool:
    return issubclass(kind, Tensor) or any(issubclass(kind, base) for _, base, _ in _registered)


def _pack(value: object, dtype: DType | None, weak: DType | None) -> Tensor:
    """Stacks a nest of tensors and numbers into one tensor by recorded ops; numbers take the dtype of the tensors."""
    if isinstance(value, list | tuple):
        return ops.stack(*to_tensors([_pack(item, dtype, weak) for item in value], "Pack"), axis=0)
    if isinstance(value, Tensor) or _is_tensor(type(value)):
        x = to_tensor(value)
        return x if dtype is None or x.dtype is dtype else ops.cast(x, dtype=dtype)
    return to_tensor(value, dtype or weak)


def _other(value: Any, dtype: DType | None) -> Tensor:
    """Converts a value that is not exactly a number, array or list and has no registered conversion."""
    if isinstance(value, str | bytes):
        if dtype not in (None, dtypes.string):
            raise _inconvertible(value, dtype)
        return _from_numpy(np.array(value, dtype=object), dtype)
    for base in _KINDS:
        if isinstance(value, base):
            return _number(base(value), dtype)
    if hasattr(value, "__tf_tensor__"):
        return to_tensor(value.__tf_tensor__(dtype, None), dtype)
    if isinstance(value, Sequence):
        return _from_sequence(value, dtype, pack=True)
    if not isinstance(value, type) and any(hasattr(value, name) for name in _LIKE_AN_ARRAY):
        return _from_numpy(np.asarray(value), dtype)
    if hasattr(value, "__getitem__") and hasattr(value, "__len__") and not isinstance(value, Mapping | type):
        elements = value if hasattr(value, "__iter__") else (value[i] for i in range(len(value)))
        return _from_sequence(list(elements), dtype, pack=True)
    raise _unsupported(value)


def _of_shape(shape: TensorShape, dtype: DType | None) -> Tensor:
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError(
            f"Cannot convert TensorShape {shape} to dtype {dtype}. Allowed dtypes are tf.int32 and tf.int64."
        )
    sizes = [n for n in shape if n is not None]
    needed = _integer_dtype(0, max(sizes, default=0))
    if dtype is dtypes.int32 and needed is not dtype:
        raise ValueError(
            f"Cannot convert TensorShape {shape} to dtype int32; a dimension is too large. Consider using tf.int64."
        )
    dtype = dtype or needed
    return constant(np.array(sizes, dtype.numpy), dtype)


def _of_slices(slices: IndexedSlices, dtype: DType | None) -> Tensor:
    """Converts slices to a dense tensor, summing duplicates."""
    if dtype is not None and slices.dtype is not dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype {slices.dtype.name}"
        )
    if slices.dense_shape is None:
        raise ValueError(
            f"Tensor conversion requested for IndexedSlices for argument `value` without dense_shape: {slices!r}"
        )
    return ops.scatter_add(slices.values, slices.indices, shape=to_shape(slices.dense_shape))


register(TensorShape, _of_shape)
register(Dimension, lambda size, dtype: to_tensor(size.value, dtype))
register(IndexedSlices, _of_slices)


def _unsupported(value: object) -> Exception:
    instead = getattr(value, "instead", None)
    advice = f" It has no value: {instead}" if isinstance(instead, str) else ""
    return ValueError(
        f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor.{advice}"
    )


def _inconvertible(value: object, dtype: DType) -> Exception:
    advice = f"Use tf.cast, or write the numbers as values of {dtype.name}"
    if dtype.kind == dtypes.STRING:
        advice = "Use tf.strings.as_string(x), or tf.strings.to_number(text) for the number in a text"
    elif isinstance(value, str | bytes):
        advice = "Use tf.strings.to_number(text)"
    elif dtype.is_quantized:
        advice = "Give integers: quantized dtypes are stored as integers"
    return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.kernel_name()}. {advice}")


def _mixed(value: object) -> Exception:
    return ValueError(
        f"Can't convert Python sequence with mixed types to Tensor: {value!r}. The first value says what all are"
    )


def _out_of_range(value: object) -> Exception:
    return ValueError(f"Can't convert Python sequence with out-of-range integer to Tensor: {value!r} is too large")
