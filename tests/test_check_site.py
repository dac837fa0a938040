"""The check of the built documentation finds what it looks for: planted faults in a site of three pages.

Skipped where there is no Chromium.
"""

import re
from pathlib import Path

import pytest
from browsers import PROGRAM, browser, needs_browser

pytestmark = needs_browser

ROOT = Path(__file__).parent.parent
THEME = ROOT / "tools/theme"


@pytest.fixture
def site(tmp_path):
    markup = re.sub(r"\{[#%].*?[#%]\}", "", (THEME / "partials/search.html").read_text("utf-8"), flags=re.DOTALL)
    head = f'<input type="checkbox" id="__search">{markup}<script src="search/search.js"></script>'
    for folder in ("search", "reference", "notebooks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "index.html").write_text(head)
    (tmp_path / "search/search.js").write_text((THEME / "search/search.js").read_text("utf-8"))
    (tmp_path / "search/text.js").write_text("searchIndex.sections = [];\n")
    rows = '[["math.sin", "", "The sine."], ["data.Dataset", "", ""], ["data.Dataset.batch", "#", "Stacks elements."]]'
    (tmp_path / "search/names.js").write_text(f"searchIndex.names = {rows};\n")
    (tmp_path / "reference/tf.math.sin.html").write_text('<h1 id="gradtape.math.sin">tf.math.sin</h1>')
    return tmp_path


def test_planted_faults_are_found(site, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import check_site

    expected = {"math.sin": "reference/tf.math.sin.html", "tf.cos": "reference/tf.math.cos.html"}
    monkeypatch.setattr(check_site, "searched_names", lambda: expected)
    monkeypatch.setattr(check_site, "unreached", lambda browser, site: iter(()))
    page = site / "notebooks/a.html"
    wide = '<div class="md-content"><p style="width: 700px">wide</p><pre style="overflow: auto"><i>x</i></pre></div>'
    slider = '<div class="notebook-output"><input type="range" oninput="console.error(\'moved\')"></div>'
    page.write_text('<meta name="viewport" content="width=device-width">' + wide + slider)
    with browser.Browser(PROGRAM) as found:
        assert list(check_site.misses(found, site)) == [
            "the search for tf.cos finds no hit first, not reference/tf.math.cos.html"
        ]
        assert list(check_site.faults(found, page, site)) == [
            "notebooks/a.html at 390 pixels is too narrow for <p> wide", *["notebooks/a.html reports moved"] * 2,
        ]  # fmt: skip
    assert [line.split(", ")[0].split(" at ")[1] for line in check_site.unknown_addresses(site)] == [
        "reference/tf.data.Dataset.html", "reference/tf.data.Dataset.html#gradtape.data.Dataset.batch",
    ]  # fmt: skip
