"""HTML of drawings: the page of a report and the output of a notebook cell, from the files in `viewer/`.

Both have the same scripts for the graph, its layout and its drawing. Data are JSON in which no `<` occurs, so that no
text of a program can end the script; scripts write text as text nodes, and never as markup.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

_SHARED = ("model.js", "layout.js", "drawing.js", "sweep.js", "hands.js")
_PAGE = (*_SHARED, "panel.js", "page.js")
_CELL = (*_SHARED, "cell.js")
_COMMENT = re.compile(r"^\s*//.*|\s+//\s.*$")


def page(data: dict[str, Any]) -> str:
    """Returns the page of a report."""
    parts = {
        "title": html.escape(str(data["title"])),
        "style": _style("drawing.css", "page.css"),
        "stage.html": _read("stage.html"),
        "data": in_script(data),
        "script": _script(_PAGE),
    }
    template = _read("template.html")
    text = re.sub(r"\{\{(.+?)\}\}", lambda found: parts[found[1]], template)  # in one pass: no part can name another
    return without_surrogates(text)


def cell(data: dict[str, Any], fallback: str) -> str:
    """Returns the output of a notebook cell; `fallback` is the HTML shown where scripts do not run.

    A front end runs the script where it likes, and may show the output twice: the script draws every element of the
    output's name that has not been drawn. Names are those of the contents, so that a notebook that runs again, with the
    same results, is the same file.
    """
    name = hashlib.sha256(f"{in_script(data)}{fallback}".encode("utf-8", "replace")).hexdigest()[:16]
    constants = {
        "name": name,
        "page": data,
        "style": _style("drawing.css", "cell.css"),
        "markup": _read("cell.html").replace("{{stage.html}}", _read("stage.html")),
    }
    parts = [f"const {key}={in_script(value)};" for key, value in constants.items()]
    drawing = f"function draw(root,page){{\n{_script(_CELL)}\n}}"
    script = "\n".join(["(()=>{", '"use strict";', *parts, drawing, _script(("cells.js",)), "})();"])
    return without_surrogates(f'<div data-gradtape="{name}">{fallback}</div><script>\n{script}\n</script>')


def in_script(data: Any) -> str:
    """Returns data as JSON for a script."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def without_surrogates(text: str) -> str:
    """Returns text that can be written as UTF-8: names of files may contain lone surrogates."""
    return text.encode("utf-8", "xmlcharrefreplace").decode("utf-8")


@cache
def _read(name: str) -> str:
    return files(__package__).joinpath("viewer").joinpath(name).read_text("utf-8")


@cache
def _script(names: tuple[str, ...]) -> str:
    """Returns scripts without comments and indentation, which every output would repeat."""
    lines = (_COMMENT.sub("", line).strip() for name in names for line in _read(name).splitlines())
    return "\n".join(line for line in lines if line)


@cache
def _style(*names: str) -> str:
    return "\n".join(line.strip() for name in names for line in _read(name).splitlines())
