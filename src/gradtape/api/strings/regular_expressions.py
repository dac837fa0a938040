"""Translates RE2's regular expressions, which TensorFlow uses, to Python's.

Texts are decoded with `surrogateescape`: bytes that are not UTF-8 become lone surrogates, which no class of RE2
contains. Classes are translated to ranges of code points, so that `\\d` means ASCII, `\\s` excludes the vertical tab,
and `\\pL` works. Syntax that RE2 rejects (look-around, backreferences, possessive repetition) is rejected; of RE2's own
syntax, `\\C`, a single byte, is missing.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from ...core import errors
from .scripts import numbers_by_name, ranges_of

_Ranges = list[tuple[int, int]]
_LAST = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)
_MOST_REPETITIONS = 1000

_CLASSES = {
    "alnum": "09AZaz", "alpha": "AZaz", "ascii": "\x00\x7f", "blank": "\t\t  ", "cntrl": "\x00\x1f\x7f\x7f",
    "digit": "09", "graph": "!~", "lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "\t\r  ", "upper": "AZ",
    "word": "09AZ__az", "xdigit": "09AFaf",
}  # fmt: skip
_PERL = {"d": "09", "s": "\t\n\f\r  ", "w": "09AZ__az"}
_CONTROLS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_QUANTIFIER = re.compile(r"[*+?]|\{(\d+)(,(\d*))?\}")
_FLAGS = re.compile(r"([imsU]*)(-[imsU]+)?([:)])")
_NAMED = re.compile(r"P?<([A-Za-z_]\w*)>", re.ASCII)


@lru_cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compiles a pattern in RE2's syntax."""
    try:
        return re.compile(_Translation(pattern).text(), re.ASCII)
    except (re.error, _Refused) as error:
        raise errors.InvalidArgumentError(f"Invalid pattern: {pattern}, error: {error}") from None


class _Refused(Exception):
    """RE2 rejects the pattern, with its message."""


class _Translation:
    """One pass over a pattern. `flags` are those at the current position; a group restores them at its end."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.flags: set[str] = set()

    def text(self) -> str:
        """Returns the whole pattern in Python's syntax."""
        written: list[str] = []
        outer: list[set[str]] = []
        repeatable = False
        while self.at < len(self.pattern):
            start = self.at
            if quantifier := _QUANTIFIER.match(self.pattern, self.at):
                written.append(self._quantifier(quantifier, repeatable))
                repeatable = False
                continue
            character = self._next()
            repeatable = True
            if character == "(":
                before = set(self.flags)
                opening = self._group()
                repeatable = False
                if opening:
                    outer.append(before)
                written.append(opening)
            elif character == ")":
                if not outer:
                    raise _Refused(f"unexpected ): {self.pattern}")
                self.flags = outer.pop()
                written.append(")")
            elif character == "|":
                repeatable = False
                written.append("|")
            elif character in "^$":
                anchors = {"^": r"\A", "$": r"\Z"}
                written.append(f"(?m:{character})" if "m" in self.flags else anchors[character])
            elif character == ".":
                written.append(_set([] if "s" in self.flags else [(10, 10)], negated=True))
            elif character == "[":
                written.append(self._folded(self._bracket(start)))
            elif character == "\\":
                written.append(self._escape(start))
            else:
                written.append(self._folded(re.escape(character)))
        if outer:
            raise _Refused(f"missing ): {self.pattern}")
        return "".join(written)

    def _next(self) -> str:
        if self.at >= len(self.pattern):
            raise _Refused(f"trailing \\ at end of expression: {self.pattern}")
        self.at += 1
        return self.pattern[self.at - 1]

    def _folded(self, text: str) -> str:
        return f"(?iu:{text})" if "i" in self.flags else text

    def _quantifier(self, found: re.Match[str], repeatable: bool) -> str:
        text = found.group()
        if not repeatable:
            repeated = self.pattern[: self.at].endswith(("*", "+", "?", "}"))
            raise _Refused(f"{'bad' if repeated else 'no argument for'} repetition operator: {text}")
        counts = [int(count) for count in (found[1], found[3]) if count]
        if max(counts, default=0) > _MOST_REPETITIONS or counts != sorted(counts):
            raise _Refused(f"invalid repetition size: {text}")
        self.at = found.end()
        lazy = self.pattern[self.at : self.at + 1] == "?"
        self.at += lazy
        return text + ("?" if lazy != ("U" in self.flags) else "")

    def _group(self) -> str:
        """Returns the opening of the group after its parenthesis; empty if it sets flags for the enclosing one."""
        if self.pattern[self.at : self.at + 1] != "?":
            return "("
        if named := _NAMED.match(self.pattern, self.at + 1):
            self.at = named.end()
            return f"(?P<{named[1]}>"
        flags = _FLAGS.match(self.pattern, self.at + 1)
        if flags is None or flags.group() == ")":
            raise _Refused(f"invalid perl operator: {self.pattern[self.at - 1 : self.at + 2]}")
        self.at = flags.end()
        self.flags = self.flags | set(flags[1])
        self.flags -= set(flags[2] or "")
        return "(?:" if flags[3] == ":" else ""

    def _escape(self, start: int) -> str:
        """Returns the translation of an escape outside brackets."""
        letter = self._next()
        if letter in "AbB":
            return "\\" + letter
        if letter == "z":
            return r"\Z"
        if letter == "Q":
            end = self.pattern.find(r"\E", self.at)
            literal = self.pattern[self.at :] if end < 0 else self.pattern[self.at : end]
            self.at = len(self.pattern) if end < 0 else end + 2
            return "".join(self._folded(re.escape(character)) for character in literal)
        self.at -= 1
        ranges, negated = self._class_or_character(start)
        return self._folded(_set(ranges, negated))

    def _class_or_character(self, start: int) -> tuple[_Ranges, bool]:
        """Returns the code points of an escape after its backslash, and whether the class is negated."""
        letter = self._next()
        if letter.lower() in _PERL:
            return _pairs(_PERL[letter.lower()]), letter.isupper()
        if letter in "pP":
            return self._property(start, letter == "P")
        return [(code := self._character(start, letter), code)], False

    def _property(self, start: int, negated: bool) -> tuple[_Ranges, bool]:
        name = self._next()
        if name == "{":
            end = self.pattern.find("}", self.at)
            if end < 0:
                raise _Refused(f"invalid character class range: {self.pattern[start:]}")
            name = self.pattern[self.at : end]
            self.at = end + 1
        if name.startswith("^"):
            name, negated = name[1:], not negated
        ranges = _property_ranges(name)
        if ranges is None:
            raise _Refused(f"invalid character class range: {self.pattern[start : self.at]}")
        return ranges, negated

    def _character(self, start: int, letter: str) -> int:
        """Returns the code point of an escaped character."""
        rest = self.pattern[self.at :]
        if letter == "x":
            found = re.match(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})", rest)
            code = int(found[1] or found[2], 16) if found else _LAST + 1
            if found is None or code > _LAST:
                raise _Refused(f"invalid escape sequence: {self.pattern[start : self.at + 2]}")
            self.at += found.end()
            return code
        if letter == "0" or (letter in "1234567" and rest[:1] in tuple("01234567")):
            found = re.match(r"[0-7]{0,2}", rest)
            assert found is not None
            self.at += found.end()
            return int(letter + found.group(), 8)
        if letter in _CONTROLS:
            return ord(_CONTROLS[letter])
        if letter in string.ascii_letters + string.digits:
            raise _Refused(f"invalid escape sequence: \\{letter}")
        return ord(letter)

    def _bracket(self, start: int) -> str:
        """Returns the translation of a bracketed class."""
        negated = self.pattern[self.at : self.at + 1] == "^"
        self.at += negated
        ranges: _Ranges = []
        first = True
        while True:
            if self.at >= len(self.pattern):
                raise _Refused(f"missing ]: {self.pattern[start:]}")
            character = self._next()
            if character == "]" and not first:
                return _set(ranges, negated)
            first = False
            if character == "[" and (named := re.match(r":(\^?)(\w+):\]", self.pattern[self.at :])):
                if named[2] not in _CLASSES:
                    raise _Refused(f"invalid character class range: [{named.group()}")
                self.at += named.end()
                found = _pairs(_CLASSES[named[2]])
                ranges += _complement(found) if named[1] else found
                continue
            low = self._bracket_member(character, ranges)
            if low is None:
                continue
            high = low
            if re.match(r"-[^\]]", self.pattern[self.at :], re.DOTALL):
                self.at += 1
                others: _Ranges = []
                end = self._bracket_member(self._next(), others)
                if end is None or end < low:
                    raise _Refused(f"invalid character class range: {self.pattern[start : self.at]}")
                high = end
            ranges.append((low, high))

    def _bracket_member(self, character: str, ranges: _Ranges) -> int | None:
        """Returns a character that may start a range; or None for a class, whose code points are added."""
        if character != "\\":
            return ord(character)
        begin = self.at - 1
        found, negated = self._class_or_character(begin)
        if not negated and len(found) == 1 and found[0][0] == found[0][1]:
            return found[0][0]
        ranges += _complement(found) if negated else found
        return None


def _pairs(ends: str) -> _Ranges:
    return [(ord(low), ord(high)) for low, high in zip(ends[::2], ends[1::2], strict=True)]


def _set(ranges: Iterable[tuple[int, int]], negated: bool) -> str:
    """Returns the class of these code points, or its complement, in Python's syntax."""
    written = "".join(
        rf"\U{low:08x}" if low == high else rf"\U{low:08x}-\U{high:08x}"
        for low, high in ([*ranges, _SURROGATES] if negated else ranges)
    )
    if not written:
        return r"(?!)"  # the empty class
    return f"[^{written}]" if negated else f"[{written}]"


def _complement(ranges: _Ranges) -> _Ranges:
    """Returns the code points that are in none of the ranges."""
    found: _Ranges = []
    begin = 0
    for low, high in [*sorted([*ranges, _SURROGATES]), (_LAST + 1, _LAST + 1)]:
        if low > begin:
            found.append((begin, low - 1))
        begin = max(begin, high + 1)
    return found


@lru_cache
def _property_ranges(name: str) -> _Ranges | None:
    """Returns the code points of a general category, of all categories with a first letter, or of a script."""
    if name == "Any":
        return _complement([])
    if name in numbers_by_name():
        return ranges_of(numbers_by_name()[name])
    return _category_ranges().get(name)


@lru_cache
def _category_ranges() -> dict[str, _Ranges]:
    """Returns the code points of every category and group of categories. RE2 has none for unassigned code points."""
    found: dict[str, _Ranges] = {}
    start, current = 0, unicodedata.category("\0")
    for point in range(1, _LAST + 2):
        category = unicodedata.category(chr(point)) if point <= _LAST else ""
        if category != current:
            for name in () if current in ("Cn", "Cs") else (current, current[0]):
                ranges = found.setdefault(name, [])
                if ranges and ranges[-1][1] == start - 1:
                    ranges[-1] = (ranges[-1][0], point - 1)
                else:
                    ranges.append((start, point - 1))
            start, current = point, category
    return found


def replaced(expression: re.Pattern[str], rewrite: str, text: str, everywhere: bool) -> str:
    """Rewrites the matches of `expression` in `text`; unchanged if `rewrite` refers to a group that does not exist."""
    groups = [int(digit) for digit in re.findall(r"\\(?:\\|(\d))", rewrite) if digit]
    if any(group > expression.groups for group in groups):
        return text
    # A backslash before any other character ends the rewriting if all matches are rewritten, and prevents it otherwise.
    valid = re.match(r"(?:[^\\]|\\[\\\d])*", rewrite, re.DOTALL)
    assert valid is not None
    if valid.end() < len(rewrite):
        if not everywhere:
            return text
        rewrite = valid.group()
    end = -1

    def written(match: re.Match[str]) -> str:
        nonlocal end
        if match.start() == match.end() == end:
            return ""  # unlike Python, RE2 finds no empty match directly after a match
        end = match.end()
        return re.sub(r"\\(\\|\d)", lambda m: "\\" if m[1] == "\\" else match[int(m[1])] or "", rewrite)

    return expression.sub(written, text, count=0 if everywhere else 1)
