"""`tf.test.Benchmark`: classes whose methods `benchmark*` measure and report."""

from __future__ import annotations

import functools
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from gradtape.core import nest

NAMESPACES = ("test",)
__all__ = ["Benchmark"]

_REPORT_PREFIX = "TEST_REPORT_FILE_PREFIX"  # the environment variable with the prefix of report files


class Benchmark:
    """A class whose methods `benchmark*` measure something and call `report_benchmark`.

    >>> class Sums(tf.test.Benchmark):
    ...     def benchmark_sum(self):
    ...         self.report_benchmark(iters=3, wall_time=0.5)
    >>> Sums().benchmark_sum()
    entry {
      name: "Sums.benchmark_sum"
      iters: 3
      wall_time: 0.5
    }
    """

    __module__ = "gradtape.test"

    _running: str | None = None  # the benchmark that runs, whose name is the default one of its report

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, method in list(vars(cls).items()):
            if name.startswith("benchmark") and callable(method):
                setattr(cls, name, _named(name, method))

    @classmethod
    def is_abstract(cls) -> bool:
        """Returns whether this is the base class, whose benchmarks are not run."""
        return cls is Benchmark

    def report_benchmark(
        self, iters: int | None = None, cpu_time: float | None = None, wall_time: float | None = None,
        throughput: float | None = None, extras: dict[str, Any] | None = None, name: str | None = None,
        metrics: list[dict[str, Any]] | None = None,
    ) -> None:  # fmt: skip
        """Prints a measurement, or writes it to a file if `TEST_REPORT_FILE_PREFIX` is set."""
        name = name or self._running
        if name is None:
            raise ValueError("Unable to determine calling Benchmark class.")
        if extras is not None and not isinstance(extras, dict):
            raise TypeError("extras must be a dict")
        if metrics is not None and not isinstance(metrics, list):
            raise TypeError("metrics must be a list")
        for metric in metrics or []:
            for key in ("name", "value"):
                if key not in metric:
                    raise TypeError(f"metric must has a '{key}' field")
        title = f"{type(self).__name__}.{name}"
        numbers = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput}
        lines = [f'  name: "{title}"', *(f"  {key}: {value:g}" for key, value in numbers.items() if value is not None)]
        lines += [f"  extras: {key} = {value}" for key, value in (extras or {}).items()]
        lines += [f"  metrics: {metric['name']} = {metric['value']}" for metric in metrics or []]
        text = "\n".join(["entry {", *lines, "}"])
        prefix = os.environ.get(_REPORT_PREFIX)
        if prefix is None:
            print(text)
            return
        path = prefix + title.replace("/", "__")
        if os.path.exists(path):
            raise OSError(f"File already exists: {path}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")

    def run_op_benchmark(
        self, sess: Any, op_or_tensor: Any, feed_dict: Any = None, burn_iters: int = 2, min_iters: int = 10,
        store_trace: bool = False, store_memory_usage: bool = True, name: str | None = None,
        extras: dict[str, Any] | None = None, mbs: float = 0,
    ) -> dict[str, Any]:  # fmt: skip
        """Measures and reports a function of no arguments, or what `sess.run` does with `op_or_tensor`.

        There are no sessions, so `sess` may be None; `op_or_tensor` is then called.
        """

        def run() -> Any:
            return op_or_tensor() if sess is None else sess.run(op_or_tensor, feed_dict=feed_dict)

        for _ in range(burn_iters):
            run()
        seconds = []
        for _ in range(min_iters):
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
        median = statistics.median(seconds)
        values: dict[str, Any] = {
            "iters": min_iters, "wall_time": median, "extras": dict(extras or {}), "name": name,
            "throughput": mbs / median,
        }  # fmt: skip
        self.report_benchmark(**values)
        deviation = statistics.stdev(seconds) if len(seconds) > 1 else -1
        values["extras"] |= {"wall_time_mean": statistics.mean(seconds), "wall_time_stdev": deviation}
        return values

    def evaluate(self, tensors: Any) -> Any:
        """Returns the values of tensors as arrays."""
        return nest.map_structure(lambda value: value.numpy() if hasattr(value, "numpy") else value, tensors)


def _named(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the method of a benchmark so that its report has its name."""

    @functools.wraps(method)
    def run(self: Benchmark, *args: Any, **kwargs: Any) -> Any:
        before, self._running = self._running, name
        try:
            return method(self, *args, **kwargs)
        finally:
            self._running = before

    return run
