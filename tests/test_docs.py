"""The Python code in README and docs runs, and prints what the comments or the text block after it say."""

import contextlib
import gc
import importlib.util
import io
import linecache
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gradtape.core.extras import is_installed
from gradtape.engine.registry.op import registry
from gradtape.engine.run.namespace import ops

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n?```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
PROMISE = re.compile(r"^ *print\(.*\)\s+# (.*)$", re.MULTILINE)


def snippets(page):
    return BLOCK.findall(page.read_text())


@pytest.mark.parametrize("page", [p for p in PAGES if snippets(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_snippets_run(page, monkeypatch):
    if "keras" in "".join(source for source, _ in snippets(page)) and not is_installed("keras"):
        pytest.skip("Keras is not installed")
    names = {"__name__": "snippet"}
    for source, output in snippets(page):
        printed = io.StringIO()
        lines = source.splitlines(keepends=True)  # explanations quote the program
        monkeypatch.setitem(linecache.cache, "train.py", (len(source), None, lines, "train.py"))
        with contextlib.redirect_stdout(printed):
            exec(compile(source, "train.py", "exec"), names)
        promised = PROMISE.findall(source) or output.splitlines()
        if promised:
            assert printed.getvalue().splitlines() == promised
    names.clear()  # functions keep them alive, and a live traced tape makes other tapes traced
    gc.collect()


POLICY = re.compile(r"^\| `([\w-]+)` \| `([>=\d.]+)` \| (.*) \|$", re.MULTILINE)


def test_links_lead_somewhere():
    for page in PAGES:
        prose = BLOCK.sub("", page.read_text())
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", prose):
            if "reference/" in target:  # generated when the documentation is built, which checks these links
                continue
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
FILE = r"`([\w.-]+/[\w./-]+\.py)`"


def test_files_and_what_they_define_exist():
    for page in PAGES:
        prose = FENCED.sub("", page.read_text())
        names = {file: set(re.findall(rf"`(\w+)` \(`{re.escape(file)}`\)", prose)) for file in re.findall(FILE, prose)}
        for file, defined in names.items():
            if file.endswith("_test.py"):  # Keras'
                continue
            path = next((p for folder in ("", "src", "src/gradtape") if (p := ROOT / folder / file).is_file()), None)
            assert path, f"{page.relative_to(ROOT)} names {file}"
            text = path.read_text()
            for name in defined:
                assert re.search(rf"^(def |class )?{name}\b", text, re.MULTILINE), f"{page.name}: {name} in {file}"


def test_the_listed_ops_have_the_listed_parameters():
    page = (ROOT / "docs" / "guides" / "add-an-op.md").read_text()
    _, _, section = page.partition("### What a rule may use\n")
    listed = re.findall(r"`m\.(\w+)\((.*?)\)`", section.partition("\n## ")[0])
    assert {name for name, _ in listed} <= set(dir(ops)) and len(listed) > 40
    for name, parameters in listed:
        op = registry[name]
        inputs, attributes = parameters.split(", ")[: len(op.args)], parameters.split(", ")[len(op.args) :]
        assert tuple(inputs) == op.args, name
        required = [attribute for attribute, is_required in op.attributes.items() if is_required]
        assert set(required) <= set(attributes) <= op.attributes.keys(), name


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_anchors_lead_somewhere():
    assert not list(tool("check_links").broken_in_pages())


def test_the_policy_states_every_range_and_a_command_that_tests_it():
    page, dependencies = (ROOT / "docs" / "policy.md").read_text(), tool("dependencies")
    rows = {name: (allowed, re.findall(r"`make ([\w-]+)", tests)) for name, allowed, tests in POLICY.findall(page)}
    ranges = {name: f">={lowest}" for name, lowest in dependencies.dependencies().items()}
    ranges |= {"Python": dependencies.PYPROJECT["project"]["requires-python"], "tf-keras": "==2.21.0"}
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    assert {name: allowed for name, (allowed, _) in rows.items()} == ranges
    assert all(commands and set(commands) <= targets for _, commands in rows.values())
    assert set(re.findall(r"tf-keras==[\d.]+", makefile)) == {"tf-keras" + ranges["tf-keras"]}


def test_a_dependency_has_one_lower_end():
    lower_ends = tool("dependencies").lower_ends
    assert lower_ends(["numpy>=2.0", "gradtape[xla]", "numpy>=2.0"]) == {"numpy": "2.0"}
    with pytest.raises(ValueError, match="'six' has no lower end"):
        lower_ends(["six"])
    with pytest.raises(ValueError, match=r"numpy has two lower ends, 2.0 and 2.1"):
        lower_ends(["numpy>=2.0", "numpy>=2.1"])


def test_broken_links_are_found(tmp_path, monkeypatch):
    links = tool("check_links")
    monkeypatch.setattr(links, "ROOT", tmp_path)
    (tmp_path / "b.md").write_text("# One `two`\n\n## Same\n\n## Same\n")
    sound = "[x](b.md#one-two) [x](b.md#same_1) [x](https://host/x) `[x](no.md)`\n```\n[x](no.md)\n```\n"
    (tmp_path / "a.md").write_text(f"{sound}[x](b.md#no) [x](no.md)\n")
    assert [line.split(", ")[0] for line in links.broken_in_pages()] == ["a.md links to b.md#no", "a.md links to no.md"]
    (tmp_path / "b.html").write_text('<h1 id="one">One</h1><img src="no.png">')
    (tmp_path / "a.html").write_text('<a href="b.html#one">x</a><a href="b.html#two">x</a><a href="//host/x">x</a>')
    found = [line.split(", ")[0] for line in links.broken_in_site(tmp_path)]
    assert found == ["a.html links to b.html#two", "b.html links to no.png"]


def test_a_release_has_absolute_links():
    text = "[a](docs/a.md#b) ![p](docs/p.svg) [c](https://host/c) [d](#d)"
    release, url = tool("release"), "https://host/o/g"
    assert release.absolute_links(text, url, "v1") == (
        "[a](https://host/o/g/blob/v1/docs/a.md#b) ![p](https://host/o/g/raw/v1/docs/p.svg) [c](https://host/c) [d](#d)"
    )
    assert release.absolute_links(text, "", "v1") == "a  [c](https://host/c) [d](#d)"
    project = (ROOT / "pyproject.toml").read_text()
    urls = tomllib.loads(project + release.project_urls(url, "v1"))["project"]["urls"]
    assert urls["Homepage"] == url and all(address.startswith(url) for address in urls.values())
    assert "urls" not in tomllib.loads(project)["project"] and url not in project


def test_the_gallery_has_every_example_and_small_pictures():
    text = (ROOT / "docs" / "gallery.md").read_text()
    for example in (ROOT / "examples").glob("*.py"):
        assert f"(reference/source/examples.{example.stem}.md)" in text, f"the gallery has no {example.name}"
    programs = {program.stem for program in (ROOT / "examples" / "gallery").glob("*.py")}
    pages = {page.stem: page.read_text() for page in (ROOT / "docs" / "gallery").glob("*.md")}
    assert pages.keys() == programs == set(re.findall(r"\(gallery/(\w+)\.md\)", text))
    for name, page in pages.items():
        assert f'--8<-- "examples/gallery/{name}.py"' in page and f"({name}.png)" in page and "```text" in page
    pictures = sorted((ROOT / "docs" / "gallery").glob("*.png"))
    assert [picture.name for picture in pictures] == sorted(re.findall(r"\(gallery/(\w+\.png)\)", text))
    tool = (ROOT / "tools" / "make_gallery.py").read_text()
    for picture in pictures:
        assert picture.stat().st_size < 60_000 and (picture.stem in programs or f"def {picture.stem}(" in tool)


def test_screenshots_are_small_and_taken_by_the_tool(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    screenshots = importlib.import_module("take_screenshots")
    pictures = {ROOT / "docs" / "report.png", *(ROOT / "docs" / "screenshots").iterdir()}
    assert pictures == {screenshots.file_of(name) for name in screenshots.SHOTS}
    assert all(picture.stat().st_size <= screenshots.LARGEST for picture in pictures)


def test_pictures_of_tutorials_are_small_and_drawn_by_the_tool():
    drawn = tool("draw_tutorials")
    pictures = {picture.name: picture.stat().st_size for picture in (ROOT / "docs" / "tutorials").glob("*.svg")}
    assert pictures.keys() == {f"{name}-{scheme}.svg" for name in drawn.PICTURES for scheme in drawn.COLORS}
    assert max(pictures.values()) <= drawn.LARGEST


def test_pictures_of_benchmarks_show_the_tables_of_the_page(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    pictures = importlib.import_module("pictures")
    for name, draw in pictures.PICTURES.items():
        assert (ROOT / "docs" / name).read_text() == draw(), f"run benchmarks/pictures.py: docs/{name} is old"


def test_pages_of_the_site_from_files_outside_docs():
    pytest.importorskip("mkdocs")
    pages = tool("site_pages")
    assert pages.with_links_of_the_site("[a](docs/a.md#b), [c](SECURITY.md)") == "[a](a.md#b), c"
    assert pages.on_page_markdown("[a](../../CHANGELOG.md)", None) == "[a](../changelog.md)"
    short = '<div class="language-text highlight"><pre><code>a &lt; b\n</code></pre></div>'
    long = short.replace("a &lt;", "a &lt;" * (pages.WIDEST_LINE + 1))
    assert pages.on_page_content(short + long) == short + long.replace("highlight", "highlight wrapped")


@pytest.mark.skipif(not is_installed("keras"), reason="Keras is not installed")
def test_the_readme_traces_an_unchanged_program(tmp_path):
    text = (ROOT / "README.md").read_text()
    (program,) = re.findall(r"^```py\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    ((command, output),) = re.findall(r"^```console\n\$ gradtape (.*?)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    (tmp_path / "train.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "gradtape", *command.split()], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr.startswith(output)  # and then Keras' warning
