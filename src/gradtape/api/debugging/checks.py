"""`tf.debugging`: checks of values, shapes and dtypes that raise an error on failure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtypes import DType, as_dtype, float32
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor, is_tensor_like, wrap
from ...core.tracebacks import filtering
from ...core.type_hints import DTypeLike, TensorLike, ValueLike
from ...engine.registry import placement
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...engine.run.verification import verify
from ...sparse.tensor import SparseTensor
from ..runtime.system import print_values
from .shape_checks import with_shape

NAMESPACES = ("debugging", "")
__all__ = [
    "Assert", "assert_all_finite", "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer",
    "assert_less", "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative",
    "assert_non_positive", "assert_none_equal", "assert_positive", "assert_proper_iterable", "assert_same_float_dtype",
    "assert_type", "check_numerics", "disable_check_numerics", "disable_traceback_filtering",
    "enable_check_numerics", "enable_traceback_filtering", "get_log_device_placement", "is_numeric_tensor",
    "is_traceback_filtering_enabled", "set_log_device_placement",
]  # fmt: skip



def Assert(
    condition: TensorLike, data: Sequence[ValueLike], summarize: int | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError, showing `data`, unless `condition` is true.

    >>> tf.debugging.Assert(tf.constant(True), [tf.constant([1.0])])
    """
    if not isinstance(data, list | tuple):
        raise TypeError(f"values must be a sequence: `data` is a list of what to show, got {type(data).__name__}")
    count = 3 if summarize is None else summarize
    shown = [to_tensor(x) for x in data]

    def test(holds: Any, *arrays: Any) -> None:
        if not holds:
            text = "\n".join(print_values(wrap(a, x.dtype), count) for a, x in zip(arrays, shown, strict=True))
            raise InvalidArgumentError(f"Expected {str(condition)!r} to be true. Summarized data: {text}")

    verify(test, to_tensor(condition), *shown)


def _tensors(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    if is_tensor_like(y):
        y = to_tensor(y)
        return to_tensor(x, hint=y.dtype), y
    x = to_tensor(x)
    return x, to_tensor(y, hint=x.dtype)


def _compare(sign: str, holds: Any, x: Any, y: Any, message: Any, summarize: int | None) -> None:
    """Raises InvalidArgumentError unless `holds(x, y)` is true for all elements."""
    x, y = _tensors(x, y)

    def test(satisfied: Any, a: Any, b: Any) -> None:
        if not np.all(satisfied):
            raise InvalidArgumentError(_comparison(sign, satisfied, a, b, message, summarize))

    verify(test, holds(x, y), x, y)


def _comparison(sign: str, satisfied: Any, x: Any, y: Any, message: Any, summarize: int | None) -> str:
    """Returns the message for arrays that fail a comparison."""
    count = 3 if summarize is None else summarize if summarize >= 0 else np.size(satisfied)
    lines = [] if message is None else [str(message)]
    lines.append(f"Condition x {sign} y did not hold.")
    if x.shape == y.shape and x.shape:
        where = np.argwhere(~satisfied)[:count]
        at = tuple(where.T)
        lines += [f"Indices of first {len(where)} different values:", f"{where}"]
        lines += ["Corresponding x values:", f"{x[at]}", "Corresponding y values:", f"{y[at]}"]
    for label, array in (("x", x), ("y", y)):
        values = np.ravel(array)[:count]
        lines += [f"First {len(values)} elements of {label}:", f"{values}"]
    return "\n".join(lines)


def assert_equal(
    x: ValueLike, y: ValueLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError unless `x == y` for all elements.

    >>> tf.debugging.assert_equal(tf.constant([1, 2]), [1, 2])
    """
    _compare("==", ops.equal, x, y, message, summarize)


def assert_none_equal(
    x: ValueLike, y: ValueLike, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError unless `x != y` for all elements.

    >>> tf.debugging.assert_none_equal(tf.constant([1, 2]), [2, 1])
    """
    _compare("!=", ops.not_equal, x, y, message, summarize)


def assert_greater(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError unless `x > y` for all elements.

    >>> tf.debugging.assert_greater(tf.constant([2, 3]), 1)
    """
    _compare(">", ops.greater, x, y, message, summarize)


def assert_greater_equal(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError unless `x >= y` for all elements.

    >>> tf.debugging.assert_greater_equal(tf.constant([1, 3]), 1)
    """
    _compare(">=", ops.greater_equal, x, y, message, summarize)


def assert_less(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError unless `x < y` for all elements.

    >>> tf.debugging.assert_less(tf.constant([0, 1]), 2)
    """
    _compare("<", ops.less, x, y, message, summarize)


def assert_less_equal(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError unless `x <= y` for all elements.

    >>> tf.debugging.assert_less_equal(tf.constant([0, 2]), 2)
    """
    _compare("<=", ops.less_equal, x, y, message, summarize)


def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raises InvalidArgumentError unless `|x - y| <= atol + rtol * |y|` for all elements.

    Args:
      rtol: ten times the machine epsilon by default; `atol` likewise.

    >>> tf.debugging.assert_near(tf.constant(1.0), 1.0000001)
    """
    x, y = _tensors(x, y)
    if x.dtype is not y.dtype:
        ops.equal(x, y)
    real = as_dtype(np.zeros(0, x.dtype.numpy).real.dtype)
    spacing = 10 * float(real.eps if hasattr(real, "eps") else np.finfo(real.numpy).eps)
    count = 3 if summarize is None else summarize

    def test(a: Any, b: Any, rtol: Any, atol: Any) -> None:
        if not np.all(np.abs(a - b) <= float(atol) + float(rtol) * np.abs(b)):
            raise InvalidArgumentError(
                f"{_prefix(message)}x and y not equal to tolerance rtol = {rtol}, atol = {atol}\n"
                f"x (shape={x.shape} dtype={x.dtype.name}) = {print_values(wrap(a, x.dtype), count)}\n"
                f"y (shape={y.shape} dtype={y.dtype.name}) = {print_values(wrap(b, y.dtype), count)}"
            )

    tolerances = [to_tensor(spacing if given is None else given) for given in (rtol, atol)]
    verify(test, x, y, *tolerances)


def _prefix(message: Any) -> str:
    return f"{message}.  " if message else ""


def _sign(sign: str, holds: Any, x: Any, message: Any, summarize: int | None) -> None:
    x = to_tensor(x)

    def test(satisfied: Any, array: Any) -> None:
        if not np.all(satisfied):
            values = print_values(wrap(array, x.dtype), 3 if summarize is None else summarize)
            raise InvalidArgumentError(
                f"{_prefix(message)}\nCondition x {sign} 0 did not hold element-wise:\n"
                f"x (shape={x.shape} dtype={x.dtype.name}) = \n{values}"
            )

    verify(test, holds(x, to_tensor(0, dtype=x.dtype)), x)


def assert_negative(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError unless `x < 0` for all elements.

    >>> tf.debugging.assert_negative(tf.constant([-1.0, -2.0]))
    """
    _sign("<", ops.less, x, message, summarize)


def assert_non_negative(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError unless `x >= 0` for all elements.

    >>> tf.debugging.assert_non_negative(tf.constant([0.0, 2.0]))
    """
    _sign(">=", ops.greater_equal, x, message, summarize)


def assert_non_positive(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError unless `x <= 0` for all elements.

    >>> tf.debugging.assert_non_positive(tf.constant([0.0, -2.0]))
    """
    _sign("<=", ops.less_equal, x, message, summarize)


def assert_positive(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError unless `x > 0` for all elements.

    >>> tf.debugging.assert_positive(tf.constant([1.0, 2.0]))
    """
    _sign(">", ops.greater, x, message, summarize)


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Raises TypeError unless `x` has an integer dtype.

    >>> tf.debugging.assert_integer(tf.constant(1))
    """
    x = to_tensor(x)
    if not x.dtype.is_integer:
        raise TypeError(f'{_prefix(message)}Expected "x" to be integer type.  Found: tensor of dtype {x.dtype!r}')


def assert_type(tensor: ValueLike, tf_type: DTypeLike, message: str | None = None, name: str | None = None) -> None:
    """Raises TypeError unless `tensor` has the dtype `tf_type`.

    >>> tf.debugging.assert_type(tf.constant(1.0), tf.float32)
    """
    wanted = as_dtype(tf_type)
    found = with_shape(tensor).dtype
    if found is not wanted:
        raise TypeError(f"{_prefix(message)}tensor must be of type tf.{wanted.name}; got tf.{found.name}")


def assert_proper_iterable(values: object) -> None:
    """Raises TypeError unless `values` is a collection, as opposed to a tensor, an array or a string.

    >>> tf.debugging.assert_proper_iterable([1, 2])
    """
    if isinstance(values, Tensor | SparseTensor | np.ndarray | str | bytes):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_same_float_dtype(tensors: Sequence[Tensor] | None = None, dtype: DTypeLike | None = None) -> DType:
    """Returns the common floating dtype of `tensors`, which must be `dtype` if given; raises ValueError if they differ.

    >>> tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(2.0)])
    tf.float32
    """
    expected = None if dtype is None else as_dtype(dtype)
    first: Any = None
    for t in tensors or ():
        if t is None:
            continue
        if expected is None:
            first, expected = t, t.dtype
        elif t.dtype is not expected:
            like = "" if first is None else f" as {first}"
            raise ValueError(f"{t}, type={t.dtype!r}, must be of the same type ({expected!r}){like}.")
    expected = expected or float32
    if not expected.is_floating:
        raise ValueError(f"Expected floating point type, got {expected!r}.")
    return expected


def assert_all_finite(x: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Returns `x` if it has no infinities or NaNs; raises InvalidArgumentError otherwise.

    >>> float(tf.debugging.assert_all_finite(tf.constant(1.0), "the loss"))
    1.0
    """
    return check_numerics(x, message)


def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Returns `tensor` if it and its gradient have no infinities or NaNs; raises InvalidArgumentError otherwise.

    >>> tf.debugging.check_numerics(tf.math.log(tf.constant(0.0)), "the log")
    Traceback (most recent call last):
    gradtape.errors.InvalidArgumentError: the log : Tensor had Inf values [Op:CheckNumerics]
    """
    return ops.check_numerics(to_tensor(tensor), message=message)


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Makes every op and every gradient with infinities or NaNs raise InvalidArgumentError.

    >>> tf.debugging.enable_check_numerics()
    >>> try:
    ...     tf.constant(1.0) / tf.constant(0.0)
    ... except tf.errors.InvalidArgumentError as error:
    ...     print(error.message.splitlines()[1])
    ... finally:
    ...     tf.debugging.disable_check_numerics()
    !!! Detected Infinity or NaN in output 0 of eagerly-executing op "Div" (# of outputs: 1) !!!
    """
    from ...inspect.checks import finite

    finite.switch_on()


def disable_check_numerics() -> None:
    """Disables the checks of `enable_check_numerics`, so that ops may again return infinity and NaN.

    >>> tf.debugging.disable_check_numerics()
    """
    from ...inspect.checks import finite

    finite.switch_off()


def is_numeric_tensor(tensor: object) -> bool:
    """Returns whether `tensor` is a tensor of integers, floats or complex numbers.

    >>> tf.debugging.is_numeric_tensor(tf.constant(1.0)), tf.debugging.is_numeric_tensor(1.0)
    (True, False)
    """
    return isinstance(tensor, Tensor) and tensor.dtype.is_numeric


def enable_traceback_filtering() -> None:
    """Leaves the frames of gradtape out of tracebacks: they show the user's lines. This is the default.

    >>> tf.debugging.enable_traceback_filtering()
    """
    filtering.enabled = True


def disable_traceback_filtering() -> None:
    """Shows the frames of gradtape in tracebacks, for those who look for an error in gradtape itself.

    >>> tf.debugging.disable_traceback_filtering()
    >>> tf.debugging.enable_traceback_filtering()
    """
    filtering.enabled = False


def is_traceback_filtering_enabled() -> bool:
    """Returns whether errors leave the API without internal frames:
    the setting of `enable_traceback_filtering` and `disable_traceback_filtering`.

    >>> tf.debugging.enable_traceback_filtering()
    >>> tf.debugging.is_traceback_filtering_enabled()
    True
    """
    return filtering.enabled


def get_log_device_placement() -> bool:
    """Returns whether `set_log_device_placement` has been called with True: the devices of ops are logged.

    >>> tf.debugging.get_log_device_placement()
    False
    """
    return placement.MODE.logs


def set_log_device_placement(enabled: bool) -> None:
    """Sets whether each eager op is logged with its device to `tf.get_logger()`, at level INFO.

    >>> tf.debugging.set_log_device_placement(False)
    """
    placement.log_placements(bool(enabled))
