"""Saves a step that a traced tape recorded to a file, and loads it for inspection without the model's code.

The file is an archive of arrays and a list of steps: op, attributes, inputs, outputs, source line. It contains no code:
ops are referenced by name, and functions are stored op by op. Everything is validated before use: see `validation`.
"""

from __future__ import annotations

import itertools
import linecache
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.protocols import Line
from ...core.tensor import Tensor, wrap
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...engine.tape.custom import OneCall
from ...engine.tape.tape import Tape
from ...engine.tape.validation import native, ones
from ...graph.control_flow.counted_loops import RoundLimit
from ...graph.control_flow.custom import custom_gradient
from ...graph.ir.effects import Changed, assertion, guard, never, shape_guard
from ...state.archive import ArchiveReader, ArchiveWriter, replacing
from ...state.variable import Variable
from ..records.reading import Reading, require_path, source_name
from ..records.repetition import Key, RepeatedStep, steps_of
from ..records.replay import ReplayLog
from .rules import with_graph
from .serialization import Decoder, Encoder, at_line, can_encode
from .validation import FORMAT, Document, SavedStep

_CHECKS = (guard, shape_guard, never)
MAX_ROUNDS = 1_000_000
_NOWHERE = ("<recording>", 0, "<module>")  # of an op without a known line
_SHOWN = 500  # characters displayed of a source line
_loaded = itertools.count().__next__


def save_tape(
    tape: Tape, path: str | os.PathLike[str], target: Any = None, sources: Any = None,
    inputs: Mapping[str, Any] | None = None,
) -> Path:  # fmt: skip
    """Saves the step to a file; see `GradientTape.save`.

    >>> import os, tempfile
    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> with tf.GradientTape(trace=True) as tape:
    ...     y = tf.reduce_sum(v * v)
    >>> path = tf.inspect.save_tape(tape, os.path.join(tempfile.mkdtemp(), "step.tape"), y, v)
    >>> tf.load_tape(path).gradient().numpy().tolist()
    [2.0, 4.0]
    """
    require_path(path, "save takes the path of the file first, as in tape.save(path, target, sources)")
    reading = Reading(tape, target, sources, "save this tape")
    steps = []
    for step in steps_of(reading, can_encode):
        if step.op is not assertion:
            steps += with_graph(step, reading) if isinstance(step.op, OneCall) else [step]
    leaves = _Leaves(reading, steps, inputs or {})
    keys: dict[Key, int] = {}
    words = Encoder()

    def reference(x: Any) -> Any:
        x = leaves.key_of(x)
        return words.constant(x) if isinstance(x, Tensor) else keys.setdefault(x, len(keys))

    contents: dict[str, Any] = {
        "format": FORMAT,
        "leaves": [[reference(key), name] for key, name in leaves.names.items()],
        "steps": [],
    }
    for step in steps:
        op, given = words.op(step.op, step.line), list(map(reference, step.inputs))
        attrs = words.attributes(step.op, step.attrs, step.line)
        outputs = list(map(reference, step.outputs))
        contents["steps"].append([op, given, attrs, outputs, step.several, words.line(step.line)])
    reads = {key: x for step in steps for key, x in zip(step.outputs, step.known, strict=False)}
    values: dict[Any, Tensor] = {**reading.tensors, **reads, **leaves.values}
    specs = {key: (v.shape, v.dtype) for step in steps for key in step.outputs if (v := _place(key)) is not None}
    contents["unsaved"] = {
        keys[key]: [list(shape), dtype.name] for key, (shape, dtype) in specs.items() if key not in values
    }
    contents["texts"] = words.texts
    contents["targets"] = [keys[key] for key in leaves.weights]
    contents["sources"] = [keys[key] for key in leaves.sources]
    contents["on_tape"] = [keys[key] for key in leaves.sources if type(key) is int]
    with replacing(path) as file, ArchiveWriter(file) as writer:
        for key, number in keys.items():
            if key in values:
                writer.add(f"value/{number}", _plain(values[key]))
        for number, constant in enumerate(words.constants):
            writer.add(f"constant/{number}", _plain(constant))
        for key, weight in leaves.weights.items():
            writer.add(f"weight/{keys[key]}", _plain(weight))
        writer.finish(contents)
    return Path(path)


def _place(key: Key) -> Any:
    """Returns the graph value that the key of a value inside a call refers to, or None."""
    value = key[1] if type(key) is tuple and len(key) == 2 else None
    return value if hasattr(value, "shape") else None


class _Leaves:
    """The named inputs of the steps, and the targets and sources, including those the tape has not recorded.

    A source that the tape has not recorded becomes an unused leaf: its gradient is None, as on the tape. `inputs` names
    tensors: constants of the step, which `replay` can then replace, or watched tensors.
    """

    def __init__(self, reading: Reading, steps: Sequence[RepeatedStep], inputs: Mapping[str, Any]) -> None:
        self._reading = reading
        self.names: dict[Key, str] = {}
        self.values: dict[Key, Tensor] = {}
        self._constants: dict[int, Key] = {}  # by the `id` of a tensor, or of its array
        made = {key for step in steps for key in step.outputs}
        used = [x for step in steps for x in step.inputs]
        self.sources = [self._place(at, source, ("source", i)) for i, (_, source, at) in enumerate(reading.sources)]
        self.weights: dict[Any, Tensor] = dict(reading.seeds)
        for i, target in enumerate(reading.targets):
            if reading.log.position(target) is None:
                key = self._place(None, target, ("target", i))
                self.weights[key] = ones(target)
        taken = {x for x in used if type(x) is int} | {*self.sources, *self.weights}
        positions = sorted(x for x in taken - made if type(x) is int)
        named = {name: self._input(name, x, used, set(positions)) for name, x in inputs.items()}
        variables: dict[Any, str] = {at: source_name(v, None) for v, at in reading.log.variable_positions()}
        variables |= {key: source_name(s, None) for key, (_, s, _) in zip(self.sources, reading.sources, strict=True)
                      if type(key) is tuple and not isinstance(s, Tensor)}  # fmt: skip
        of_inputs = {key: name for name, key in named.items()}
        for number, key in enumerate([*positions, *(key for key in self.values if key not in made)]):
            name = of_inputs.get(key) or variables.get(key) or f"input_{number}"
            clash = name in self.names.values() or (key not in of_inputs and name in named)
            self.names[key] = f"{name}_{number}" if clash else name

    def key_of(self, x: Any) -> Any:
        """Returns the key of a constant that has become an input; any other value as it is."""
        if not isinstance(x, Tensor) or not self._constants:
            return x
        return self._constants.get(id(x)) or self._constants.get(id(x.buffer)) or x

    def _place(self, at: int | None, x: Any, key: Key) -> Key:
        """Returns the key of a source or target; one that no step produces becomes a leaf."""
        if at is not None:
            return at
        if id(x) in self._reading.keys_beside:
            return self._reading.keys_beside[id(x)]
        with dispatch.recorded_by(()):
            tensor = x if isinstance(x, Tensor) else to_tensor(native(x))
        self.values[key] = wrap(tensor.array, tensor.dtype)
        return key

    def _input(self, name: str, x: Any, used: Sequence[Any], leaves: set[Any]) -> Key:
        """Returns the key of the leaf for a named input."""
        at = self._reading.log.position(native(x))
        if at in leaves:
            return at
        if isinstance(x, Tensor):
            same = [y for y in used if isinstance(y, Tensor) and (y is x or y.buffer is x.buffer)]
            if at is None and same:
                key = ("input", name)
                self.values[key] = wrap(x.array, x.dtype)
                for each in (x, *same):
                    self._constants[id(each)] = self._constants[id(each.buffer)] = key
                self._held = (*getattr(self, "_held", ()), x, *same)  # kept alive: their ids must stay unique
                return key
        raise ValueError(
            f"Cannot save this tape: the input {name!r} is not an argument of any recorded op, or is computed on the "
            "tape. Pass a tensor that is an argument of a recorded op, or watch it with tape.watch before use"
        )


def _plain(x: Tensor) -> Tensor:
    return wrap(np.asarray(x.array), x.dtype)


class Recording:
    """The validated contents of a saved step: see `validation`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._number = _loaded()  # unique, as recordings of different programs may share a file name
        with ArchiveReader(path) as reader:
            tensors = {name: self._read(reader, name) for name in reader.dtypes}
            self._document = document = Document(path, reader.notes, tensors)
        self.leaves, self.steps = document.leaves, document.steps
        self.values, self.constants, self.weights = document.values, document.constants, document.weights
        self.targets, self.sources, self.on_tape = document.targets, document.sources, document.on_tape
        self._files: dict[str, str] = {}  # by path in the recording: the displayed path

    def _read(self, reader: ArchiveReader, name: str) -> Tensor:
        try:
            return reader.read(name)
        except (errors.OpError, OSError):
            raise
        except Exception as error:  # of many types: any byte of an array's header may be damaged
            raise errors.DataLossError(f"{name} in {self.path} is damaged: {error}. Save the step again") from error

    def line(self, line: Any) -> Line | None:
        """Returns a line of the file under its displayed path, and makes its text available through `linecache`."""
        if line is None:
            return None
        path, number, function = line
        if path not in self._files:
            # A name that no real file has and that ends with the file's name: it is displayed, and keys `linecache`.
            last = path.replace("\\", "/").split("/")[-1]
            shown = "".join(c if c.isprintable() and c not in "<>" else "?" for c in last)
            file = f"<{self.path.name}, {self._number}.{len(self._files)}>/{shown[-100:] or '?'}"
            texts = self._document.texts[path]
            lines = [texts.get(n, "")[:_SHOWN] + "\n" for n in range(1, max(texts, default=0) + 1)]
            linecache.cache[file] = (len(lines), None, lines, file)
            self._files[path] = file
        return self._files[path], number, function

    def decoder(self, max_rounds: int = MAX_ROUNDS) -> Decoder:
        """Returns a decoder of the steps whose loops run at most `max_rounds` iterations."""
        return Decoder(self._document, self.line, RoundLimit(max_rounds))

    def fail(self, where: str, found: Any, expected: str) -> Any:
        """Raises the error for an invalid recording."""
        self._document.fail(where, found, expected)

    def attributes(self, step: SavedStep) -> dict[str, Any]:
        """Returns the decoded attributes of a step."""
        return self.decoder().attributes(step.words)

    def spec(self, key: int) -> Any:
        """Returns the shape and dtype that the file states for a value, or None."""
        return self._document.spec(key)


class RecordingRun:
    """A recording that was run on the values in the file or on others: the log of the run, its inputs and its query."""

    def __init__(self, recording: Recording, given: Mapping[str, Any] | None, max_rounds: int) -> None:
        self.recording = recording
        self.log = log = ReplayLog(False)
        self.inputs: dict[str, Variable] = {}
        made: dict[int, Tensor] = {}
        decoder = recording.decoder(max_rounds)
        with dispatch.recorded_by(()):
            for key, name in recording.leaves.items():
                variable = self.inputs[name] = Variable(_leaf_value(recording, key, name, given), name=name)
                made[key] = wrap(variable._storage.host(), variable.dtype)
                position = log.watch_variable(variable)
                if position >= 0:
                    made[key].tracer = (log.key, position, None)
            for number in range(len(recording.steps)):
                with self._running(number, as_it_was=given is None):
                    self._add(log, number, decoder, made, as_it_was=given is None)
        self.targets = [made[key] for key in recording.targets]
        self.sources = [self._source(key, made[key]) for key in recording.sources]
        log.last_query = (self.targets, recording.weights, [source for _, source in self.sources])

    def _source(self, key: int, x: Tensor) -> tuple[str, Any]:
        name = self.recording.leaves.get(key)
        return (f"value_{key}", x) if name is None else (name, self.inputs[name])

    @contextmanager
    def _running(self, number: int, as_it_was: bool) -> Iterator[None]:
        """Attributes an error while running a step to the file, or to the inputs of `replay`."""
        step = self.recording.steps[number]
        where = f"steps[{number}], {step.op[:100]}{at_line(self.recording.line(step.line))}"
        try:
            yield
        except Changed:
            if as_it_was:
                self.recording.fail(where, "not what its values say", "values that the function was traced for")
            raise ValueError(
                f"replay: the function was traced for specific values{at_line(self.recording.line(step.line))}, and "
                "these inputs lead to different ones, so it would be a different program. Save a step with such inputs"
            ) from None
        except MemoryError as error:
            raise errors.ResourceExhaustedError(
                f"{self.recording.path}: {where} needs more memory than is available. Load it on a larger machine"
            ) from error
        except (errors.DataLossError, errors.UnimplementedError, errors.ResourceExhaustedError):
            raise
        except Exception as error:
            if not as_it_was:
                if isinstance(error, errors.OpError | ValueError):
                    raise
                raise errors.InvalidArgumentError(f"replay: {where} fails with these inputs: {error!r}") from error
            raise errors.DataLossError(
                f"{self.recording.path}: {where} cannot run on the values in the file: {error!r}. The recording is "
                "damaged, or was changed after it was saved: save the step again"
            ) from error

    def _add(
        self, log: ReplayLog, number: int, decoder: Decoder, made: dict[int, Tensor], as_it_was: bool
    ) -> None:
        """Runs and records a step; its outputs are those in the file, or for `replay` the newly computed ones."""
        recording = self.recording
        step = recording.steps[number]
        inputs = [recording.constants[x["constant"]] if isinstance(x, dict) else made[x] for x in step.inputs]
        op, attrs = decoder.step(number, [(x.dims, x.dtype) for x in inputs])
        if as_it_was and op in _CHECKS:  # they held; on another machine rounding may differ
            return
        if not as_it_was and op is custom_gradient:
            self._check_computed(step, attrs["counts"])
        result = dispatch.run(op, inputs, attrs)
        several = type(result) is tuple
        outputs: list[Tensor] = list(result) if several else [result]
        if several != step.several or len(outputs) != len(step.outputs):
            recording.fail(f"steps[{number}], its outputs,", len(step.outputs), f"{len(outputs)}, as {op.name} gives")
        if as_it_was:
            outputs = [self._as_saved(number, key, y) for key, y in zip(step.outputs, outputs, strict=True)]
        if not outputs:
            return
        log.now = recording.line(step.line) or _NOWHERE
        log.record(op, inputs, tuple(outputs) if step.several else outputs[0], attrs)
        made.update(zip(step.outputs, outputs, strict=True))
        for key, y in zip(step.outputs, outputs, strict=True):
            # On the original tape this source was an output of a call's record; step by step, no differentiable op
            # leads to it.
            if key in recording.on_tape and log.position(y) is None and y.dtype.differentiable:
                log.watch(y)

    def _as_saved(self, number: int, key: int, y: Tensor) -> Tensor:
        """Returns the output stored in the file, or `y` if there is none; checks its shape and dtype against `y`."""
        spec = self.recording.spec(key)
        if spec is not None and spec != (y.dims, y.dtype):
            found = f"{spec[1].name} of shape {list(spec[0])}"
            self.recording.fail(f"steps[{number}], output {key},", found, f"{y.dtype.name} of shape {list(y.dims)}")
        value = self.recording.values.get(key)
        return y if value is None else wrap(value.array, value.dtype)

    def _check_computed(self, step: SavedStep, counts: tuple[int, int]) -> None:
        """Raises if a function with a custom gradient is known only by its results for the original inputs."""
        first, end = counts[0], sum(counts)
        given, results = step.inputs[:first], step.inputs[first:end]
        if any(isinstance(x, dict) for x in results) and not all(isinstance(x, dict) for x in given):
            where = at_line(self.recording.line(step.line))
            raise ValueError(
                f"replay: the function with a custom gradient{where} was not recorded as ops, so it cannot be computed "
                "for other inputs. Use TensorFlow ops in it"
            )


def _leaf_value(recording: Recording, key: int, name: str, given: Mapping[str, Any] | None) -> Any:
    """Returns the value of a leaf: the saved one, or its replacement."""
    before = recording.values[key]
    if given is None or name not in given:
        return before
    if before.dtype is dtypes.string:
        value = np.asarray(to_tensor(given[name], dtype=dtypes.string).array, object)
    else:
        value = np.asarray(given[name])
        if value.dtype.kind == "c" and not before.dtype.is_complex:
            raise ValueError(f"replay: {name} has the dtype {before.dtype.name}, got complex numbers")
        value = value.astype(before.dtype.numpy)
    if value.shape != before.dims:
        raise ValueError(f"replay: {name} has the shape {list(before.dims)}, got {list(value.shape)}")
    return wrap(value if value.ndim else value[()], before.dtype)
