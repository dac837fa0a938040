"""`tf.strings.unicode_*`: strings as characters in several encodings."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.errors import InvalidArgumentError
from ...core.locks import fork_safe_lock
from ...core.tensor import Tensor
from ...core.type_hints import StringLike
from ...engine.run.convert import to_tensor, wrong_input
from ...engine.run.namespace import ops
from ...ops.arrays.text import each
from ...ragged.tensor import RaggedTensor
from .splitting import cut
from .strings import spelled, text_tensor

NAMESPACES = ("strings",)
__all__ = [
    "unicode_decode", "unicode_decode_with_offsets", "unicode_encode", "unicode_script", "unicode_split",
    "unicode_split_with_offsets", "unicode_transcode",
]  # fmt: skip

_WRITTEN = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
_registering = fork_safe_lock()
_WRONG = "\udcff"  # marks invalid bytes: a lone surrogate, which no encoding produces


def unicode_decode(
    input: StringLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Returns the code points of the characters of strings.

    >>> tf.strings.unicode_decode("üb", "UTF-8").numpy().tolist()
    [252, 98]
    >>> tf.strings.unicode_decode(["üb", "c"], "UTF-8")
    <tf.RaggedTensor [[252, 98], [99]]>
    """
    read = _reader(input_encoding, errors, replacement_char, replace_control_characters)
    return cut(input, lambda text: [[point for point, _ in read(text)]], np.int32)[0]


def unicode_decode_with_offsets(
    input: StringLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Returns the code points of the characters of strings, and their byte offsets.

    >>> [x.numpy().tolist() for x in tf.strings.unicode_decode_with_offsets("üb", "UTF-8")]
    [[252, 98], [0, 2]]
    """
    read = _reader(input_encoding, errors, replacement_char, replace_control_characters)
    points, offsets = cut(input, lambda text: _columns(read(text)), np.int32, np.int64)
    return points, offsets


def unicode_split(
    input: StringLike, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Splits strings into characters.

    >>> [x.decode() for x in tf.strings.unicode_split("üb", "UTF-8").numpy()]
    ['ü', 'b']
    """
    read, write = _reader(input_encoding, errors, replacement_char), _writer(input_encoding, errors, replacement_char)
    return cut(input, lambda text: [[write([point]) for point, _ in read(text)]], object)[0]


def unicode_split_with_offsets(
    input: StringLike, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Splits strings into characters; also returns their byte offsets.

    >>> characters, offsets = tf.strings.unicode_split_with_offsets(["üb", "c"], "UTF-8")
    >>> offsets
    <tf.RaggedTensor [[0, 2], [0]]>
    """
    read, write = _reader(input_encoding, errors, replacement_char), _writer(input_encoding, errors, replacement_char)

    def parts(text: bytes) -> list[list[Any]]:
        points, offsets = _columns(read(text))
        return [[write([point]) for point in points], offsets]

    characters, offsets = cut(input, parts, object, np.int64)
    return characters, offsets


def unicode_encode(
    input: StringLike, output_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Encodes the code points along the last axis to strings.

    >>> tf.strings.unicode_encode([97, 98], "UTF-8").numpy()
    b'ab'
    """
    write = _writer(output_encoding, errors, replacement_char)
    x = input if isinstance(input, RaggedTensor) else to_tensor(input, None, dtypes.int32)
    if x.dtype is not dtypes.int32:
        raise InvalidArgumentError(wrong_input("UnicodeEncode", 0, dtypes.int32, x.dtype))
    if isinstance(x, RaggedTensor):
        return _encoded_rows(x, write)
    if not x.dims:
        raise ValueError("input_tensor's rank must be at least 1.")

    return ops.map_text(x, function=lambda array: _along_last(array, write))


def _encoded_rows(x: RaggedTensor, write: Callable[[list[int]], bytes]) -> Any:
    if len(x.flat_values.dims) > 1:
        return x.with_flat_values(ops.map_text(x.flat_values, function=lambda array: _along_last(array, write)))
    if x.ragged_rank > 1:
        return x.with_values(_encoded_rows(x.values, write))

    def rows(points: Any, splits: Any) -> Any:
        ends, flat = splits.tolist(), points.tolist()
        result = np.empty(len(ends) - 1, dtype=object)
        result[:] = [write(flat[i:j]) for i, j in pairwise(ends)]
        return result

    return ops.map_text(x.values, x.row_splits, function=rows)


def _along_last(array: Any, write: Callable[[list[int]], bytes]) -> Any:
    result = np.empty(array.shape[:-1], dtype=object)
    for place in np.ndindex(result.shape):
        result[place] = write(array[place].tolist())
    return result


def unicode_transcode(
    input: StringLike,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Converts strings to another encoding.

    >>> tf.strings.unicode_transcode(["ü"], "UTF-8", "UTF-16-BE").numpy().tolist()
    [b'\\x00\\xfc']
    """
    read = _reader(input_encoding, errors, replacement_char, replace_control_characters)
    write = _writer(output_encoding, errors, replacement_char)
    function = spelled(
        each(lambda text: write([point for point, _ in read(text)])),
        "UnicodeTranscode",
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
    )
    return ops.map_text(text_tensor(input), function=function)


def unicode_script(input: StringLike, name: str | None = None) -> Tensor:
    """Returns the script numbers of code points, as in ICU; -1 for invalid code points.

    >>> tf.strings.unicode_script([97, 0x3B1, 0x4E00]).numpy().tolist()
    [25, 14, 17]
    """
    from .scripts import scripts

    return ops.map_text(to_tensor(input, dtypes.int32), function=scripts)


def _columns(pairs: list[tuple[int, int]]) -> list[list[int]]:
    return [[point for point, _ in pairs], [offset for _, offset in pairs]]


def _check_errors(errors: str) -> None:
    if errors not in ("ignore", "replace", "strict"):
        raise InvalidArgumentError(
            f"Value for attr 'errors' of \"{errors}\" is not in the list of allowed values: \"ignore\", \"replace\", "
            "\"strict\""
        )


def _check_replacement(point: int) -> None:
    """Raises unless a number is a code point."""
    if not 0 <= point <= sys.maxunicode:
        raise InvalidArgumentError(f"replacement_char out of unicode codepoint range: {point}")


def _reader(
    encoding: str, errors: str, replacement: int, control_too: bool = False
) -> Callable[[bytes], list[tuple[int, int]]]:
    """Returns a decoder from bytes to code points with byte offsets."""
    _check_errors(errors)
    _check_replacement(replacement)
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise InvalidArgumentError(f"Could not create converter for input encoding: {encoding}") from None

    def read(text: bytes) -> list[tuple[int, int]]:
        named = _with_byte_order(encoding, text)
        try:
            decoded, wrong = text.decode(named), iter(())
        except UnicodeDecodeError:
            if errors == "strict":
                raise InvalidArgumentError(f"Invalid formatting on input string {text!r}") from None
            decoded, wrong = _with_marks(text, named)
        found, at = [], 0
        for character in decoded:
            if character == _WRONG:
                if errors == "replace":
                    found.append((replacement, at))
                at += next(wrong)
                continue
            point = ord(character)
            is_wrong = control_too and point < 32
            if not is_wrong or errors != "ignore":
                found.append((replacement if is_wrong else point, at))
            at += len(character.encode(named))
        return found

    return read


def _with_byte_order(encoding: str, text: bytes) -> str:
    """Returns the encoding's name with ICU's byte order if neither the name nor a mark specifies it: big-endian."""
    name = codecs.lookup(encoding).name
    if name == "utf-16" and not text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16-be"
    if name == "utf-32" and not text.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32-be"
    return encoding


def _with_marks(text: bytes, encoding: str) -> Any:
    """Returns the decoded text, with a mark for each invalid character, and the number of bytes of each mark."""
    lengths: list[int] = []

    def mark(error: Any) -> tuple[str, int]:
        lengths.append(error.end - error.start)
        return _WRONG, error.end

    with _registering:  # error handlers are named and permanent: there is one, for the active call
        codecs.register_error("gradtape.marked", mark)
        return text.decode(encoding, "gradtape.marked"), iter(lengths)


def _writer(encoding: str, errors: str, replacement: int) -> Callable[[list[int]], bytes]:
    """Returns an encoder from code points to bytes."""
    _check_errors(errors)
    _check_replacement(replacement)
    if encoding not in _WRITTEN:
        allowed = ", ".join(f'"{one}"' for one in _WRITTEN)
        raise InvalidArgumentError(
            f"Value for attr 'output_encoding' of \"{encoding}\" is not in the list of allowed values: {allowed}"
        )

    def write(points: list[int]) -> bytes:
        written = []
        for point in points:
            if not 0 <= point < 0x110000 or 0xD800 <= point < 0xE000:
                if errors == "strict":
                    raise InvalidArgumentError(
                        f"Code point {point} is out of range for Unicode, or is a surrogate."
                    )
                if errors == "ignore":
                    continue
                point = replacement
            written.append(chr(point))
        return "".join(written).encode(encoding)

    return write

