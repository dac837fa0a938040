"""The random streams of a function: whenever it is traced, or runs eagerly, each random op gets the same stream.

TensorFlow traces a function once where gradtape traces it for each shape, and runs it eagerly where no graph fits. So
the seeds of an op are those of the first trace: Keras 2 counts its traces in the seeds of dropout layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...engine.run.randomness import Draw, Stream
from ..ir.effects import draw

StreamKey = tuple[tuple[int, ...], int]  # the part of the function, and the index in it


class RandomStreams:
    """Numbers the random ops of a trace, or of an eager run of a function, and of its parts, such as nested traces.

    `seed` is that of the enclosing trace, until the function sets another one; None stands for the global seed.
    """

    def __init__(
        self, outer: RandomStreams | None = None, streams: dict[StreamKey, Stream] | None = None,
        seed: int | None = None,
    ) -> None:  # fmt: skip
        self.streams: dict[StreamKey, Stream] = ({} if streams is None else streams) if outer is None else outer.streams
        self.seed = seed
        # In a derivative: maps the ids of the differentiated graph's streams to the streams that replace them.
        self.replacements: dict[int, Stream] | None = None
        self._path: tuple[int, ...] = () if outer is None else outer.next_path()
        self._op_seeds = self._draws = self.parts = 0  # the number of each so far

    def next_op_seed(self) -> int:
        """Returns the default seed of a random op: its index among the graph's seedless random ops."""
        self._op_seeds += 1
        return self._op_seeds - 1

    def next_path(self) -> tuple[int, ...]:
        """Returns the path of the next part."""
        self.parts += 1
        return (*self._path, self.parts)

    @contextmanager
    def within_part(self, path: tuple[int, ...]) -> Iterator[None]:
        """Number random ops in the block as part `path`: repeating the block gives the same seeds and streams."""
        before = self._path, self._op_seeds, self._draws, self.parts
        self._path, self._op_seeds, self._draws, self.parts = path, 0, 0, 0
        try:
            yield
        finally:
            self._path, self._op_seeds, self._draws, self.parts = before

    def stream(self, first: int, second: int, blocks: int) -> Draw:
        """Returns the next random op's draw, from the same stream whenever the function is traced."""
        return Draw(self.streams.setdefault(self._next_key(), Stream(first, second)), blocks)

    def _next_key(self) -> StreamKey:
        self._draws += 1
        return self._path, self._draws

    def stream_for(self, stream: Stream) -> Stream:
        """Returns the stream that replaces another graph's `stream` here, the same one at every trace."""
        if self.replacements is not None:
            return self.replacements.setdefault(id(stream), stream.fresh())
        return self.streams.setdefault(self._next_key(), stream.fresh())

    def draw(self, take: Callable[[], Any]) -> Any:
        """Draw in an eager run, as an effect: a trace that the run replaces may have drawn before."""
        return draw.numpy(take=take)
