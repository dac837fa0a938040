"""`Variable`: a mutable value with an identity that tapes watch.

Reads return an immutable snapshot: an assignment never changes a tensor that was read before.
"""

from __future__ import annotations

import abc
import copyreg
import enum
import inspect
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from ..core import devices
from ..core.dtypes import DType, as_dtype
from ..core.operators import BINARY, REFLECTED, UNARY
from ..core.owners import Trackable
from ..core.scopes import carried, holding, scoped
from ..core.shapes import TensorShape
from ..core.tensor import Reference, Tensor, placed, text_of, wrap
from ..core.tracebacks import hide_frames
from ..engine.run import dispatch
from ..engine.run.convert import readable, register, to_tensor
from ..engine.run.dispatch import thread
from ..engine.run.namespace import ops
from .slice_info import SaveSliceInfo
from .storage import Storage, host_storage, storage_of
from .variable_updates import Updates

if TYPE_CHECKING:
    from ..core.type_hints import TensorOperators
else:
    TensorOperators = object  # `attach` defines the operators

_creation = itertools.count().__next__
_Mode = TypeVar("_Mode", bound=enum.Enum)


class VariableSynchronization(enum.Enum):
    """When the copies of a variable on several devices are synchronized."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


VariableSynchronization.__module__ = "gradtape"


class VariableAggregation(enum.Enum):
    """How updates from several replicas are aggregated."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3  # its name in TensorFlow 1


VariableAggregation.__module__ = "gradtape"


class _Creation(threading.local):
    """How this thread creates variables."""

    creators: tuple[Callable[..., Any], ...] = ()  # of `variable_creator_scope`, the innermost last
    variable_class: type[Variable] | None = None  # what the last `next_creator` makes; None: a `Variable`


creation = carried(_Creation())


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """In the block, `tf.Variable(...)` returns `variable_creator(next_creator, **arguments)`.

    >>> def frozen(next_creator, **arguments):
    ...     return next_creator(**{**arguments, "trainable": False})
    >>> with tf.variable_creator_scope(frozen):
    ...     v = tf.Variable(1.0)
    >>> v.trainable
    False
    """
    with holding(creation, creators=(*creation.creators, variable_creator)):
        yield


def called_with_creator(creator: Callable[..., Any], function: Callable[..., Any], *args: Any) -> Any:
    """Call `function(*args)` in a `variable_creator_scope`, with less overhead."""
    before = creation.creators
    creation.creators = (*before, creator)
    try:
        return function(*args)
    finally:
        creation.creators = before


class VariableClass(abc.ABCMeta):
    """The metaclass of `Variable`: under `variable_creator_scope`, calling the class may return something else.

    It derives from ABCMeta because libraries combine `Variable` with abstract base classes. `isinstance` uses the
    plain, fast check of `type`.
    """

    __instancecheck__, __subclasscheck__ = type.__instancecheck__, type.__subclasscheck__

    if not TYPE_CHECKING:  # type checkers see the signature of the constructor

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            """Apply the creators of this thread, the innermost first."""
            kwargs.pop("per_worker_variable", None)  # without parameter servers, one variable serves all workers
            try:
                if not creation.creators or cls is not Variable:
                    return type.__call__(cls, *args, **kwargs)
                bound = cls.__signature__.bind(*args, **kwargs)
                bound.apply_defaults()
                create: Callable[..., Any] = _create
                for creator in creation.creators:
                    create = partial(creator, create)
                return create(**bound.arguments)
            except Exception as error:
                hide_frames(error)
                raise

    @property
    def __signature__(cls) -> inspect.Signature:
        """The signature of the constructor, which `__call__` would hide from `inspect`."""
        signature = inspect.signature(cls.__init__)  # type: ignore[misc]
        return signature.replace(parameters=list(signature.parameters.values())[1:])


def _create(**arguments: Any) -> Variable:
    """Create a variable of the class that the creators have chosen."""
    return type.__call__(creation.variable_class or Variable, **arguments)


def _mode(kind: type[_Mode], given: object, default: _Mode, name: str | None) -> _Mode:
    """Validate a synchronization or aggregation mode; None selects the default."""
    if given is None:
        return default
    if not isinstance(given, kind):
        what = kind.__name__.removeprefix("Variable").lower()
        raise ValueError(f"Invalid variable {what} mode: {given} for variable: {name}. Use one of {list(kind)}")
    return given


class Variable(Updates, Trackable, TensorOperators, metaclass=VariableClass):
    """A mutable value of fixed dtype, watched by tapes when it is read.

    >>> v = tf.Variable(3.0)
    >>> v.assign_add(1.0).numpy()
    np.float32(4.0)

    Args:
      initial_value: anything that converts to a tensor, or a function without arguments that returns it.
      trainable: whether tapes watch it automatically; True by default.
      dtype: the dtype to convert the value to; a tensor must have it already.
      constraint: stored for optimizers, which apply it after an update; `assign` does not.
      shape: the allowed shapes, such as `[None, 3]`, if more general than the shape of the initial value.
      experimental_enable_variable_lifting: whether a variable created in a `tf.function` outlives the call; if not,
        each call has its own.

    Raises:
      ValueError: if there is no initial value, or it does not have the given shape.
    """

    SaveSliceInfo = SaveSliceInfo

    __array_priority__ = 100

    dtype: DType
    constraint: Callable[[Any], Any] | None

    def __init__(
        self, initial_value: object = None, trainable: bool | None = None, validate_shape: bool = True,
        caching_device: object = None, name: str | None = None, variable_def: object = None, dtype: object = None,
        import_scope: str | None = None, constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE, shape: Iterable[int | None] | int | None = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:  # fmt: skip
        if initial_value is None or variable_def is not None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified; `variable_def` is not supported, got "
                f"initial_value={initial_value!r} and variable_def={variable_def!r}"
            )
        if constraint is not None and not callable(constraint):
            raise ValueError(f"Argument `constraint` must be None or a callable. Got {type(constraint)}: {constraint}")
        self._synchronization = _mode(VariableSynchronization, synchronization, VariableSynchronization.AUTO, name)
        self._aggregation = _mode(VariableAggregation, aggregation, VariableAggregation.NONE, name)
        trace = thread.trace
        # The initial value is neither differentiable nor part of the trace that creates the variable.
        value = start = initial_value() if callable(initial_value) and trace is not None else initial_value
        with dispatch.traced_by(None):
            if trace is not None:
                value = trace.lifted(value)
            elif callable(value):
                value = value()
            value = to_tensor(value, dtype=None if dtype is None else as_dtype(dtype))
        allowed = value.shape if shape is None else TensorShape(shape)
        if not allowed.is_compatible_with(value.shape):
            raise ValueError(
                f"In this `tf.Variable` creation, the initial value's shape ({value.shape}) is not compatible with the "
                f"explicitly supplied `shape` argument ({shape})."
            )
        vars(self).update(dtype=value.dtype, constraint=constraint)  # derived classes may define these as properties
        on_read = self._synchronization is VariableSynchronization.ON_READ
        self._trainable = not on_read if trainable is None else trainable
        self._title = scoped("Variable" if name is None else name) + ":0"
        self._shape = allowed
        self._created = _creation()
        self._storage = self._store(value)
        if trace is not None:
            if experimental_enable_variable_lifting:
                trace.made(self)
            else:
                trace.made_for_a_run(self, to_tensor(start, dtype=value.dtype))
        elif value.tracer is not None:
            dispatch.escaped(value, "tf.Variable")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "value" in vars(cls) and "_as_tensor" not in vars(cls):
            cls._as_tensor = _with_value_of_own(cls._as_tensor)  # type: ignore[assignment,method-assign]

    def _store(self, value: Tensor) -> Storage:
        """Choose the storage of the initial value: where it is, but user-defined classes are on the host."""
        return storage_of(value) if type(self) is Variable else host_storage(value)

    def _as_tensor(self) -> Tensor:
        """Returns the value with tracers for the active recorder. The result must not reach the user: see `value`."""
        recorder = thread.recorder
        storage = self._storage
        read = storage.last
        if read is not None:
            tracer = read.tracer
            if tracer is None:
                if recorder is None:
                    return read
            elif recorder is not None and (
                read.tape_id is recorder.key if type(tracer) is int else tracer[2] is None and tracer[0] is recorder.key
            ):
                return read
        return storage.read(self, recorder)

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of the current value as a plain tuple."""
        return self._storage.dims

    @property
    def shape(self) -> TensorShape:
        """The static shape: the allowed shape of every value."""
        return self._shape

    @property
    def trainable(self) -> bool:
        """Whether tapes watch the variable automatically."""
        return self._trainable

    @property
    def name(self) -> str:
        """The name, prefixed with the enclosing name scopes and with the suffix `:0`."""
        return self._title

    # Names by which Keras 2 and its libraries identify and derive from variables.

    _in_graph_mode = False

    @classmethod
    def _OverloadAllOperators(cls) -> None:
        """Do nothing: operators of a derived class read its own `value` already."""

    def _dense_var_to_tensor(self, dtype: object = None, name: str | None = None, as_ref: bool = False) -> Tensor:
        """Returns the value; raises if it does not have the dtype that is asked for."""
        return to_tensor(self.value(), dtype=None if dtype is None else as_dtype(dtype))

    @property
    def _shared_name(self) -> str:
        return self._title.removesuffix(":0")

    @property
    def _unique_id(self) -> str:
        return f"{self._shared_name}_{self._created}"

    _owns_variables = False

    @property
    def _handle_name(self) -> str:
        return self.name

    @_handle_name.setter
    def _handle_name(self, name: str) -> None:
        self._title = name

    @property
    def _distribute_strategy(self) -> Any:
        """The strategy that created the variable, or None."""
        return None

    @property
    def synchronization(self) -> VariableSynchronization:
        """When copies on several devices are synchronized."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """How updates from several replicas are aggregated."""
        return self._aggregation

    @property
    def device(self) -> str:
        """The device of the value: the default device when the variable was created."""
        return self._storage.device

    @property
    def sharding(self) -> Any:
        """The sharding of a value on a mesh, a `jax.sharding.NamedSharding`; other variables lack the attribute."""
        if self._storage.layout is None:
            raise AttributeError(f"'Variable' object has no attribute 'sharding': {self._title} is on no mesh")
        return self._storage.layout.sharding

    @property
    def handle(self) -> Variable:
        """The variable itself, as a source of gradients; of a class that wraps another variable, that variable."""
        return self if "_storage" in vars(self) else type(self).__getattr__(self, "handle")  # type: ignore[attr-defined]

    @property
    def initializer(self) -> None:
        """None: a variable is initialized when it is created."""

    @property
    def initial_value(self) -> Any:
        """Not available in eager mode."""
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    @property
    def op(self) -> Any:
        """None in a function: the op that assigned the variable, which `v.assign(x).op` is, is not kept."""
        if thread.trace is None:
            raise AttributeError("Tensor.op is undefined when eager execution is enabled.")
        return None

    @property
    def graph(self) -> Any:
        """Not available: variables belong to no graph."""
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    def get_shape(self) -> TensorShape:
        """Same as `shape`."""
        return self._shape

    def set_shape(self, shape: Iterable[int | None] | int | None) -> None:
        """Narrow the allowed shapes."""
        self._shape = self._shape.merge_with(shape)

    def value(self) -> Tensor:
        """The current value as a separate tensor, with respect to which gradients can be computed.

        >>> tf.Variable([1.0, 2.0]).value().numpy().tolist()
        [1.0, 2.0]
        """
        return ops.identity(self._as_tensor())

    read_value = read_value_no_copy = initialized_value = value

    def numpy(self) -> Any:
        """The current value as a new NumPy array, or a NumPy scalar."""
        if thread.trace is not None:
            raise NotImplementedError("numpy() is only available when eager execution is enabled.")
        return self._as_tensor().numpy()

    def eval(self, session: object = None) -> Any:
        """Not available: there are no sessions. Use `numpy`."""
        raise RuntimeError("This operation is not supported when eager execution is enabled. Use .numpy()")

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Not available: there are no graph protos. Pickle the variable."""
        raise RuntimeError("This operation is not supported when eager execution is enabled. Use pickle")

    @staticmethod
    def from_proto(variable_def: object, import_scope: str | None = None) -> Variable:
        """Not available: there are no graph protos. Unpickle the variable."""
        raise RuntimeError("This operation is not supported when eager execution is enabled. Use pickle")

    def is_initialized(self, name: str | None = None) -> Tensor:
        """True: a variable is initialized when it is created."""
        return to_tensor(True)

    def ref(self) -> Reference:
        """A hashable reference to this variable, for use as a dictionary key."""
        return Reference(self)

    experimental_ref = ref

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Returns a copy of the value. Matplotlib calls it: a variable has no length, as in TensorFlow.

        >>> tf.Variable([1.0, 2.0]).to_numpy()
        array([1., 2.], dtype=float32)
        """
        return np.asarray(self)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._as_tensor())

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._as_tensor().__array__(dtype, copy=True)

    def __bool__(self) -> bool:
        return bool(self._as_tensor())

    def __float__(self) -> float:
        return float(self._as_tensor())

    def __int__(self) -> int:
        return int(self._as_tensor())

    def __complex__(self) -> complex:
        return complex(self._as_tensor())

    def __hash__(self) -> int:
        raise TypeError(f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self!r})")

    def __copy__(self) -> Variable:
        return self

    def __getstate__(self) -> dict[str, Any]:
        storage = self._storage
        state = {name: value for name, value in vars(self).items() if name not in ("_storage", "_created")}
        device = storage.device if storage.module is None else None  # None: the default device when it is unpickled
        return {**state, "_array": storage.host(), "_device": device}

    def __reduce__(self) -> tuple[Any, ...]:
        if type(self) is Variable:
            return _remade, (self.__getstate__(),)
        return copyreg.__newobj__, (type(self),), self.__getstate__()  # type: ignore[attr-defined]

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._created = _creation()
        array, device = vars(self).pop("_array"), vars(self).pop("_device", devices.HOST.name)
        if device is None:
            self._storage = storage_of(placed(wrap(array, self.dtype)))
        else:
            self._storage = Storage(array, self.dtype, device)

    def __repr__(self) -> str:
        if thread.trace is not None:
            return f"<tf.Variable '{self._title}' shape={self._shape} dtype={self.dtype.name}>"
        value = text_of(self._as_tensor()._shown(), repr)
        return f"<tf.Variable '{self._title}' shape={self._shape} dtype={self.dtype.name}, numpy={value}>"


Variable.__module__ = "gradtape"


def _remade(state: dict[str, Any]) -> Variable:
    """Rebuild a variable from a pickle, which does not name the class: see `Tensor`."""
    variable = object.__new__(Variable)
    variable.__setstate__(state)
    return variable


def _with_value_of_own(usual: Callable[[Any], Tensor]) -> Callable[[Any], Tensor]:
    """Wrap `_as_tensor` of a class that overrides `value`: use it if the instance skipped `Variable.__init__`."""
    return lambda self: usual(self) if "_storage" in vars(self) else to_tensor(self.value())


def convert_variable(variable: Variable, dtype: DType | None) -> Tensor:
    """Convert the value of a variable for an op's argument, honoring `value` of a subclass."""
    return to_tensor(variable.value(), dtype)


def attach(kind: type[object]) -> None:
    """Define the operators of `Tensor` on a variable class, applied to its value."""
    for row in BINARY:
        setattr(kind, row.method, lambda self, other, f=row.function: f(self._as_tensor(), other))
    for row in REFLECTED:
        setattr(kind, row.reflected, lambda self, other, f=row.function: f(other, self._as_tensor()))
    for row in UNARY:
        setattr(kind, row.method, lambda self, f=row.function: f(self._as_tensor()))
    for name, sign, instead in (
        ("add", "+", "variable.assign_add(value)"), ("sub", "-", "variable.assign_sub(value)"),
        ("mul", "*", "variable.assign(variable * value)"), ("truediv", "/", "variable.assign(variable / value)"),
        ("pow", "**", "variable.assign(variable ** value)"),
    ):  # fmt: skip
        setattr(kind, f"__i{name}__", _not_in_place(sign, instead))


def _not_in_place(sign: str, instead: str) -> Callable[[object, object], NoReturn]:
    def method(self: object, other: object) -> NoReturn:
        raise RuntimeError(
            f"`variable {sign}= value` with `tf.Variable`s is not supported. Use `{instead}` to modify the variable, "
            f"or `out = variable {sign} value` if you need to get a new output Tensor."
        )

    return method


attach(Variable)
register(Variable, convert_variable, 101)  # after converters that users register for their classes with priority 100
readable.add(Variable)
