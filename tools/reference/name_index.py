"""What the search field of the site finds: names with their pages, and the sections of the hand-written pages.

Both are scripts that define a value, not JSON: a browser loads them from a folder (`file://`) as well. The script of
names has rows `[name, address, text, other names ...]`; an empty address is the name's page, and `#` the entry of a
member on the page of its class.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence

from pages import Reference, summary
from spelling import page_of
from tables import Line

from gradtape.api.missing_names import MISSING
from gradtape.api.namespace import KERAS

LONGEST = 110  # characters of a summary
Row = list[str]


def rows(reference: Reference, tables: Mapping[str, Sequence[Line]]) -> Iterator[Row]:
    """Yields a row for each name that has an entry, a member of a class, a line of a table, or a replacement."""
    for space, (title, entries) in reference.spaces.items():
        if title == f"tf.{space}":
            yield [space, f"reference/{space}.html", f"{len(entries)} names"]
        for name, also in entries.items():
            own = page_of(name) == f"tf.{name}"
            address = "" if own else f"reference/{page_of(name)}.html#gradtape.{name}"
            yield [name, address, plain(summary(reference.package[name])), *also]
            if own:
                for member, thing in reference.members(name).items():
                    yield [f"{name}.{member}", "#", plain(summary(thing))]
    for page, lines in tables.items():
        yield [page, f"reference/{page}.html", f"{len(lines)} names"]
        for line in lines:
            text = line.text or (line.same_as and f"tf.{line.same_as}")
            yield [line.name, f"reference/{page}.html#gradtape.{line.name}", plain(text)]
    for space in KERAS:
        yield [space, "keras.html", "Keras 3 runs unchanged; keras.io documents its layers and optimizers"]
    for group in MISSING:
        anchor = re.sub(r"\W+", "-", group.subject.replace("'", "").lower())
        for name in group.names:
            yield [name, f"missing-names.html#{anchor}", f"Missing. {group.instead}".replace("`", "")]


def plain(text: str) -> str:
    """Returns the beginning of a sentence in Markdown as text, without the row's escapes.

    >>> plain("The sum of `x \\\\| y`, as in [NumPy](numpy.md).")
    'The sum of x | y, as in NumPy.'
    """
    text = re.sub(r"\[([^]]+)\](?:\([^)]*\)|\[[^]]*\])", r"\1", text.replace("\\|", "|").replace("`", ""))
    return text if len(text) <= LONGEST else text[:LONGEST].rpartition(" ")[0] + " …"


def sections(index: str) -> list[Row]:
    """Returns the sections of the theme's search index as rows: address, title of the page, title, text.

    >>> sections('{"docs": [{"location": "a.html", "title": "A &amp; b", "text": "<p>One <b>two</b>.</p>"}]}')
    [['a.html', 'A & b', '', 'One two.']]
    """
    titles: dict[str, str] = {}
    found = []
    for section in json.loads(index)["docs"]:
        title, text = (
            " ".join(html.unescape(re.sub(r"<[^>]+>", " ", section[key])).split()).replace(" .", ".")
            for key in ("title", "text")
        )
        page, _, anchor = section["location"].partition("#")
        titles.setdefault(page, title)
        found.append([section["location"], titles[page], title if anchor else "", text])
    return found


def script(name: str, values: Sequence[Row]) -> str:
    """Returns a script that hands rows to the search field."""
    return f"searchIndex.{name} = {json.dumps(values, ensure_ascii=False, separators=(',', ':'))};\n"
