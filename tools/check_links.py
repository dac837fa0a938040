"""Checks every relative link, picture and anchor of the Markdown pages, and of the built site, without a network.

    python tools/check_links.py [site]

`make docs` runs this after mkdocs, which checks the pages in docs/ only. The site is checked as a reader's browser
would resolve it: each link leads to a file of the site and, if it has an anchor, to an element with that id.
"""

from __future__ import annotations

import html
import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
TAG = re.compile(r"<([a-zA-Z][\w-]*)((?:\s+[\w:@.-]+(?:=(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+))?)+)\s*/?>")
ATTRIBUTE = re.compile(r"\s(id|name|href|src)=\"([^\"]+)\"")
HIDDEN = re.compile(r"<!--.*?-->|(<(?:script|style)\b[^>]*)>.*?</(?:script|style)>", re.DOTALL)
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
GENERATED = "reference"  # the folder of pages that exist only in the site


def pages() -> list[Path]:
    """Returns the Markdown pages of the repository."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def broken_in_pages() -> Iterator[str]:
    """Yields a sentence for each relative link of a page that leads nowhere."""
    for page in pages():
        text = CODE.sub("", FENCE.sub("", page.read_text(encoding="utf-8")))
        for match in LINK.finditer(text):
            address = match[1] or match[2]
            parts = urlsplit(address)
            path = unquote(parts.path)
            if parts.scheme or parts.netloc or GENERATED in Path(path).parts:
                continue
            target = (page.parent / path).resolve() if path else page
            if not target.exists():
                yield f"{page.relative_to(ROOT)} links to {address}, which does not exist"
            elif parts.fragment and target.suffix == ".md" and parts.fragment not in anchors_of_page(target):
                yield f"{page.relative_to(ROOT)} links to {address}, but the page has no such heading"


@cache
def anchors_of_page(page: Path) -> frozenset[str]:
    """Returns the anchors of a Markdown page: its headings, as mkdocs names them."""
    found: set[str] = set()
    text = page.read_text(encoding="utf-8")
    for heading in HEADING.findall(FENCE.sub("", text)):
        anchor = base = slug(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
        count = 0
        while anchor in found:
            count += 1
            anchor = f"{base}_{count}"
        found.add(anchor)
    return frozenset({*found, *re.findall(r"\bid=\"([^\"]+)\"", text)})


def slug(heading: str) -> str:
    """Returns the anchor of a heading: lower case, hyphens for blanks, no punctuation."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


class Page:
    """The links and the anchors of a page of the site.

    Read by patterns: mkdocs quotes every attribute, and an HTML parser would need as long as half of the build.
    """

    def __init__(self, text: str) -> None:
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        for tag, attributes in TAG.findall(HIDDEN.sub(_opening, text)):
            for name, value in ATTRIBUTE.findall(attributes):
                if name == "id" or (tag == "a" and name == "name"):
                    self.anchors.add(html.unescape(value))
                elif name in ("href", "src"):
                    self.links.add(html.unescape(value))


def _opening(match: re.Match[str]) -> str:
    """Returns the opening tag of a script or a style sheet without its content, and nothing for a comment."""
    return f"{match[1]}>" if match[1] else ""


def broken_in_site(site: Path) -> Iterator[str]:
    """Yields a sentence for each relative link of the built site that leads nowhere."""
    read = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in read.items():
        if path.name == "404.html":  # its links are absolute, for any address that does not exist
            continue
        for address in sorted(page.links):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = file_at(path.parent, parts.path) if parts.path else path
            if target is None:
                yield f"{path.relative_to(site)} links to {address}, which does not exist"
            elif parts.fragment and target in read and unquote(parts.fragment) not in read[target].anchors:
                yield f"{path.relative_to(site)} links to {address}, but the page has no such anchor"


@cache
def file_at(folder: Path, address: str) -> Path | None:
    """Returns the file to which a relative address in a folder leads, or None; pages share most of their links."""
    target = (folder / unquote(address)).resolve()
    target = target / "index.html" if target.is_dir() else target
    return target if target.exists() else None


def main() -> int:
    """Prints the broken links of the pages, and of the site in the folder that is named; returns 1 if there are any."""
    broken = list(broken_in_pages())
    for folder in sys.argv[1:]:
        broken += broken_in_site(Path(folder).resolve())
    print(*broken, sep="\n" if broken else "", end="\n" if broken else "")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
