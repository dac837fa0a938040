"""Turns the notebooks of the documentation into pages, with the outputs that they were saved with.

A hook of mkdocs (`hooks:` in mkdocs.yml). The page of a notebook keeps the notebook's path, so that a link to
`notebooks/keras.ipynb` leads to the page here, and to the notebook itself in the repository. Each page offers the
notebook as a download.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

SUFFIX = ".ipynb"


class NotebookPage(File):
    """A notebook, of which mkdocs makes a page as it does of a Markdown file."""

    def is_documentation_page(self) -> bool:
        return True


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replaces each notebook by a page and a download."""
    for file in [file for file in files if file.src_uri.endswith(SUFFIX)]:
        notebook = Path(file.abs_src_path or "").read_text(encoding="utf-8")
        files.remove(file)
        content = render(json.loads(notebook), Path(file.src_uri).name)
        page = NotebookPage.generated(config, file.src_uri, content=content)
        download = File.generated(config, f"{file.src_uri}.download", content=notebook)
        download.dest_uri = file.src_uri
        for each in (page, download):
            files.append(each)
    return files


def render(notebook: dict[str, Any], name: str) -> str:
    """Returns a notebook as Markdown."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code":
            parts += [f"```python\n{source}\n```", *map(render_output, cell["outputs"])]
    # An element, as a link in Markdown would lead to the page.
    parts.insert(1, f'<p><a href="{html.escape(name)}" download>Download this notebook</a></p>')
    return "\n\n".join(parts) + "\n"


def render_output(output: dict[str, Any]) -> str:
    """Returns the richest form of an output that a page can show."""
    data = output.get("data", {})
    if "text/html" in data:
        return f'<div class="notebook-output">{"".join(data["text/html"])}</div>'
    if "image/png" in data:
        shown, image = html.escape("".join(data.get("text/plain", "a picture"))), "".join(data["image/png"]).strip()
        return f'<div class="notebook-output"><img alt="{shown}" src="data:image/png;base64,{image}"></div>'
    text = "".join(output["text"] if "text" in output else data.get("text/plain", ""))
    return f'<div class="notebook-output"><pre>{html.escape(text.rstrip())}</pre></div>'
