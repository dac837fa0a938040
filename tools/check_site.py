"""Uses the built documentation as a reader does, in a headless Chromium: searches, follows links, reads on a phone.

    python tools/check_site.py site

`make docs-test` runs this on the files of the site, without a server and without a network. It fails if

- the first hit of the search field for a name of tests/data/searched_names.txt is not the address beside the name,
- a link, or an address that the search field knows, leads nowhere,
- an element of a page is wider than the window, at 390 or 1,280 pixels, and does not scroll,
- a page reports an error in the console: when it is opened, or when the controls of a notebook's outputs are used.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from browser import HOW_TO_GET, Browser, find_browser
from check_links import Page, broken_in_site

ROOT = Path(__file__).resolve().parents[1]
NAMES = ROOT / "tests/data/searched_names.txt"
WIDTHS = (1280, 390)  # a laptop, a phone
EVERY = 60  # of the pages of the reference, one in so many is looked at

_SEARCH = """(async query => {
  const box = document.getElementById("site-search");
  const field = box.querySelector("input"), status = box.querySelector("[role=status]");
  const start = performance.now();
  status.textContent = "";
  field.focus();
  field.value = query;
  field.dispatchEvent(new Event("input"));
  while (!status.textContent && performance.now() - start < 10000) await new Promise(done => setTimeout(done));
  return [box.querySelector("li a")?.href ?? "no hit", performance.now() - start];
})"""
_OVERFLOWING = r"""(() => {
  const isCut = element => element && element !== document.body
    && (getComputedStyle(element).overflowX !== "visible" || isCut(element.parentElement));
  const isWide = element => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
  const wide = [...document.querySelectorAll(".md-content *")].filter(x => isWide(x) && !isCut(x));
  const described = x => `<${x.tagName.toLowerCase()}> ${x.textContent.trim().replace(/\s+/g, " ").slice(0, 50)}`;
  return wide.slice(0, 3).map(described);
})()"""
_USE_CONTROLS = """(() => {
  for (const control of document.querySelectorAll(".notebook-output button, .notebook-output summary")) control.click();
  for (const slider of document.querySelectorAll(".notebook-output input[type=range]"))
    for (const value of [slider.min, slider.max]) {
      slider.value = value;
      slider.dispatchEvent(new Event("input", {bubbles: true}));
    }
})()"""
_RENDERED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def searched_names() -> dict[str, str]:
    """Returns the addresses where a reader who types a name should arrive, by the name."""
    lines = NAMES.read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))


def misses(browser: Browser, site: Path) -> Iterator[str]:
    """Yields a sentence for each name whose first hit is another page; prints how long the searches took."""
    browser.open(site / "index.html")
    times = []
    for name, address in searched_names().items():
        hit, milliseconds = browser.evaluate(f"{_SEARCH}({json.dumps(name)})")
        times.append(milliseconds)
        hit = unquote(hit.removeprefix(f"{site.as_uri()}/"))
        if hit != address:
            yield f"the search for {name} finds {hit} first, not {address}"
    print(
        f"searches: the first took {times[0]:.0f} ms, with loading the index, the others {max(times[1:]):.0f} or less"
    )
    yield from unreached(browser, site)


def unreached(browser: Browser, site: Path) -> Iterator[str]:
    """Yields a sentence if keys alone, or an address from before each name had a page, do not lead to an entry."""
    name, address = next(iter(searched_names().items()))
    browser.open(site / "index.html")
    browser.press("/")
    for letter in name:
        browser.press(letter)
    browser.evaluate(f"{_SEARCH}({json.dumps(name)})")  # waits for the hits
    browser.press("Enter")
    if not arrives(browser, address):
        yield f"typing /{name} and Enter does not lead to {address}"
    old, new = (f"reference/{page}.html#gradtape.data.Dataset.batch" for page in ("data", "tf.data.Dataset"))
    browser.open(f"{site.as_uri()}/{old}")
    if not arrives(browser, new):
        yield f"{old} does not lead to {new}"


def arrives(browser: Browser, address: str) -> bool:
    """Returns whether the browser arrives at an address of the site in a few seconds."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with contextlib.suppress(RuntimeError):  # the page that was asked has just been left
            if unquote(browser.evaluate("location.href")).endswith(address):
                return True
        time.sleep(0.02)
    return False


def unknown_addresses(site: Path) -> Iterator[str]:
    """Yields a sentence for each address in the index of names that does not exist."""
    text = (site / "search/names.js").read_text(encoding="utf-8")
    anchors: dict[str, set[str] | None] = {}
    pages: dict[str, str] = {}
    for name, address, *_ in json.loads(text.partition(" = ")[2].rstrip(";\n")):
        owner = pages.get(name.rpartition(".")[0], "")
        full = f"{owner}#gradtape.{name}" if address == "#" else address or f"reference/tf.{name}.html"
        page, _, anchor = full.partition("#")
        pages.setdefault(name, page)
        if page not in anchors:
            file = site / page
            anchors[page] = Page(file.read_text(encoding="utf-8")).anchors if file.is_file() else None
        known = anchors[page]
        if known is None or (anchor and anchor not in known):
            yield f"the search field knows {name} at {full}, which does not exist"


def pages_to_open(site: Path) -> list[Path]:
    """Returns the hand-written pages, the reference's lists, and a sample of its entries and sources."""
    pages = sorted(path for path in site.rglob("*.html") if path.name != "404.html")
    generated = [path for path in pages if "reference" in path.relative_to(site).parts]
    lists = [path for path in generated if path.parent.name == "reference" and not path.name.startswith("tf.")]
    entries = [path for path in generated if path not in set(lists)]
    classes = [path for path in entries if path.stem in ("tf.GradientTape", "tf.data.Dataset", "tf.Variable")]
    return [path for path in pages if path not in set(generated)] + lists + classes + entries[::EVERY]


def faults(browser: Browser, page: Path, site: Path) -> Iterator[str]:
    """Yields a sentence for each error and each element that is too wide on a page."""
    browser.errors.clear()
    browser.open(page)
    name = page.relative_to(site)
    for width in WIDTHS:
        browser.resize(width, 900, mobile=width < 500)
        browser.evaluate(_RENDERED)
        yield from (f"{name} at {width} pixels is too narrow for {x}" for x in browser.evaluate(_OVERFLOWING))
    if page.parent.name == "notebooks":
        browser.evaluate(_USE_CONTROLS)
        browser.evaluate(_RENDERED)
    yield from (f"{name} reports {error}" for error in browser.errors)


def check(browser: Browser, site: Path) -> Iterator[str]:
    """Yields a sentence for each thing that a reader of the site would stumble over."""
    yield from misses(browser, site)
    yield from unknown_addresses(site)
    yield from broken_in_site(site)
    for page in pages_to_open(site):
        yield from faults(browser, page, site)


def main() -> int:
    """Prints what is wrong with the site in the folder that is named; returns 1 if anything is."""
    site = Path(sys.argv[1]).resolve()
    program = find_browser()
    if program is None:
        print(HOW_TO_GET)
        return 1
    if not (site / "search/names.js").is_file():
        print(f"{site} has no documentation: run `make docs` first")
        return 1
    start = time.monotonic()
    with Browser(program) as browser:
        found = list(check(browser, site))
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(pages_to_open(site))} pages opened, {len(found)} faults, {time.monotonic() - start:.0f} s")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
