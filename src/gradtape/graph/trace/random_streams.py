"""The random streams of a trace: whenever a function is traced, each random op gets the same stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...engine.run.randomness import Draw, Stream

StreamKey = tuple[tuple[int, ...], int, int, int]  # the part of the function, the index in it, and the seeds


class RandomStreams:
    """Numbers the random ops of a trace and of the traces nested in it, its parts.

    `seed` is that of the enclosing trace, until the function sets another one; None stands for the global seed.
    """

    def __init__(self, outer: RandomStreams | None, seed: int | None) -> None:
        self.streams: dict[StreamKey, Stream] = {} if outer is None else outer.streams
        self.seed = seed
        # In a derivative: maps the ids of the differentiated graph's streams to the streams that replace them.
        self.replacements: dict[int, Stream] | None = None
        self._path: tuple[int, ...] = () if outer is None else outer.next_path()
        self._op_seeds = self._draws = self._parts = 0

    def next_op_seed(self) -> int:
        """Return the default seed of a random op: its index among the graph's seedless random ops."""
        self._op_seeds += 1
        return self._op_seeds - 1

    def next_path(self) -> tuple[int, ...]:
        """Return the path of the next part."""
        self._parts += 1
        return (*self._path, self._parts)

    @contextmanager
    def within_part(self, path: tuple[int, ...]) -> Iterator[None]:
        """Number random ops in the block as part `path`: repeating the block gives the same seeds and streams."""
        before = self._path, self._op_seeds, self._draws, self._parts
        self._path, self._op_seeds, self._draws, self._parts = path, 0, 0, 0
        try:
            yield
        finally:
            self._path, self._op_seeds, self._draws, self._parts = before

    def stream(self, first: int, second: int, blocks: int) -> Draw:
        """Return the next random op's draw, from the same stream whenever the function is traced."""
        self._draws += 1
        key = (self._path, self._draws, first, second)
        return Draw(self.streams.setdefault(key, Stream(first, second)), blocks)

    def stream_for(self, stream: Stream) -> Stream:
        """Return the stream that replaces another graph's `stream` here, the same one at every trace."""
        if self.replacements is not None:
            return self.replacements.setdefault(id(stream), stream.fresh())
        self._draws += 1
        return self.streams.setdefault((self._path, self._draws, *stream.seeds), stream.fresh())
