"""TensorFlow's public names and their locations `module:attribute` (`names.txt`, written by tools/index_names.py)."""

from typing import Any

from ..core import text_beside


def _words(file: str) -> list[str]:
    spec: Any = __spec__
    return text_beside(spec, file).split()


_words_of_names = _words("names.txt")
NAMES = dict(zip(_words_of_names[::2], _words_of_names[1::2], strict=True))
