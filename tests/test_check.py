"""`gradtape check`: the names that programs and notebooks use, and the tables of differences and libraries."""

import importlib.util
import json
import re
from pathlib import Path

import pytest
from test_command_line import gradtape, script, with_keras  # noqa: F401  a fixture among them

from gradtape.api.names import NAMES
from gradtape.cli import libraries, main
from gradtape.cli import needs as needs_module
from gradtape.cli.differences import DIFFERENCES
from gradtape.cli.libraries import LIMITED, UNSUPPORTED, judge_library
from gradtape.cli.lookup import judge


def names(report, status):
    return {use["name"]: use["lines"] for use in report["files"][0]["names"] if use["status"] == status}


def checked(file, capsys):
    code = main(["check", "--json", str(file)])
    return json.loads(capsys.readouterr().out), code


def test_names_are_followed_through_a_program(script, capsys):  # noqa: F811
    file = script(
        """\
        try:
            import tensorflow as tf
        except ImportError:
            tf = None
        from tensorflow import math as m, nn
        import tensorflow.linalg
        spare, sine = tf.no_such_space, m.sin

        def f(x, nn):
            nn.no_such_layer()
            return helper(m.no_such_function(x)) + sine(x)

        @tf.function
        def helper(x: tf.Tensor) -> "tf.Tensor":
            return tensorflow.linalg.inv(getattr(tf, "no_such_name")(x)) + spare.inner

        class Layer(tf.Module):
            def __call__(self, x):
                return nn.relu(x) if tf.Variable.no_such_method else tf.float32.max
        again = tf.recompute_grad(helper)
        """
    )
    report, code = checked(file, capsys)
    assert code == 1
    assert names(report, "missing") == {
        "tf.no_such_space": ["7"],
        "tf.no_such_space.inner": ["15"],
        "tf.math.no_such_function": ["11"],
        "tf.no_such_name": ["15"],
        "tf.Variable.no_such_method": ["19"],
    }
    assert names(report, "different") == {"tf.recompute_grad": ["20"]}
    assert names(report, "supported") == {
        "tf.function": ["13"],
        "tf.math.sin": ["7", "11"],
        "tf.Tensor": ["14"],
        "tf.linalg.inv": ["15"],
        "tf.Module": ["17"],
        "tf.nn.relu": ["19"],
        "tf.float32.max": ["19"],
    }
    assert report["summary"] == {"missing": 5, "different": 1, "supported": 7}


@with_keras
def test_names_of_keras_are_looked_up_in_keras(script):  # noqa: F811
    file = script(
        """\
        from tensorflow import keras
        from tensorflow.keras import layers as L
        from keras.layers import Dense
        K = keras.backend
        L.Dense, L.NoSuchLayer, K.epsilon, keras.Model.fit, keras.no_such_part.thing
        """
    )
    done = gradtape("check", "--json", file)  # in a separate process, because a process has one Keras
    report = json.loads(done.stdout)
    assert set(names(report, "missing")) == {"tf.keras.layers.NoSuchLayer", "tf.keras.no_such_part.thing"}
    supported = {"tf.keras.layers.Dense", "keras.layers.Dense", "tf.keras.backend.epsilon", "tf.keras.Model.fit"}
    assert set(names(report, "supported")) == supported


def test_methods_of_instances_are_looked_up(script, capsys):  # noqa: F811
    file = script(
        """\
        import tensorflow as tf
        ds = tf.data.Dataset.range(3)
        ds = ds.map(lambda x: x).bacth(2)
        with tf.GradientTape() as tape:
            x = tf.constant(1.0)
        tape.gradient, tape.gradeint, x.reshape, x.to_list, x.numpyy, tf.zeros(3).no_such_method.thing
        v = tf.Variable(1.0)
        v.mine = 3
        v.mine, v.assign, v._handle_name, v.no_such_method
        either = tf.Variable(1.0)
        either = dict()
        either.items, tf.train.Checkpoint(v=v).v, tf.data.Options().no_such_option
        ds.save("folder")

        class Trainer:
            declared = None

            def __init__(self, v, step=None):
                self.step, self.data, self.given = step or tf.Variable(0), tf.data.Dataset.range(2), v
                self.given_too = v
                self.v = tf.Variable(1.0)
                self.either, self.declared = tf.Variable(1.0), tf.Variable(1.0)
                self.declared = tf.Variable(1.0)

            @staticmethod
            def helper(self):
                return self.v.anything

            @tf.function
            def train(self):
                self.either = self.declared.anything
                self.v.assign(2.0)
                return self.v.asign_add, self.either.anything, self.step.anything, self.data.anything, self.anything
                return self.given.anything, self.given_too.anything, getattr(self, "anything", None)

        def f(tape, v):
            global made
            made = tf.Variable(1.0)
            return tape.anything, v.anything, made.anything
        """
    )
    report, code = checked(file, capsys)
    assert code == 1
    assert names(report, "missing") == {
        "tf.data.Dataset.bacth": ["3"],
        "tf.GradientTape.gradeint": ["6"],
        "tf.Tensor.numpyy": ["6"],
        "tf.Tensor.no_such_method": ["6"],
        "tf.Variable.no_such_method": ["9"],
        "tf.Variable.asign_add": ["33"],
    }
    assert {"tf.data.Dataset.save", "tf.data.Dataset.map", "tf.Variable.assign"} <= set(names(report, "supported"))
    notes = {use["name"]: use["note"] for use in report["files"][0]["names"] if use["note"]}
    assert notes["tf.data.Dataset.bacth"] == "did you mean tf.data.Dataset.batch?"
    assert "tf.reshape" in notes["tf.Tensor.reshape"]


def test_notes_say_what_to_use_instead(tmp_path, script, capsys):  # noqa: F811
    (tmp_path / "lime.py").touch()
    file = script(
        """\
        import tensorflow as tf, tensorflow_probability.stats, numpy, lime
        from tensorflow_text import tokenizers
        from tensorflow.python.util import nest
        from tensorflow.python.util import no_such_module
        from tensorflow.core.framework import graph_pb2
        nest.flatten, graph_pb2.GraphDef.FromString, tf.io.decode_proto, tf.redcue_sum, tf.distribute.TPUStrategy
        tf.lite.TFLiteConverter.from_keras_model
        """
    )
    report, _ = checked(file, capsys)
    found = {use["name"]: (use["status"], use["note"]) for use in report["files"][0]["names"]}
    assert found["tensorflow_probability"] == ("supported", "tensorflow-probability 0.25.0 has TensorFlow's results")
    assert found["tensorflow_text"][0] == found["tf.python.util.no_such_module"][0] == "missing"
    assert found["tf.python.util.nest.flatten"] == ("supported", "")
    assert found["tf.core.framework.graph_pb2.GraphDef.FromString"] == ("supported", "")
    assert found["tf.io.decode_proto"][0] == "missing" and "`tf.py_function`" in found["tf.io.decode_proto"][1]
    assert found["tf.redcue_sum"] == ("missing", "not a name of TensorFlow 2.21 either; did you mean tf.reduce_sum?")
    assert found["tf.distribute.TPUStrategy"][0] == "different" and "MirroredStrategy" in str(found)
    assert "raises an error" in found["tf.lite.TFLiteConverter.from_keras_model"][1]
    assert not {"numpy", "lime"} & set(found)
    report, _ = checked(script("import transformers", "without_tensorflow.py"), capsys)
    assert report["files"][0]["names"] == []


def test_calls_that_raise_are_missing(script, capsys):  # noqa: F811
    old = """\
        import tensorflow.compat.v1 as tf
        tf.disable_eager_execution()
        x = tf.placeholder(tf.float32, [None])
        with tf.Session() as session:
            session.run(x * x)
        try:
            strategy = tf.distribute.TPUStrategy()
        except ValueError:
            strategy = tf.lite.TFLiteConverter.from_saved_model("folder")

        @tf.lite.experimental.authoring.compatible
        def f(x):
            return tf.disable_v2_behavior
        """
    report, code = checked(script(old), capsys)
    assert code == 1
    assert names(report, "missing") == {
        "tf.compat.v1.disable_eager_execution": ["2"],
        "tf.compat.v1.placeholder": ["3"],
        "tf.compat.v1.Session": ["4"],
        "tf.compat.v1.lite.TFLiteConverter.from_saved_model": ["9"],
        "tf.compat.v1.lite.experimental.authoring.compatible": ["11"],
    }
    different = {"tf.compat.v1.distribute.TPUStrategy": ["7"], "tf.compat.v1.disable_v2_behavior": ["13"]}
    assert names(report, "different") == different
    notes = {use["name"]: use["note"] for use in report["files"][0]["names"]}
    assert "no graphs that are built op by op. Call functions" in notes["tf.compat.v1.placeholder"]
    reads = "import tensorflow as tf\ntf.import_graph_def(d)\ntf.compat.v1.Session().run(tf.compat.v1.placeholder(1))"
    assert checked(script(reads), capsys)[1] == 0


def test_what_programs_need(script, capsys, monkeypatch):  # noqa: F811
    monkeypatch.delenv("TF_USE_LEGACY_KERAS", raising=False)
    monkeypatch.setenv("KERAS_BACKEND", "gradtape")
    text = """\
        import tensorflow as tf

        @tf.function(jit_compile=True)
        def f(x):
            return tf.image.decode_png(x), tf.summary.create_file_writer("logs")
        tf.function(f, jit_compile=False), f.get_concrete_function().graph.as_graph_def(), tf.make_tensor_proto(1)
        """
    report, _ = checked(script(text), capsys)
    needs = {need["extra"]: (need["names"], need["lines"]) for need in report["files"][0]["needs"]}
    assert needs == {
        "xla": (["jit_compile=True"], ["3"]),
        "jpeg": (["tf.image.decode_png"], ["5"]),
        "summary": (["tf.summary.create_file_writer"], ["5"]),
        "protobuf": (["tf.make_tensor_proto"], ["6"]),
    }
    assert all(need["installed"] == (find(need["extra"]) is not None) for need in report["files"][0]["needs"])
    monkeypatch.setattr(needs_module, "is_installed", lambda module: module != "jax")
    main(["check", str(script(text))])
    out = capsys.readouterr().out
    assert f"script.py:3: needs the extra xla for {'jit_compile=True'}, which is not installed: pip install" in out
    assert out.endswith("needs the installed extras jpeg, summary, protobuf\n")  # no Keras, so no backend
    for asked, answer in (("jax", "jax, as KERAS_BACKEND says"), ("tensorflow", "gradtape"), ("gradtape", "gradtape")):
        monkeypatch.setenv("KERAS_BACKEND", asked)
        assert needs_module.keras_backend() == answer
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    assert needs_module.keras_backend().startswith("gradtape, with Keras 2")


def find(extra):
    modules = {"xla": "jax", "jpeg": "PIL", "summary": "tensorboardX", "protobuf": "google.protobuf"}
    return importlib.util.find_spec(modules[extra])


def test_files_that_cannot_be_read(tmp_path, capsys):
    (tmp_path / "book.ipynb").write_text('{"sheets": []}')
    (tmp_path / "latin.py").write_bytes(b"x = '\xe9'")
    assert main(["check", str(tmp_path), "nofile.py"]) == 2
    out = capsys.readouterr().out.replace(f"{tmp_path}/", "").splitlines()
    assert out[0] == "book.ipynb: cannot be read: not a notebook: KeyError('cells')"
    assert out[1].startswith("latin.py: cannot be read: ") and "encoding" in out[1]
    assert out[2:] == [
        "nofile.py: cannot be read: No such file or directory",
        "3 files: 0 supported, 0 different, 0 missing, 3 not readable",
    ]


def test_notes_name_no_page_that_an_installation_lacks(monkeypatch):
    assert "docs/ecosystem.md" in judge_library("tensorflow_unheard_of")[1]
    monkeypatch.setattr(libraries, "find_shipped", lambda path: None)
    libraries.compared_libraries.cache_clear()
    notes = [judge_library(name)[1] for name in ("tensorflow_unheard_of", *libraries.compared_libraries())]
    libraries.compared_libraries.cache_clear()
    assert not [note for note in notes if "docs" in note]


def test_the_table_of_libraries_is_that_of_the_page():
    root = Path(__file__).parent.parent
    spec = importlib.util.spec_from_file_location("run_ecosystem", root / "tools" / "ecosystem" / "run.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    page = tool.PAGE.read_text()
    assert tool.LIBRARIES.read_text() == tool.library_lines(page), "run tools/ecosystem/run.py"
    assert not [name for name in UNSUPPORTED | LIMITED if name.replace("_", "-") not in page]


def test_lines_of_notebooks_that_end_in_a_question_mark(tmp_path, capsys):
    cells = ["import tensorflow as tf\ny = tf.exp(1.0)  # or log?", "tf.sin?", "print('%s'\n  % tf.cos(1.0))  # why?"]
    book = {"cells": [{"cell_type": "code", "source": [cell]} for cell in cells]}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    report, code = checked(tmp_path, capsys)
    assert code == 0 and set(names(report, "supported")) == {"tf.exp", "tf.cos"}


def test_notebooks_and_folders(tmp_path, script, capsys):  # noqa: F811
    def cell(*lines):
        return {"cell_type": "code", "source": [f"{line}\n" for line in lines]}

    cells = [
        {"cell_type": "markdown", "source": ["import nothing\n"]},
        cell("%matplotlib inline", "!pip install x", "import tensorflow as tf"),
        cell("%%bash", "this is not python"),
        cell("%%time", "if True:", "    !ls", "tf.lost"),
        cell("this is not python either"),
        cell("tf.sin?", "tf.cos"),
    ]
    (tmp_path / "book.ipynb").write_text(json.dumps({"cells": cells}))
    report, code = checked(tmp_path, capsys)
    assert code == 2
    (book,) = report["files"]
    assert book["errors"] == ["cell 5:1: invalid syntax"]
    assert names(report, "missing") == {"tf.lost": ["cell 4:4"]} and set(names(report, "supported")) == {"tf.cos"}


def test_check_prints_lines_that_can_be_searched(script, capsys):  # noqa: F811
    file = script("import tensorflow as tf\ntf.lost\ntf.sin\ntf.lost\n", "script[old].py")
    assert main(["check", str(file)]) == 1
    out = capsys.readouterr().out
    assert out == f"{file}:2: missing tf.lost (also 4)\n1 file: 1 supported, 0 different, 1 missing\n"
    assert main(["check", str(script("import tensorflow as tf; tf.sin"))]) == 0
    assert main(["check", "nowhere.py"]) == 2


@pytest.mark.parametrize("name", [name for name in DIFFERENCES if not name.startswith("keras.")])
def test_the_table_of_differences_speaks_of_names_that_exist(name):
    assert judge(f"tf.{name}") == ("different", DIFFERENCES[name])


def test_the_table_and_the_pages_of_differences_agree():
    """The names in the table are on a page, and the names in the page's list of other answers are in the table."""
    docs = Path(__file__).parent.parent / "docs"
    page = (docs / "differences.md").read_text()
    for name in DIFFERENCES:
        text = (docs / "keras.md").read_text() if name.startswith("keras.") else page
        assert re.search(rf"`[^`]*\b{name.rpartition('.')[2]}\b", text), f"no page mentions {name}"
    answers = page.partition("## Other answers")[2].partition("\n## ")[0]
    listed = {text.partition("(")[0] for text in re.findall(r"`(?:tf\.)?([a-z_0-9]+\.[\w.]+)", answers)}
    places = {NAMES[name] for name in DIFFERENCES if name in NAMES}
    assert {name for name in listed if name in NAMES and NAMES[name] not in places} == set()
