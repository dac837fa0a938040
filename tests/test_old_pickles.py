"""Pickles of all public classes and functions that an earlier gradtape wrote load, and behave as new objects do.

They refer to the modules of that time; `gradtape/api/moved_modules.py` says where these are now. This wrote them:

    PYTHONPATH=tests python tests/test_old_pickles.py
"""

import base64
import contextlib
import gzip
import importlib
import json
import pickle
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pickle_cases
import pytest
from pickle_cases import CLASSES, COPIED_AS_THEMSELVES, NOT_CREATED, UNPICKLABLE, create

import gradtape
from gradtape.api.moved_modules import MOVED
from gradtape.api.names import NAMES
from gradtape.api.namespace import resolve
from gradtape.core.extras import is_installed
from gradtape.core.pickling import register_moved

FILE = Path(__file__).parent / "recorded" / "pickles_of_public_classes.json.gz"
PROTOCOLS = (2, 5)
RECORDED = json.loads(gzip.decompress(FILE.read_bytes())) if FILE.is_file() else {"objects": {}, "references": {}}
OBJECTS = {name: data for name, data in RECORDED["objects"].items() if name in CLASSES}  # without those removed since
REFERENCES = {name: data for name, data in RECORDED["references"].items() if name in NAMES}
# Their functions are pickled by value, as bytecode.
DATASETS = ("data.Dataset", "data.experimental.DatasetInitializer")
FOLDER = SimpleNamespace(name=".")  # objects that have paths are created and loaded in the same folder
LOAD = "import base64, json, pickle, sys; [pickle.loads(base64.b64decode(x)) for x in json.load(sys.stdin)]"
PACKAGE = Path(gradtape.__file__).parent


def is_pickled(name, value):
    """Whether a public name is of a class or function that pickle finds; messages have no modules at import."""
    try:
        return (isinstance(value, type) or callable(value)) and pickle.loads(pickle.dumps(value)) is value
    except (pickle.PicklingError, AttributeError, ImportError, TypeError):
        return False


def encoded(value, protocol):
    return base64.b64encode(pickle.dumps(value, protocol)).decode()


def write():
    pickle_cases.FOLDER = FOLDER
    created = sorted(CLASSES.keys() - NOT_CREATED.keys() - UNPICKLABLE - COPIED_AS_THEMSELVES)
    public = {name: value for name, value in ((name, resolve(name)) for name in NAMES) if is_pickled(name, value)}
    file, result = FILE.absolute(), {"python": list(sys.version_info[:2])}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        result["objects"] = {name: [encoded(create(name)[0], protocol) for protocol in PROTOCOLS] for name in created}
        result["references"] = {name: [encoded(x, protocol) for protocol in PROTOCOLS] for name, x in public.items()}
    file.write_bytes(gzip.compress(json.dumps(result, sort_keys=True).encode(), mtime=0))


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_objects(name, tmp_path, monkeypatch):
    if name.startswith("nn.RNNCell") and not is_installed("keras"):
        pytest.skip("Keras is not installed")
    if name in DATASETS and (list(sys.version_info[:2]) != RECORDED["python"] or not find_spec("cloudpickle")):
        pytest.skip("the bytecode of functions is that of another Python, or cloudpickle is not installed")
    monkeypatch.setattr(pickle_cases, "FOLDER", FOLDER)
    monkeypatch.chdir(tmp_path)
    for data in OBJECTS[name]:
        value, use = create(name)
        other = pickle.loads(base64.b64decode(data))
        assert type(other) is type(value)
        assert use(other) == use(value)


def test_classes_and_functions():
    assert len(REFERENCES) > 2000
    for name, pickles in REFERENCES.items():
        for data in pickles:
            assert pickle.loads(base64.b64decode(data)) is resolve(name), name


@pytest.mark.several
def test_without_importing_gradtape_first():
    pickles = json.dumps([data[0] for data in REFERENCES.values()])
    subprocess.run([sys.executable, "-c", LOAD], input=pickles, text=True, check=True)


def is_module(name):
    path = PACKAGE.joinpath(*name.split(".")[1:])
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def test_the_table_of_moved_modules():
    """Its rows are of modules that are gone, with their packages, and of modules that exist."""
    for old, new in MOVED.items():
        assert importlib.import_module(new) and not is_module(old), old
        package = old.rpartition(".")[0]
        assert package in MOVED or is_module(package), f"{package} is gone and needs a row, too"


def test_moved_modules_are_imported_when_a_name_is_asked_for(monkeypatch):
    rows = {"gradtape.old": "gradtape.nothing", "gradtape.old.place": "this"}
    rows["gradtape.old.tensor"] = "gradtape.core.tensor"
    for name in rows:
        monkeypatch.setitem(sys.modules, name, None)  # removed again at the end
    register_moved(rows)
    assert pickle.loads(b"cgradtape.old.tensor\nTensor\n.") is gradtape.Tensor
    module = importlib.import_module("gradtape.old.place")
    assert pickle.loads(pickle.dumps(module)) is module
    assert not hasattr(module, "__file__") and "this" not in sys.modules
    with pytest.raises(ImportError, match="nothing"):
        pickle.loads(b"cgradtape.old\nTensor\n.")
    with pytest.raises(AttributeError, match="Nothing"):
        pickle.loads(b"cgradtape.old.tensor\nNothing\n.")


if __name__ == "__main__":
    write()
