"""TensorFlow's public names and their locations `module:attribute` (`names.txt`); missing names (`absent_names.txt`).

tools/index_names.py writes both files.
"""

import os
from functools import cache


def _words(file: str) -> list[str]:
    with open(os.path.join(os.path.dirname(__file__), file), encoding="utf-8") as text:
        return text.read().split()


_words_of_names = _words("names.txt")
NAMES = dict(zip(_words_of_names[::2], _words_of_names[1::2], strict=True))


@cache
def absent_names() -> frozenset[str]:
    """Returns TensorFlow's public names that gradtape does not have."""
    return frozenset(_words("absent_names.txt"))
