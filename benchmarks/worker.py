"""One library, run one way, in one process: reads `WORK SECONDS` lines, answers with the median seconds a step took.

    python benchmarks/worker.py {gradtape,tensorflow}[-function|-xla] | torch[-compile] | jax[-jit] | autograd
    python benchmarks/worker.py {gradtape,tensorflow,jax,torch}-keras[_plain]
"""

import functools
import importlib
import json
import os
import statistics
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
WARM_UP = 0.15  # seconds of a work that are not counted: Python and the libraries adapt to what comes again and again


def load(library, way=""):
    """The library's works, by name; `way` is how they are compiled, nothing if they are not, or `keras`."""
    if way.startswith("keras"):
        import keras_work

        return keras_work.works(library, way)
    if library in ("gradtape", "tensorflow"):
        import tape_work

        tf = importlib.import_module(library)
        compilers = {"": None, "function": tf.function, "xla": functools.partial(tf.function, jit_compile=True)}
        return tape_work.works(tf, compilers[way])
    works = importlib.import_module(f"{library}_work").works
    return works(**{way: True}) if way else works()


def measure(step, seconds):
    """The median time of a step, over runs of about `seconds` in all; the first quarter brings the caches back."""
    times = []
    start = time.perf_counter()
    warm, end = start + seconds / 4, start + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        step()
        if time.perf_counter() > warm:
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def peak_memory(library):
    """Bytes a step of a deep MLP needs at its peak, above what is there before."""
    if library in ("gradtape", "tensorflow"):
        import tape_work

        step, few = tape_work.deep_mlp(importlib.import_module(library))
    else:
        step, few = importlib.import_module(f"{library}_work").deep_mlp()
    step(few)  # loads what a first step loads
    before = _status("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # sets the high-water mark back
    step()
    return _status("VmHWM") - before


def _status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


def first_call(library, way):
    """Seconds of the first call of the compiled MLP step, after eager steps and another compiled function."""
    eager = measure(load(library)["mlp"](), 0.2)
    if not way:
        return eager
    works = load(library, way)
    measure(works["add"](), 0.0)
    step = works["mlp"]()
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def first_call_again(library, way):
    """The same for a new function of Python code that another was made of before: what its source took is known."""
    first_call(library, way)
    return first_call(library, way)


# What a process that has done nothing else yet answers.
ALONE = {
    "peak_memory": lambda library, way: peak_memory(library),
    "first_call": first_call,
    "first_call_again": first_call_again,
}


def main(name):
    library, _, way = name.partition("-")
    works = load(library, way)
    print(json.dumps(sorted(works)), flush=True)
    steps = {}
    for line in sys.stdin:
        work, seconds = line.split()
        try:
            if work in ALONE:
                answer = ALONE[work](library, way)
            else:
                if work not in steps:
                    steps[work] = works[work]()
                    measure(steps[work], WARM_UP)
                answer = measure(steps[work], float(seconds))
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
