"""Takes the pictures of the documentation with a headless Chromium: `make screenshots`, or one by its name.

    python tools/take_screenshots.py [--site site] [home notebook report]

`home` and `notebook` show the built documentation, which `make docs` writes to site/; `report` shows the training of
examples/keras_digits.py, step by step. The names of the files are in `PICTURES`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from browser import HOW_TO_GET, Browser, find_browser
from PIL import Image

ROOT = Path(__file__).parent.parent
WIDTH, HEIGHT = 1280, 860
LARGEST = 300_000  # bytes of a picture
COLORS = 128


def show_home(page: Browser, site: Path) -> None:
    page.open(site / "index.html")


def show_notebook(page: Browser, site: Path) -> None:
    page.open(site / "notebooks" / "per-example-and-sparse.html")
    page.evaluate("document.querySelector('.notebook-output svg path').closest('.notebook-output').scrollIntoView()")
    page.evaluate("scrollBy(0, -80)")  # the bar at the top hides what is below it


def show_report(page: Browser, site: Path) -> None:
    sys.path.insert(0, str(ROOT / "examples"))
    import keras_digits

    import gradtape as tf

    with tf.inspect.record_steps(every=4) as steps:
        keras_digits.trained_by_hand(1)
    with tempfile.TemporaryDirectory() as folder:
        page.open(steps.report(Path(folder) / "steps.html"))


PICTURES: dict[str, tuple[Callable[[Browser, Path], None], Path]] = {
    "home": (show_home, ROOT / "docs" / "screenshots" / "home.png"),
    "notebook": (show_notebook, ROOT / "docs" / "screenshots" / "notebook.png"),
    "report": (show_report, ROOT / "docs" / "report.png"),
}


def shrink(file: Path) -> None:
    """Writes the picture again with few colors, which the pages have anyway."""
    Image.open(file).convert("RGB").quantize(COLORS, Image.Quantize.MAXCOVERAGE).save(file, optimize=True)
    if (size := file.stat().st_size) > LARGEST:
        raise ValueError(f"{file.name} has {size:,} bytes, more than {LARGEST:,}: show less")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"which pictures; all, if none is named: {', '.join(PICTURES)}")
    parser.add_argument("--site", type=Path, default=ROOT / "site", help="the built documentation")
    given = parser.parse_args()
    if unknown := sorted(set(given.names) - set(PICTURES)):
        parser.error(f"no picture {', '.join(unknown)}: there are {', '.join(PICTURES)}")
    program = find_browser()
    if program is None:
        parser.error(HOW_TO_GET)
    for name in given.names or PICTURES:
        show, file = PICTURES[name]
        file.parent.mkdir(exist_ok=True)
        with Browser(program, WIDTH, HEIGHT) as page:
            show(page, given.site)
            page.evaluate("new Promise((done) => setTimeout(done, 300))")  # fonts, and what fades in
            page.screenshot(file)
            if page.errors:
                raise RuntimeError(f"{name}: {page.errors}")
        shrink(file)
        print(f"{file.relative_to(ROOT)}: {file.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
