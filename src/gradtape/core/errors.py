"""TensorFlow's exception classes, with the same names and error codes."""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS = range(7)
PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE = range(7, 12)
UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED = range(12, 17)


class OpError(Exception):
    """An operation failed. `message` gives the reason, `error_code` is TensorFlow's numeric code for the class.

    >>> try:
    ...     tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    ... except tf.errors.OpError as error:
    ...     print(type(error).__name__, error.error_code == tf.errors.INVALID_ARGUMENT)
    InvalidArgumentError True
    """

    error_code = UNKNOWN
    node_def: Any
    op: Any
    message: str
    experimental_payloads: dict[str, Any]

    def __init__(self, node_def: Any = None, op: object = None, message: str = "", *args: Any) -> None:
        """Accepts `OpError(message)` or TensorFlow's `OpError(node_def, op, message, error_code)`."""
        if isinstance(node_def, str) and not message:
            node_def, message = None, node_def
        super().__init__(message)
        self.node_def, self.op, self.message = node_def, op, message
        self.experimental_payloads = {}
        if args and type(self) is OpError:
            self.error_code = args[0]


class CancelledError(OpError):
    """The operation was cancelled."""

    error_code = CANCELLED


class UnknownError(OpError):
    """An error that fits no other class."""

    error_code = UNKNOWN


class InvalidArgumentError(OpError):
    """The argument values or shapes are invalid for the operation."""

    error_code = INVALID_ARGUMENT
    about_values = False  # whether a graph raises it when it runs, rather than when it is traced
    operand_shapes: tuple[tuple[int, ...], ...] = ()  # the shapes of the inputs that the op rejected

    def about(self, *operand_shapes: tuple[int, ...]) -> InvalidArgumentError:
        """Attaches the incompatible shapes and returns the error.

        `tf.saved_model.save` reads them when it searches for shapes that are valid.
        """
        self.operand_shapes = operand_shapes
        return self


def rejected_shapes(error: BaseException | None) -> tuple[tuple[int, ...], ...]:
    """Returns the shapes that an op rejected, also if a library has raised an error of its own for that one."""
    while error is not None:
        shapes = getattr(error, "operand_shapes", ())
        if shapes:
            return shapes
        error = error.__context__
    return ()


class InvalidArgumentInTraceError(InvalidArgumentError, ValueError):
    """An invalid argument found while a function is traced.

    TensorFlow raises a ValueError at trace time for sizes that are statically known, and an InvalidArgumentError at run
    time for the others. This class derives from both, and is displayed as ValueError.
    """

    @classmethod
    def of(cls, error: InvalidArgumentError) -> InvalidArgumentInTraceError:
        """Returns the error for one that was raised while a function is traced."""
        if isinstance(error, InvalidArgumentInTraceError):
            return error
        again = cls(error.message)
        vars(again).update(vars(error))
        return again.with_traceback(error.__traceback__)

    def __reduce__(self) -> tuple[Any, ...]:
        reduced: Any = super().__reduce__()
        return _raised_in_trace, *reduced[1:]  # the class is not found under the name it is displayed with


def _raised_in_trace(*args: Any) -> InvalidArgumentInTraceError:
    return InvalidArgumentInTraceError(*args)


InvalidArgumentInTraceError.__name__ = InvalidArgumentInTraceError.__qualname__ = ValueError.__name__
InvalidArgumentInTraceError.__module__ = ValueError.__module__


class DeadlineExceededError(OpError):
    """The operation exceeded its deadline."""

    error_code = DEADLINE_EXCEEDED


class NotFoundError(OpError):
    """A file or another named entity does not exist."""

    error_code = NOT_FOUND


class AlreadyExistsError(OpError):
    """The entity to create already exists."""

    error_code = ALREADY_EXISTS


class PermissionDeniedError(OpError):
    """The caller does not have permission for the operation."""

    error_code = PERMISSION_DENIED


class ResourceExhaustedError(OpError):
    """Memory or disk space is exhausted."""

    error_code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError):
    """The system is not in the state that the operation requires."""

    error_code = FAILED_PRECONDITION


class AbortedError(OpError):
    """The operation was aborted, usually because of a concurrent one."""

    error_code = ABORTED


class OutOfRangeError(OpError):
    """An index or an iteration is past the end."""

    error_code = OUT_OF_RANGE


class UnimplementedError(OpError):
    """The operation is not implemented for these arguments."""

    error_code = UNIMPLEMENTED


class InternalError(OpError):
    """An internal invariant is violated: a defect."""

    error_code = INTERNAL


class UnavailableError(OpError):
    """The service is currently unavailable."""

    error_code = UNAVAILABLE


class DataLossError(OpError):
    """Data is lost or corrupted beyond repair."""

    error_code = DATA_LOSS


class UnauthenticatedError(OpError):
    """The caller did not authenticate."""

    error_code = UNAUTHENTICATED


class InaccessibleTensorError(ValueError):
    """A tensor created in a branch or in a loop body was used outside of it."""


class OperatorNotAllowedInGraphError(TypeError):
    """A Python operator needs the value of a symbolic tensor, which has none until the graph runs."""


class NeedsExamples(Exception):
    """A function reads the size or the value of a tensor of a scratch graph, which has none.

    `for_examples(function, args, kwargs)` calls a function with examples of these tensors instead.
    """

    is_signal = True  # not an error that the user sees, if the function has a front

    def __init__(self, for_examples: Callable[[Callable[..., Any], Sequence[Any], dict[str, Any]], Any]) -> None:
        super().__init__(
            "a tensor of a scratch graph has no value, and its shape is not fully known: use tf functions, such as "
            "tf.shape, instead of Python code"
        )
        self.for_examples = for_examples


def runs_with_examples(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a method: on a scratch graph, it is called with the examples if it reads sizes or values."""

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except NeedsExamples as signal:
            return signal.for_examples(method, args, kwargs)

    return call


class BranchNeedsExamples(NeedsExamples, OperatorNotAllowedInGraphError):
    """Python control flow needs the value of a tensor of a scratch graph."""


for _public in (OpError, *OpError.__subclasses__(), OperatorNotAllowedInGraphError):
    _public.__module__ = "gradtape.errors"  # the public module, which tracebacks and pickles name

_OF_SYSTEM: dict[type[OpError], tuple[str, ...]] = {  # the same mapping as in TensorFlow
    InvalidArgumentError: ("EINVAL", "ENAMETOOLONG", "EILSEQ", "ESPIPE"),
    NotFoundError: ("ENOENT", "ENODEV", "ENXIO"),
    AlreadyExistsError: ("EEXIST",),
    PermissionDeniedError: ("EACCES", "EPERM", "EROFS"),
    FailedPreconditionError: ("EISDIR", "ENOTDIR", "ENOTEMPTY", "EBADF", "EBUSY", "EPIPE", "ETXTBSY"),
    ResourceExhaustedError: ("ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "ENOMEM", "EMLINK"),
    OutOfRangeError: ("EFBIG", "EOVERFLOW"),
    UnimplementedError: ("ENOSYS", "ENOTSUP"),
}
_BY_NUMBER = {getattr(errno, name, None): kind for kind, names in _OF_SYSTEM.items() for name in names}
_NUMBERS: dict[type[OSError], int] = {  # of errors that Python code, such as fsspec's, raises without a number
    FileNotFoundError: errno.ENOENT, FileExistsError: errno.EEXIST, PermissionError: errno.EACCES,
    IsADirectoryError: errno.EISDIR, NotADirectoryError: errno.ENOTDIR,
}  # fmt: skip


@contextmanager
def of_system(path: str | bytes | os.PathLike[Any]) -> Iterator[None]:
    """Translates an OSError about the file `path`, raised inside the block, to TensorFlow's error class."""
    try:
        yield
    except OSError as error:
        number = error.errno or _NUMBERS.get(type(error))
        reason = error.strerror or (os.strerror(number) if number else error)
        raise _BY_NUMBER.get(number, UnknownError)(f"{os.fsdecode(path)}; {reason}") from error
