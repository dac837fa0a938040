"""Summarizes the norms of per-example gradients: how they are spread, and which examples have the largest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core import nest
from ...core.composites import tensors_for_gradients
from ...engine.derivatives.per_example import gradients_apart
from ...engine.run.source_lines import users_frame
from ...engine.tape.tape import Tape
from ...engine.tape.validation import differentiable
from ..causes.messages import names_of_sources
from ..records.charts import render_bars, sparkline
from ..records.reading import array_in_run, require_log
from ..records.tables import Printable, Table

_BINS = 24
_MOST_ROWS, _MOST_SOURCES = 8, 4
_Numbers = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, repr=False)
class ExampleNorms(Printable):
    """The norm of each example's gradient: over all sources, and by source.

    `losses` has the loss of each example, summed if the target has several for one.
    """

    norms: _Numbers
    by_source: dict[str, _Numbers]
    losses: _Numbers

    @property
    def largest(self) -> list[int]:
        """The numbers of the examples, the one with the largest norm first."""
        return [int(i) for i in np.argsort(-self.norms, kind="stable")]

    def tables(self) -> list[Table]:
        """Returns the examples with the largest norms, and the spread of all norms below."""
        table = self._table()
        counts, edges = self._histogram()
        table.notes.append(f"{edges[0]:.3g} {sparkline(counts, max(counts))} {edges[-1]:.3g}: the number of examples")
        return [table]

    def _repr_html_(self) -> str:
        """Returns what notebooks show: the histogram, then the examples with the largest norms."""
        from ..records.html import render_table

        counts, edges = self._histogram()
        ends = (f"norm {edges[0]:.3g}", f"{edges[-1]:.3g}")
        return render_table(self._table()) + render_bars(counts, ends, "The number of examples by gradient norm")

    def _histogram(self) -> tuple[list[float], list[float]]:
        finite = self.norms[np.isfinite(self.norms)]
        counts, edges = np.histogram(finite, bins=_BINS)
        return counts.tolist(), edges.tolist()

    def _table(self) -> Table:
        finite = self.norms[np.isfinite(self.norms)]
        half, most = np.quantile(finite, [0.5, 0.95]) if len(finite) else (np.nan, np.nan)
        title = f"Gradient norms of {len(self.norms)} examples: median {half:.3g}, 95% are below {most:.3g}"
        shown = sorted(self.by_source, key=lambda name: -float(np.nansum(self.by_source[name])))[:_MOST_SOURCES]
        table = Table(title, ["example", ">loss", ">norm", ">/ median", *(f">{name}" for name in shown)])
        for i in self.largest[:_MOST_ROWS]:
            relative = f"{self.norms[i] / half:.1f}" if half > 0 else ""
            own = [f"{self.by_source[name][i]:.3g}" for name in shown]
            table.rows.append([str(i), f"{self.losses[i]:.3g}", f"{self.norms[i]:.3g}", relative, *own])
        if hidden := len(self.by_source) - len(shown):
            table.notes.append(f"The norms of {hidden} other sources are in `by_source`.")
        if bad := len(self.norms) - len(finite):
            table.notes.append(f"{bad} norms are not finite: tape.diagnose says where that began.")
        return table


def example_norms(tape: Any, losses: Any, sources: Any, *, check_rows: bool = True) -> ExampleNorms:
    """Computes the norm of each example's gradient, without storing the gradients; see `gradient(norms=True)`.

    `losses` has the loss of each example along its first axis. The tape can still compute other gradients.
    `check_rows` raises an error if examples depend on each other, as in `gradient`.

    >>> w = tf.Variable([1.0, 2.0], name="w")
    >>> with tf.GradientTape() as tape:
    ...     losses = tf.reduce_sum([[3.0, 4.0], [0.0, 1.0]] * w, axis=1)
    >>> found = tf.inspect.example_norms(tape, losses, w)
    >>> found.norms.tolist(), found.largest
    ([5.0, 1.0], [0, 1])
    """
    require_log(tape, "compute the norms of gradients")
    target = differentiable(losses, "target")
    if not target.dims or not target.dims[0]:
        raise ValueError(
            f"example_norms needs a loss for each example, along the first axis, got shape {list(target.dims)}. Leave "
            "the mean over the batch away: reduction=None in Keras' losses"
        )
    flat = tensors_for_gradients(nest.flatten(sources))
    with Tape.retained(tape):
        wanted = [differentiable(x, "source") for x in flat]
        found = gradients_apart(tape, [target], wanted, "example", True, check_rows)
    by_source: dict[str, _Numbers] = {}
    for i, (name, norms) in enumerate(zip(names_of_sources(flat, users_frame(2)), found, strict=True)):
        if norms is not None:
            by_source[f"{name} ({i})" if name in by_source else name] = _double(norms)
    if not by_source:
        raise ValueError("example_norms: the losses depend on none of the sources. tape.explain says why")
    each = _double(target).reshape(target.dims[0], -1).sum(axis=1)
    return ExampleNorms(np.sqrt(sum(norms**2 for norms in by_source.values())), by_source, each)


def _double(x: Any) -> _Numbers:
    return np.asarray(array_in_run(x)).astype(np.float64)
