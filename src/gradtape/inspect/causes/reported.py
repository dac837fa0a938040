"""Gradients that are None, zero or not finite, explained as they appear, wherever a program asks for them.

Each cause is told once, with all the variables it has cost. A zero is told of if every entry of a gradient is zero and
nothing says that it will pass: see `_Zeros`. In a function the numbers of each run count, so whatever asks in a graph
leaves a node there that looks at them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TextIO

import numpy as np

from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ...engine.registry.devices import REAL
from ...engine.run import dispatch
from ...engine.run.source_lines import Line, users_frame
from ...engine.tape.inspection import new_block
from ...graph.function.watched import look
from ..records import witness
from ..records.again import Question
from ..records.reading import Reading, known_array
from ..records.unobtrusive import unobtrusive
from .explain import reasons_for
from .nonfinite import Diagnosis, diagnose
from .reasons import Cause, Reason
from .wording import listed, names_of_sources, phrase
from .zeros import why_zero

_LOOKS = 3  # at something that is wrong and turns out not to deserve words
_PATIENCE = 10  # zeros in a row, of a gradient that was something before
# Whose questions are the user's; other modules of gradtape's ask for themselves.
_VOICES = ("gradtape.api.compat", "gradtape.api.distribute", "gradtape.graph.trace.gradients")
_ON_THE_WAY = (
    "gradtape.inspect.records.unobtrusive", "gradtape.inspect.records.witness", "gradtape.engine.tape.tape",
    "gradtape.engine.tape.inspection", "gradtape.engine.tape.jacobians", "gradtape.engine.tape.hessians",
    "gradtape.engine.registry.placement", "gradtape.autograph.conversion",
)  # fmt: skip


@contextmanager
def tracing(stream: TextIO | None = None) -> Iterator[list[Reason]]:
    """Inside the block every tape is a traced one, and gradients that are None, zero or not finite are explained.

    What happens outside of tapes is remembered as well. The explanations go to `stream`, standard error unless given,
    once for each cause; the list that `with` gives has them too.

    >>> import gradtape as tf
    >>> v = tf.Variable(3.0)
    >>> with tf.inspect.tracing():
    ...     y = v * v
    ...     with tf.GradientTape() as tape:
    ...         z = y + 1.0
    ...     print(tape.explain(z, v).reasons[0].cause)
    before the tape
    """
    reporter = Reporter(stream)
    witness.reporters.append(reporter.answered)
    try:
        with witness.witnessed(), new_block():
            yield reporter.found
    finally:
        reporter.listens = False  # functions that were traced here have nodes that look on
        witness.reporters.remove(reporter.answered)


class _Asked:
    """A question that has been answered: who asked, and what things are called there."""

    def __init__(self, frame: Any, sources: Sequence[Any]) -> None:
        self.place = (frame.f_code, frame.f_lasti)
        self.names = [f"`{name}`" for name in names_of_sources(sources, frame)]


class Reporter:
    """Tells of each cause once."""

    def __init__(self, stream: TextIO | None) -> None:
        self.found: list[Reason] = []
        self.listens = True
        self._stream = stream
        self._said: set[Any] = set()
        # How often who asked, what was wrong and for which source was looked at: what has been said is not again.
        self._looks: dict[Any, float] = {}
        self._zeros = _Zeros()

    @unobtrusive()
    def answered(
        self, tape: Any, targets: list[Any], sources: list[Any], found: list[Any], none: bool, zeros: bool
    ) -> None:
        """Looks at an answer, and says what there is to say: of None and of zeros, if these are not wanted."""
        if not _is_users_question():
            return
        frame = users_frame(2)
        asked = _Asked(frame, sources)
        missing = [i for i, g in enumerate(found) if g is None]
        if none and (missing := self._new(asked, "None", missing)):
            picked = [sources[i] for i in missing]
            names = [asked.names[i].strip("`") for i in missing]
            self._say(asked, "None", reasons_for(tape, targets, picked, names, frame))
        present = [i for i, g in enumerate(found) if _values(g) is not None]
        if not present:
            return
        values = [_values(found[i]) for i in present]
        shown = _Look(self, asked, tape, targets, [sources[i] for i in present], present, zeros)
        if all(type(x) in REAL for x in (*values, *targets)):
            shown.at([known_array(x) for x in values], _opened)
        elif dispatch.thread.trace is not None:
            _look_in_graph(shown, values)

    def _new(self, asked: _Asked, kind: str, which: Sequence[int]) -> list[int]:
        """Those of the sources that are still to be looked at for this."""
        new = []
        for i in which:
            key = (asked.place, kind, asked.names[i])
            looks = self._looks[key] = self._looks.get(key, 0) + 1
            new += [i] if looks <= _LOOKS else []
        return new

    def _say(self, asked: _Asked, kind: str, reasons: Sequence[Reason]) -> None:
        alike: dict[Any, list[Reason]] = {}
        for reason in reasons:
            self._looks[asked.place, kind, reason.source] = math.inf
            alike.setdefault((kind, reason.cause, reason.line, reason.sentence), []).append(reason)
        for key, group in alike.items():
            names = listed([reason.source for reason in group])
            _, cause, line, sentence = key
            reason = Reason(names, cause, sentence, line)
            if key in self._said:
                continue
            self._said.add(key)
            self.found.append(reason)
            out = sys.stderr if self._stream is None else self._stream
            if out is not None:  # standard error may be closed
                print(f"gradient is {kind} for {reason}", file=out)


class _Look:
    """A look at the numbers of an answer."""

    def __init__(
        self, reporter: Reporter, asked: _Asked, tape: Any, targets: list[Any], sources: list[Any], which: list[int],
        zeros: bool,
    ) -> None:  # fmt: skip
        self.reporter = reporter
        self.asked = asked
        self.tape = tape
        self.targets = targets
        self.sources = sources
        self.which = which  # of the sources that were asked for
        self.zeros = zeros  # whether they count
        self.scaled = tape._loss_is_scaled

    def at(self, arrays: Sequence[Any], opened: Callable[[_Look], AbstractContextManager[Any]]) -> None:
        """Looks at the gradients, and only then, if something is wrong, at what `opened` gives: the tape to explain."""
        reporter, asked, which = self.reporter, self.asked, self.which
        wrong = [at for at, g in zip(which, arrays, strict=True) if g.dtype.kind in "fcV" and not np.isfinite(g).all()]
        zero = [at for at, g in zip(which, arrays, strict=True) if g.size and not np.any(g)]
        zero = reporter._zeros.that_matter(asked, which, zero) if self.zeros else []
        wrong, zero = reporter._new(asked, "not finite", wrong), reporter._new(asked, "zero", zero)
        if not wrong and not zero:
            return
        with opened(self) as tape:
            if wrong:
                names = [asked.names[at] for at in wrong]
                reporter._say(asked, "not finite", _not_finite(tape, names, reporter.found, self.scaled))
            if zero:
                places = {which.index(at): asked.names[at] for at in zero}
                learned = any(reporter._zeros.was_alive(asked, at) for at in zero)
                reporter._say(asked, "zero", _zero(tape, places, reporter.found, learned))


class _Zeros:
    """Which gradients of zeros deserve words.

    One that has been something else before is most likely an example without an error, a reward or a hit: it is told of
    when it has been zero ten times in a row.
    """

    def __init__(self) -> None:
        self._alive: set[Any] = set()
        self._rows: dict[Any, int] = {}

    def was_alive(self, asked: _Asked, at: int) -> bool:
        """Whether a gradient was something before."""
        return (asked.place, asked.names[at]) in self._alive

    def that_matter(self, asked: _Asked, which: Sequence[int], zero: Sequence[int]) -> list[int]:
        """Those of the zeros among the sources that were looked at."""
        found = []
        for at in which:
            key = (asked.place, asked.names[at])
            if at not in zero:
                self._alive.add(key)
                self._rows.pop(key, None)
                continue
            self._rows[key] = self._rows.get(key, 0) + 1
            if not self.was_alive(asked, at) or self._rows[key] >= _PATIENCE:
                found.append(at)
        return found


def _is_users_question() -> bool:
    """Whether the tape was asked by the user, or by Keras for the user; gradtape asks tapes of its own as well."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") in _ON_THE_WAY:
        frame = frame.f_back
    name = "" if frame is None else frame.f_globals.get("__name__", "")
    return not name.startswith("gradtape.") or name.startswith(_VOICES)


def _values(g: Any) -> Any:
    """The tensor with the numbers of a gradient, if it has some."""
    if isinstance(g, IndexedSlices):
        g = g.values
    return g if isinstance(g, Tensor) and g.dtype.differentiable else None


@contextmanager
def _opened(look: _Look) -> Iterator[Any]:
    """A tape that can say what happened: the user's, or one that has calls of functions opened."""
    tape = look.tape
    log = tape._log or tape._past
    before = log.question
    same = before is not None and list(map(id, before[0])) == list(map(id, look.targets))
    log.question = (look.targets, before[1] if same else [None] * len(look.targets), look.sources)
    try:
        calls = any(getattr(op, "family", None) == "call" for op in log.ops)
        opened = _again(look) if calls else None
        yield tape if opened is None else opened
    finally:
        log.question = before


def _again(look: _Look) -> Any:
    try:
        question = Question(look.tape, look.targets, look.sources)
        return question.again([known_array(x) for x in question.tensors])
    except RuntimeError:  # it would run code of the user's again
        return None


def _not_finite(
    tape: Any, names: Sequence[str], before: Sequence[Reason], scaled: bool = False
) -> list[Reason]:
    found = diagnose(tape)
    spread = any(reason.cause is Cause.NOT_FINITE for reason in before)
    if scaled and found.direction == "backward":  # the optimizer finds out by this which scale is too large
        return []
    if found.ok or (found.direction in ("given", None) and spread):  # what was told of has spread by now
        return []
    sentence, line = _in_one_line(tape, found)
    return [Reason(name, Cause.NOT_FINITE, sentence.rstrip("."), line) for name in names]


def _in_one_line(tape: Any, found: Diagnosis) -> tuple[str, Line | None]:
    """A diagnosis as a sentence."""
    log = tape._log or tape._past
    where: Any = found.line
    if found.position is not None and (own := log.reference(found.position)) is not None:
        where = own if found.line is None or log.line(found.position) == found.line else found.line
    numbers = ", ".join(f"{name} = {value:.4g}" for name, value in [*found.values.items()][:3])
    values = f" ({numbers})" if numbers else ""
    if found.direction is None:
        return f"{found.symptom} {found.remedy}".strip(), None
    if found.direction == "given":
        return f"{found.op} holds {found.count} from the start. {found.remedy}", found.line
    op = phrase(_Named(found.op), where)
    if found.direction == "outside":
        return f"{op} gave {found.count}{values}. {found.remedy}", found.line
    if found.direction == "forward":
        of = "infinities" if found.of_infinities else "finite numbers"
        return f"{op} made {found.count} from {of}{values}. {found.remedy}", found.line
    return f"the derivative of {op} made {found.count} from finite numbers{values}. {found.remedy}", found.line


class _Named:
    """Stands for an op of which the name is known."""

    def __init__(self, name: str | None) -> None:
        self.name = name or "an op"


def _zero(tape: Any, places: dict[int, str], before: Sequence[Reason], learned: bool) -> list[Reason]:
    """The reasons for sources at these places of the last question, which are called so."""
    reading = Reading(tape)
    if learned and not any(np.any(value) for value in reading.target_values):
        return []  # the loss has become zero: there is nothing more to learn
    if not all(np.isfinite(value).all() for value in reading.target_values):
        return _not_finite(tape, [*places.values()], before)
    reasons = []
    for i, name in places.items():
        _, source, at = reading.sources[i]
        lost = None if at is None else why_zero(reading, at)
        if lost is not None and lost.cause == "the rule gives none":  # a branch, or a loop, that cuts it
            (reason,) = reasons_for(tape, reading.log.question[0], [source], [name.strip("`")], None)
            reasons += [reason] if reason.line is not None else []
        elif lost is not None and lost.cause == "zero" and lost.lasting:
            sentence = lost.sentence.removeprefix("the target depends on it, but the gradient is zero: ")
            line = None if lost.at is None else reading.log.line(lost.at)  # type: ignore[attr-defined]
            reasons.append(Reason(name, Cause.ZERO, sentence, line))
    return reasons


# In a graph


def _look_in_graph(shown: _Look, gradients: Sequence[Tensor]) -> None:
    """Adds a node that looks at the gradients in every run, with all that is needed to explain them."""
    try:
        question = Question(shown.tape, shown.targets, shown.sources)
    except RuntimeError:
        return
    shown.tape = None  # the node lives as long as the graph
    shown.targets = shown.sources = []
    count = len(gradients)

    @unobtrusive()
    def see(arrays: Sequence[Any]) -> None:
        shown.at(arrays[:count], lambda _: nullcontext(question.again(arrays[count:])))

    look([*gradients, *question.tensors], see, lambda: shown.reporter.listens, lambda: None)
