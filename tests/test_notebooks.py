"""The notebooks of the documentation run and show what they were saved with; they become pages with their outputs."""

import importlib.util
import json
import os
import re
import sys
from pathlib import Path

import pytest
from forked_programs import ForkingProcess

from gradtape.core.extras import is_installed

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
TOOL = ROOT / "tools" / "write_notebooks.py"
_SPEC = importlib.util.spec_from_file_location("write_notebooks", TOOL)
tool = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(tool)


@pytest.fixture(scope="module")
def process():
    """A process that has imported what the notebooks import, and forks for each of them."""
    pytest.importorskip("IPython", reason="needs IPython")
    if not is_installed("keras"):
        pytest.skip("Keras is not installed")
    program = f"import sys; sys.path.append({str(Path(__file__).parent)!r}); import forked_programs as f"
    imports = "import gradtape, IPython.core.interactiveshell; gradtape.keras"
    process = ForkingProcess([sys.executable, "-c", f"{program}; {imports}; f.serve()"], os.environ)
    yield process
    process.close()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_was_saved_with(path, process, tmp_path):
    program = tmp_path / "check.py"
    arguments = [str(TOOL), "--check", str(path)]
    run = "runpy.run_path(sys.argv[0], run_name='__main__')"
    program.write_text(f"import runpy, sys; sys.argv[:] = {arguments}; {run}")
    code, printed, errors = process.run(program)
    assert code == 0, printed + errors


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_complete_and_linked(path):
    notebook = json.loads(path.read_text())
    assert path.stat().st_size < 100_000
    assert notebook["cells"][0]["source"][0].startswith("# ") and notebook["nbformat"] == 4
    cells = tool.code_cells(notebook)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))  # all ran, in order
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    prose = "".join(line for cell in notebook["cells"] if cell["cell_type"] == "markdown" for line in cell["source"])
    for target in re.findall(r"\]\(([^)#:]+?)\)", prose):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"
    assert f"(../notebooks/{path.name})" in (ROOT / "docs" / "tutorials" / "notebooks.md").read_text()
    assert f"notebooks/{path.name}\n" in (ROOT / "mkdocs.yml").read_text()


@pytest.mark.parametrize(
    ("before", "after", "varies", "same"),
    [
        ("loss 0.5012", "loss 0.5013", False, True),  # another BLAS
        ("loss 0.50", "loss 0.53", False, False),
        ("loss 0.50", "loss 0.53", True, True),
        ("loss 0.50", "cost 0.50", True, False),
        ("op   kept\n──  ────\nexp  4 kB", "op     kept\n──  ──────\nexp  3.1 MB", True, True),
        ("exp  4 kB\nexp  3 kB", "exp  4 kB\nexp  3 kB\nexp  1 kB", True, True),  # a row more
        ("most ▁▂█ 12", "most ▁▃█ 12", False, True),
        ("[1, 2]", "[1, 2, 3]", False, False),
        ("1,797 images", "1,597 images", False, False),
        ("digits/conv_1", "digits/conv_2", False, False),
    ],
)
def test_texts_are_compared_by_words_and_numbers(before, after, varies, same):
    assert tool.is_same_text(before, after, varies) is same


def test_differences_name_the_cell():
    def notebook(*texts):
        outputs = [{"name": "stdout", "output_type": "stream", "text": [text]} for text in texts]
        return {"cells": [{"cell_type": "code", "metadata": {}, "source": [], "outputs": outputs}]}

    assert tool.differences(notebook("a 1"), notebook("a 1")) == []
    assert tool.differences(notebook("a"), notebook("b")) == ["In[1] shows\nb\nthe file has\na"]
    assert tool.differences(notebook("a"), notebook()) == ["In[1] shows 0 outputs, the file has 1"]


def test_pages_have_the_outputs():
    pytest.importorskip("mkdocs", reason="needs mkdocs, of `make docs`")
    spec = importlib.util.spec_from_file_location("notebook_pages", ROOT / "tools" / "notebook_pages.py")
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    path = ROOT / "docs" / "notebooks" / "training-loop.ipynb"
    page = pages.render(json.loads(path.read_text()), path.name)
    assert page.startswith("# A training loop by hand\n") and "```python\nimport matplotlib" in page
    assert "<pre>loss 1." in page and "<table>" in page and 'src="data:image/png;base64,' in page
    assert '<a href="training-loop.ipynb" download>' in page
