"""CPU time to start: imports, a first gradient and a first function, with and without compiled bytecode.

    python benchmarks/startup.py [--rounds N] [--tensorflow PYTHON] [--page]

Each figure is the median CPU time (user and system, of all threads) of fresh processes, which take turns; Python's own
start is in it. The programs run in three ways:

- with bytecode: everything has been imported before, and Python has stored its bytecode;
- without gradtape's bytecode, as in a checkout that cannot be written: NumPy and the standard library have theirs;
- without any bytecode, where the environment forbids Python to write it.

`--tensorflow` names the Python interpreter of an environment with TensorFlow; `import tensorflow` joins the first way.
`--page` writes the imports of the first way into docs/performance.md, and draws its picture.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

IMPORT = "import gradtape as tf"
FIRST_OP = f"{IMPORT}; tf.constant(1.0) + 1"
FIRST_GRADIENT = f"""{IMPORT}
x = tf.Variable(3.0)
tf.constant(1.0) + 1
with tf.GradientTape() as tape:
    y = x * x
tape.gradient(y, x)
"""
FIRST_LOSS = f"""{IMPORT}
w = tf.Variable([[1.0], [2.0]])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.constant([[3.0, 4.0]]), w)))
w.assign_sub(0.1 * tape.gradient(loss, w))
"""
FIRST_FUNCTION = f"""{IMPORT}
f = tf.function(lambda x: tf.reduce_sum(x * x))
f(tf.constant([1.0, 2.0]))
"""
PROGRAMS = {
    "python": "pass",
    "import numpy": "import numpy",
    "import gradtape": IMPORT,
    "  and an op": FIRST_OP,
    "  and a tape's gradient": FIRST_GRADIENT,
    "  and a step of gradient descent": FIRST_LOSS,
    "  and a function's first call": FIRST_FUNCTION,
}
TENSORFLOW = "import tensorflow"


def cpu_seconds(python: str, code: str, environment: dict[str, str]) -> float:
    """Returns the CPU time of a new process that runs `code`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, "-c", code], env={**os.environ, **environment}, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(rounds: int, environment: dict[str, str], tensorflow: str | None) -> dict[str, float]:
    """Returns the median CPU time of each program, which take turns."""
    programs = {name: (sys.executable, code) for name, code in PROGRAMS.items()}
    if tensorflow is not None:
        programs[TENSORFLOW] = (tensorflow, TENSORFLOW)
    samples: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, (python, code) in programs.items():
            samples[name].append(cpu_seconds(python, code, environment))
    return {name: statistics.median(times) for name, times in samples.items()}


def show(title: str, seconds: dict[str, float]) -> None:
    """Prints a table: each program's seconds, and how many times the seconds of `import numpy` that is."""
    print(f"{title}\n")
    for name, value in seconds.items():
        print(f"    {name:34}{value:7.3f} s {value / seconds['import numpy']:7.2f} x import numpy")
    first = seconds["  and a function's first call"] - seconds["import gradtape"]
    print(f"\n    A function's first call takes {first:.2f} s by itself.")
    if TENSORFLOW in seconds:
        ratio = seconds[TENSORFLOW] / seconds["import gradtape"]
        print(f"    `import gradtape` is {ratio:.0f} times as fast as `import tensorflow`.")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter that can import tensorflow")
    parser.add_argument("--page", action="store_true", help="write the imports into docs/performance.md")
    options = parser.parse_args()
    if options.page and options.tensorflow is None:
        parser.error("--page needs --tensorflow PYTHON, as the page compares with `import tensorflow`")
    import gradtape

    source = Path(gradtape.__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        stored, removed = Path(folder, "stored"), Path(folder, "removed")
        write = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(stored)}
        for code in PROGRAMS.values():
            cpu_seconds(sys.executable, code, write)
        if options.tensorflow is not None:
            cpu_seconds(options.tensorflow, TENSORFLOW, write)
        shutil.copytree(stored, removed)
        shutil.rmtree(removed.joinpath(*source.parts[1:]))
        read = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(stored)}
        seconds = medians(options.rounds, read, options.tensorflow)
        show("With bytecode:", seconds)
        for title, prefix in {
            "Without gradtape's bytecode, with NumPy's:": removed, "Without any bytecode:": Path(folder, "empty")
        }.items():  # fmt: skip
            read["PYTHONPYCACHEPREFIX"] = str(prefix)
            show(title, medians(options.rounds, read, None))
    if options.page:
        import performance_page

        performance_page.write({"startup": {name: seconds[name] for name in seconds if name.startswith("import ")}})


if __name__ == "__main__":
    main()
