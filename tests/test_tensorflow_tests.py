"""The rule by which `tools/tensorflow_tests` decides whether a TensorFlow test needs something private."""

import importlib
from pathlib import Path

import pytest

pytest.importorskip("absl")
TEST = """
from tensorflow.python.distribute import combinations, distribute_lib, distribute_utils, values
from tensorflow.python.ops import math_ops
from tensorflow.python.eager import test

class Own(distribute_lib.StrategyV1):
  def _call(self):
    pass

def decorated(f):
  return lambda self: f(self, Own())

ALIAS = values.Secret

def reaches(x):
  return values.Secret(x)

class SomeTest(test.TestCase):
  @combinations.generate([])
  def testPublic(self, x):
    self.assertIsInstance(math_ops.add(x, 1)._type_spec, values.Secret)
    self._also(x)
  def _also(self, x):
    return distribute_utils.select_replica(0, x)
  def testOther(self):
    reaches(1)._hidden
  @decorated
  def testStrategy(self, strategy):
    pass
  @parameterized.parameters(values.Secret(1))
  def testGiven(self, x):
    pass
  def testAlias(self):
    ALIAS(1)
"""
NAMES = {
    **dict.fromkeys(("tensorflow.python.ops.math_ops.add", "tensorflow.python.eager.test.TestCase"), "public"),
    "tensorflow.python.distribute.distribute_lib.StrategyV1": "compat.v1.distribute.Strategy",
}


def test_what_a_test_needs_that_is_private(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "tools" / "tensorflow_tests"))
    rule = importlib.import_module("rule")
    (tmp_path / "some_test.py").write_text(TEST)
    source = rule.Source(tmp_path / "some_test.py", NAMES)
    needs = {
        title: source.private(*rule.method_of(source, f"SomeTest.{title}"))
        for title in ("testPublic_mode_eager", "testOther", "testStrategy", "testGiven0", "testAlias")
    }
    assert needs == {
        "testPublic_mode_eager": [],
        "testOther": ["._hidden", "distribute.values.Secret"],
        "testStrategy": ["def _call"],
        "testGiven0": ["distribute.values.Secret"],
        "testAlias": ["distribute.values.Secret"],
    }


HELPER = """
from tensorflow.python.ops import math_ops

class Base:
  def helps(self):
    math_ops.secret()
"""
USER = """
from tensorflow.python.data.kernel_tests import test_base

class SomeTest(test_base.Base):
  def testInherits(self):
    self.helps()
  def testMentions(self):
    test_base.Base()._hidden
"""


def test_what_a_helper_file_needs_is_not_asked_of_its_users(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "tools" / "tensorflow_tests"))
    rule = importlib.import_module("rule")
    folder = tmp_path / "tensorflow" / "python" / "data" / "kernel_tests"
    folder.mkdir(parents=True)
    (folder / "test_base.py").write_text(HELPER)
    (folder / "some_test.py").write_text(USER)
    source = rule.Source(folder / "some_test.py", {}, tmp_path)
    assert source.private("SomeTest", "testInherits") == []
    assert source.private("SomeTest", "testMentions") == ["._hidden"]
    assert list(rule.support_files(folder / "some_test.py", tmp_path)) == [
        "tensorflow.python.data.kernel_tests.test_base"
    ]
