"""Shows the sparsity pattern of a Jacobian, the colors of its rows or columns, and how many sweeps it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.derivatives.coloring import Colors, count
from ...engine.derivatives.jacobian_modes import are_real, plan_sparse_jacobian
from ...engine.tape.validation import differentiable
from ..records.charts import draw_pattern, render_pattern
from ..records.reading import require_log
from ..records.tables import Printable, Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MOST_ROWS = 12


@dataclass(frozen=True, repr=False)
class Sparsity(Printable):
    """The pattern of a Jacobian, with a row for each entry of the target, and how its entries share sweeps.

    `colors` has the color of each row or, if `by_columns`, of each column; those of one color take one sweep together.
    """

    pattern: csr_array
    colors: Colors
    by_columns: bool

    @property
    def sweeps(self) -> int:
        """The number of sweeps that `tape.jacobian(sparse=True)` takes: one for each color."""
        return count(self.colors)

    @property
    def density(self) -> float:
        """The share of entries that are not zero."""
        return self.pattern.nnz / max(1, self.pattern.shape[0] * self.pattern.shape[1])

    def tables(self) -> list[Table]:
        """Returns the colors with the lines of each, and the pattern below."""
        table = self._table()
        table.notes += draw_pattern(self.pattern)
        return [table]

    def _repr_html_(self) -> str:
        """Returns what notebooks show: the colors, and the pattern in them."""
        from ..records.html import render_table

        drawn = render_pattern(self.pattern, self.colors, self.by_columns, "The nonzero entries, by color")
        return render_table(self._table()) + drawn

    def _table(self) -> Table:
        rows, columns = self.pattern.shape
        lines, others = ("columns", "row") if self.by_columns else ("rows", "column")
        table = Table(
            f"Jacobian of {rows:,} by {columns:,} with {self.pattern.nnz:,} entries ({self.density:.2g} of all): "
            f"{self.sweeps} sweep{'s' * (self.sweeps != 1)} instead of {len(self.colors):,}",
            ["color", f">{lines}", ">of all", ">entries"],
        )
        entries = np.diff((self.pattern.T if self.by_columns else self.pattern).tocsr().indptr)
        for color in range(min(self.sweeps, _MOST_ROWS)):
            own = self.colors == color
            share = f"{own.mean():.0%}"
            table.rows.append([str(color), f"{int(own.sum()):,}", share, f"{int(entries[own].sum()):,}"])
        if self.sweeps > _MOST_ROWS:
            table.notes.append(f"{self.sweeps - _MOST_ROWS} other colors are not shown.")
        table.notes.append(f"The {lines} of one color have no {others} in common, so one sweep computes all of them.")
        return table


def sparsity(tape: Any, target: Any, source: Any) -> Sparsity:
    """Finds the pattern of the Jacobian of `target` with respect to `source`, without computing its entries.

    The tape can still compute the Jacobian, with `tape.jacobian(target, source, sparse=True)`.

    >>> x = tf.Variable(tf.range(1.0, 9.0))
    >>> with tf.GradientTape() as tape:
    ...     y = x[1:] * x[:-1]
    >>> print(tf.inspect.sparsity(tape, y, x))
    Jacobian of 7 by 8 with 14 entries (0.25 of all): 2 sweeps instead of 7
    color  rows  of all  entries
    ─────  ────  ──────  ───────
    0         3     43%        6
    1         4     57%        8
    The rows of one color have no column in common, so one sweep computes all of them.
    ⠙⢦⡀⠀
    ⠀⠀⠙⠦
    """
    require_log(tape, "find the sparsity of a Jacobian")
    target, source = differentiable(target, "target"), differentiable(source, "source")
    if not are_real((target, source)):
        given = ", ".join(sorted({x.dtype.name for x in (target, source)}))
        raise ValueError(f"sparsity is for a target and a source of real numbers, got {given}")
    plan = plan_sparse_jacobian(tape, target, source)
    if plan is None:
        raise ValueError("sparsity: the target does not depend on the source. tape.explain says why")
    return Sparsity(plan.pattern, plan.colors, plan.by_columns)
