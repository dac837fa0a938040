"""Records several steps of a training run for one page with a slider: `record_steps`."""

from __future__ import annotations

import json
import math
import os
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core import modes
from ...engine.run import dispatch
from ...engine.tape.log import Log
from ...engine.tape.tape import Tape
from ...graph.function.observers import look
from ..records.event_log import TracingLog, start, stop
from ..records.never_raises import never_raises
from ..records.reading import Reading
from ..records.replay import Question
from ..records.tables import Printable, Table
from .report import tape_data, write_page

# Of a node: what differs between steps.
_OF_A_STEP = ("value", "gradient", "flow", "forward", "backward", "bytes", "marks")
_EMPTY = (
    "No step was recorded. Steps are the gradients that a GradientTape without a memory budget is asked for inside the "
    "block, in the thread that entered it, in functions too, unless the step runs Python code there: then call "
    "tf.config.run_functions_eagerly(True), or compile a Keras model with run_eagerly=True"
)


@dataclass(frozen=True)
class Step:
    """One step that was kept: its number, its loss, and the gradient norms by source name.

    The loss is None if the target is not a single number; a norm is None if there is no gradient.
    """

    number: int
    loss: float | None
    norms: dict[str, float | None]
    graph: int = field(repr=False)  # index of its graph in `Steps`
    packed: bytes = field(repr=False)  # its page data, as compressed JSON


class Steps(Printable):
    """The steps kept by `record_steps`; supports iteration, indexing, printing and a page.

    Holds no arrays, only the numbers that the page shows for each step, compressed.
    """

    def __init__(self, every: int = 1, keep: int = 50) -> None:
        for name, value, least in (("every", every, 1), ("keep", keep, 2)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
        self.every = every
        self.seen = 0  # steps so far, kept or not
        self._keep = keep
        self._kept: list[Step] = []
        self._graphs: dict[str, int] = {}  # the constant part of nodes and tree, as JSON

    def __iter__(self) -> Iterator[Step]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, i: int) -> Step:
        return self._kept[i]

    def add(self, tape: Tape, target: Any = None, sources: Any = None, number: int | None = None) -> Step:
        """Keeps a step from a `tape` made with `trace=True`; `record_steps` calls it for the steps it selects.

        >>> w, steps = tf.Variable(2.0, name="w"), tf.inspect.Steps()
        >>> with tf.GradientTape(trace=True) as tape:
        ...     loss = w * w
        >>> steps.add(tape, loss, w).norms
        {'w': 4.0}
        """
        data = tape_data(tape, target, sources)
        reading = Reading(tape, target, sources, "keep this step")
        values = [value for value in reading.target_values if value.size == 1]
        loss = sum(float(value.real) for value in values) if values else None
        norms = {source["name"]: _norm(source["gradient"]) for source in data["sources"]}
        if number is None:
            number, self.seen = self.seen, self.seen + 1
        step = Step(number, loss, norms, self._graph_of(data), zlib.compress(json.dumps(_changing(data)).encode()))
        self._kept.append(step)
        if len(self._kept) > self._keep:
            self._thin()
        return step

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes a page with a slider over the steps, initially at the last, to `path`, and returns the path."""
        return write_page(self.page_data(), path)

    def page_data(self) -> dict[str, Any]:
        """Returns the page data."""
        if not self._kept:
            raise ValueError(_EMPTY)
        graphs = [json.loads(text) for text in self._graphs]
        last = graphs[self._kept[-1].graph]
        steps = []
        for kept in self._kept:
            loss = kept.loss if kept.loss is not None and math.isfinite(kept.loss) else None  # JSON has no NaN
            shown = json.loads(zlib.decompress(kept.packed))
            steps.append({"step": kept.number, "loss": loss, "graph": kept.graph, **shown})
        title = f"Steps {self._kept[0].number} to {self._kept[-1].number} of {last['title'].removeprefix('A step of ')}"
        return {"kind": "tape", "title": title, "traced": last["traced"], "graphs": graphs, "steps": steps}

    def tables(self) -> list[Table]:
        """Returns losses and gradients, step by step."""
        table = Table(f"{len(self)} of {self.seen} steps", [">step", ">loss", ">gradient norm", "largest", "without"])
        for step in self:
            known = {name: norm for name, norm in step.norms.items() if norm is not None}
            total = f"{math.sqrt(sum(norm * norm for norm in known.values())):.4g}" if known else ""
            missing = ", ".join(name for name, norm in step.norms.items() if norm is None)
            loss = "" if step.loss is None else f"{step.loss:.6g}"
            table.rows.append([str(step.number), loss, total, max(known, key=known.__getitem__, default=""), missing])
        return [table]

    def _graph_of(self, data: dict[str, Any]) -> int:
        nodes = [{key: value for key, value in node.items() if key not in _OF_A_STEP} for node in data["nodes"]]
        graph = {"nodes": nodes, **{key: data[key] for key in ("lines", "tree", "sweep", "title", "traced")}}
        return self._graphs.setdefault(json.dumps(graph), len(self._graphs))

    def _thin(self) -> None:
        """Drops every second step, so that the remaining ones are spread over the run."""
        self.every *= 2
        spread = [step for step in self._kept if step.number % self.every == 0]
        self._kept = spread if 1 < len(spread) < len(self._kept) else self._kept[::2]


def _norm(numbers: dict[str, Any] | None) -> float | None:
    if numbers is None:
        return None
    return math.nan if numbers["nan"] else math.inf if numbers["inf"] else numbers.get("norm", 0.0)


def _changing(data: dict[str, Any]) -> dict[str, Any]:
    nodes = {
        node["id"]: {key: node[key] for key in _OF_A_STEP if node.get(key) not in (None, [])} for node in data["nodes"]
    }
    return {"nodes": nodes, **{key: data[key] for key in ("facts", "problems", "sources")}}


@contextmanager
def record_steps(every: int = 1, keep: int = 50) -> Iterator[Steps]:
    """Keeps every n-th step of a training run inside the block; `steps.report(path)` shows them with a slider.

    A step is a gradient computed in this thread and not inside another tape. The steps that are kept are traced; the
    others run as usual. Each run of a traced function, such as that of Keras' `fit`, is a step. When there are more
    than `keep` steps, every second one is dropped and `every` doubles, so that the steps of a run of any length are
    spread over it.

    Args:
      every: the distance between two steps that are kept.
      keep: the largest number of steps that are kept.

    Returns:
      A context manager whose value is the `Steps`.

    >>> import os, tempfile
    >>> w = tf.Variable(4.0, name="w")
    >>> with tf.inspect.record_steps(every=2) as steps:
    ...     for _ in range(5):
    ...         with tf.GradientTape() as tape:
    ...             loss = w * w
    ...         _ = w.assign_sub(0.25 * tape.gradient(loss, w))
    >>> [(step.number, step.loss, step.norms["w"]) for step in steps]
    [(0, 16.0, 8.0), (2, 1.0, 2.0), (4, 0.0625, 0.5)]
    >>> steps.report(os.path.join(tempfile.mkdtemp(), "training.html")).name
    'training.html'
    """
    observer = StepObserver(Steps(every, keep))
    modes.enter(observer)
    observer.trace(True)
    try:
        yield observer.steps
    finally:
        modes.leave(observer)
        observer.trace(False)


class StepObserver(modes.Mode):
    """Keeps every n-th query of the thread that creates it as a step; traces only the steps that it keeps."""

    def __init__(self, steps: Steps) -> None:
        self.block = object()
        self.steps = steps
        self._thread = threading.get_ident()
        self._traces = False

    def trace(self, wanted: bool) -> None:
        """Makes the tapes of the next step traced ones, or not."""
        if wanted != self._traces:
            (start if wanted else stop)(of_all=True)
            self._traces = wanted

    def log_class(self, in_function: bool) -> type[Log] | None:
        """Returns the traced log for a function: its program may be asked for every run."""
        return TracingLog if in_function else None

    def query_finished(self, tape: Tape) -> None:
        """Keeps the query, or lets the function that is being traced keep its runs."""
        if threading.get_ident() != self._thread:
            return
        if dispatch.unrecorded():
            if self._traces:
                _keep(self.steps, tape)
            self.steps.seen += 1
            self.trace(self.steps.seen % self.steps.every == 0)
        elif dispatch.thread.trace is not None and not dispatch.thread.recorders:
            _keep_in_graph(self.steps, tape, self._is_innermost)

    def _is_innermost(self) -> bool:
        return modes.innermost(StepObserver) is self


@never_raises()
def _keep(steps: Steps, tape: Tape) -> None:
    log = tape._log
    if isinstance(log, TracingLog) and log.last_query is not None:
        steps.add(tape, number=steps.seen)


@never_raises()
def _keep_in_graph(steps: Steps, tape: Tape, lasts: Callable[[], bool]) -> None:
    """Adds an observer node to the graph being traced that keeps steps while `lasts()` is true."""
    log = tape._log
    if not isinstance(log, TracingLog) or log.last_query is None:
        return
    targets, _, sources = log.last_query
    try:
        question = Question(tape, targets, sources)
    except RuntimeError:  # a replay would call user code
        return

    def wanted() -> bool:
        return lasts() and steps.seen % steps.every == 0

    def passed() -> None:
        steps.seen += lasts()

    @never_raises()
    def see(arrays: Sequence[Any]) -> None:
        if wanted():
            steps.add(question.replay(arrays), number=steps.seen)
        passed()

    look(question.tensors, see, wanted, passed)
