"""`tf.strings`: what programs do with text around a computation. There are no ragged tensors: see `split`."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ...ops.text import each
from ..runtime.system import summary
from .regular_expressions import compiled, replaced

NAMESPACES = ("strings",)
__all__ = [
    "as_string", "bytes_split", "format", "join", "length", "lower", "reduce_join", "regex_full_match", "regex_replace",
    "split", "strip", "substr", "to_number", "unicode_decode", "unicode_encode", "unicode_split", "upper",
]  # fmt: skip

_UNITS = ("BYTE", "UTF8_CHAR")
_NUMBERS = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)


def text_tensor(value: Any) -> Tensor:
    """`value` as a tensor of strings."""
    x = to_tensor(value) if isinstance(value, Tensor) else to_tensor(value, dtypes.string)
    if x.dtype is not dtypes.string:
        raise errors.InvalidArgumentError(
            f"Expected a tensor of strings, got {x.dtype.name}. tf.strings.as_string makes one"
        )
    return x


def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Numbers as text.

    >>> import gradtape as tf
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
    if x.dtype.is_bool:
        return ops.map_text(x, function=each(lambda value: b"true" if value else b"false"))
    letter = ("e" if scientific else "g" if shortest else "f") if number else "d"
    form = "%" + fill + (str(width) if width > -1 else "") + (f".{precision}" if precision > -1 else "") + letter

    def written(value: Any) -> bytes:
        if x.dtype.is_complex:
            return f"({form % value.real},{form % value.imag})".encode()
        return (form % (float(value) if number else int(value))).encode()

    return ops.map_text(x, function=each(written))


def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """The numbers that strings spell.

    >>> import gradtape as tf
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

    return ops.map_text(text_tensor(input), function=each(read, dtype.as_numpy_dtype))


def join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """The strings of several tensors one after the other, element by element; scalars go with every element.

    >>> import gradtape as tf
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
    between = separator.encode()
    return ops.map_text(*tensors, function=each(lambda *parts: between.join(parts)))


def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Tensor:
    """The strings joined along the first of the axes given, then along the next; all in their order without `axis`.

    >>> import gradtape as tf
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
    between = separator.encode()

    def joined(array: Any) -> Any:
        rows = np.transpose(array, kept + axes[::-1]).reshape(*(array.shape[one] for one in kept), -1)
        result = np.empty(rows.shape[:-1], dtype=object)
        for place in np.ndindex(result.shape):
            result[place] = between.join(rows[place])
        return np.expand_dims(result, tuple(axes)) if keepdims else result

    return ops.map_text(x, function=joined)


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """How long strings are, in bytes or in characters (`unit="UTF8_CHAR"`).

    >>> import gradtape as tf
    >>> tf.strings.length(["tape", "ü"]).numpy().tolist()
    [4, 2]
    """
    if _counts_characters(unit):
        return ops.map_text(text_tensor(input), function=each(lambda x: len(_decoded(x)), np.int32))
    return ops.map_text(text_tensor(input), function=each(len, np.int32))


def _counts_characters(unit: str) -> bool:
    if unit not in _UNITS:
        raise errors.InvalidArgumentError(f"unit must be one of {', '.join(_UNITS)}, got {unit!r}")
    return unit == "UTF8_CHAR"


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Small letters, of ASCII only unless `encoding="utf-8"`.

    >>> import gradtape as tf
    >>> tf.strings.lower("Tape").numpy()
    b'tape'
    """
    return _in_case(input, encoding, bytes.lower, str.lower)


def upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Capital letters, of ASCII only unless `encoding="utf-8"`.

    >>> import gradtape as tf
    >>> tf.strings.upper("Tape").numpy()
    b'TAPE'
    """
    return _in_case(input, encoding, bytes.upper, str.upper)


def _in_case(input: Any, encoding: str, plain: Callable[[bytes], bytes], full: Callable[[str], str]) -> Tensor:
    if encoding not in ("", "utf-8"):
        raise errors.InvalidArgumentError(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
    function = (lambda x: _encoded(full(_decoded(x)))) if encoding else plain
    return ops.map_text(text_tensor(input), function=each(function))


def strip(input: Any, name: str | None = None) -> Tensor:
    """Without white space at both ends.

    >>> import gradtape as tf
    >>> tf.strings.strip(" tape\\n").numpy()
    b'tape'
    """
    return ops.map_text(text_tensor(input), function=each(bytes.strip))


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """`len` bytes or characters from position `pos` on; negative positions count from the end.

    >>> import gradtape as tf
    >>> tf.strings.substr(["Hello", "World"], 1, 3).numpy().tolist()
    [b'ell', b'orl']
    """
    characters = _counts_characters(unit)

    def cut(text: bytes, start: Any, count: Any) -> bytes:
        whole: Any = _decoded(text) if characters else text
        size = builtins.len(whole)
        if not -size <= start <= size:
            raise errors.InvalidArgumentError(f"pos {start} out of range for string {text!r} [Op:Substr]")
        first = int(start) % size if start < 0 else int(start)
        part = whole[first : first + int(count)] if count >= 0 else whole[first:]
        return _encoded(part) if characters else part

    return ops.map_text(text_tensor(input), to_tensor(pos), to_tensor(len), function=each(cut))


def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Matches of a regular expression replaced; `\\1` in `rewrite` is what the first group matched, `\\0` everything.

    >>> import gradtape as tf
    >>> tf.strings.regex_replace("a <b>c</b>", "<[^>]+>", "").numpy()
    b'a c'
    """
    expression, form = compiled(_known(pattern)), _known(rewrite)
    return ops.map_text(
        text_tensor(input), function=each(lambda x: _encoded(replaced(expression, form, _decoded(x), replace_global)))
    )


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether a regular expression matches all of each string.

    >>> import gradtape as tf
    >>> tf.strings.regex_full_match(["a1", "1a"], "[a-z][0-9]").numpy().tolist()
    [True, False]
    """
    expression = compiled(_known(pattern))
    matches = each(lambda x: expression.fullmatch(_decoded(x)) is not None, bool)
    return ops.map_text(text_tensor(input), function=matches)


def _known(value: Any) -> str:
    """A pattern, or another string that is the same for all."""
    text = text_tensor(value)
    if text.dims:
        raise errors.InvalidArgumentError(f"Expected a single string, got shape {list(text.dims)}")
    return _decoded(np.asarray(text.array).item())


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Tensor:
    """The parts of one string, cut at white space or at `sep`.

    Of several strings they would be a ragged tensor, and gradtape has none: split them one by one, in `Dataset.map`
    for example.

    >>> import gradtape as tf
    >>> tf.strings.split("a,b", sep=",").numpy().tolist()
    [b'a', b'b']
    """
    between = None if sep is None else _known(sep).encode() or None
    return _cut("split", input, lambda text: text.split(between, maxsplit))


def bytes_split(input: Any, name: str | None = None) -> Tensor:
    """The bytes of one string.

    >>> import gradtape as tf
    >>> tf.strings.bytes_split("ab").numpy().tolist()
    [b'a', b'b']
    """
    return _cut("bytes_split", input, lambda text: [text[i : i + 1] for i in range(len(text))])


def unicode_split(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533, name: str | None = None
) -> Tensor:
    """The characters of one string.

    >>> import gradtape as tf
    >>> [x.decode() for x in tf.strings.unicode_split("üb", "UTF-8").numpy()]
    ['ü', 'b']
    """
    read = _reader(input_encoding, errors, replacement_char)
    return _cut("unicode_split", input, lambda text: [character.encode(input_encoding) for character in read(text)])


def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """The code points of the characters of one string.

    >>> import gradtape as tf
    >>> tf.strings.unicode_decode("üb", "UTF-8").numpy().tolist()
    [252, 98]
    """
    read = _reader(input_encoding, errors, replacement_char)

    def points(text: bytes) -> list[int]:
        found = [ord(character) for character in read(text)]
        return [replacement_char if replace_control_characters and point < 32 else point for point in found]

    return _cut("unicode_decode", input, points, np.int32)


def unicode_encode(
    input: Any, output_encoding: str, errors: str = "replace", replacement_char: int = 65533, name: str | None = None
) -> Tensor:
    """The string of the code points along the last axis.

    >>> import gradtape as tf
    >>> tf.strings.unicode_encode([97, 98], "UTF-8").numpy()
    b'ab'
    """
    _reader(output_encoding, errors, replacement_char)

    def written(array: Any) -> Any:
        result = np.empty(array.shape[:-1], dtype=object)
        for place in np.ndindex(result.shape):
            result[place] = "".join(map(chr, array[place])).encode(output_encoding)
        return result

    return ops.map_text(to_tensor(input, None, dtypes.int32), function=written)


def _reader(encoding: str, on_error: str, replacement: int) -> Callable[[bytes], str]:
    """How bytes become characters."""
    if encoding not in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        raise ValueError(f"The encoding must be UTF-8, UTF-16-BE or UTF-32-BE, got {encoding!r}")
    if on_error not in ("replace", "ignore", "strict"):
        raise ValueError(f"errors must be 'replace', 'ignore' or 'strict', got {on_error!r}")

    def read(text: bytes) -> str:
        try:
            return text.decode(encoding, on_error).replace("\ufffd", chr(replacement))
        except UnicodeDecodeError as error:
            raise errors.InvalidArgumentError(f"Invalid formatting on input string {text!r}: {error}") from error

    return read


def _cut(title: str, input: Any, function: Callable[[bytes], list[Any]], dtype: Any = object) -> Tensor:
    x = text_tensor(input)
    if x.dims:
        raise errors.UnimplementedError(
            f"tf.strings.{title} of a tensor of shape {list(x.dims)} gives a ragged tensor, which gradtape does not "
            "have. Split the strings one by one, for example in Dataset.map"
        )
    return ops.cut_text(x, function=lambda array: np.array(function(array.item()), dtype=dtype))


def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None) -> Tensor:
    """`template` with tensors in the places held for them, in short form as `tf.print` shows them.

    >>> import gradtape as tf
    >>> tf.strings.format("x = {}", tf.range(10)).numpy()
    b'x = [0 1 2 ... 7 8 9]'
    """
    given = inputs if isinstance(inputs, list | tuple) else [inputs]
    ready = [hasattr(x, "_as_text") for x in given]  # ragged tensors, which are texts here already
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
