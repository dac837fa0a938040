"""Runs the recorded comparison's cases under real TensorFlow and writes down its answers.

    python tools/record_tensorflow.py [SUBJECT ...]

`tests/recorded/SUBJECT.py` holds `CASES`: pairs of a name and an expression over `tf` and `np`. An expression that
starts with `grad:` is a lambda and its arguments, separated by ` @ `: value and gradients, in float64, are recorded.
A whole program is a function of `tf` in place of the expression.
A subject with `TENSORFLOW = "2.22"` is recorded under that version only, all others under `VERSION`, the one that
`tf.__version__` states on gradtape.
The answers go to `tests/recorded/SUBJECT.json`; `tests/test_recorded.py` replays the same expressions on gradtape.
"""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np

VERSION = "2.21"
FOLDER = Path(__file__).parent.parent / "tests" / "recorded"
sys.path.insert(0, str(FOLDER.parent))  # for what several subjects share


def evaluate(source, tf):
    """What the expression gives, as plain data."""
    try:
        if callable(source):
            return {"value": described(source(tf))}
        if source.startswith("grad:"):
            return {"value": described(gradients(source.removeprefix("grad:"), tf))}
        return {"value": described(eval(source, {"tf": tf, "np": np}))}
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)[:200]}


def gradients(source, tf):
    """The value of a function and the gradients of its sum, at the arguments given."""
    function, _, arguments = source.partition(" @ ")
    f = eval(function.strip(), {"tf": tf, "np": np})
    xs = [tf.constant(x, dtype=tf.float64) for x in eval(f"[{arguments}]", {"np": np})]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    grads = tape.gradient(y, xs)
    return [y, [None if g is None else tf.convert_to_tensor(g) for g in grads]]


def described(value):
    """A value as JSON can hold it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, dict):
        return {"dict": {str(k): described(v) for k, v in value.items()}}
    if isinstance(value, list | tuple) and not type(value).__name__.startswith("TensorShape"):
        return {"list": [described(v) for v in value]}
    if type(value).__name__ == "TensorShape":
        return {"list": [described(v) for v in value]}
    if type(value).__name__ == "IndexedSlices":
        return {"slices": [described(value.values), described(value.indices)]}
    if type(value).__name__ == "RaggedTensor":
        return {"ragged": [described(part) for part in (value.flat_values, *value.nested_row_splits, value.shape)]}
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if array.dtype.kind in "OSU":
        items = [x.decode("utf-8", "replace") if isinstance(x, bytes) else str(x) for x in array.ravel().tolist()]
        return {"strings": items, "shape": list(array.shape)}
    name = str(array.dtype)
    if array.dtype.kind == "c":
        flat = [[repr(float(x.real)), repr(float(x.imag))] for x in array.ravel().tolist()]
    elif array.dtype.kind in "biu" and array.dtype.name in np.sctypeDict:
        flat = array.astype(int).ravel().tolist()
    else:
        flat = [float(f"{x:.17g}") if np.isfinite(x) else str(x) for x in array.astype(np.float64).ravel().tolist()]
    return {"dtype": name, "shape": list(array.shape), "data": flat}


def load(subject):
    """The cases of one subject."""
    return load_module(subject).CASES


def load_module(subject):
    spec = importlib.util.spec_from_file_location(f"subject_{subject}", FOLDER / f"{subject}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where AutoGraph looks for its source
    spec.loader.exec_module(module)
    return module


def main(subjects):
    import tensorflow as tf

    for subject in subjects or sorted(path.stem for path in FOLDER.glob("*.py")):
        module = load_module(subject)
        version = getattr(module, "TENSORFLOW", VERSION)
        if not tf.__version__.startswith(f"{version}."):
            print(f"{subject}: left out, because TensorFlow {version} defines it, not {tf.__version__}")
            continue
        answers = {}
        for name, source in module.CASES:
            if name in answers:
                raise SystemExit(f"{subject}: two cases are named {name!r}")
            answers[name] = evaluate(source, tf)
        text = json.dumps({"tensorflow": tf.__version__, "answers": answers}, indent=0)
        (FOLDER / f"{subject}.json").write_text(text + "\n")
        failed = sum("error" in answer for answer in answers.values())
        print(f"{subject}: {len(answers)} cases recorded, {failed} of them exceptions")


if __name__ == "__main__":
    main(sys.argv[1:])
