"""Patterns of file names, as TensorFlow matches them: POSIX `fnmatch`, where `/` matches only itself.

`[!v]` and `[^v]` match any other character, `[[:alpha:]]` a class, and a backslash quotes the next character. Names
that begin with a dot match like others, and `**` means `*`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_SPECIAL = re.compile(r"[*?\[\\]")
_CLASSES = {
    "alnum": r"[^\W_]", "alpha": r"[^\W\d_]", "blank": r"[ \t]", "cntrl": r"[\x00-\x1f\x7f]", "digit": "[0-9]",
    "graph": r"[^\s\x00-\x1f\x7f]", "lower": "[a-z]", "print": r"[^\x00-\x1f\x7f]", "punct": r"[!-/:-@\[-`{-~]",
    "space": r"\s", "upper": "[A-Z]", "xdigit": "[0-9A-Fa-f]",
}  # fmt: skip
_NOTHING = "(?!)"
_END = re.compile(r"\]")
_CHARACTER = r"(?:\[[.=].[.=]\]|\\.|[^\\])"
_ITEM = re.compile(
    rf"\[:(?P<name>[a-z]*):\]|(?P<first>{_CHARACTER})(?:-(?P<last>{_CHARACTER}(?<!\])))?", re.DOTALL
)


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Returns a regular expression that matches the same paths as a pattern."""
    parts, position = [], 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == "[" and (bracket := _bracket(pattern, position)):
            part, position = bracket
        elif character == "\\":
            part = re.escape(pattern[position]) if position < len(pattern) else _NOTHING
            position += 1
        else:
            part = {"*": "[^/]*", "?": "[^/]"}.get(character, re.escape(character))
        parts.append(part)
    return re.compile("".join(parts), re.DOTALL)


def _bracket(pattern: str, position: int) -> tuple[str, int] | None:
    """Translates a bracket expression; returns None if it is not closed: then `[` matches itself."""
    negated = pattern[position : position + 1] in ("!", "^")
    start = position = position + negated
    alternatives = []
    while position == start or not _END.match(pattern, position):
        item = _ITEM.match(pattern, position)
        if item is None:
            return None
        alternatives.append(_alternative(item))
        position = item.end()
    matched = "|".join(alternatives)
    return (f"(?!/|{matched})." if negated else f"(?!/)(?:{matched})"), position + 1


def _alternative(item: re.Match[str]) -> str:
    if item["name"] is not None:
        return _CLASSES.get(item["name"], _NOTHING)
    first, last = (_character(item[end] or item["first"]) for end in ("first", "last"))
    return f"[{re.escape(first)}-{re.escape(last)}]" if first <= last else _NOTHING


def _character(text: str) -> str:
    return text if len(text) == 1 else text[1] if text[0] == "\\" else text[2]


def matching_paths(
    pattern: str, exists: Callable[[str], bool], is_folder: Callable[[str], bool], names: Callable[[str], list[str]]
) -> list[str]:
    """Returns the sorted paths that match a pattern, in a file system with these functions.

    A pattern that begins with a special character gives paths that begin with `./`, as in TensorFlow.
    """
    special = _SPECIAL.search(pattern)
    if special is None:
        return [pattern] if pattern and exists(pattern) else []
    if "/" not in pattern[: special.start()]:
        pattern = f"./{pattern}"
    levels = _prefixes(_parent(pattern) if pattern.endswith("/") else pattern)
    first = next(i for i, level in enumerate(levels) if _SPECIAL.search(level))
    paths = [levels[first - 1]]
    for level in levels[first:]:
        is_match = compile_pattern(level).fullmatch
        children = [
            f"{folder.removesuffix('/')}/{name}" for folder in paths if is_folder(folder) for name in names(folder)
        ]
        paths = [path for path in children if is_match(path)]
    return sorted(paths)


def _parent(path: str) -> str:
    position = path.rfind("/")
    return path[: max(position, 1)] if position >= 0 else ""


def _prefixes(path: str) -> list[str]:
    """Returns the path and its parents, from the outermost on."""
    parent = _parent(path)
    return [path] if parent in ("", path) else [*_prefixes(parent), path]
