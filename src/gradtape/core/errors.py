"""TensorFlow's exception classes, under TensorFlow's names."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS = range(7)
PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE = range(7, 12)
UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED = range(12, 17)


class OpError(Exception):
    """An operation could not be carried out. `message` says why, `error_code` is TensorFlow's number for the kind.

    >>> import gradtape as tf
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

    def __init__(self, node_def: Any = None, op: Any = None, message: str = "", *args: Any) -> None:
        """`OpError(message)`, or TensorFlow's `OpError(node_def, op, message, error_code)`."""
        if isinstance(node_def, str) and not message:
            node_def, message = None, node_def
        super().__init__(message)
        self.node_def = node_def
        self.op = op
        self.message = message
        self.experimental_payloads = {}
        if args and type(self) is OpError:
            self.error_code = args[0]


class CancelledError(OpError):
    """The operation was cancelled."""

    error_code = CANCELLED


class UnknownError(OpError):
    """Something went wrong that has no class of its own."""

    error_code = UNKNOWN


class InvalidArgumentError(OpError):
    """The values or shapes given do not fit the operation."""

    error_code = INVALID_ARGUMENT
    about_values = False  # whether a graph finds it when it is run, rather than when it is made
    operand_shapes: tuple[tuple[int, ...], ...] = ()  # of the tensors that an op refused

    def about(self, *operand_shapes: tuple[int, ...]) -> InvalidArgumentError:
        """The error, which says the shapes that do not fit: `tf.saved_model.save` looks for others."""
        self.operand_shapes = operand_shapes
        return self


class InvalidArgumentInTraceError(InvalidArgumentError, ValueError):
    """What does not fit was found while a function was traced.

    TensorFlow raises a ValueError there about sizes it knows, an InvalidArgumentError later about those it does not.
    This is both, and has the name of the first.
    """


InvalidArgumentInTraceError.__name__ = ValueError.__name__


class DeadlineExceededError(OpError):
    """The operation took longer than it was allowed to."""

    error_code = DEADLINE_EXCEEDED


class NotFoundError(OpError):
    """A file, or another thing named, does not exist."""

    error_code = NOT_FOUND


class AlreadyExistsError(OpError):
    """What was to be made is there already."""

    error_code = ALREADY_EXISTS


class PermissionDeniedError(OpError):
    """The caller may not do this."""

    error_code = PERMISSION_DENIED


class ResourceExhaustedError(OpError):
    """There is not enough memory, or disk."""

    error_code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError):
    """The state of the system does not allow the operation now."""

    error_code = FAILED_PRECONDITION


class AbortedError(OpError):
    """The operation was given up, usually because of another one."""

    error_code = ABORTED


class OutOfRangeError(OpError):
    """An index, or an iteration, went past the end."""

    error_code = OUT_OF_RANGE


class UnimplementedError(OpError):
    """The operation exists, but not for these arguments."""

    error_code = UNIMPLEMENTED


class InternalError(OpError):
    """Something that must always hold does not: a defect."""

    error_code = INTERNAL


class UnavailableError(OpError):
    """The service cannot be reached now."""

    error_code = UNAVAILABLE


class DataLossError(OpError):
    """Data are lost or damaged beyond repair."""

    error_code = DATA_LOSS


class UnauthenticatedError(OpError):
    """The caller did not say who it is."""

    error_code = UNAUTHENTICATED


class InaccessibleTensorError(ValueError):
    """A tensor made in a branch or in the body of a loop was used outside of it."""


class OperatorNotAllowedInGraphError(TypeError):
    """A Python operator needed the value of a tensor that has none yet."""


for _public in (OpError, *OpError.__subclasses__()):
    _public.__module__ = "gradtape.errors"  # where users import it from: tracebacks and pickles say so

_OF_SYSTEM: dict[type[OpError], tuple[str, ...]] = {  # as in TensorFlow
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


@contextmanager
def of_system(path: Any) -> Iterator[None]:
    """In the block, what the system says about the file `path` is raised as TensorFlow's error."""
    try:
        yield
    except OSError as error:
        kind = _BY_NUMBER.get(error.errno, UnknownError)
        raise kind(f"{os.fsdecode(path)}; {error.strerror or error}") from error
