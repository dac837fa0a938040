"""`load_tape`: loads a step written by `tape.save`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...core import errors
from ...core.type_hints import PathLike
from ...inspect.recordings.recordings import MAX_ROUNDS, Recording, RecordingRun
from ..tape import GradientTape

NAMESPACES = ("",)
__all__ = ["load_tape"]


class LoadedTape(GradientTape):
    """A tape loaded from a file. Its methods default to the targets and sources it was saved with.

    `targets` are tensors; `sources` are variables under their original names, or tensors that the step computed;
    `inputs` are all values the step starts from.
    """

    def __init__(
        self, recording: Recording, given: Mapping[str, Any] | None = None, max_rounds: int = MAX_ROUNDS
    ) -> None:
        super().__init__(persistent=True, watch_accessed_variables=False, trace=True)
        self.recording = recording
        self._max_rounds = max_rounds
        self._entered = True
        run = RecordingRun(recording, given, max_rounds)
        self._log = run.log
        self.inputs = run.inputs
        self.targets = run.targets
        self._asked = run.sources
        self.sources: dict[str, Any] = dict(run.sources)

    def gradient(self, target: Any = None, sources: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Computes gradients; by default of the saved targets with respect to the saved sources."""
        if target is None:
            target = self.targets
            kwargs.setdefault("output_gradients", self.recording.weights)
        with self._answering("gradient"):
            return super().gradient(target, self._saved_sources() if sources is None else sources, *args, **kwargs)

    def explain(self, target: Any = None, sources: Any = None) -> Any:
        """Explains each gradient; by default of the saved targets with respect to the saved sources."""
        asked = (self.targets if target is None else target, self._saved_sources() if sources is None else sources)
        with self._answering("explain"):
            return super().explain(*asked)

    def diagnose(self, target: Any = None, sources: Any = None) -> Any:
        """Finds the origin of the first infinity or NaN."""
        with self._answering("diagnose"):
            return super().diagnose(target, sources)

    def check(self, target: Any = None, sources: Any = None) -> Any:
        """Checks the gradient rules recorded on this tape at the recorded values."""
        with self._answering("check"):
            return super().check(target, sources)

    def audit_precision(self, target: Any = None, sources: Any = None) -> Any:
        """Finds where this step loses precision."""
        with self._answering("audit_precision"):
            return super().audit_precision(target, sources)

    def flow(self, target: Any = None, sources: Any = None, by: str = "variable") -> Any:
        """Measures the size of each gradient, by variable or layer."""
        with self._answering("flow"):
            return super().flow(target, sources, by)

    def profile(self, target: Any = None, sources: Any = None) -> Any:
        """Measures time and saved bytes by op and by line, in a sweep run now."""
        with self._answering("profile"):
            return super().profile(target, sources)

    def memory(self) -> Any:
        """Lists what this tape keeps alive for its gradients."""
        with self._answering("memory"):
            return super().memory()

    def report(self, path: PathLike, target: Any = None, sources: Any = None) -> Any:
        """Writes an HTML report about this step to `path`."""
        with self._answering("report"):
            return super().report(path, target, sources)

    def _saved_sources(self) -> Any:
        found = [source for _, source in self._asked]
        return found[0] if len(found) == 1 else found

    @contextmanager
    def _answering(self, question: str) -> Iterator[None]:
        """Attributes errors to the file: a gradient rule may use an attribute that running its op did not."""
        try:
            yield
        except MemoryError as error:
            raise errors.ResourceExhaustedError(
                f"{question} of {self.recording.path} needs more memory than there is. Load it on a larger machine"
            ) from error
        except (LookupError, TypeError, AttributeError, ArithmeticError, AssertionError, RecursionError) as error:
            raise errors.DataLossError(
                f"{question} of {self.recording.path} fails: {error!r}. An attribute or a graph in the recording does "
                "not fit the values there, or the question is about what is not on this tape: save the step again, or "
                "ask about its targets, sources and inputs"
            ) from error

    def replay(self, inputs: Mapping[str, Any]) -> LoadedTape:
        """Runs the same step on other inputs, and returns its tape. Inputs that are not named keep their values.

        The names are those in `inputs`: variables, watched tensors, and constants that were named in `save`.
        """
        unknown = sorted(set(inputs) - set(self.inputs))
        if unknown:
            raise ValueError(f"replay: there is no input {unknown[0]!r}; there are {', '.join(self.inputs)}")
        return LoadedTape(self.recording, inputs, self._max_rounds)


def load_tape(path: str | os.PathLike[str], max_rounds: int = MAX_ROUNDS) -> LoadedTape:
    """Loads a tape written by `GradientTape.save`, to differentiate, explain or run it again:
    `gradient`, `explain`, `diagnose`, `report`, `replay`.

    The file may be untrusted: it contains no code, and all of it is validated. A damaged file raises `DataLossError`.
    Each step is run once; a loop of more than `max_rounds` iterations raises `ResourceExhaustedError`.

    Args:
      path: a file written by `GradientTape.save`.
      max_rounds: the largest number of iterations of a loop in the file.

    Returns:
      A `LoadedTape`.

    Raises:
      tf.errors.DataLossError: if the file is damaged.
      tf.errors.UnimplementedError: if an op in the file is not registered.
      tf.errors.ResourceExhaustedError: if a loop takes more than `max_rounds` iterations, or a value needs more than
        half of the memory.

    >>> import os, tempfile
    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> with tf.GradientTape(trace=True) as tape:
    ...     y = tf.reduce_sum(v * v)
    >>> loaded = tf.inspect.load_tape(tape.save(os.path.join(tempfile.mkdtemp(), "step.tape"), y, v))
    >>> loaded.replay({"v": [3.0, 4.0]}).gradient().numpy().tolist()
    [6.0, 8.0]
    """
    return LoadedTape(Recording(path), max_rounds=max_rounds)
