"""One library in one process: reads `WORK SECONDS` lines, answers with the median seconds a step took.

    python benchmarks/worker.py {gradtape,tensorflow,torch,jax,autograd}
"""

import importlib
import json
import os
import statistics
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def load(library):
    """The library's works, by name."""
    if library in ("gradtape", "tensorflow"):
        import tape_work

        return tape_work.works(importlib.import_module(library))
    return importlib.import_module(f"{library}_work").works()


def measure(step, seconds):
    """The median time of a step, over runs of about `seconds` in all."""
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        step()
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


def main(library):
    works = load(library)
    print(json.dumps(sorted(works)), flush=True)
    steps = {}
    for line in sys.stdin:
        name, seconds = line.split()
        try:
            if name == "peak_memory":
                answer = peak_memory(library)
            else:
                if name not in steps:
                    steps[name] = works[name]()
                    measure(steps[name], 0.0)
                answer = measure(steps[name], float(seconds))
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
