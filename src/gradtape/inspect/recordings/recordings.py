"""A step in a file: what a traced tape has recorded, to be asked about on another machine, without the model's code.

The file is an archive of arrays with a list of steps beside them: op, attributes, inputs, outputs, source line. Nothing
in it is code: ops are known by their names. Functions are written op by op.
"""

from __future__ import annotations

import itertools
import linecache
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...core import errors
from ...core.tensor import Tensor, wrap
from ...engine.run import dispatch
from ...engine.run.source_lines import Line, LineReference
from ...engine.tape.custom import OneCall
from ...engine.tape.tape import GradientTape
from ...graph.control_flow.custom import custom_gradient
from ...graph.ir.effects import Changed, assertion
from ...state.archive import Reader, Writer, replacing
from ...state.variable import Variable
from ..records.reading import Reading, source_name
from ..records.repeated import steps_of
from ..records.witness import TracingLog
from .rules import with_graph
from .words import Decoder, Encoder, at_line, op_named

_FORMAT = 2
_KNOWN = (1, 2)  # the second has graphs
_loaded = itertools.count().__next__


def save_tape(tape: Any, path: str | os.PathLike[str], target: Any = None, sources: Any = None) -> Path:
    """Writes the step to a file; see `GradientTape.save`.

    >>> import gradtape as tf, os, tempfile
    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> with tf.GradientTape(trace=True) as tape:
    ...     y = tf.reduce_sum(v * v)
    >>> path = tf.inspect.save_tape(tape, os.path.join(tempfile.mkdtemp(), "step.tape"), y, v)
    >>> tf.load_tape(path).gradient().numpy().tolist()
    [2.0, 4.0]
    """
    reading = Reading(tape, target, sources, "save this tape")
    steps = []
    for step in steps_of(reading):
        if step.op is not assertion:
            steps += with_graph(step, reading) if isinstance(step.op, OneCall) else [step]
    keys: dict[Any, int] = {}
    words = Encoder()

    def reference(x: Any) -> Any:
        return words.constant(x) if isinstance(x, Tensor) else keys.setdefault(x, len(keys))

    asked = [at for _, _, at in reading.sources if at is not None]
    made = {key for step in steps for key in step.outputs}
    leaves = sorted(({x for step in steps for x in step.inputs if type(x) is int} | set(asked)) - made)
    names = _names(reading, leaves)
    contents: dict[str, Any] = {
        "format": _FORMAT,
        "leaves": [[reference(at), names[at]] for at in leaves],
        "steps": [],
    }
    for step in steps:
        op, inputs = words.op(step.op, step.line), list(map(reference, step.inputs))
        attrs = words.attributes(step.op, step.attrs, step.line)
        outputs = list(map(reference, step.outputs))
        contents["steps"].append([op, inputs, attrs, outputs, step.several, words.line(step.line)])
    contents["texts"] = words.texts
    contents["targets"] = [keys[at] for at in reading.seeds]
    contents["sources"] = [keys[at] for at in asked]
    with replacing(path) as file, Writer(file) as writer:
        for key, number in keys.items():
            if key in reading.tensors:
                writer.add(f"value/{number}", _plain(reading.tensors[key]))
        for number, constant in enumerate(words.constants):
            writer.add(f"constant/{number}", _plain(constant))
        for number, at in zip(contents["targets"], reading.seeds, strict=True):
            writer.add(f"weight/{number}", _plain(reading.seeds[at]))
        writer.finish(contents)
    return Path(path)


def _names(reading: Reading, leaves: list[int]) -> dict[int, str]:
    """What each leaf is called: a variable by its name, others by their number; no name twice."""
    variables = {at: source_name(variable, None) for variable, at in reading.log.variable_positions()}
    names: dict[int, str] = {}
    for number, at in enumerate(leaves):
        name = variables.get(at, f"input_{number}")
        names[at] = name if name not in names.values() else f"{name}_{number}"
    return names


def _plain(x: Tensor) -> Tensor:
    return wrap(np.asarray(x.array), x.dtype)


class SavedStep:
    """One op of a recording: its inputs and outputs are numbers of values, or of constants."""

    def __init__(
        self, op: str, inputs: list[Any], words: dict[str, Any], outputs: list[int], several: bool, line: Any
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.words = words  # its attributes, in those of the file
        self.outputs = outputs
        self.several = several
        self.line: Line | None = None if line is None else (line[0], line[1], line[2])


class Recording:
    """What a file of a step holds."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._number = _loaded()  # two recordings may have the same name, and other programs
        with Reader(path) as reader:
            try:
                notes = reader.notes
                if notes["format"] not in _KNOWN:
                    raise errors.FailedPreconditionError(
                        f"{path} is a recording of format {notes['format']}, this gradtape reads {_FORMAT}. Use the "
                        "version that wrote it, or write it again"
                    )
                self.leaves: dict[int, str] = dict(notes["leaves"])
                self.steps = [SavedStep(*fields) for fields in notes["steps"]]
                self.targets, self.sources = notes["targets"], notes["sources"]
                self._texts = notes["texts"]
                tensors = {name: reader.read(name) for name in reader.dtypes}
                self.values = {int(name[6:]): x for name, x in tensors.items() if name.startswith("value/")}
                count = sum(name.startswith("constant/") for name in tensors)
                self.constants = [tensors[f"constant/{i}"] for i in range(count)]
                self.weights = [tensors[f"weight/{key}"] for key in self.targets]
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise errors.DataLossError(f"{path} is no recording of a tape, or is damaged: {error!r}") from error
        self._decoder = Decoder(self.constants, self.line)

    def line(self, line: Any) -> Line | None:
        """A line of the file's, of which the text is known here too."""
        if line is None:
            return None
        path, number, function = line
        file = f"<{self.path.name}, {self._number}>/{os.path.basename(path)}"
        if file not in linecache.cache:
            texts = {int(n): text for n, text in self._texts[path].items()}
            lines = [texts.get(n, "") + "\n" for n in range(1, max(texts) + 1)]
            linecache.cache[file] = (len(lines), None, lines, file)
        return file, number, function

    def op(self, step: SavedStep) -> tuple[Any, dict[str, Any]]:
        """The op of a step, with its attributes."""
        return op_named(step.op, step.line), self.attributes(step)

    def attributes(self, step: SavedStep) -> dict[str, Any]:
        """The attributes of a step."""
        try:
            return self._decoder.attributes(step.words)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, AssertionError) as error:
            raise errors.DataLossError(f"{self.path}: {step.op}{at_line(step.line)} is damaged: {error!r}") from error


class LoadedTape(GradientTape):
    """A tape from a file. Asked without arguments, its questions are about the targets and sources it was saved with.

    `targets` are tensors; `sources` are variables, under the names they had, and `inputs` all that the step started
    from.
    """

    def __init__(self, recording: Recording, given: Mapping[str, Any] | None = None) -> None:
        super().__init__(persistent=True, watch_accessed_variables=False, trace=True)
        self.recording = recording
        self._entered = True
        self._hooks = {}
        log = self._log = TracingLog(False)
        made: dict[int, Tensor] = {}
        self.inputs: dict[str, Variable] = {}
        with dispatch.recorded_by(()):
            for key, name in recording.leaves.items():
                variable = self.inputs[name] = Variable(_given(recording, key, name, given), name=name)
                made[key] = wrap(variable._settled(), variable.dtype)
                position = log.watch_variable(variable)
                if position >= 0:
                    made[key].mark = (log.key, position, None)
            for step in recording.steps:
                self._add(log, step, made, as_it_was=given is None)
        self.targets = [made[key] for key in recording.targets]
        self.sources = {recording.leaves[key]: self.inputs[recording.leaves[key]] for key in recording.sources}
        log.question = (self.targets, recording.weights, list(self.sources.values()))

    def _add(self, log: TracingLog, step: SavedStep, made: dict[int, Tensor], as_it_was: bool) -> None:
        """Records a step: with the values it had, or with those that it has now."""
        recording = self.recording
        (op, attrs), values = recording.op(step), recording.values
        inputs = [recording.constants[x["constant"]] if isinstance(x, dict) else made[x] for x in step.inputs]
        if not as_it_was and op is custom_gradient:
            self._check_computed(step, attrs["counts"])
        if as_it_was and all(key in values for key in step.outputs):
            outputs = [wrap(values[key].array, values[key].dtype) for key in step.outputs]
        else:
            outputs = self._outputs(op, inputs, attrs, step)
        if not outputs:
            return
        before = len(log.ops)
        log.record(op, inputs, tuple(outputs) if step.several else outputs[0], attrs)
        line = recording.line(step.line)
        if line is not None and before in log.notes:
            log.notes[before] = (_reference(line), *log.notes[before][1:])
        made.update(zip(step.outputs, outputs, strict=True))

    def _check_computed(self, step: SavedStep, counts: tuple[int, int]) -> None:
        """Raises if what a function with a custom gradient computed is known for the inputs of that time only."""
        first, end = counts[0], sum(counts)
        given, results = step.inputs[:first], step.inputs[first:end]
        if any(isinstance(x, dict) for x in results) and not all(isinstance(x, dict) for x in given):
            where = at_line(self.recording.line(step.line))
            raise ValueError(
                f"replay: what the function with a custom gradient{where} computes is not known as ops: it cannot be "
                "computed for other inputs. Let it use TensorFlow's functions"
            )

    def _outputs(self, op: Any, inputs: list[Tensor], attrs: dict[str, Any], step: SavedStep) -> list[Tensor]:
        try:
            result = dispatch.run(op, inputs, attrs)
        except Changed:
            raise ValueError(
                f"replay: the function was traced for certain numbers{at_line(self.recording.line(step.line))}, and "
                "with these inputs they are others: it would be another program. Save a step with such inputs"
            ) from None
        return list(result) if type(result) is tuple else [result]

    def gradient(self, target: Any = None, sources: Any = None, *args: Any, **kwargs: Any) -> Any:
        """The gradient; without arguments, of the targets by the sources that the tape was saved with."""
        if target is None:
            target = self.targets
            kwargs.setdefault("output_gradients", self.recording.weights)
        if sources is None:
            found = list(self.sources.values())
            sources = found[0] if len(found) == 1 else found
        return super().gradient(target, sources, *args, **kwargs)

    def replay(self, inputs: Mapping[str, Any]) -> LoadedTape:
        """The same step on other inputs: a tape whose values are computed anew. Those not named stay as they are."""
        unknown = sorted(set(inputs) - set(self.inputs))
        if unknown:
            raise ValueError(f"replay: there is no input {unknown[0]!r}; there are {', '.join(self.inputs)}")
        return LoadedTape(self.recording, inputs)


def _given(recording: Recording, key: int, name: str, given: Mapping[str, Any] | None) -> Any:
    """The value of a leaf: the one it had, or the one that is given for it."""
    before = recording.values[key]
    if given is None or name not in given:
        return before
    value = np.asarray(given[name], before.dtype.numpy)
    if value.shape != before.dims:
        raise ValueError(f"replay: {name} has the shape {list(before.dims)}, got {list(value.shape)}")
    return value


def _reference(line: Line) -> LineReference:
    """A reference to a line whose code is not here."""
    file, number, function = line
    code = compile("pass", file, "exec").replace(co_firstlineno=number, co_name=function)
    return code, next(start for start, _, its_line in code.co_lines() if its_line == number)


def load_tape(path: str | os.PathLike[str]) -> LoadedTape:
    """The tape that `GradientTape.save` has written: `gradient`, `explain`, `diagnose`, `report`, `replay`.

    >>> import gradtape as tf, os, tempfile
    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> with tf.GradientTape(trace=True) as tape:
    ...     y = tf.reduce_sum(v * v)
    >>> loaded = tf.inspect.load_tape(tape.save(os.path.join(tempfile.mkdtemp(), "step.tape"), y, v))
    >>> loaded.replay({"v": [3.0, 4.0]}).gradient().numpy().tolist()
    [6.0, 8.0]
    """
    return LoadedTape(Recording(path))
