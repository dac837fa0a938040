"""Reports gradients that are None, zero or not finite as they occur, for every gradient a program computes.

Each cause is reported once, with all affected variables. A zero gradient is reported if every entry is zero and nothing
indicates that it is temporary: see `_Zeros`. In a traced function the numbers of every run count, so a gradient
computed in a graph adds an observer node that checks them.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TextIO

import numpy as np

from ...core import modes
from ...core.locks import cached_property
from ...core.protocols import Line
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ...engine.registry.devices import REAL
from ...engine.run import dispatch
from ...engine.run.source_lines import users_frame
from ...engine.tape.queries import QueryResult
from ...engine.tape.tape import Tape
from ...graph.function.observers import look
from ..checks.finite import sound
from ..records import event_log
from ..records.layers import describe_layer
from ..records.never_raises import never_raises
from ..records.reading import Reading, array_in_run, short
from ..records.replay import Question
from .calls import python_inside
from .control import explain_skipped_control
from .explain import reasons_for
from .inside_calls import why_zero_inside
from .messages import join_names, line_of, locate_sources, name_of_variable, names_of_sources, phrase, quote_name
from .nonfinite import Diagnosis, diagnose
from .provenance import ancestors
from .reasons import Cause, Reason
from .rounding import may_be_rounding
from .zeros import NEVER_BEGINS, OF_ONE_ELEMENT, Stays, why_zero

_QUOTED = re.compile("'[^']*'")  # a variable's name, in which sentences about several sources of one line may differ
_LOOKS = 3  # checks of a source before an irregularity that needs no report is ignored
_PATIENCE = 10  # consecutive zeros of a gradient that was nonzero before, or is zero because of the data
_IN_PYTHON = (
    "tf.py_function returns no gradient for it: what its function computes with .numpy(), float() or NumPy is not "
    "recorded. Use TensorFlow ops inside"
)
_LEAST_SCALE = 256.0  # of a loss in half precision
_CONFIRMED = 2  # consecutive zeros of a gradient that was never nonzero


@contextmanager
def tracing(stream: TextIO | None = None) -> Iterator[list[Reason]]:
    """Makes every tape inside the block a traced one, and explains gradients that are None, zero or not finite.

    Computations outside of tapes are logged as well. Explanations go to `stream`, standard error by default, once per
    cause; the `with` statement also returns them as a list.

    Args:
      stream: where to write explanations.

    Returns:
      A context manager whose value is the list of reasons, which grows as they are found.

    >>> v = tf.Variable(3.0)
    >>> with tf.inspect.tracing():
    ...     y = v * v
    ...     with tf.GradientTape() as tape:
    ...         z = y + 1.0
    ...     print(tape.explain(z, v).reasons[0].cause)
    before the tape
    """
    reporter = Reporter(stream)
    modes.enter(reporter)
    try:
        with event_log.trace_all_tapes():
            yield reporter.found
    finally:
        reporter.finish()
        reporter.listens = False  # functions traced here keep their observer nodes
        modes.leave(reporter)


class _Asked:
    """A finished gradient computation: its location, and the names of its sources there.

    Names are computed lazily, only for irregular gradients: reading the calling code takes longer than a small step.
    """

    def __init__(self, frame: Any, sources: Sequence[Any]) -> None:
        self.place = (frame.f_code, frame.f_lasti)
        self.keys = [i if isinstance(x, Tensor) else id(x) for i, x in enumerate(sources)]
        self._frame = frame
        self._sources: Sequence[Any] = sources

    @cached_property
    def names(self) -> list[str]:
        """The names of the sources in the calling code."""
        return [f"`{name}`" for name in names_of_sources(self._sources, self._frame)]

    def let_go(self) -> None:
        """Releases the frame and the sources, which are no longer needed."""
        self._frame, self._sources = None, ()


class Reporter(modes.Mode):
    """Reports each cause once. Of several active reporters, only the innermost does."""

    def __init__(self, stream: TextIO | None) -> None:
        self.block = object()
        self.found: list[Reason] = []
        self.listens = True
        self._stream = stream
        self._said: set[Any] = set()
        # By location, irregularity and source: the number of checks, infinite once it has been reported.
        self._looks: dict[Any, float] = {}
        self._zeros = _Zeros()
        self.skipped_steps = 0  # by a loss scaler
        self.first_overflow: tuple[str, Line | None] | None = None  # of its steps

    @never_raises()
    def results_found(self, tape: Tape, query: QueryResult) -> None:
        """Checks computed gradients, and reports None and zeros unless the caller requested them."""
        if modes.innermost(Reporter) is not self:
            return
        targets, sources, found = list(query.targets), list(query.sources), query.results
        frame = users_frame(2)
        asked = _Asked(frame, sources)
        missing = [i for i, g in enumerate(found) if g is None]
        if query.reports_none and (missing := self._new(asked, "None", missing)):
            picked = [sources[i] for i in missing]
            names = [asked.names[i].strip("`") for i in missing]
            self._say(asked, "None", reasons_for(tape, targets, picked, names, frame))
        if not sources:
            self._say(asked, "empty", _no_sources(tape, targets, frame))
        present = [i for i, g in enumerate(found) if _values(g) is not None]
        if not present:
            return
        values = [_values(found[i]) for i in present]
        shown = _Look(self, asked, tape, targets, [sources[i] for i in present], present, query.reports_zeros)
        if all(type(x) in REAL for x in (*values, *targets)):
            shown.at([array_in_run(x) for x in values], [array_in_run(x) for x in targets], _open_tape)
        elif dispatch.thread.trace is not None:
            assert asked.names  # evaluated while the frame exists: the observer node needs them later
            _look_in_graph(shown, values)
        asked.let_go()

    @never_raises()
    def finish(self) -> None:
        """Reports the reasons that were waiting for confirmation and were not refuted."""
        for asked, reasons in self._zeros.all_waiting():
            self._say(asked, "zero", reasons)
        if self.first_overflow is not None:
            sentence, line = self.first_overflow
            steps = "one step" if self.skipped_steps == 1 else f"{self.skipped_steps} steps"
            where = "" if line is None else f" ({short(line)})"
            self._print(f"loss scaling skipped {steps}. The first overflow: {sentence.rstrip('.')}{where}")

    def _new(self, asked: _Asked, kind: str, which: Sequence[int]) -> list[int]:
        """Returns those of the sources that still have to be checked for this irregularity."""
        new = []
        for i in which:
            key = (asked.place, kind, asked.names[i])
            looks = self._looks[key] = self._looks.get(key, 0) + 1
            new += [i] if looks <= _LOOKS else []
        return new

    def _say(self, asked: _Asked, kind: str, reasons: Sequence[Reason]) -> None:
        alike: dict[Any, list[Reason]] = {}
        lines = {(reason.cause, reason.sentence): reason.line for reason in reasons if reason.line is not None}
        for reason in reasons:
            self._looks[asked.place, kind, reason.source] = math.inf
            line = reason.line or lines.get((reason.cause, reason.sentence))
            said = _QUOTED.sub("", reason.sentence.replace(reason.source, ""))
            alike.setdefault((kind, reason.cause, line, said), []).append(reason)
        for key, group in alike.items():
            names = join_names([reason.source for reason in group])
            _, cause, line, _ = key
            reason = Reason(names, cause, group[0].sentence, line)
            if key[1:] in self._said:  # or of another kind: zeros and NaNs may share a cause
                continue
            self._said.add(key[1:])
            self.found.append(reason)
            self._print(f"gradient is {kind} for {reason}")

    def _print(self, text: str) -> None:
        out = sys.stderr if self._stream is None else self._stream
        if out is not None:  # standard error may be closed
            print(text, file=out)


class _Look:
    """A check of the numbers of computed gradients."""

    def __init__(
        self, reporter: Reporter, asked: _Asked, tape: Any, targets: list[Any], sources: list[Any], which: list[int],
        zeros: bool,
    ) -> None:  # fmt: skip
        self.reporter = reporter
        self.asked = asked
        self.tape = tape
        self.targets = targets
        self.sources = sources
        self.which = which  # their indices among all sources
        self.zeros = zeros  # whether to report zeros
        self.scaled = tape._loss_is_scaled or _is_scaled(tape, targets)

    def at(
        self,
        arrays: Sequence[Any],
        targets: Sequence[Any],
        opened: Callable[[_Look], AbstractContextManager[_Opened]],
    ) -> None:
        """Checks the gradients; only if one is irregular, calls `opened` for the tape that explains it."""
        reporter, asked, which = self.reporter, self.asked, self.which
        wrong = [at for at, g in zip(which, arrays, strict=True) if g.dtype.kind in "fcV" and not np.isfinite(g).all()]
        zero = [at for at, g in zip(which, arrays, strict=True) if g.size and not np.any(g)]
        faint = [at for at, g in zip(which, arrays, strict=True) if self.zeros and may_be_rounding(g, targets)]
        lost = [] if wrong or zero or self.scaled or all(map(_is_sound_target, targets)) else which
        has_infinities = bool(wrong)
        if wrong and self.scaled:
            reporter.skipped_steps += 1
        zero = reporter._zeros.that_matter(asked, which, zero) if self.zeros else []
        reporter._say(asked, "zero", reporter._zeros.confirmed(asked))
        wrong, zero = reporter._new(asked, "not finite", wrong), reporter._new(asked, "zero", zero)
        lost, faint = reporter._new(asked, "finite", lost), reporter._new(asked, "rounding", faint)
        if not wrong and not zero and not lost and not faint:
            return
        with opened(self) as (tape, again):
            if wrong:
                names = [asked.names[at] for at in wrong]
                found = diagnose(tape)
                if self.scaled and found.direction == "backward":  # a loss scaler relies on it to find its scale
                    reporter.first_overflow = reporter.first_overflow or _in_one_line(tape, found)
                else:
                    reporter._say(asked, "not finite", _not_finite(tape, names, reporter.found, found))
            if lost:
                names = [asked.names[at] for at in lost]
                reasons = _not_finite(tape, names, reporter.found, diagnose(tape))
                reporter._say(asked, "finite", _of_a_lost_target(reasons))
            if zero:
                places = {which.index(at): asked.names[at] for at in zero}
                learned = any(reporter._zeros.was_alive(asked, at) for at in zero)
                for reason, patience in _zero(tape, places, reporter.found, learned, again, has_infinities):
                    reporter._zeros.wait(asked, reason, patience)
                reporter._say(asked, "zero", reporter._zeros.confirmed(asked))
            if faint:
                places = {which.index(at): asked.names[at] for at in faint}
                remains = _zero(tape, places, reporter.found, False, again, has_infinities)
                reporter._say(asked, "zero", [reason for reason, patience in remains if patience <= _CONFIRMED])


# What an explanation needs: a tape, and a function that returns the gradients at perturbed inputs, or None if that is
# not possible.
_Opened = tuple[Any, "Callable[[], list[Any] | None]"]


class _Zeros:
    """Decides which gradients of zeros are reported, and when.

    A zero gradient that was nonzero before is most likely an example without an error or a reward: it is reported after
    ten consecutive zeros. One that was never nonzero may be specific to the first batch: its reason waits for further
    zeros, or the end of the block, and is dropped when the gradient becomes nonzero.
    """

    def __init__(self) -> None:
        self._alive: set[Any] = set()
        self._rows: dict[Any, int] = {}
        # Waiting reasons by location and source: the computation, the reason, and the consecutive zeros that confirm
        # it.
        self._waiting: dict[Any, tuple[_Asked, Reason, int]] = {}

    def was_alive(self, asked: _Asked, at: int) -> bool:
        """Whether a gradient was nonzero before."""
        return (asked.place, asked.keys[at]) in self._alive

    def that_matter(self, asked: _Asked, which: Sequence[int], zero: Sequence[int]) -> list[int]:
        """Returns the sources with zero gradients that have to be explained now."""
        found = []
        for at in which:
            key = (asked.place, asked.keys[at])
            if at not in zero:
                self._alive.add(key)
                if self._rows:
                    self._rows.pop(key, None)
                    self._waiting.pop(key, None)
                continue
            self._rows[key] = self._rows.get(key, 0) + 1
            if key not in self._waiting and (not self.was_alive(asked, at) or self._rows[key] >= _PATIENCE):
                found.append(at)
        return found

    def wait(self, asked: _Asked, reason: Reason, patience: int) -> None:
        """Keeps a reason until the gradient has been zero `patience` times in a row."""
        self._waiting[asked.place, asked.keys[asked.names.index(reason.source)]] = (asked, reason, patience)

    def confirmed(self, asked: _Asked) -> list[Reason]:
        """Returns the reasons that have been confirmed."""
        keys = [key for key, (by, _, n) in self._waiting.items() if by.place == asked.place and self._rows[key] >= n]
        return [self._waiting.pop(key)[1] for key in keys]

    def all_waiting(self) -> list[tuple[_Asked, list[Reason]]]:
        """Returns the reasons still waiting, by location."""
        found: dict[Any, tuple[_Asked, list[Reason]]] = {}
        for asked, reason, _ in self._waiting.values():
            found.setdefault(asked.place, (asked, []))[1].append(reason)
        self._waiting.clear()
        return [*found.values()]


def _is_scaled(tape: Any, targets: Sequence[Any]) -> bool:
    """Whether a target is a loss times a large power of two, as in loss scaling, which skips overflowing steps."""
    log = tape._log or tape._past
    noted = log.note_at(log.position(targets[0])) if len(targets) == 1 else None
    if noted is None or len(noted[3]) != 2:
        return False
    factors = [array_in_run(x) for x in noted[3]]
    return any(x.size == 1 and x >= _LEAST_SCALE and np.log2(float(x)).is_integer() for x in factors)


def _is_sound_target(value: Any) -> bool:
    """Whether a target is a number that can be minimized; an infinity among several may come from a mask."""
    if value.dtype.kind not in "fcV":
        return True
    return not np.isnan(value).any() and (value.size != 1 or bool(np.isfinite(value).all()))


def _is_from_finite(reading: Reading, at: int) -> bool:
    """Whether all known values that a value was computed from are finite."""
    values = [reading.values[p] for p in ancestors(reading.log, at) if p in reading.values]
    return all(map(sound, values))


def _of_a_lost_target(reasons: Sequence[Reason]) -> list[Reason]:
    """Rewords reasons for a target that is not finite, for gradients that are."""
    return [
        Reason(r.source, r.cause, f"the target is not, which makes the gradient meaningless: {r.sentence}", r.line)
        for r in reasons
    ]


def _no_sources(tape: Any, targets: list[Any], frame: Any) -> list[Reason]:
    """Explains an empty list of sources: a model's variables were listed before they existed."""
    log = tape._log or tape._past
    ends = [at for target in targets if (at := log.position(target)) is not None]
    below = set().union(*(ancestors(log, end) for end in ends)) if ends else set()
    names = [quote_name(name_of_variable(v, frame)) for v, at in log.variable_positions() if at in below]
    if not names:
        return []
    text, asked_at, taken_at = locate_sources(frame)
    where = "" if taken_at is None or asked_at is None else f" (passed at {short(asked_at)})"
    sentence = (
        f"this list of sources is empty{where}, and the target depends on {join_names(names)}. A model has no "
        "variables before it is built, and a frozen one has no trainable variables: read trainable_variables after the "
        "first call of the model, or after model.build"
    )
    return [Reason(f"`{text}`", Cause.NO_SOURCES, sentence, taken_at or asked_at)]


def _values(g: Any) -> Any:
    """Returns the tensor with the numbers of a gradient, or None."""
    if isinstance(g, IndexedSlices):
        g = g.values
    return g if isinstance(g, Tensor) and g.dtype.differentiable else None


@contextmanager
def _open_tape(look: _Look) -> Iterator[_Opened]:
    """Provides a tape that can explain the gradients: the user's, or a replay with function calls opened."""
    tape = look.tape
    log = tape._log or tape._past
    before = log.last_query
    same = before is not None and list(map(id, before[0])) == list(map(id, look.targets))
    log.last_query = (look.targets, before[1] if same else [None] * len(look.targets), look.sources)
    try:
        calls = any(getattr(op, "family", None) == "call" for op in log.ops)
        question = _question(look)
        arrays = [] if question is None else [array_in_run(x) for x in question.tensors]
        yield (
            tape if question is None or not calls else question.replay(arrays),
            lambda: None if question is None else question.perturbed_gradients(arrays),
        )
    finally:
        log.last_query = before


def _question(look: _Look) -> Question | None:
    try:
        return Question(look.tape, look.targets, look.sources)
    except RuntimeError:  # a replay would call user code
        return None


def _not_finite(tape: Any, names: Sequence[str], before: Sequence[Reason], found: Diagnosis) -> list[Reason]:
    spread = any(reason.cause is Cause.NOT_FINITE for reason in before)
    if found.ok or (found.direction in ("given", None) and spread):  # an irregularity reported earlier has spread
        return []
    sentence, line = _in_one_line(tape, found)
    if line is not None and any(r.cause is Cause.NOT_FINITE and r.line == line for r in before):
        return []  # the same op, in another step
    return [Reason(name, Cause.NOT_FINITE, sentence.rstrip("."), line) for name in names]


def _in_one_line(tape: Any, found: Diagnosis) -> tuple[str, Line | None]:
    """Returns a diagnosis as a sentence, and its line."""
    log = tape._log or tape._past
    where: Any = found.line
    if found.position is not None and (own := log.reference(found.position)) is not None:
        where = own if found.line is None or log.line(found.position) == found.line else found.line
    numbers = ", ".join(f"{name} = {value:.4g}" for name, value in [*found.values.items()][:3])
    values = f" ({numbers})" if numbers else ""
    if found.direction is None:
        return f"{found.symptom} {found.remedy}".strip(), None
    if found.direction == "given":
        return f"{found.op} contains {found.count} from the start. {found.remedy}", found.line
    op = phrase(_Named(found.op), where) + describe_layer(log, found.position)
    if found.direction == "outside":
        return f"{op} returned {found.count}{values}. {found.remedy}", found.line
    if found.direction == "forward":
        of = "infinities" if found.of_infinities else "finite numbers"
        return f"{op} produced {found.count} from {of}{values}. {found.remedy}", found.line
    return f"the derivative of {op} produced {found.count} from finite numbers{values}. {found.remedy}", found.line


class _Named:
    """Stands in for an op that is known only by name."""

    def __init__(self, name: str | None) -> None:
        self.name = name or "an op"


def _zero(
    tape: Any, places: dict[int, str], before: Sequence[Reason], learned: bool, again: Callable[[], list[Any] | None],
    has_infinities: bool = False,
) -> list[tuple[Reason, int]]:  # fmt: skip
    """Returns the reasons for the sources at these indices, each with the consecutive zeros that confirm it.

    If other gradients of the same computation are not finite, zeros that an op made from infinities share their cause
    and are skipped.
    """
    reading = Reading(tape)
    if learned and not any(np.any(value) for value in reading.target_values):
        return []  # the loss has reached zero
    if not all(np.isfinite(value).all() for value in reading.target_values):
        return [(reason, 1) for reason in _not_finite(tape, [*places.values()], before, diagnose(tape))]
    reasons: list[tuple[Reason, int]] = []
    moved: list[Any] | None = None
    for i, name in places.items():
        _, source, at = reading.sources[i]
        lost = None if at is None else why_zero(reading, at)
        if lost is None or at is None:
            continue
        if has_infinities and lost.at is not None and not _is_from_finite(reading, lost.at):
            continue
        if lost.cause == "the rule gives none":  # a branch or loop that cuts the gradient
            (reason,) = reasons_for(tape, reading.log.last_query[0], [source], [name.strip("`")], None)
            is_unused = reason.cause in (Cause.NO_PATH, Cause.OUTSIDE_BLOCK)
            skipped = explain_skipped_control(reading, at) if is_unused else None
            if skipped is not None:
                reasons.append((Reason(name, Cause.ZERO, *skipped), _PATIENCE))
            elif reason.line is not None:
                reasons.append((reason, _CONFIRMED))
        elif lost.cause in ("zero", "integer") and lost.stays is not Stays.NO:
            if lost.stays is Stays.IF_STRUCTURAL:
                moved = again() if moved is None else moved
                if moved is None or (moved[i] is not None and np.any(moved[i])):
                    continue
            python = None if lost.at is None else python_inside(reading.operation(lost.at))
            if python is not None:
                reasons.append((Reason(name, Cause.NUMPY, _IN_PYTHON, python), _CONFIRMED))
                continue
            line = None if lost.at is None else line_of(reading.log.blamed(lost.at))  # type: ignore[attr-defined]
            inside = None if lost.at is None else why_zero_inside(reading, lost.at)
            if inside is not None:
                lost, line = inside[0], inside[1] or line
            sentence = lost.sentence.removeprefix("the target depends on it, but the gradient is zero: ")
            patience = _PATIENCE if lost.stays is Stays.WITH_THIS_DATA else _CONFIRMED
            reasons.append((Reason(name, Cause(lost.cause), sentence, line), patience))
    return _unify_reasons(reasons)


def _unify_reasons(reasons: list[tuple[Reason, int]]) -> list[tuple[Reason, int]]:
    """Unifies reasons that are the same for several weights of a stack of layers: all get the line of the first."""
    lines: dict[Any, Line | None] = {}
    found = []
    for reason, patience in reasons:
        if NEVER_BEGINS in reason.sentence or OF_ONE_ELEMENT in reason.sentence:
            kind = NEVER_BEGINS if NEVER_BEGINS in reason.sentence else OF_ONE_ELEMENT
            line = lines.setdefault(kind, reason.line)
            reason = Reason(reason.source, reason.cause, kind, line)
        found.append((reason, patience))
    return found


# Observers in graphs


def _look_in_graph(shown: _Look, gradients: Sequence[Tensor]) -> None:
    """Adds an observer node that checks the gradients in every run, with all inputs of their explanation."""
    try:
        question = Question(shown.tape, shown.targets, shown.sources)
    except RuntimeError:
        return
    aims_at = [target for target in shown.targets if isinstance(target, Tensor)]
    aim_count = len(aims_at)
    shown.tape = None  # so that the node, which lives as long as the graph, does not retain them
    shown.targets = shown.sources = []
    count = len(gradients)

    @never_raises()
    def see(arrays: Sequence[Any]) -> None:
        values, aims, given = arrays[:count], arrays[count : count + aim_count], arrays[count + aim_count :]
        shown.at(
            values, aims, lambda _: nullcontext((question.replay(given), lambda: question.perturbed_gradients(given)))
        )

    look([*gradients, *aims_at, *question.tensors], see, lambda: shown.reporter.listens, lambda: None)
