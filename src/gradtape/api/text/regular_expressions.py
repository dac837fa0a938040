"""RE2's regular expressions, which TensorFlow has, by way of Python's.

`\\d`, `\\w` and their like mean ASCII, `$` is the very end of the text, and classes such as `[:alpha:]` may stand in
brackets. What Python's `re` does not know, such as `\\pL`, is refused.
"""

from __future__ import annotations

import re
import string
from functools import lru_cache

from ...core import errors

_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7F", "blank": r"\t ", "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": re.escape(string.punctuation),
    "space": r"\t\n\v\f\r ", "upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_PIECE = re.compile(
    r"(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\])|(?P<end>\$)|(?P<other>.)", re.DOTALL
)
_INSIDE = re.compile(r"\\.|\[:(\^?)(\w+):\]|[\[&|~]", re.DOTALL)


@lru_cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The expression that `pattern` is in RE2's language."""
    multiline = re.match(r"\(\?[a-zA-Z]*m", pattern) is not None
    try:
        text = "".join(_in_python(piece, multiline) for piece in _PIECE.finditer(pattern))
        return re.compile(text, re.ASCII)
    except (re.error, KeyError) as error:
        raise errors.InvalidArgumentError(
            f"Invalid pattern: {pattern}, error: {error}. gradtape uses Python's regular expressions: Unicode classes "
            "such as \\pL are not there"
        ) from None


def _in_python(piece: re.Match[str], multiline: bool) -> str:
    text = piece.group()
    if piece["end"]:
        return text if multiline else r"\Z"
    if piece["escape"]:
        return r"\Z" if text == r"\z" else text
    if piece["set"]:
        return "[" + _INSIDE.sub(_in_set, text[1:-1]) + "]"
    return text


def _in_set(match: re.Match[str]) -> str:
    text = match.group()
    if match[2] is None:
        return text if text.startswith("\\") else "\\" + text
    if match[1]:
        raise KeyError(f"{text} is not supported")
    return _CLASSES[match[2]]


def replaced(expression: re.Pattern[str], rewrite: str, text: str, everywhere: bool) -> str:
    """`text` with what `expression` matches rewritten; unchanged where `rewrite` asks for a group that there is not."""
    groups = [int(digit) for digit in re.findall(r"\\(?:\\|(\d))", rewrite) if digit]
    if any(group > expression.groups for group in groups):
        return text
    end = -1

    def written(match: re.Match[str]) -> str:
        nonlocal end
        if match.start() == match.end() == end:
            return ""  # RE2 finds nothing, where Python finds an empty match, right behind a match
        end = match.end()
        return re.sub(r"\\(\\|\d)", lambda m: "\\" if m[1] == "\\" else match[int(m[1])] or "", rewrite)

    return expression.sub(written, text, count=0 if everywhere else 1)
