"""One library, run one way, in one process: reads `QUESTION WORK SECONDS` lines, answers each with a line of JSON.

    python benchmarks/worker.py {gradtape,tensorflow}[-function|-xla] | torch[-compile|-tensors] | jax[-jit] | autograd
    python benchmarks/worker.py {gradtape,tensorflow,jax,torch}-keras[_plain] | {gradtape,tensorflow}-keras2

The first line that it writes lists its works. Questions are `time` (the median seconds of a step), `losses` (of the
first steps, at tiny sizes), `memory` (the bytes that a step needs at its peak) and `first_call` (its seconds).
"""

import importlib
import json
import os
import statistics
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Steps that are not counted, or seconds: Python and the libraries adapt to what comes again and again.
WARM_UP, LONGEST_WARM_UP = 50, 1.5
CHECKED_STEPS = 5  # one more than there are batches
BUSY = os.environ.get("BENCHMARK_BUSY") == "1"
clock = time.process_time if BUSY else time.perf_counter


class Library:
    """The works of one library, run one way."""

    def __init__(self, library, way):
        from libraries import step_of
        from works import WORKS

        importlib.import_module(library)
        self.library, self.way, self.step_of = library, way, step_of
        self.classes = {name: work for name, work in WORKS.items() if library in work(tiny=True).libraries()}
        self.works = list(self.classes)

    def prepared(self, work):
        """The step of a work at its full size."""
        return self.step_of(self.classes[work](), self.library, self.way)

    def losses(self, work):
        """The losses of the first steps at tiny sizes."""
        step = self.step_of(self.classes[work](tiny=True), self.library, self.way)
        return [step() for _ in range(CHECKED_STEPS)]

    def memory(self, _):
        """Bytes that a step of a deep network needs at its peak, above what is there before."""
        from works import Deep

        step = self.step_of(Deep(), self.library, self.way)
        self.step_of(Deep(tiny=True), self.library, self.way)()  # loads what a first step loads
        before = _status("VmRSS")
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # sets the high-water mark back
        step()
        return _status("VmHWM") - before

    def first_call(self, work):
        """Seconds of the first call of a step, after one of another work, which loads what is loaded once."""
        self.losses("pendulum")
        step = self.prepared(work)
        start = clock()
        step()
        return clock() - start


class Keras:
    """The works of Keras on one backend."""

    def __init__(self, library, way):
        import keras_work

        self.steps = keras_work.works(library, way)
        self.works = list(self.steps)

    def prepared(self, work):
        """The step of a work."""
        return self.steps[work]()


def warm_up(step):
    """The first steps."""
    end = time.perf_counter() + LONGEST_WARM_UP
    for _ in range(WARM_UP):
        step()
        if time.perf_counter() > end:
            return


def measure(step, seconds):
    """The median time of a step, over runs of about `seconds` in all; the first quarter brings the caches back."""
    times = []
    begin = time.perf_counter()
    warm, end = begin + seconds / 4, begin + seconds
    while not times or time.perf_counter() < end:
        start = clock()
        step()
        took = clock() - start
        if time.perf_counter() > warm:
            times.append(took)
    return statistics.median(times)


def _status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


def main(name):
    if BUSY:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    library, _, way = name.partition("-")
    here = (Keras if way.startswith("keras") else Library)(library, way)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    print(json.dumps(here.works), file=answers, flush=True)
    current = step = None
    for line in sys.stdin:
        question, work, seconds = line.split()
        try:
            if question != "time":
                answer = getattr(here, question)(work)
            else:
                if work != current:
                    step = None  # frees the last one's arrays
                    current, step = work, here.prepared(work)
                    warm_up(step)
                answer = measure(step, float(seconds))
        except Exception as error:
            current = None
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
