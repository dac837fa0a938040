"""The questions one may ask about a tape, rather than of it: why, from where, at what cost, and is it right.

The answers are made in `gradtape.inspect`, above the engine: the front door says how it is loaded, when the first
question is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from numpy import add, isfinite

from ...core import dtypes, errors
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ..run.namespace import ops
from ..run.source_lines import LineReference, here
from .unobtrusive import say_once

_FLOATS = dtypes.FLOAT | dtypes.COMPLEX | dtypes.NARROW


def born() -> tuple[float, LineReference]:
    """When and where a tape is made: noted of those that may live long."""
    return monotonic(), here(3)


_inspect: Callable[[], Any]  # loads the module that answers


def answered_by(load: Callable[[], Any]) -> None:
    """Questions about tapes are answered by the module that `load` gives."""
    global _inspect
    _inspect = load


class Inspection:
    """What a tape says about itself."""

    _check: str | None

    def explain(self, target: Any, sources: Any) -> Any:
        """Why each gradient of `target` with respect to `sources` is what it is: a sentence for each source.

        >>> import gradtape as tf
        >>> v, w = tf.Variable(3.0, name="v"), tf.Variable(1.0, name="w")
        >>> with tf.GradientTape() as tape:
        ...     loss = v * v
        >>> tape.explain(loss, [v, w]).reasons[1].source
        '`w`'
        """
        return _inspect().explain(self, target, sources)

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
        return _inspect().diagnose(self, target, sources)

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
        return _inspect().check_rules(self, target, sources)

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
        return _inspect().flow(self, target, sources, by)

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
        return _inspect().profile(self, target, sources)

    def memory(self) -> Any:
        """What this tape keeps alive for its derivatives, by op and by line, with the biggest arrays.

        >>> import gradtape as tf
        >>> v = tf.Variable(tf.ones([1000]))
        >>> with tf.GradientTape() as tape:
        ...     y = tf.exp(v)
        >>> tape.memory().total
        4000
        """
        return _inspect().memory(self)

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
        return _inspect().report(self, path, target, sources)

    def _answered(self, log: Any, question: tuple[Any, ...], gradients: list[Any]) -> list[Any]:
        """The gradients, if no check fails; remembers the last question, for those that come without one."""
        log.question = question
        if self._check is None:
            return gradients
        if not (all(map(_is_finite, question[0])) and all(map(_is_finite, gradients))):
            raise errors.InvalidArgumentError(self._where_not_finite())
        return _checked_later(question[0], gradients)

    def _where_not_finite(self) -> str:
        """The diagnosis of the last question; if that fails, what is known without it."""
        try:
            return str(self.diagnose())
        except Exception as error:
            say_once("diagnose")
            return (
                "The target, or a gradient, is not finite. Where that began could not be told: the diagnosis failed "
                f"with {type(error).__name__}: {error}"
            )


_LATER = (
    "a tape with check='nan' in a traced function: the target, or a gradient, is not finite. "
    "tf.config.run_functions_eagerly(True) lets it say where that began"
)


def _checked_later(targets: list[Any], gradients: list[Any]) -> list[Any]:
    """The gradients, which are checked together with the targets when a function that is being traced is run."""
    unknown = [x for x in targets if isinstance(x, Tensor) and type(x) is not Tensor and x.dtype.is_floating]
    if not unknown:
        return gradients
    checks = [ops.check_numerics(x, message=_LATER) for x in unknown]

    def checked(g: Any) -> Any:
        if type(g) is IndexedSlices:
            return IndexedSlices(checked(g.values), g.indices, g.dense_shape)
        if g is None or not g.dtype.is_floating:
            return g
        for check in checks:
            g = ops.after(g, check)
        return ops.check_numerics(g, message=_LATER)

    return list(map(checked, gradients))


def _is_finite(x: Any) -> bool:
    """Whether a target or gradient has neither infinities nor NaNs, as far as its value is known."""
    if type(x) is IndexedSlices:
        x = x.values
    if type(x) is not Tensor or not x.dtype.kind & _FLOATS:
        return True
    # Infinities and NaNs do not get lost in a sum, which takes half the time; one that overflows has to be looked at.
    return bool(isfinite(add.reduce(x.array, axis=None)) or isfinite(x.array).all())
