"""The questions one may ask about a tape, rather than of it: why, from where, at what cost, and is it right.

The answers are made in `gradtape.inspect`, above the engine: the front door says how it is loaded, when the first
question is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from ..run.source_lines import LineReference, here


def born() -> tuple[float, LineReference]:
    """When and where a tape is made: noted of those that may live long."""
    return monotonic(), here(3)


_load: Callable[[], Any]


def answered_by(load: Callable[[], Any]) -> None:
    """Questions about tapes are answered by the module that `load` gives."""
    global _load
    _load = load


def inspect() -> Any:
    """The module that answers; what tapes note for it is there too."""
    return _load()


# Is told of a question that was answered, for explanations: the tape, the targets, the sources, what was found, and
# whether None was an answer, not zeros in its place, and whether zeros are worth words. Mostly nobody.
when_asked: Callable[[Any, list[Any], list[Any], list[Any], bool, bool], None] | None = None

# Stands for the block in which somebody looks on, as that of `tracing`: functions that have asked a tape before it are
# traced again in it. Mostly there is none.
block: object | None = None


@contextmanager
def new_block() -> Iterator[None]:
    """Inside the block, `block` stands for it."""
    global block
    before, block = block, object()
    try:
        yield
    finally:
        block = before


_spelling: Callable[[], Any]


def spelled_by(load: Callable[[], Any]) -> None:
    """What ops are called in public is known to the module that `load` gives."""
    global _spelling
    _spelling = load


def public_name(op: str) -> str:
    """What TensorFlow calls an op: `tf.reduce_sum` is the public name of `sum`."""
    return str(_spelling().public_name(op))


def names_of(op: str) -> frozenset[str]:
    """The last parts of all public names of an op."""
    return frozenset(_spelling().names_of(op))


def is_public(name: str) -> bool:
    """Whether a public name ends so."""
    return bool(_spelling().is_public(name))


class Inspection:
    """What a tape says about itself."""

    def _tell(self, targets: list[Any], sources: list[Any], found: list[Any], none: bool, zeros: bool = True) -> None:
        """Tells whoever explains what the answer to another question than `gradient` was: see `when_asked`."""
        if when_asked is not None:
            when_asked(self, targets, sources, found, none, zeros)

    def explain(self, target: Any, sources: Any) -> Any:
        """Why each gradient of `target` with respect to `sources` is what it is: a sentence for each source.

        >>> import gradtape as tf
        >>> v, w = tf.Variable(3.0, name="v"), tf.Variable(1.0, name="w")
        >>> with tf.GradientTape() as tape:
        ...     loss = v * v
        >>> tape.explain(loss, [v, w]).reasons[1].source
        '`w`'
        """
        return inspect().explain(self, target, sources)

    def diagnose(self, target: Any = None, sources: Any = None) -> Any:
        """Where the first infinity or NaN on the way to the target, or back to the sources, came from.

        Without arguments it is about the last question this tape answered, if the tape was made with `check="nan"` or
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
        """Checks the rules recorded on this tape, custom gradients included, at the values they were recorded with.

        Each is compared with a difference of its op along a random direction. A tape made with `trace=True` has noted
        what that takes; with a target, only the records between it and the sources are checked.

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
        """Where this step loses precision: forward and backward run again in float64, and what differs, by line.

        Also the share of half-precision gradients that underflow or overflow, and the loss scale that saves most of
        them. The tape must have been made with `trace=True`.

        >>> import gradtape as tf
        >>> x = tf.Variable([300.0, 1.0], dtype=tf.float16)
        >>> with tf.GradientTape(trace=True) as tape:
        ...     length = tf.sqrt(tf.reduce_sum(x * x))
        >>> tape.audit_precision(length, x).worst.remark
        'overflows: compute it in float32, or scale what goes in'
        """
        return inspect().audit_precision(self, target, sources)

    def flow(self, target: Any = None, sources: Any = None, by: str = "variable") -> Any:
        """How large each gradient is, how much of it is zero, and how many units get none, by variable or layer.

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
        """Time and kept bytes, forward and backward, by op and by line; `print` it, or `show` it in colour.

        Forward times and lines need a tape made with `trace=True`. The backward times are those of a sweep made now.

        >>> import gradtape as tf
        >>> v = tf.Variable(tf.ones([100, 100]))
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.reduce_sum(tf.exp(v))
        >>> tape.profile(y, v).by_op["exp"].kept
        40000
        """
        return inspect().profile(self, target, sources)

    def memory(self) -> Any:
        """What this tape keeps alive for its derivatives, by op and by line, with the biggest arrays.

        >>> import gradtape as tf
        >>> v = tf.Variable(tf.ones([1000]))
        >>> with tf.GradientTape() as tape:
        ...     y = tf.exp(v)
        >>> tape.memory().total
        4000
        """
        return inspect().memory(self)

    def save(self, path: Any, target: Any = None, sources: Any = None, inputs: Any = None) -> Any:
        """Writes this step to a file, which `gradtape.load_tape` reads on any machine, without the model's code.

        The tape must have been made with `trace=True`. The file has ops, attributes, arrays and source lines, and no
        pickles; `gradtape compare a.tape b.tape` says where two of them part. `inputs` names tensors that the recorded
        ops were given, a batch for instance, as `{"x": x}`: `replay` takes others for them, as for variables.

        >>> import gradtape as tf, os, tempfile
        >>> v = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.reduce_sum(v * v)
        >>> tape.save(os.path.join(tempfile.mkdtemp(), "step.tape"), y, v).name
        'step.tape'
        """
        return inspect().save_tape(self, path, target, sources, inputs)

    def report(self, path: Any, target: Any = None, sources: Any = None) -> Any:
        """Writes a page about this step to `path`: its graph by layers, with lines, costs, values and gradients.

        It is one file that opens in any browser. Make the tape with `trace=True`: otherwise lines, layers, times and
        most values are not known.

        >>> import gradtape as tf, os, tempfile
        >>> v = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.reduce_sum(v * v)
        >>> page = tape.report(os.path.join(tempfile.mkdtemp(), "step.html"), y, v)
        >>> page.name
        'step.html'
        """
        return inspect().report(self, path, target, sources)
