"""`tf.io`: files and bytes. The image functions of `tf.io` are in `api/image/codecs.py`."""

from __future__ import annotations

import base64
import binascii
import os
from typing import Any, SupportsInt

import numpy as np

from ...core import dtypes, errors
from ...core.errors import of_system as failures
from ...core.tensor import Tensor
from ...core.type_hints import DTypeLike, StringLike
from ...engine.run.namespace import ops
from ...ops.arrays.text import each
from ...state import file_systems
from ...state.variable import Variable
from ..runtime.system import py_function
from ..strings.strings import spelled, text_tensor

NAMESPACES = ("io",)
__all__ = [
    "decode_base64", "decode_raw", "encode_base64", "match_filenames_once", "matching_files", "read_file", "write_file",
]  # fmt: skip


def read_file(filename: StringLike, name: str | None = None) -> Tensor:
    """Reads a file, of text or bytes, as one string: a scalar tensor.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "greeting.txt")
    >>> tf.io.write_file(path, "hello")
    >>> tf.io.read_file(path).numpy()
    b'hello'
    """
    return py_function(lambda path: _read(single("filename", path)), [text_tensor(filename)], dtypes.string)


def _read(path: bytes) -> bytes:
    with failures(path), file_systems.open_to_read(path) as file:
        return file.read()


def write_file(filename: StringLike, contents: StringLike, name: str | None = None) -> None:
    """Writes the string `contents` to a file and creates missing folders.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "new", "greeting.txt")
    >>> tf.io.write_file(path, "hello")
    >>> tf.io.read_file(path).numpy()
    b'hello'
    """

    def write(path: Tensor, text: Tensor) -> bytes:
        place, data = single("filename", path), single("contents", text)
        file_systems.create_folders(os.path.dirname(place))
        with file_systems.writing(place) as file:
            file.write(data)
        return b""

    py_function(write, [text_tensor(filename), text_tensor(contents)], dtypes.string)


def single(what: str, value: Tensor) -> bytes:
    """Returns `value` after checking that it is a single string."""
    if value.dims:
        raise errors.InvalidArgumentError(f"Input {what} tensor must be scalar, but had shape: {list(value.dims)}")
    return np.asarray(value.array).item()


def matching_files(pattern: StringLike, name: str | None = None) -> Tensor:
    """Returns the sorted files whose names match a pattern, or one of several.

    >>> import tempfile
    >>> tf.io.matching_files(tempfile.mkdtemp() + "/*.txt").shape
    TensorShape([0])
    """

    def match(patterns: Tensor) -> Tensor:
        if len(patterns.dims) > 1:
            raise errors.InvalidArgumentError(
                f"Input patterns tensor must be scalar or vector, but had shape: {list(patterns.dims)}"
            )
        paths = [path for one in np.ravel(patterns.array) for path in file_systems.glob(one)]
        return Tensor(np.array(sorted(map(os.fsencode, paths)), dtype=object).reshape(-1), dtypes.string)

    return py_function(match, [text_tensor(pattern)], dtypes.string)


def match_filenames_once(pattern: StringLike, name: str | None = None) -> Variable:
    """Returns a variable with the sorted names of the files that match a pattern now.

    >>> import tempfile
    >>> tf.io.match_filenames_once(tempfile.mkdtemp() + "/*.txt").shape
    TensorShape([0])
    """
    return Variable(matching_files(pattern), trainable=False, name=name)



def decode_raw(
    input_bytes: StringLike, out_type: DTypeLike, little_endian: bool = True, fixed_length: SupportsInt | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Interprets the bytes of each string as numbers, along a new last axis.

    >>> tf.io.decode_raw(["ab", "cd"], tf.uint8).numpy().tolist()
    [[97, 98], [99, 100]]
    """
    dtype = dtypes.as_dtype(out_type)
    kind = np.dtype(dtype.as_numpy_dtype)
    stored = kind if kind.itemsize == 1 or dtype.narrow else kind.newbyteorder("<" if little_endian else ">")
    size = None if fixed_length is None else int(fixed_length)
    if size is not None and (size <= 0 or size % kind.itemsize):
        raise errors.InvalidArgumentError(
            f"fixed_length ({size}) must be a positive multiple of the size of {dtype.name} ({kind.itemsize})"
        )

    def read(array: Any) -> Any:
        texts = [text if size is None else text[:size].ljust(size, b"\0") for text in np.ravel(array)]
        sizes = {len(text) for text in texts}
        if len(sizes) > 1:
            other = next(i for i, text in enumerate(texts) if len(text) != len(texts[0]))
            raise errors.InvalidArgumentError(
                f"DecodeRaw requires input strings to all be the same size, but element {other} has size "
                f"{len(texts[0])} != {len(texts[other])}; see fixed_length"
            )
        if sizes and max(sizes) % kind.itemsize:
            raise errors.InvalidArgumentError(
                f"Input to DecodeRaw has length {max(sizes)} that is not a multiple of {kind.itemsize}, the size of "
                f"{dtype.name}"
            )
        count = max(sizes, default=0) // kind.itemsize
        return np.frombuffer(b"".join(texts), stored).astype(kind).reshape(*array.shape, count)

    return ops.cut_text(text_tensor(input_bytes), function=read)


def encode_base64(input: StringLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Encodes strings in web-safe base64.

    >>> tf.io.encode_base64("hello").numpy()
    b'aGVsbG8'
    """

    def encoded(text: bytes) -> bytes:
        full = base64.urlsafe_b64encode(text)
        return full if pad else full.rstrip(b"=")

    return ops.map_text(text_tensor(input), function=spelled(each(encoded), "EncodeBase64", pad=pad))


def decode_base64(input: StringLike, name: str | None = None) -> Tensor:
    """Decodes strings in web-safe base64.

    >>> tf.io.decode_base64("aGVsbG8").numpy()
    b'hello'
    """

    def decoded(text: bytes) -> bytes:
        try:
            return base64.b64decode(text.rstrip(b"=") + b"=" * (-len(text.rstrip(b"=")) % 4), b"-_", validate=True)
        except binascii.Error as error:
            raise errors.InvalidArgumentError(f"Invalid base64: {text!r}: {error}") from None

    return ops.map_text(text_tensor(input), function=spelled(each(decoded), "DecodeBase64"))
