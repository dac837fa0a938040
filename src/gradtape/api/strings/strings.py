"""`tf.strings`: elementwise string functions."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import AxisLike, DTypeLike, StringLike, TensorLike, ValueLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ...ops.arrays.text import each
from ..runtime.system import summary
from .regular_expressions import compiled, replaced

NAMESPACES = ("strings",)
__all__ = [
    "as_string", "format", "join", "length", "lower", "reduce_join", "regex_full_match", "regex_replace", "strip",
    "substr", "to_number", "unsorted_segment_join", "upper",
]  # fmt: skip


def spelled(function: Callable[..., Any], op: str, **attrs: Any) -> Callable[..., Any]:
    """Annotates a function of arrays with TensorFlow's op and its attributes, for SavedModels."""
    function.spelling = (op, attrs)  # type: ignore[attr-defined]
    return function


_UNITS = ("BYTE", "UTF8_CHAR")
_NUMBERS = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)


def in_bytes(text: str | bytes) -> bytes:
    """Converts a Python string to the bytes that tensors hold."""
    return text.encode() if isinstance(text, str) else text


def text_tensor(value: Any) -> Tensor:
    """Converts `value` to a tensor of strings."""
    x = to_tensor(value) if isinstance(value, Tensor) else to_tensor(value, dtypes.string)
    if x.dtype is not dtypes.string:
        raise errors.InvalidArgumentError(
            f"Expected a tensor of strings, got {x.dtype.name}. tf.strings.as_string makes one"
        )
    return x


def as_string(
    input: ValueLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Converts numbers to strings.

    >>> tf.strings.as_string([3.14159, 2.0], precision=2).numpy().tolist()
    [b'3.14', b'2.00']
    """
    x = to_tensor(input)
    number = x.dtype.is_floating or x.dtype.is_complex
    problem = (
        "Cannot select both scientific and shortest notation" if scientific and shortest
        else "Fill string must be one or fewer characters" if len(fill) > 1
        else f'Fill argument not supported: "{fill}"' if fill not in ("", " ", "+", "-", "0")
        else f"scientific and shortest format not supported for datatype {x.dtype.name}"
        if (scientific or shortest) and not number
        else f"precision not supported for datatype {x.dtype.name}" if precision > -1 and not number
        else ""
    )  # fmt: skip
    if problem:
        raise errors.InvalidArgumentError(f"{problem} [Op:AsString]")
    if x.dtype is dtypes.string:
        return x
    options = {"precision": precision, "scientific": scientific, "shortest": shortest, "width": width, "fill": fill}
    if x.dtype.is_bool:
        words = each(lambda value: b"true" if value else b"false")
        return ops.map_text(x, function=spelled(words, "AsString", **options))
    letter = ("e" if scientific else "g" if shortest else "f") if number else "d"
    form = "%" + fill + (str(width) if width > -1 else "") + (f".{precision}" if precision > -1 else "") + letter

    def written(value: Any) -> bytes:
        if x.dtype.is_complex:
            return f"({form % value.real},{form % value.imag})".encode()
        return (form % (float(value) if number else int(value))).encode()

    return ops.map_text(x, function=spelled(each(written), "AsString", **options))


def to_number(input: StringLike, out_type: DTypeLike = dtypes.float32, name: str | None = None) -> Tensor:
    """Parses strings, such as `"-1.5e3"`, to numbers of dtype `out_type`.

    >>> tf.strings.to_number(["1.5", "3"]).numpy().tolist()
    [1.5, 3.0]
    """
    dtype = dtypes.as_dtype(out_type)
    if dtype not in _NUMBERS:
        allowed = ", ".join(kind.kernel_name() for kind in _NUMBERS)
        raise errors.InvalidArgumentError(
            f"Value for attr 'out_type' of {dtype.name} is not in the list of allowed values: {allowed}"
        )

    def read(text: bytes) -> Any:
        digits = text.decode(errors="replace").strip()
        try:
            if "_" in digits:
                raise ValueError
            if dtype.is_integer:
                return dtype.as_numpy_dtype(int(digits))
            return float.fromhex(digits) if "x" in digits.lower() else float(digits)
        except (ValueError, OverflowError):
            raise errors.InvalidArgumentError(
                f"StringToNumberOp could not correctly convert string: {text.decode(errors='replace')} to {dtype.name}"
            ) from None

    numbers = spelled(each(read, dtype.as_numpy_dtype), "StringToNumber", out_type=dtype)
    return ops.map_text(text_tensor(input), function=numbers)


def join(inputs: Sequence[StringLike], separator: str = "", name: str | None = None) -> Tensor:
    """Joins the strings of several tensors elementwise; scalars are broadcast.

    >>> tf.strings.join([["a", "b"], "c"], separator="-").numpy().tolist()
    [b'a-c', b'b-c']
    """
    tensors = [text_tensor(x) for x in inputs]
    shapes = [x.dims for x in tensors if x.dims]
    for shape in shapes:
        if shape != shapes[0]:
            raise errors.InvalidArgumentError(
                f"Input shapes do not match: {list(shapes[0])} vs. {list(shape)}; only scalars broadcast"
            )
    if not tensors:
        return to_tensor(b"")
    between = in_bytes(separator)
    joined = spelled(each(lambda *parts: between.join(parts)), "StringJoin", separator=separator)
    return ops.map_text(*tensors, function=joined)


def reduce_join(
    inputs: StringLike, axis: AxisLike | None = None, keepdims: bool = False, separator: str = "",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Joins strings along the given axes in order; without `axis`, all of them.

    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=-1).numpy().tolist()
    [b'ab', b'cd']
    """
    x = text_tensor(inputs)
    rank = len(x.dims)
    axes = list(range(rank))[::-1] if axis is None else np.ravel(to_array(axis, np.int64)).tolist()
    for one in axes:
        if not -rank <= one < rank:
            raise errors.OutOfRangeError(f"Invalid reduction dimension {one} for input with {rank} dimension(s)")
    axes = [one % rank for one in axes]
    if len(set(axes)) != len(axes):
        raise errors.InvalidArgumentError(f"Duplicate reduction dimension in {axes} [Op:ReduceJoin]")
    kept = [one for one in range(rank) if one not in axes]
    between = in_bytes(separator)

    def joined(array: Any) -> Any:
        count = math.prod(array.shape[one] for one in axes)
        rows = np.transpose(array, kept + axes[::-1]).reshape(*(array.shape[one] for one in kept), count)
        result = np.empty(rows.shape[:-1], dtype=object)
        for place in np.ndindex(result.shape):
            result[place] = between.join(rows[place])
        return np.expand_dims(result, tuple(axes)) if keepdims else result

    return ops.map_text(x, function=joined)


def unsorted_segment_join(
    inputs: StringLike, segment_ids: TensorLike, num_segments: TensorLike, separator: str = "", name: str | None = None
) -> Tensor:
    """Joins the strings with equal ids, in order.

    >>> tf.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], num_segments=2, separator="-").numpy().tolist()
    [b'b', b'a-c']
    """
    x, ids = text_tensor(inputs), to_tensor(segment_ids)
    size, between, rank = int(to_array(num_segments)), in_bytes(separator), len(ids.dims)
    if x.dims[:rank] != ids.dims:
        raise errors.InvalidArgumentError(
            f"Shape of segment_ids {list(ids.dims)} must be a prefix of the shape of the inputs {list(x.dims)}"
        )

    def joined(array: Any, numbers: Any) -> Any:
        rows, flat = array.reshape(numbers.size, -1), numbers.ravel().tolist()
        if flat and not 0 <= min(flat) <= max(flat) < size:
            raise errors.InvalidArgumentError(
                f"segment_ids are not allowed to exceed num_segments or to have negative values: {flat}, of {size}"
            )
        result = np.full((size, rows.shape[1]), b"", dtype=object)
        for number in set(flat):
            members = [i for i, other in enumerate(flat) if other == number]
            result[number] = [between.join(rows[members, column]) for column in range(rows.shape[1])]
        return result.reshape(size, *array.shape[rank:])

    return ops.map_text(x, ids, function=joined)


def length(input: StringLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Returns the length of strings, in bytes or in characters (`unit="UTF8_CHAR"`).

    >>> tf.strings.length(["tape", "ü"]).numpy().tolist()
    [4, 2]
    """
    counted: Any = (lambda x: len(_decode(x))) if _counts_characters(unit) else len
    return ops.map_text(text_tensor(input), function=spelled(each(counted, np.int32), "StringLength", unit=unit))


def _counts_characters(unit: str) -> bool:
    if unit not in _UNITS:
        raise errors.InvalidArgumentError(f"unit must be one of {', '.join(_UNITS)}, got {unit!r}")
    return unit == "UTF8_CHAR"


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def lower(input: StringLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Converts to lowercase, ASCII only unless `encoding="utf-8"`.

    >>> tf.strings.lower("Tape").numpy()
    b'tape'
    """
    return _in_case(input, encoding, bytes.lower, str.lower, "StringLower")


def upper(input: StringLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Converts to uppercase, ASCII only unless `encoding="utf-8"`.

    >>> tf.strings.upper("Tape").numpy()
    b'TAPE'
    """
    return _in_case(input, encoding, bytes.upper, str.upper, "StringUpper")


def _in_case(
    input: Any, encoding: str, plain: Callable[[bytes], bytes], full: Callable[[str], str], op: str
) -> Tensor:
    if encoding not in ("", "utf-8"):
        raise errors.InvalidArgumentError(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
    function = (lambda x: _encode(full(_decode(x)))) if encoding else plain
    return ops.map_text(text_tensor(input), function=spelled(each(function), op, encoding=encoding))


def strip(input: StringLike, name: str | None = None) -> Tensor:
    """Strips white space at both ends.

    >>> tf.strings.strip(" tape\\n").numpy()
    b'tape'
    """
    return ops.map_text(text_tensor(input), function=spelled(each(bytes.strip), "StringStrip"))


def substr(input: StringLike, pos: TensorLike, len: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Returns `len` bytes or characters from position `pos` on; negative positions count from the end.

    >>> tf.strings.substr(["Hello", "World"], 1, 3).numpy().tolist()
    [b'ell', b'orl']
    """
    characters = _counts_characters(unit)

    def cut(text: bytes, start: Any, count: Any) -> bytes:
        whole: Any = _decode(text) if characters else text
        size = builtins.len(whole)
        if not -size <= start <= size:
            raise errors.InvalidArgumentError(f"pos {start} out of range for string {text!r} [Op:Substr]")
        first = int(start) % size if start < 0 else int(start)
        part = whole[first : first + int(count)] if count >= 0 else whole[first:]
        return _encode(part) if characters else part

    part = spelled(each(cut), "Substr", unit=unit)
    return ops.map_text(text_tensor(input), to_tensor(pos), to_tensor(len), function=part)


def regex_replace(
    input: StringLike, pattern: StringLike, rewrite: StringLike, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Replaces matches of a regular expression; in `rewrite`, `\\1` is the first group and `\\0` the whole match.

    >>> tf.strings.regex_replace("a <b>c</b>", "<[^>]+>", "").numpy()
    b'a c'
    """
    expression, form = compiled(_constant_string(pattern)), _constant_string(rewrite)
    rewritten = each(lambda x: _encode(replaced(expression, form, _decode(x), replace_global)))
    options = {"pattern": _constant_string(pattern), "rewrite": form, "replace_global": replace_global}
    return ops.map_text(text_tensor(input), function=spelled(rewritten, "StaticRegexReplace", **options))


def regex_full_match(input: StringLike, pattern: StringLike, name: str | None = None) -> Tensor:
    """Returns whether a regular expression matches the whole string.

    >>> tf.strings.regex_full_match(["a1", "1a"], "[a-z][0-9]").numpy().tolist()
    [True, False]
    """
    expression = compiled(_constant_string(pattern))
    matches = each(lambda x: expression.fullmatch(_decode(x)) is not None, bool)
    function = spelled(matches, "StaticRegexFullMatch", pattern=_constant_string(pattern))
    return ops.map_text(text_tensor(input), function=function)


def _constant_string(value: Any) -> str:
    """Returns a pattern, or another string that is the same for all elements."""
    text = text_tensor(value)
    if text.dims:
        raise errors.InvalidArgumentError(f"Expected a single string, got shape {list(text.dims)}")
    return _decode(np.asarray(text.array).item())


def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None) -> Tensor:
    """Inserts tensors, formatted as by `tf.print`, into the placeholders of `template`.

    >>> tf.strings.format("x = {}", tf.range(10)).numpy()
    b'x = [0 1 2 ... 7 8 9]'
    """
    given = inputs if isinstance(inputs, list | tuple) else [inputs]
    ready = [hasattr(x, "_as_text") for x in given]  # ragged tensors, which are already text
    tensors = [x._as_text(summarize) if is_text else to_tensor(x) for x, is_text in zip(given, ready, strict=True)]
    pieces = template.split(placeholder)
    if len(pieces) != len(tensors) + 1:
        raise ValueError(
            f"The template expects {len(pieces) - 1} tensors, but the inputs only has {len(tensors)}. "
            "Please ensure the number of placeholders in template matches inputs length."
        )

    def written(*arrays: Any) -> Any:
        shown = [
            array.item().decode(errors="replace") if is_text else summary(Tensor(array, x.dtype), summarize)
            for array, x, is_text in zip(arrays, tensors, ready, strict=True)
        ]
        parts = [pieces[0], *(text + piece for text, piece in zip(shown, pieces[1:], strict=True))]
        return np.array("".join(parts).encode(), dtype=object)

    if not tensors:
        return to_tensor(template)
    return ops.map_text(*tensors, function=written)
