"""TensorFlow's public names and their locations `module:attribute` (`names.txt`, written by tools/index_names.py)."""

import os


def _words(file: str) -> list[str]:
    with open(os.path.join(os.path.dirname(__file__), file), encoding="utf-8") as text:
        return text.read().split()


_words_of_names = _words("names.txt")
NAMES = dict(zip(_words_of_names[::2], _words_of_names[1::2], strict=True))
