"""Finds the functions that docs/differences.md names, so that their entries in the reference refer to it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

_SPAN = re.compile(r"`([\w.]+)(?:\([^`]*\))?`")
_NOT_MEANT = ("compat.", "raw_ops.", "experimental.", "errors.", "data.")  # by a name alone, such as `sum`
_METHODS = ("shuffle", "trace")  # a name alone means the method: of a dataset, of an operator


class Difference(NamedTuple):
    """An item of the page: its text in Markdown, and the anchor of its section."""

    text: str
    anchor: str


def differences(page: str, entries: Mapping[str, Sequence[str]]) -> dict[str, list[Difference]]:
    """Returns what a page in Markdown says about the functions of the reference, by their names.

    >>> page = "## More exact\\n\\n| you do | TensorFlow | here |\\n| use `cumprod` | 0 | right |\\n"
    >>> differences(page, {"math.cumprod": []})
    {'math.cumprod': [Difference(text='use `cumprod`: 0 in TensorFlow, right in gradtape', anchor='more-exact')]}
    """
    found: dict[str, list[Difference]] = defaultdict(list)
    for anchor, text in items(page):
        for name in mentioned(text, entries):
            found[name].append(Difference(text, anchor))
    return dict(found)


def items(page: str) -> Iterator[tuple[str, str]]:
    """Yields the rows of tables, the items of lists and the sentences of a page, with the anchors of their sections."""
    anchor = ""
    for block in re.split(r"\n\s*\n|\n(?=[|#]|- )", page):
        text = " ".join(block.split())
        if text.startswith("#"):
            anchor = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text.strip("# ").lower()))  # as mkdocs names it
        elif not anchor or not text or text.startswith(("| you do", "| ---")):
            continue
        elif text.startswith("|"):
            case, theirs, ours = (cell.strip() for cell in text.strip("|").split(" | "))
            yield anchor, f"{case}: {theirs} in TensorFlow, {ours} in gradtape"
        else:
            for sentence in re.split(r"(?<=\.) (?=[A-Z`])", text.removeprefix("- ")):
                yield anchor, sentence


def mentioned(text: str, entries: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns the names of the entries that a text mentions, each once.

    A name alone is one of the namespace that the text named last, or of any namespace.

    >>> mentioned("the gradients of `linalg.lu`, `sparse.concat`, `split` and `igamma`; not `x`",
    ...           {"linalg.lu": [], "sparse.concat": [], "sparse.split": [], "split": [], "math.igamma": []})
    ['linalg.lu', 'sparse.concat', 'sparse.split', 'math.igamma']
    """
    entry_of = {path: name for name, also in entries.items() for path in (name, *also)}
    alone: dict[str, set[str]] = defaultdict(set)
    for path, name in entry_of.items():
        leaf = path.rpartition(".")[2]
        if not path.startswith(_NOT_MEANT) and leaf not in _METHODS:
            alone[leaf].add(name)
    found: dict[str, None] = {}
    space = ""
    for span in _SPAN.findall(text):
        path = span.removeprefix("tf.")
        candidates = alone.get(path, set())
        if path in entry_of and ("." in path or span != path):
            name = entry_of[path]
            space = name.rpartition(".")[0]
        elif span == path and f"{space}.{path}" in entry_of:
            name = entry_of[f"{space}.{path}"]
        elif span == path and len(candidates) == 1:
            (name,) = candidates
        else:
            continue
        found[name] = None
    return list(found)
