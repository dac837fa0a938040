"""What the site shows besides the pages in docs/: the changelog as a page, the version in the header, wrapped outputs.

A hook of mkdocs (`hooks:` in mkdocs.yml). The page `changelog.html` is CHANGELOG.md itself, so that there is one
changelog, in the repository; a link to `../CHANGELOG.md` in a page of docs/ leads to it.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
CHANGELOG = "changelog.md"
WIDEST_LINE = 90  # characters that the column of text shows on a desktop; outputs with longer lines are wrapped

LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
OUTPUT = re.compile(r'<div class="language-(?:text|console) highlight">(?P<lines>.*?)</div>', re.DOTALL)
TAG = re.compile(r"<[^>]+>")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Gives the theme gradtape's version, which the header shows."""
    text = (ROOT / "src/gradtape/__init__.py").read_text(encoding="utf-8")
    (config.extra["gradtape_version"],) = re.findall(r'^__gradtape_version__ = "(.+)"$', text, re.MULTILINE)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the changelog."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    files.append(File.generated(config, CHANGELOG, content=with_links_of_the_site(text)))
    return files


def with_links_of_the_site(text: str) -> str:
    """Returns a page of the repository's root as a page of docs/: links to files that the site lacks become text.

    >>> with_links_of_the_site("[a](docs/a.md#b), [c](SECURITY.md), [d](https://host/d)")
    '[a](a.md#b), c, [d](https://host/d)'
    """

    def link(match: re.Match[str]) -> str:
        label, address = match.groups()
        if address.startswith("docs/"):
            return f"[{label}]({address.removeprefix('docs/')})"
        return match[0] if "://" in address else label

    return LINK.sub(link, text)


def on_page_markdown(markdown: str, page: Page, **kwargs: Any) -> str:
    """Leads links to the changelog to its page."""
    return re.sub(r"\]\(((?:\.\./)*)\.\./CHANGELOG\.md", rf"](\1{CHANGELOG}", markdown)


def on_page_content(content: str, **kwargs: Any) -> str:
    """Marks outputs with long lines, which docs/site.css wraps; narrower ones, such as tables, keep their columns."""
    return OUTPUT.sub(mark_long_lines, content)


def mark_long_lines(match: re.Match[str]) -> str:
    """Returns the block of an output, with the class `wrapped` if it has a long line."""
    lines = html.unescape(TAG.sub("", match["lines"])).splitlines()
    if max(map(len, lines), default=0) <= WIDEST_LINE:
        return match[0]
    return match[0].replace('highlight">', 'highlight wrapped">', 1)
