"""Which tests `tools/changed_tests.py` selects for a change."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

FILES = {
    "helper.py": "import numpy as np\n",
    "recorded/special.json": "{}",
    "recorded/special.py": 'CASES = [("one", "tf.math.igamma(1.0, 2.0)")]\n',
    "test_data.py": "import gradtape as tf\ntf.data.Dataset.range(3)\n",
    "test_gamma.py": "import gradtape as tf\ntf.math.igamma(1.0, 2.0).numpy()\n",
    "test_helped.py": "from helper import np\n",
    "test_ops.py": "",
    "test_pages.py": 'from pathlib import Path\n(Path() / "docs").glob("*.md")\n',
    "test_recorded.py": "",
    "test_spilling.py": "from gradtape.engine.memory import spilling\n",
}


@pytest.fixture
def select(tmp_path, monkeypatch):
    """Returns the names of the selected files, and the words, among the tests in FILES."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    spec = importlib.util.spec_from_file_location("changed_tests", ROOT / "tools" / "changed_tests.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    monkeypatch.setattr(tool, "TESTS", tmp_path)

    def select(*changed):
        found = tool.select([str(tmp_path / name) if name in FILES else name for name in changed])
        return {Path(file).name for file in found.files}, set(found.words), {Path(x).name for x in found.files_of_words}

    return select


def test_an_op_selects_its_public_functions_recorded_cases_and_samples(select):
    files, words, files_of_words = select("src/gradtape/ops/elementwise/special.py")
    assert files == {"test_gamma.py"}
    assert {"special", "igamma", "igamma_by_a"} <= words and "_NODES" not in words
    assert {"test_ops.py", "test_recorded.py"} <= files_of_words


def test_a_module_selects_its_examples_and_the_tests_that_import_it(select):
    assert select("src/gradtape/engine/memory/spilling.py")[0] >= {"test_spilling.py"}
    assert select("src/gradtape/api/random/permutations.py")[0] == {"permutations.py"}


def test_helpers_recorded_cases_and_pages(select):
    assert select("helper.py") == ({"test_helped.py"}, set(), set())
    assert select("test_data.py") == ({"test_data.py"}, set(), set())
    assert select("recorded/special.json")[1:] == ({"special"}, {"test_recorded.py", "test_recorded_traced.py"})
    assert select("docs/index.md") == ({"test_pages.py"}, set(), set())
    assert select("LICENSE") == (set(), set(), set())
