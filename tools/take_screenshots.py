"""Takes the pictures of the documentation with a headless Chromium: `make screenshots`, or those that are named.

    python tools/take_screenshots.py [--site site] [home home-phone guide reference search-phone notebook report ...]

Most pictures show the built documentation, which `make docs` writes to site/, at the width of a desktop or, with
`-phone`, of a phone. `report` shows the training of examples/keras_digits.py step by step, `missing-…` the program of
a tutorial, `tape…` and `drawn-…` a notebook's cell. `SHOTS` lists the names.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from browser import HOW_TO_GET, Browser, find_browser
from PIL import Image

ROOT = Path(__file__).parent.parent
SCREENSHOTS = ROOT / "docs" / "screenshots"
DESKTOP, PHONE, SMALL, NARROW = (1280, 860), (390, 844), (1120, 720), (840, 600)  # width and height in CSS pixels
LARGEST = 150_000  # bytes of a picture
COLORS = 256
QUERY = "tf.math.sin"
RESULTS = "document.querySelectorAll('#site-search [role=option]').length"
LONGEST_SEARCH = 60.0  # seconds, in which the browser also loads the index


PROGRAM = """
import gradtape as tf

normal = tf.random.stateless_normal
kernels = [[tf.Variable(normal((16, 16), (i, j)) / 4, name="kernel") for j in range(2)] for i in range(6)]
head, temperature = tf.Variable(normal((16, 1), (9, 9)), name="head"), tf.Variable(1.0, name="temperature")
x = tf.Variable(normal((8, 16), (8, 8)), name="embedding")
with tf.GradientTape(trace=True) as tape:
    h = tf.identity(x)
    for i, (attention, dense) in enumerate(kernels):
        with tf.name_scope(f"block_{i}"):
            h += tf.nn.softmax(h @ attention @ tf.transpose(h)) @ h
            h += tf.nn.relu(h @ dense)
    scores = tf.tanh(h @ head / 500.0)
    loss = tf.reduce_mean(tf.square(scores - 1.0)) + tf.reduce_sum(tf.square(head)) * 0.0
tape.gradient(loss, [x, head, temperature, *(kernel for pair in kernels for kernel in pair)])
"""
HEAD_OF_CELL = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>body { margin: 10px } @media (prefers-color-scheme: dark) { body { background: #1e2129 } }</style>"""


@dataclass(frozen=True)
class Site:
    """The built documentation: its folder, and its address while it is served, as search needs."""

    folder: Path
    address: str


Show = Callable[[Browser, Site], None]


def show_page(path: str) -> Show:
    """Returns a function that shows a page from its top."""
    return lambda browser, site: browser.open(f"{site.address}/{path}")


def show_search(browser: Browser, site: Site) -> None:
    """Types a query into the field of the header, as a reader does, and waits for results."""
    browser.open(f"{site.address}/index.html")
    browser.evaluate("document.querySelector('#site-search input').focus()")
    end = time.monotonic() + LONGEST_SEARCH
    browser.type(QUERY)
    while not browser.evaluate(RESULTS):
        if time.monotonic() > end:
            raise TimeoutError(f"no result for {QUERY} within {LONGEST_SEARCH:.0f} seconds")
        time.sleep(0.2)


def show_notebook(browser: Browser, site: Site) -> None:
    browser.open(f"{site.address}/notebooks/per-example-and-sparse.html")
    browser.evaluate("document.querySelector('.notebook-output svg path').closest('.notebook-output').scrollIntoView()")
    browser.evaluate("scrollBy(0, -80)")  # the bar at the top hides what is below it


def show_report(browser: Browser, site: Site) -> None:
    sys.path.insert(0, str(ROOT / "examples"))
    import keras_digits

    import gradtape as tf

    with tf.inspect.record_steps(every=4) as steps:
        keras_digits.trained_by_hand(1)
    with tempfile.TemporaryDirectory() as folder:
        browser.open(steps.report(Path(folder) / "steps.html"))


def show_missing_gradient(browser: Browser, site: Site) -> None:
    """Shows the step of docs/tutorials/debugging.md whose gradient is None."""
    from draw_tutorials import variables_of

    with tempfile.TemporaryDirectory() as folder:
        browser.open(variables_of("debugging", blocks=1)["tape"].report(Path(folder) / "step.html"))


def show_tape(browser: Browser, site: Site) -> None:
    """Shows the output of a notebook cell that ends with a traced tape, in the middle of its sweep."""
    variables: dict[str, Any] = {}
    exec(compile(PROGRAM, "train.py", "exec"), variables)
    drawn = variables["tape"]._repr_html_()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cell.html"
        file.write_text(f"{HEAD_OF_CELL}<body>{drawn}</body>", "utf-8")
        browser.open(file)
    drawing = "document.querySelector('[data-gradtape]')"
    browser.evaluate(f"{drawing}.gradtapeDrawing.sweepTo(9)")
    browser.resize(int(browser.evaluate("innerWidth")), int(browser.evaluate(f"{drawing}.offsetHeight")) + 20)


@dataclass(frozen=True)
class Shot:
    """A picture: what it shows, at which size, and in which colors."""

    show: Show
    size: tuple[int, int] = DESKTOP
    dark: bool = False
    file: Path | None = None  # in docs/screenshots, unless it has a place of its own


PAGES: dict[str, Show] = {
    "home": show_page("index.html"),
    "guide": show_page("guides/why-none.html"),
    "reference": show_page("reference/tf.math.softmax.html"),
    "search": show_search,
}
SHOTS: dict[str, Shot] = {
    **{name: Shot(show) for name, show in PAGES.items()},
    **{f"{name}-phone": Shot(show, PHONE) for name, show in PAGES.items()},
    "home-dark": Shot(PAGES["home"], dark=True),
    "notebook": Shot(show_notebook),
    "tape": Shot(show_tape),
    "tape-phone": Shot(show_tape, PHONE),
    "drawn-light": Shot(show_tape, NARROW),
    "drawn-dark": Shot(show_tape, NARROW, dark=True),
    "report": Shot(show_report, file=ROOT / "docs" / "report.png"),
    "missing-light": Shot(show_missing_gradient, SMALL),
    "missing-dark": Shot(show_missing_gradient, SMALL, dark=True),
}


def file_of(name: str) -> Path:
    """Returns the file of a picture."""
    return SHOTS[name].file or SCREENSHOTS / f"{name}.png"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serves a folder on this machine, and yields its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Prints nothing about requests."""


def take(name: str, program: str, site: Site) -> None:
    """Takes a picture."""
    shot, file = SHOTS[name], file_of(name)
    file.parent.mkdir(exist_ok=True)
    with Browser(program, *shot.size) as browser:
        browser.prefer_colors("dark" if shot.dark else "light")
        shot.show(browser, site)
        browser.evaluate("new Promise((done) => setTimeout(done, 300))")  # fonts, and what fades in
        browser.screenshot(file)
        if browser.errors:
            raise RuntimeError(f"{name}: {browser.errors}")


def shrink(file: Path) -> None:
    """Writes the picture again with few colors, which the pages have anyway."""
    Image.open(file).convert("RGB").quantize(COLORS, Image.Quantize.MEDIANCUT).save(file, optimize=True)
    if (size := file.stat().st_size) > LARGEST:
        raise ValueError(f"{file.name} has {size:,} bytes, more than {LARGEST:,}: show less")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"which pictures; all, if none is named: {', '.join(SHOTS)}")
    parser.add_argument("--site", type=Path, default=ROOT / "site", help="the built documentation")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.names) - set(SHOTS)):
        parser.error(f"no picture {', '.join(unknown)}: there are {', '.join(SHOTS)}")
    program = find_browser()
    if program is None:
        parser.error(HOW_TO_GET)
    with served(arguments.site) as address:
        for name in arguments.names or SHOTS:
            take(name, program, Site(arguments.site, address))
            shrink(file_of(name))
            print(f"{file_of(name).relative_to(ROOT)}: {file_of(name).stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
