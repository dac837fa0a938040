"""The tape's methods that explain it: why a gradient is what it is, what it costs, and whether it is correct.

They are implemented in `gradtape.inspect`, a layer above the engine. The public package sets its loader, which runs on
the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from ..run.source_lines import LineReference, here


def born() -> tuple[float, LineReference]:
    """The time and source line of a tape's creation, recorded for tapes that may live long."""
    return monotonic(), here(3)


_load: Callable[[], Any]


def answered_by(load: Callable[[], Any]) -> None:
    """Sets the loader of the module that implements inspection."""
    global _load
    _load = load


def inspect() -> Any:
    """The module that implements inspection, including the logs that record data for it."""
    return _load()


# Observer of completed queries, for explanations. It gets the tape, the targets, the sources, the results, whether None
# was a possible result (rather than zeros), and whether zeros are worth reporting. Usually None.
on_gradient: Callable[[Any, list[Any], list[Any], list[Any], bool, bool], None] | None = None

# Identifies the active observing block, such as that of `tracing`: functions that queried a tape before the block are
# retraced in it. Usually None.
block: object | None = None


@contextmanager
def new_block() -> Iterator[None]:
    """Sets `block` to a new identity inside the context."""
    global block
    before, block = block, object()
    try:
        yield
    finally:
        block = before


_spelling: Callable[[], Any]


def spelled_by(load: Callable[[], Any]) -> None:
    """Sets the loader of the module that knows the public names of ops."""
    global _spelling
    _spelling = load


def public_name(op: str) -> str:
    """The TensorFlow name of an op: `tf.reduce_sum` is the public name of `sum`."""
    return str(_spelling().public_name(op))


def names_of(op: str) -> frozenset[str]:
    """The last components of all public names of an op."""
    return frozenset(_spelling().names_of(op))


def is_public(name: str) -> bool:
    """Whether `name` is the last component of a public name."""
    return bool(_spelling().is_public(name))


class Inspection:
    """The inspection methods of a tape."""

    def _tell(self, targets: list[Any], sources: list[Any], found: list[Any], none: bool, zeros: bool = True) -> None:
        """Reports the results of a query other than `gradient` to the observer: see `on_gradient`."""
        if on_gradient is not None:
            on_gradient(self, targets, sources, found, none, zeros)

    def explain(self, target: Any, sources: Any) -> Any:
        """Explains why each gradient of `target` with respect to `sources` is what it is: a sentence for each source.

        >>> import gradtape as tf
        >>> v, w = tf.Variable(3.0, name="v"), tf.Variable(1.0, name="w")
        >>> with tf.GradientTape() as tape:
        ...     loss = v * v
        >>> tape.explain(loss, [v, w]).reasons[1].source
        '`w`'
        """
        return inspect().explain(self, target, sources)

    def diagnose(self, target: Any = None, sources: Any = None) -> Any:
        """Finds the op that produced the first infinity or NaN on the way to the target, or back to the sources.

        Without arguments, diagnoses the last query of this tape, if the tape was created with `check="nan"` or
        `trace=True`.

        >>> import gradtape as tf
        >>> x = tf.Variable([1.0, 0.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     loss = tf.reduce_sum(tf.math.log(x))
        >>> found = tape.diagnose(loss, x)
        >>> found.op, found.direction, found.index
        ('log', 'forward', (1,))
        """
        return inspect().diagnose(self, target, sources)

    def check(self, target: Any = None, sources: Any = None) -> Any:
        """Checks the gradient rules recorded on this tape, custom gradients included, at their recorded values.

        Each rule is compared with a finite difference of its op along a random direction. The tape must be created with
        `trace=True`. With a target, only the records between it and the sources are checked.

        >>> import gradtape as tf
        >>> @tf.custom_gradient
        ... def double(x):
        ...     return 2.0 * x, lambda g: 3.0 * g
        >>> x = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.exp(double(x))
        >>> [row.op for row in tape.check().wrong]
        ['double']
        """
        return inspect().check_rules(self, target, sources)

    def audit_precision(self, target: Any = None, sources: Any = None) -> Any:
        """Finds where this step loses precision: reruns forward and backward in float64 and compares, line by line.

        Also reports the share of half-precision gradients that underflow or overflow, and the loss scale that saves
        most of them. The tape must be created with `trace=True`.

        >>> import gradtape as tf
        >>> x = tf.Variable([300.0, 1.0], dtype=tf.float16)
        >>> with tf.GradientTape(trace=True) as tape:
        ...     length = tf.sqrt(tf.reduce_sum(x * x))
        >>> tape.audit_precision(length, x).worst.remark
        'overflows: compute it in float32, or scale what goes in'
        """
        return inspect().audit_precision(self, target, sources)

    def flow(self, target: Any = None, sources: Any = None, by: str = "variable") -> Any:
        """Summarizes each gradient by variable or layer: its norm, its share of zeros, and its units without gradient.

        >>> import gradtape as tf
        >>> w = tf.Variable([[1.0, -1.0]], name="w")
        >>> with tf.GradientTape(persistent=True) as tape:
        ...     loss = tf.reduce_sum(tf.square(w) * [[3.0, 0.0]])
        >>> print(tape.flow(loss, w))
        Gradients by variable
        variable  shape   gradient norm  / value norm  largest  zeros  dead units  remark
        ────────  ──────  ─────────────  ────────────  ───────  ─────  ──────────  ──────────────────────────────────
        w         [1, 2]              6          4.24        6    50%         50%  half of the units or more are dead
        """
        return inspect().flow(self, target, sources, by)

    def profile(self, target: Any = None, sources: Any = None) -> Any:
        """Profiles time and saved bytes, forward and backward, by op and by line; `print` it, or `show` it in color.

        Forward times and lines require a tape created with `trace=True`. Backward times are measured in a new sweep.

        >>> import gradtape as tf
        >>> v = tf.Variable(tf.ones([100, 100]))
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.reduce_sum(tf.exp(v))
        >>> tape.profile(y, v).by_op["exp"].kept
        40000
        """
        return inspect().profile(self, target, sources)

    def memory(self) -> Any:
        """Lists what this tape keeps alive for the backward pass, by op and by line, with the largest arrays.

        >>> import gradtape as tf
        >>> v = tf.Variable(tf.ones([1000]))
        >>> with tf.GradientTape() as tape:
        ...     y = tf.exp(v)
        >>> tape.memory().total
        4000
        """
        return inspect().memory(self)

    def save(self, path: Any, target: Any = None, sources: Any = None, inputs: Any = None) -> Any:
        """Saves this step to a file, which `gradtape.load_tape` reads on any machine, without the model's code.

        The tape must be created with `trace=True`. The file holds ops, attributes, arrays and source lines, and no
        pickles; `gradtape compare a.tape b.tape` shows where two files diverge. `inputs` names tensors that the
        recorded ops read, such as a batch, as `{"x": x}`: `replay` can substitute them, as it can variables.

        >>> import gradtape as tf, os, tempfile
        >>> v = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.reduce_sum(v * v)
        >>> tape.save(os.path.join(tempfile.mkdtemp(), "step.tape"), y, v).name
        'step.tape'
        """
        return inspect().save_tape(self, path, target, sources, inputs)

    def report(self, path: Any, target: Any = None, sources: Any = None) -> Any:
        """Writes an HTML report of this step to `path`: its graph by layers, with lines, costs, values and gradients.

        The report is a single file that opens in any browser. Create the tape with `trace=True`: otherwise lines,
        layers, times and most values are missing.

        >>> import gradtape as tf, os, tempfile
        >>> v = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.reduce_sum(v * v)
        >>> page = tape.report(os.path.join(tempfile.mkdtemp(), "step.html"), y, v)
        >>> page.name
        'step.html'
        """
        return inspect().report(self, path, target, sources)
