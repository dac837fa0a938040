"""Runs the programs in tests/mistakes, each of which has one mistake, and measures the traceback that each ends in.

    python tools/record_mistakes.py [NAME ...]                   under TensorFlow: writes tests/mistakes/tensorflow.json
    gradtape run tools/record_mistakes.py --print [NAME ...]     prints its measurements beside gradtape's
    gradtape run tools/record_mistakes.py --texts NAME ...       prints gradtape's tracebacks
    gradtape run tools/record_mistakes.py --json                 prints what tests/test_mistakes.py compares

Each program runs in a fork of a process that has only imported TensorFlow, which spares the import, and with gradtape
in this process. What is measured is the text that Python would print for `python FILE`.
"""

import contextlib
import io
import json
import logging
import os
import re
import sys
import tempfile
import traceback
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent / "tests" / "mistakes"
RECORDED = PROGRAMS / "tensorflow.json"
OF_THIS_FILE = re.compile(rf'^ *File "{re.escape(__file__)}", line .*\n(?:(?: +.*)?\n)?', re.MULTILINE)


def run(name):
    """Runs a program; returns what it prints, the error it ends in, and what Python would print for that."""
    file = PROGRAMS / f"{name}.py"
    program = compile(file.read_text(), str(file), "exec", dont_inherit=True)
    out, shown = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(program, {"__name__": "__main__", "__file__": str(file)})
        except Exception as error:
            with contextlib.redirect_stderr(shown):
                sys.excepthook(type(error), error, error.__traceback__.tb_next)
            text = OF_THIS_FILE.sub("", shown.getvalue())  # messages quote frames, too
            return out.getvalue(), error.with_traceback(error.__traceback__.tb_next), text
    return out.getvalue(), None, ""


def measure(name):
    """Returns the class of the error, the size of its traceback, and the first and the last line of its message.

    Without an error, returns the last line that the program printed.
    """
    printed, error, text = run(name)
    if error is None:
        return {"error": None, "printed": printed.strip().rpartition("\n")[2]}
    kind, *chained = printed_with(traceback.TracebackException.from_exception(error))
    message = "".join(kind.format_exception_only()).rstrip().partition(": ")[2].splitlines() or [""]
    return {
        "error": type(error).__qualname__,
        "frames": len(kind.stack),
        "all_frames": sum(len(part.stack) for part in [kind, *chained]),
        "lines": text.rstrip().count("\n") + 1,
        "first_line": anonymous(message[0]),
        "last_line": anonymous(message[-1].strip()),
        "bases": [base.__name__ for base in type(error).__mro__],
        "files": [anonymous(file) for file in re.findall('File "(.+?)"', text)],  # those that the message quotes, too
    }


def printed_with(error):
    """Returns an exception and those before it that Python prints with it."""
    chained = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return [error, *(printed_with(chained) if chained else [])]


def anonymous(text):
    """Leaves out the folders that differ from one machine, or run, to the next."""
    text = re.sub(r'[^\s"]*/(?=site-packages/|src/gradtape/|src/keras_gradtape/|tests/mistakes/)', "", text)
    text = re.sub(rf"{re.escape(tempfile.gettempdir())}/\w+", "TEMPORARY", text)
    text = re.sub(r'[^\s"]*/lib/(?=python3\.)', "", text)
    return re.sub(r"\b(0x|id=)[0-9a-f]+", r"\1…", text)


def in_a_fork(function, *arguments):
    """Returns what a function returns in a fork of this process."""
    read, write = os.pipe()
    if not os.fork():
        try:
            with open(write, "w") as file:
                json.dump(function(*arguments), file)
        finally:
            os._exit(0)
    os.close(write)
    with open(read) as file:
        result = json.load(file)
    os.wait()
    return result


def table(recorded, measurements):
    """Returns the measurements of TensorFlow and gradtape as a table of text."""
    rows = [f"{'':44} {'TensorFlow':>26} {'frames':>6} {'lines':>5} {'gradtape':>26} {'frames':>6} {'lines':>5}"]
    for name, mine in measurements.items():
        row = f"{name:44}"
        for side in (recorded[name], mine):
            sizes = f"{side['all_frames']:6} {side['lines']:5}" if side["error"] else " " * 12
            row += f" {side['error'] or 'no error':>26} {sizes}"
        rows.append(row.rstrip())
    return "\n".join(rows)


def main(*arguments):
    names = sorted(path.relative_to(PROGRAMS).with_suffix("").as_posix() for path in PROGRAMS.glob("*/*.py"))
    selected = [name for name in names if name in arguments] or names
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        if "--texts" in arguments:
            print(*(f"# {name}\n{run(name)[2]}" for name in selected), sep="\n")
        elif {"--print", "--json"}.intersection(arguments):
            measurements = {name: measure(name) for name in selected}
            print(json.dumps(measurements) if "--json" in arguments else table(recorded, measurements))
        else:
            import tensorflow as tf

            tf.keras.Sequential  # noqa: B018  imports Keras
            for name in selected:
                measurements = in_a_fork(measure, name)
                recorded[name] = {key: value for key, value in measurements.items() if key not in ("bases", "files")}
            recorded = {name: recorded[name] for name in names if name in recorded}
            RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
