"""What the packages below `graph` may ask of the trace of a function in progress, `dispatch.thread.trace`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ...core.protocols import Attrs, Line, Tensors
from ...core.tensor import Tensor

if TYPE_CHECKING:
    from ..registry.op import Op, Unregistered
    from .randomness import Draw, Stream


Variable: TypeAlias = Any  # that of `state`, which this layer does not know


class TraceStreams(Protocol):
    """The random streams of a graph under construction, or of a function that runs eagerly.

    A `seed` of None stands for the global seed.
    """

    seed: int | None

    def next_op_seed(self) -> int:
        """Returns the default seed of a random op."""

    def stream(self, first: int, second: int, blocks: int) -> Draw:
        """Returns the next random op's draw."""

    def draw(self, take: Callable[[], Any]) -> Any:
        """Draws in an eager run."""

    def next_path(self) -> tuple[int, ...]:
        """Returns the path of the next part: a branch, a loop's body, a function that is called."""

    def within_part(self, path: tuple[int, ...]) -> AbstractContextManager[None]:
        """A context in which the random ops are those of the part `path`."""

    def stream_for(self, stream: Stream) -> Stream:
        """Returns the stream that replaces another graph's `stream` here."""


class TraceProtocol(Protocol):
    """A graph under construction: ops, variables, random draws and checks become part of it."""

    level: float
    key: object
    budget: int | float | None  # the memory budget of a tape inside
    tracks_external: bool  # whether ops on plain tensors that tapes or traces outside track become nodes
    tracks_all_external: bool  # also constants that the function creates
    is_scratch: bool  # whether the graph is dropped, with what it assigns and draws

    @property
    def for_xla(self) -> bool:
        """Whether XLA will run the graph."""

    @property
    def line(self) -> Line | None:
        """The source line that new nodes are attributed to, if it is not the caller's."""

    @property
    def random(self) -> TraceStreams:
        """The random streams of the graph."""

    def run(self, op: Op | Unregistered, inputs: Tensors, attrs: Attrs, line: Line | None = None) -> Any:
        """Runs `op` and adds a node."""

    def verify(self, test: Callable[..., None], inputs: Tensors) -> None:
        """Adds a check: `test(*arrays)`, called in every run, raises if it fails."""

    def at_line(self, line: Line | None = None) -> AbstractContextManager[None]:
        """Attributes nodes added in the block to `line`, by default to the current line of user code."""

    def is_external(self, x: Tensor) -> bool:
        """Whether a tape or trace outside tracks the plain tensor `x`."""

    def add_external(self, x: Tensor) -> None:
        """Makes ops on the plain tensor `x` nodes of the graph."""

    def read(self, variable: Variable) -> Tensor:
        """Returns the current value of `variable`, with tracers for the active recorders."""

    def write(self, variable: Variable, value: Tensor) -> None:
        """Sets the current value of `variable`."""

    def lifted_out(self, variable: Variable) -> None:
        """Registers a variable that was created in an `init_scope` inside the function."""

    def made(self, variable: Variable) -> None:
        """Registers a variable that was created inside the function."""

    def made_for_a_run(self, variable: Variable, value: Tensor) -> None:
        """Registers a variable that is local to each run of the function, with its initial value."""

    def lifted(self, value: Any) -> Any:
        """Returns the concrete value, in this run, of a variable's initial value."""

    def draw(self, take: Callable[[], Any]) -> Tensor:
        """Draws random state, a new one in every run."""

    def iterated(self) -> None:
        """The rows of a tensor are iterated over."""

    def target_is_unrecorded(self, target: Any) -> None:
        """Notes that a tape is asked for the gradient of a value that it has not recorded."""

    def tape_is_asked(self) -> None:
        """A tape computes a gradient."""
