"""`gradtape run` and other commands from a shell's point of view."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gradtape.cli import _parser as parser
from gradtape.cli import launch, main
from gradtape.core.extras import is_installed

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
# Keras imports these if it can, which takes longer than the rest of it.
WITHOUT_EXTRAS = "import sys; sys.modules.update(dict.fromkeys(['jax', 'matplotlib', 'requests']))"
with_keras = pytest.mark.skipif(not is_installed("keras"), reason="Keras is not installed")


def gradtape(*words, stdin=None, cwd=None, env=ENVIRONMENT):
    command = [sys.executable, "-m", "gradtape", *map(str, words)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=cwd, env=env, timeout=300)


@pytest.fixture
def script(tmp_path):
    def write(text, name="script.py"):
        file = tmp_path / name
        file.write_text(textwrap.dedent(text))
        return file

    return write


def test_a_program_sees_what_python_would_show_it(script, tmp_path):
    text = """
        import pickle, sys
        class Point:
            x = 3
        print([name for name in ("__name__", "__file__", "__package__", "__spec__") if name in globals()])
        print(__name__, __file__, __package__, __spec__, sys.argv, sys.path[0], sys.modules["__main__"].Point is Point)
        print(pickle.loads(pickle.dumps(Point())).x, Point.__module__, globals().get("__annotations__"))
        sys.exit(7)
        """
    file = script(text)
    ours = gradtape("run", file, "--epochs", "3", "-x", cwd=tmp_path)
    theirs = subprocess.run([sys.executable, file, "--epochs", "3", "-x"], capture_output=True, text=True, cwd=tmp_path)
    assert (ours.stdout, ours.returncode) == (theirs.stdout, theirs.returncode)
    assert ours.returncode == 7


def test_a_module_sees_what_python_would_show_it(script, tmp_path):
    (tmp_path / "package").mkdir()
    script("", "package/__init__.py")
    text = "import sys; print(__name__, __package__, __spec__.name, __file__, sys.argv, sys.path[0])"
    script(text, "package/part.py")
    ours = gradtape("run", "-m", "package.part", "-v", cwd=tmp_path)
    command = [sys.executable, "-m", "package.part", "-v"]
    assert ours.stdout == subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout != ""


@pytest.mark.parametrize(
    "words", [["nowhere.py"], ["-m", "nowhere"], ["-c", "raise SystemExit('sorry')"], ["-c", "raise KeyboardInterrupt"]]
)
def test_what_goes_wrong_goes_wrong_as_in_python(words, tmp_path):
    ours = gradtape("run", *words, cwd=tmp_path)
    theirs = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=tmp_path)
    assert ours.returncode == theirs.returncode
    assert ours.stderr.removeprefix("gradtape run") == theirs.stderr.removeprefix(sys.executable)


def test_tracebacks_begin_in_the_program(script, tmp_path):
    for file in (script("def f():\n    return 1 / 0\nf()\n"), script("x = (", "broken.py")):
        ours = gradtape("run", file)
        theirs = subprocess.run([sys.executable, file], capture_output=True, text=True)
        assert (ours.stderr, ours.returncode) == (theirs.stderr, 1)


def test_tensorflow_is_gradtape_however_it_is_imported(script, tmp_path):
    (tmp_path / "tensorflow").mkdir()
    script("raise SystemExit('this is another TensorFlow')", "tensorflow/__init__.py")
    done = gradtape("run", script(
        """
        import os, subprocess, sys
        import tensorflow
        import tensorflow as tf
        import tensorflow.math as tfm
        import tensorflow.experimental.numpy as tnp
        from tensorflow.linalg import matmul
        import gradtape

        assert tf is tensorflow and tf.__version__.startswith("2.") and tf.version.VERSION == tf.__version__
        assert gradtape.__version__ == tf.__version__ != gradtape.__gradtape_version__
        assert tnp is tf.experimental.numpy
        assert tfm is tf.math is gradtape.math and matmul is gradtape.matmul and tf.Tensor is gradtape.Tensor
        for line, named in {
            "from tensorflow import no_such_thing": "tf.no_such_thing is not in gradtape",
            "import tensorflow.python.framework.no_such_module": "private to TensorFlow",
            "import tensorflow.sin": "from tensorflow import sin",
            "import tensorflow.experimental.no_such_space": "tf.experimental.no_such_space is not in gradtape",
            "tf.no_such_thing": "tf.no_such_thing is not in gradtape",
            "from tensorflow.math import no_such_thing": "no_such_thing",
        }.items():
            try:
                exec(line)
            except (ImportError, AttributeError) as error:
                assert named in str(error), error
            else:
                raise AssertionError(line)
        other = subprocess.run([sys.executable, "-c", "import tensorflow"], capture_output=True, text=True,
                               cwd=os.path.dirname(__file__), env={**os.environ, "GRADTAPE_CHILDREN": "0"})
        assert "another TensorFlow" in other.stderr
        print("all of it")
        """
    ))  # fmt: skip
    assert done.stdout == "all of it\n", done.stderr


def test_processes_that_are_spawned_have_it_too(script):
    done = gradtape("run", script(
        """
        import multiprocessing
        import tensorflow as tf

        class Answer:
            def __init__(self, value):
                self.value = value

        def slope(at):
            x = tf.Variable(at)
            with tf.GradientTape() as tape:
                y = x * x
            return Answer(float(tape.gradient(y, x)))

        if __name__ == "__main__":
            for method in set(multiprocessing.get_all_start_methods()) - {"fork"}:
                with multiprocessing.get_context(method).Pool(1) as pool:
                    print(pool.apply_async(slope, (3.0,)).get(timeout=60).value)
        """
    ))  # fmt: skip
    assert set(done.stdout.split()) == {"6.0"}, done.stderr


@with_keras
def test_keras_is_on_gradtape_however_it_is_imported(script):
    done = gradtape("run", script(
        f"""
        {WITHOUT_EXTRAS}
        import os
        os.environ["KERAS_BACKEND"] = "tensorflow"
        import keras as plain
        import tensorflow as tf
        import tensorflow.keras.layers as L
        from tensorflow import keras
        from tensorflow.keras import layers
        from tensorflow.keras.preprocessing.image import ImageDataGenerator

        assert plain.src.backend.backend() == "gradtape" and os.environ["KERAS_BACKEND"] == "tensorflow"
        assert plain.config.backend() == plain.backend.backend() == keras.backend.backend() == "tensorflow"
        assert keras is tf.keras and L is layers is keras.layers and L.Dense is plain.layers.Dense
        flip = layers.RandomFlip()
        model = keras.Sequential([layers.Dense(2)])
        assert tf.function(lambda x: flip(x, training=True))(tf.ones((1, 4, 4, 3))).shape == (1, 4, 4, 3)
        model.compile("sgd", "mse")
        assert "loss" in model.fit(tf.ones((4, 3)), tf.ones((4, 2)), verbose=0).history
        print("all of it")
        """
    ))  # fmt: skip
    assert done.stdout == "all of it\n", done.stderr


@with_keras
def test_libraries_find_tensorflow_without_importing_it(script):
    done = gradtape("run", script(
        f"""
        {WITHOUT_EXTRAS}
        import importlib.metadata, importlib.util

        assert importlib.util.find_spec("tensorflow") is not None
        assert importlib.metadata.version("TensorFlow") == importlib.metadata.distribution("tensorflow").version
        assert "tensorflow" in importlib.metadata.packages_distributions()["tensorflow"]
        assert importlib.metadata.version("numpy") and "tensorflow" not in sys.modules
        try:
            importlib.metadata.version("tensorflow-of-another-name")
        except importlib.metadata.PackageNotFoundError:
            pass
        import keras
        from keras.src.backend.tensorflow import convert_to_numpy
        from keras.src.backend.tensorflow.numpy import *
        from keras.src.backend.tensorflow import image, layer, linalg, math, nn, random, rnn, trainer
        import tensorflow as tf

        assert importlib.metadata.version("tensorflow") == tf.__version__
        assert convert_to_numpy(add(nn.relu([1.0, -1.0]), 1.0)).tolist() == [2.0, 1.0]
        assert issubclass(keras.Model, trainer.TensorFlowTrainer) and issubclass(keras.Layer, layer.TFLayer)
        import gradtape, inspect, os

        assert tf.__file__ == tf.__spec__.origin == gradtape.__file__ == inspect.getsourcefile(tf)
        assert tf.__path__ == [os.path.dirname(tf.__file__)] == tf.__spec__.submodule_search_locations
        assert importlib.util.find_spec("tensorflow") is tf.__spec__ and importlib.util.find_spec("tensorflow.math")
        print("all of it")
        """
    ))  # fmt: skip
    assert done.stdout == "all of it\n", done.stderr


def test_older_and_newer_names_of_the_root(script):
    done = gradtape("run", script(
        """
        import tensorflow as plain
        import tensorflow.compat.v2 as tf
        from tensorflow.compat import v1

        assert tf is plain is plain.compat.v2
        v1.logging.set_verbosity(v1.logging.ERROR)
        tf.compat.v1.enable_eager_execution()
        try:
            v1.Session()
        except RuntimeError as error:
            print(error)
        """
    ))  # fmt: skip
    assert "tf.compat.v1.Session is not there" in done.stdout, done.stderr


def test_missing_gradients_are_explained_as_they_happen(script):
    file = script(
        """\
        import tensorflow as tf
        c = tf.constant(2.0)
        with tf.GradientTape() as tape:
            y = c * c
        print(tape.gradient(y, c))
        """
    )
    explained, silent = gradtape("run", "--trace", file), gradtape("run", file)
    assert explained.stdout == silent.stdout == "None\n" and silent.stderr == "" and explained.returncode == 0
    assert "`c`" in explained.stderr and "watch" in explained.stderr and "script.py:4" in explained.stderr


def test_an_exit_code_tells_that_something_was_explained(script):
    lost = "import tensorflow as tf; v = tf.Variable([-1.0])\nwith tf.GradientTape() as t: y = tf.nn.relu(v)\n"
    lost = script(f"{lost}t.gradient(y, v)\nraise SystemExit(0)\n")
    done = gradtape("run", "--trace", "--exit-code", lost)
    assert done.returncode == 3 and "dead ReLU" in done.stderr
    assert gradtape("run", "--trace", "--exit-code", script("print(1)", "sound.py")).returncode == 0
    alone = gradtape("run", "--exit-code", lost)
    assert alone.returncode == 2 and "--trace" in alone.stderr


BROADCAST = """\
    import sys
    import tensorflow as tf
    v, w, fixed = tf.Variable([2.0]), tf.Variable(5.0), tf.Variable([[1.0, 3.0]], trainable=False)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((fixed * v) * w + fixed)
    print(tape.gradient(loss, [v, fixed])[1])
    if sys.argv[1:]:
        raise ValueError("mine")
    """


def test_explanations_never_break_a_program(script):
    file = script(BROADCAST)
    explained, silent = gradtape("run", "--trace", "--exit-code", file), gradtape("run", file)
    assert (explained.returncode, silent.returncode, explained.stdout, silent.stdout) == (3, 0, "None\n", "None\n")
    assert explained.stderr.count("`fixed`: it is not trainable") == 1
    failed = gradtape("run", "--trace", "--exit-code", file, "fails")
    assert failed.returncode == 1 and failed.stderr.splitlines()[-1] == "ValueError: mine"


@pytest.mark.skipif(os.name != "posix", reason="the shell's redirections")
@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_explanations_that_cannot_be_written_are_dropped(script, where):
    command = f'"{sys.executable}" -m gradtape run --trace "{script(BROADCAST)}" {where}'
    done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT, timeout=300)
    assert (done.returncode, done.stdout) == (0, "None\n")


def test_programs_from_standard_input_and_folders(script, tmp_path):
    assert gradtape("run", "-", "a", stdin="import sys; print(sys.argv)").stdout == "['-', 'a']\n"
    script("import sys; print(sys.argv[1:], sys.path[0])", "__main__.py")
    assert gradtape("run", tmp_path, "a").stdout == f"['a'] {tmp_path}\n"


def test_a_launcher_of_slurm_knows_the_others_of_its_host(monkeypatch):
    slurm = {"JOB_ID": 7, "PROCID": 3, "NTASKS": 4, "LOCALID": 1, "NODEID": 1, "STEP_NODELIST": "n[1-2]",
             "STEP_TASKS_PER_NODE": "2(x2)"}  # fmt: skip
    for name, value in slurm.items():
        monkeypatch.setenv(f"SLURM_{name}", str(value))
    job = launch._from_environment(launch.Job(["program.py"]))
    assert (job.processes, len(job.hosts), job.rank) == (1, 4, 3)
    assert (job.task_on_host, job.tasks_on_host) == (1, 2)


def test_usage(capsys):
    for words, said in ([["chekc", "x"], "gradtape check"], [[], "COMMAND"], [["run"], "required: SCRIPT\n"]):
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert stop.value.code == 2 and said in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0 and capsys.readouterr().out.startswith("gradtape ")


def test_the_command_alone_shows_the_help(capsys):
    with pytest.raises(SystemExit):
        main([])
    shown = capsys.readouterr().err
    assert "usage: gradtape" in shown and "run a program with gradtape in place of TensorFlow" in shown


@pytest.mark.parametrize("command", ["", "run", "launch", "check", "compare", "doctor", "bench", "demo"])
def test_help_ends_in_examples_that_are_valid(command, capsys):
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    examples = capsys.readouterr().out.partition("\nexamples:\n")[2].partition("\n\n")[0].splitlines()
    assert examples
    for line in examples:
        words = re.split(r"  +", line.strip())[0].split()
        assert words[0] == "gradtape" and words[1] == (command or words[1])
        assert parser().parse_args(words[1:]).perform is not None


def test_a_work_that_there_is_not(capfd):
    assert main(["bench", "--works", "nothing"]) == 2
    shown = capfd.readouterr().err
    assert "usage: gradtape bench" in shown and "run.py" not in shown
    assert "gradtape bench: error: there is no work 'nothing'; there are black_scholes" in shown


def without(*modules):
    """Returns code after which these modules can be neither found nor imported."""
    return f"""
import importlib.abc, importlib.util, sys
class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {modules!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in {modules!r} else find_spec(name, *rest)
"""


def test_the_demo_trains_without_matplotlib(tmp_path):
    program = Path(__file__).parent.parent / "examples/digits.py"
    code = without("matplotlib") + f"""
import runpy
sys.argv = ["digits.py", "--epochs", "1", "--picture", {str(tmp_path / "loss.png")!r}]
runpy.run_path({str(program)!r}, run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Accuracy on 357 unseen digits" in done.stdout
    assert "Without Matplotlib there is no picture" in done.stdout and "gradtape[examples]" in done.stdout


def test_keras_may_be_missing():
    code = without("keras") + """
import gradtape as tf
assert not hasattr(tf, "keras") and not hasattr(tf, "losses")
try:
    tf.keras.layers
except AttributeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "tf.keras needs Keras, which could not be imported" in done.stdout


def test_a_program_beside_that_is_named_keras_is_reported(script, tmp_path):
    script("raise AssertionError('not Keras')", "keras.py")
    expected = f"tf.keras needs Keras, which could not be imported: `import keras` imports {tmp_path}/keras.py"
    programs = [(["-m", "gradtape", "run"], "from tensorflow import keras"), ([], "import gradtape; gradtape.keras")]
    for words, text in programs:
        done = subprocess.run([sys.executable, *words, script(text)], capture_output=True, text=True, timeout=120)
        assert done.stderr.splitlines()[-1].partition(": ")[2] == f"{expected} instead of Keras: rename that file"
        assert done.stderr.count("Traceback") == 1 and "site-packages" not in done.stderr and "src/" not in done.stderr


def test_names_that_do_not_exist_are_reported_with_the_likely_one(script):
    for text in ("from tensorflow import constatn", "import tensorflow as tf\ntf.constatn"):
        lines = gradtape("run", script(text)).stderr.splitlines()
        assert lines[-1].endswith("Did you mean tf.constant?") and sum("File" in line for line in lines) == 1


def test_a_notebook_is_no_program(script):
    done = gradtape("run", script("{}", "notes.ipynb"))
    assert done.returncode == 2 and "jupyter nbconvert --to script" in done.stderr


def test_free_threads_are_refused():
    code = "import sys; sys._is_gil_enabled = lambda: {}; import gradtape"
    for enabled, expected in ((True, 0), (False, 1)):
        done = subprocess.run([sys.executable, "-c", code.format(enabled)], capture_output=True, text=True, timeout=120)
        assert done.returncode == expected
    assert "ImportError: gradtape needs Python's global interpreter lock" in done.stderr
    assert "PYTHON_GIL=1" in done.stderr


@pytest.mark.parametrize("chosen", ["0", ""])
def test_the_startup_file_can_be_turned_off(chosen):
    watch = Path(__file__).parent.parent / "src/_gradtape_keras.py"
    code = f"""
import sys
before = len(sys.meta_path)
exec(open({str(watch)!r}).read())
print(len(sys.meta_path) - before)
"""
    environment = {**ENVIRONMENT, "GRADTAPE_PTH": chosen}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=environment)
    assert done.stdout == ("0\n" if chosen == "0" else "1\n"), done.stderr[-2000:]


@with_keras
@pytest.mark.parametrize("variable, printed", [("", "gradtape"), ("0", "")])
def test_importing_gradtape_adds_the_hook_where_python_has_not_read_the_startup_file(variable, printed):
    environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "GRADTAPE_PTH": variable}
    command = [sys.executable, "-S", "-c", "import gradtape, keras; print(keras.backend.backend())"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.stdout.strip() == printed, done.stderr[-2000:]


@with_keras
def test_looking_for_keras_does_not_use_up_the_watch():
    """The startup file lets a program choose the backend even after it has looked for Keras."""
    watch = Path(__file__).parent.parent / "src/_gradtape_keras.py"
    code = f"""
{WITHOUT_EXTRAS}
import importlib.util, os
sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, "__name__", "") != "Watch"]
os.environ.pop("KERAS_BACKEND", None)
spec = importlib.util.spec_from_file_location("_gradtape_keras", {str(watch)!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
before = list(sys.meta_path)
assert importlib.util.find_spec("keras") is not None
assert sys.meta_path == before
os.environ["KERAS_BACKEND"] = "gradtape"
import keras
print(keras.backend.backend())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "gradtape\n", done.stderr[-2000:]


@pytest.mark.parametrize("code", [
    "import tf_keras.layers",
    "try:\n    import tf_keras\nexcept ImportError as error:\n    raise RuntimeError('the library fails') from error",
])  # fmt: skip
def test_libraries_without_keras_2_say_what_to_install(code, script):
    done = gradtape("run", script("import sys\nsys.modules['tf_keras'] = None\n" + code))
    assert done.returncode == 1 and "Error: " in done.stderr
    assert re.search(r"pip install --no-deps tf-keras, and pip install '?keras", done.stderr.splitlines()[-1])
    assert "pip" not in gradtape("run", script("import tf_keras_2")).stderr
