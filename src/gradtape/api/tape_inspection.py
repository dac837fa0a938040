"""Methods of `GradientTape` that explain, measure, check, save and draw what it has recorded."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..core.tracebacks import bounded
from ..engine.tape.tape import Tape

if TYPE_CHECKING:
    from pathlib import Path

    # Not of `memory` and `audit_precision`: checkers would reject `tape.memory().account.held`, which may be None.
    from ..inspect import Diagnosis, Explanation, Flow, Profile, RuleCheck


def inspection() -> ModuleType:
    """Imports the package that explains tapes when it is first needed: most programs never need it."""
    from .. import inspect

    return inspect


@bounded
class InspectionMethods(Tape):
    """The methods of a tape that `gradtape.inspect` implements."""

    def explain(self, target: Any, sources: Any) -> Explanation:
        """Explains why each gradient of `target` with respect to `sources` is what it is: a sentence for each source.

        A tape created with `trace=True` also says where a gradient may be incomplete because a value left for NumPy.

        Args:
          target: the tensor to be differentiated, or a nested structure of tensors.
          sources: a tensor, a variable, or a nested structure of them.

        Returns:
          A `gradtape.inspect.Explanation`, which prints a sentence for each source, with the cause and the source line.

        >>> v, w = tf.Variable(3.0, name="v"), tf.Variable(1.0, name="w")
        >>> with tf.GradientTape() as tape:
        ...     loss = v * v
        >>> tape.explain(loss, [v, w]).reasons[1].source
        '`w`'
        """
        return inspection().explain(self, target, sources)

    def diagnose(self, target: Any = None, sources: Any = None) -> Diagnosis:
        """Finds the op that produced the first infinity or NaN on the way to the target, or back to the sources.

        Without arguments, diagnoses the last query of this tape, if the tape was created with `check="nan"` or
        `trace=True`.

        Args:
          target: the tensor to be differentiated; by default, that of the last gradient, or else the last value.
          sources: a tensor, a variable, or a nested structure of them; by default, those of the last gradient, or else
            all that the tape watches.

        Returns:
          A `gradtape.inspect.Diagnosis`, which names the op, its line and a remedy.

        >>> x = tf.Variable([1.0, 0.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     loss = tf.reduce_sum(tf.math.log(x))
        >>> found = tape.diagnose(loss, x)
        >>> found.op, found.direction, found.index
        ('log', 'forward', (1,))
        """
        return inspection().diagnose(self, target, sources)

    def check(self, target: Any = None, sources: Any = None) -> RuleCheck:
        """Checks the gradient rules recorded on this tape, custom gradients included, at their recorded values.

        Each rule is compared with a finite difference of its op along a random direction. The tape must be created with
        `trace=True`. With a target, only the records between it and the sources are checked.

        >>> @tf.custom_gradient
        ... def double(x):
        ...     return 2.0 * x, lambda g: 3.0 * g
        >>> x = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.exp(double(x))
        >>> [row.op for row in tape.check().wrong]
        ['double']
        """
        return inspection().check_rules(self, target, sources)

    def audit_precision(self, target: Any = None, sources: Any = None) -> Any:
        """Finds where this step loses precision: reruns forward and backward in float64 and compares, line by line.

        Also reports the share of half-precision gradients that underflow or overflow, and the loss scale that saves
        most of them. The tape must be created with `trace=True`.

        >>> x = tf.Variable([300.0, 1.0], dtype=tf.float16)
        >>> with tf.GradientTape(trace=True) as tape:
        ...     length = tf.sqrt(tf.reduce_sum(x * x))
        >>> tape.audit_precision(length, x).worst.remark
        'overflows: compute it in float32, or scale what goes in'
        """
        return inspection().audit_precision(self, target, sources)

    def flow(self, target: Any = None, sources: Any = None, by: str = "variable") -> Flow:
        """Summarizes each gradient by variable or layer: its norm, its share of zeros, and its units without gradient.

        >>> w = tf.Variable([[1.0, -1.0]], name="w")
        >>> with tf.GradientTape(persistent=True) as tape:
        ...     loss = tf.reduce_sum(tf.square(w) * [[3.0, 0.0]])
        >>> print(tape.flow(loss, w))
        Gradients by variable
        variable  shape   gradient norm  / value norm  largest  zeros  dead units  remark
        ────────  ──────  ─────────────  ────────────  ───────  ─────  ──────────  ──────────────────────────────────
        w         [1, 2]              6          4.24        6    50%         50%  half of the units or more are dead
        """
        return inspection().flow(self, target, sources, by)

    def profile(self, target: Any = None, sources: Any = None) -> Profile:
        """Profiles time and saved bytes, forward and backward, by op and by line; `print` it, or `show` it in color.

        Forward times and lines require a tape created with `trace=True`. Backward times are measured in a new sweep.

        Args:
          target: the tensor to be differentiated; by default, that of the last gradient, or else the last value.
          sources: a tensor, a variable, or a nested structure of them; by default, those of the last gradient, or else
            all that the tape watches.

        Returns:
          A `gradtape.inspect.Profile`.

        >>> v = tf.Variable(tf.ones([100, 100]))
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.reduce_sum(tf.exp(v))
        >>> tape.profile(y, v).by_op["exp"].kept
        40000
        """
        return inspection().profile(self, target, sources)

    def __repr__(self) -> str:
        from ..inspect.costs.overview import summary

        return str(summary(self))

    def _repr_html_(self) -> str | None:
        """Returns what notebooks show: of a traced tape, its graph; of others, the ops and the memory they keep.

        Returns None after the recording is freed.
        """
        from ..inspect.drawings.cell import draw_tape

        try:
            table = inspection().overview(self)._repr_html_()
        except RuntimeError:
            return None
        return draw_tape(self, table)  # type: ignore[no-any-return]

    def memory(self) -> Any:
        """Lists what this tape keeps alive for the backward pass, by op and by line, with the largest arrays.

        Returns:
          A `gradtape.inspect.Memory`.

        >>> v = tf.Variable(tf.ones([1000]))
        >>> with tf.GradientTape() as tape:
        ...     y = tf.exp(v)
        >>> tape.memory().total
        4000
        """
        return inspection().memory(self)

    def save(self, path: Any, target: Any = None, sources: Any = None, inputs: Any = None) -> Path:
        """Saves this step to a file, which `gradtape.load_tape` reads on any machine, without the model's code.

        The tape must be created with `trace=True`. The file holds ops, attributes, arrays and source lines, and no
        pickles; `gradtape compare a.tape b.tape` shows where two files diverge. `inputs` names tensors that the
        recorded ops read, such as a batch, as `{"x": x}`: `replay` can substitute them, as it can variables.

        Args:
          path: the file to write.
          target: the tensor to be differentiated; by default, that of the last gradient, or else the last value.
          sources: a tensor, a variable, or a nested structure of them; by default, those of the last gradient, or else
            all that the tape watches.
          inputs: tensors by the names under which `replay` substitutes them.

        Raises:
          RuntimeError: if the tape was created without `trace=True`.

        >>> import os, tempfile
        >>> v = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.reduce_sum(v * v)
        >>> tape.save(os.path.join(tempfile.mkdtemp(), "step.tape"), y, v).name
        'step.tape'
        """
        return inspection().save_tape(self, path, target, sources, inputs)

    def report(self, path: Any, target: Any = None, sources: Any = None) -> Path:
        """Writes an HTML report of this step to `path`: its graph by layers, with lines, costs, values and gradients.

        The report is a single file that opens in any browser. Create the tape with `trace=True`: otherwise lines,
        layers, times and most values are missing.

        Args:
          path: the file to write.
          target: the tensor to be differentiated; by default, that of the last gradient, or else the last value.
          sources: a tensor, a variable, or a nested structure of them; by default, those of the last gradient, or else
            all that the tape watches.

        >>> import os, tempfile
        >>> v = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape(trace=True) as tape:
        ...     y = tf.reduce_sum(v * v)
        >>> page = tape.report(os.path.join(tempfile.mkdtemp(), "step.html"), y, v)
        >>> page.name
        'step.html'
        """
        return inspection().report(self, path, target, sources)
