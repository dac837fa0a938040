"""Which tests `tools/changed_tests.py` selects for a change."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

FILES = {
    "helper.py": "import numpy as np\n",
    "recorded/special.json": "{}",
    "recorded/special.py": 'CASES = [("one", "tf.math.igamma(1.0, 2.0)")]\n',
    "test_data.py": "import gradtape as tf\ntf.data.Dataset.range(3)\n",
    "test_gamma.py": "import gradtape as tf\ndef test_the_series():\n    tf.math.igamma(1.0, 2.0).numpy()\n",
    "test_helped.py": "from helper import np\n",
    "test_ops.py": "",
    "test_pages.py": 'from pathlib import Path\n(Path() / "docs").glob("*.md")\n',
    "test_recorded.py": "",
    "test_spilling.py": "from gradtape.engine.memory import spilling\n",
}


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """Returns the module, for which FILES are the tests."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    spec = importlib.util.spec_from_file_location("changed_tests", ROOT / "tools" / "changed_tests.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    monkeypatch.setattr(tool, "TESTS", tmp_path)
    return tool


@pytest.fixture
def select(tool, tmp_path):
    """Returns the names of the selected files, and the words, among the tests in FILES."""

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


def test_the_likeliest_failures_run_first(tool, monkeypatch):
    monkeypatch.setattr(tool, "changed_definitions", lambda module, since: {"igamma", "_series"})
    samples, naming = tool.select(["src/gradtape/ops/elementwise/special.py"], "HEAD").likely
    assert samples[1:] == ["-k", "igamma"] and samples[0].endswith("test_ops.py")
    assert naming[1:] == ["-k", "test_the_series"] and naming[0].endswith("test_gamma.py")
    (page,) = tool.select(["docs/index.md"], "HEAD").likely
    assert page[1:] == ["-k", "docs/index.md or not (benchmarks/ or docs/ or examples/ or tools/)"]
    monkeypatch.setattr(tool, "changed_definitions", lambda module, since: set())  # a comment
    assert tool.select(["src/gradtape/ops/elementwise/special.py"], "HEAD") == ([], [], [], [])


def test_changed_definitions_have_their_users_and_no_imports(tool, tmp_path, monkeypatch):
    file = tmp_path / "module.py"
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setitem(tool.MODULES, "gradtape.module", file)

    def differing(before, after):
        done = subprocess.CompletedProcess([], 0, stdout=before)
        monkeypatch.setattr(tool.subprocess, "run", lambda *args, **options: done)
        file.write_text(after)
        return tool.changed_definitions("gradtape.module", "HEAD")

    code = "import math\na = 1\nb: int = a + 1\ndef f(): return b\ndef g(): return math.pi\n"
    assert differing(code, code.replace("= 1", "= 1  # one")) == set()
    assert differing(code, code.replace("a = 1", "a = 2")) == {"a", "b", "f"}
    assert differing(code, code.replace("import math", "import numpy as math")) == {"g"}
    assert differing(code, code + "print(g)\n") == {"*"}
    assert differing("", code) >= {"a", "b", "f", "g"}


def test_device_tests_that_are_named_are_skipped_without_pytorch():
    program = "import sys, pytest\nsys.modules['torch'] = None\nsys.exit(pytest.main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "-q", "-n", "0", "-rs", "tests/devices/test_device_ops.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert "PyTorch is not installed" in done.stdout and "1 skipped" in done.stdout, done.stdout + done.stderr
