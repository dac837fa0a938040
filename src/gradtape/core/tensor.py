"""`Tensor`: an immutable value. `gradtape.ops.operators` attaches its operators, which are recorded ops."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import array as new_array
from numpy import ndarray

from . import devices, dtypes, modes
from .device_kinds import Device
from .dtypes import DType
from .extension_points import place_tensor, report_escape
from .shapes import TensorShape
from .tracebacks import at_boundary, hide_frames

if TYPE_CHECKING:
    from .type_hints import TensorOperators
else:
    TensorOperators = object  # `gradtape.ops.operators` attaches the operators

_new = object.__new__
_MOST_NUMBERS = 1000  # cached per dtype


def placed(x: Tensor) -> Tensor:
    """Moves a new host tensor to the current device; returns it unchanged where no GPU backend is installed."""
    place = place_tensor.installed
    return x if place is None else place(x)


class Tensor(TensorOperators):
    """An immutable array with a dtype and a shape, created by `gradtape.constant` and by every op.

    `array` is an ndarray or, for most 0-d values, a NumPy scalar, whose arithmetic is ten times faster. `tracer` links
    the tensor to the active recorders: it is `None`, or a linked list `(recorder's key, its entry, rest)`, or, as a
    compact form, the integer position on the only tape that has recorded the tensor, whose key is then `tape_id`.
    `tracers` is always the linked list.

    >>> t = tf.constant([1.0, 2.0])
    >>> t * 2.0
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([2., 4.], dtype=float32)>
    """

    __slots__ = ("__dict__", "__weakref__", "array", "dtype", "tape_id", "tracer")

    __array_priority__ = 100  # so that `ndarray * tensor` calls our `__rmul__`

    array: Any
    dtype: DType
    tape_id: object
    tracer: Any
    placement: Device = devices.HOST  # a class attribute: only a tensor on another device has its own

    OVERLOADABLE_OPERATORS: frozenset[str]  # attached by `gradtape.ops.operators`

    def __init__(self, array: Any, dtype: DType | None = None) -> None:
        self.array = array
        self.dtype = dtypes.of_numpy(array.dtype) if dtype is None else dtype
        self.tracer = None
        if modes.active:
            modes.tensor_created(self)

    @property
    def tracers(self) -> Any:
        """The tracer as a linked list, or None."""
        tracer = self.tracer
        return (self.tape_id, tracer, None) if type(tracer) is int else tracer

    @property
    def buffer(self) -> Any:
        """The array in the tensor's own memory: the device array for a tensor on a device."""
        return self.array

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape as a plain tuple."""
        return self.array.shape

    @property
    def symbolic_dims(self) -> tuple[Any, ...]:
        """The shape, in which an object represents a size that differs between the runs of a graph."""
        return self.dims

    has_dynamic_sizes = False  # whether `symbolic_dims` has such sizes
    holds_dynamic_size = False  # whether the value is such a size

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape._of(self.dims)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.dims)

    @property
    def device(self) -> str:
        """The device's name in TensorFlow's spelling."""
        return self.placement.name

    @property
    def backing_device(self) -> str:
        """The device whose memory holds the value: integers and strings are in that of the first CPU."""
        placed = self.placement.kind != "CPU" or self.dtype.is_floating or self.dtype.is_complex
        return (self.placement if placed else devices.HOST).name

    is_packed = False

    @property
    def name(self) -> str:
        """Eager tensors have no name."""
        raise AttributeError("Tensor.name is undefined when eager execution is enabled.")

    @property
    def graph(self) -> Any:
        """Eager tensors belong to no graph."""
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    @property
    def op(self) -> Any:
        """Eager tensors are not the output of a graph's node."""
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def value_index(self) -> int:
        """Eager tensors are not the output of a graph's node."""
        raise AttributeError("Tensor.value_index is undefined when eager execution is enabled.")

    def consumers(self) -> Any:
        """Eager tensors do not track their consumers."""
        raise NotImplementedError("Tensor.consumers is undefined when eager execution is enabled.")

    def eval(self, feed_dict: object = None, session: object = None) -> Any:
        """There are no sessions: use `numpy`."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?"
        )

    def get_shape(self) -> TensorShape:
        """Same as `shape`."""
        return self.shape

    def set_shape(self, shape: object) -> None:
        """Checks that the tensor's shape is compatible with `shape`; the shape of an eager tensor is always known."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {TensorShape(shape)}.")

    def numpy(self) -> Any:
        """Returns a copy of the value as a NumPy array, or a NumPy scalar."""
        if self.tracer is not None:
            report_escape(self, "numpy()")
        return self._shown()

    # Names of TensorFlow's eager tensors that Keras 2 and libraries use.

    def _numpy(self) -> Any:
        return self.numpy()

    def _shape_tuple(self) -> tuple[int, ...]:
        return tuple(self.dims)

    def _rank(self) -> int:
        return self.ndim

    @property
    def _id(self) -> int:
        return id(self)

    def _shown(self) -> Any:
        if self.dtype is dtypes.string and self.array.shape == ():
            return self.array.item() if isinstance(self.array, np.ndarray) else self.array
        if self.dtype.is_quantized:
            return self.array[self.dtype.name].copy()[()]  # plain integers, as TensorFlow shows them
        return self.array.copy() if self.array.shape else self.array[()]

    def computed(self) -> Tensor:
        """Returns itself. Lazy subclasses evaluate their value."""
        return self

    def number(self, value: float) -> Tensor:
        """Returns a number of the program as a scalar for an op on this tensor."""
        return number(self.dtype, value)

    def own_read(self) -> Tensor:
        """Returns a distinct tensor object for a value read from a variable, so that the user can watch it."""
        x = wrap(self.array, self.dtype)
        x.tracer = self.tracers
        return x

    def cpu(self) -> Tensor:
        """Returns the tensor in host memory: itself."""
        return self

    def gpu(self, gpu_index: int = 0) -> Tensor:
        """Raises RuntimeError; tensors of a GPU backend override it."""
        raise RuntimeError(f"GPU:{gpu_index} unknown device. The devices are {devices.logical_devices()}")

    def ref(self) -> Reference:
        """Returns a hashable reference to this tensor object, for use as a dictionary key."""
        return Reference(self)

    experimental_ref = ref

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if self.tracer is not None:
            report_escape(self, "NumPy")
        array = self.array
        if type(array) is not ndarray:  # a scalar has no memory to share
            return new_array(array, dtype)
        if copy or (dtype is not None and dtype != array.dtype):
            return array.astype(dtype or array.dtype, copy=True)
        view = array.view()
        view.setflags(False)  # type: ignore[call-arg]  # not writeable; by keyword it takes as long as all the rest
        return view

    def __dlpack__(self, **options: Any) -> Any:
        from . import dlpack

        if self.tracer is not None:
            report_escape(self, "DLPack")
        return dlpack.exported(self.array, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return np.asarray(self.array).__dlpack_device__()

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Tensor:
        if dtype is not None and not self.dtype.is_compatible_with(dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with dtype "
                f"{self.dtype.name}: {self!r}"
            )
        tensorflow = sys.modules.get("tensorflow")
        if getattr(tensorflow, "Tensor", Tensor) is not Tensor:  # TensorFlow itself, which accepts only its own tensors
            return tensorflow.constant(np.asarray(self))  # type: ignore[union-attr]
        return self

    def __len__(self) -> int:
        if not self.dims:
            raise TypeError("Scalar tensor has no `len()`")
        return self.dims[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.dims:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(self.dims[0]))

    def __bool__(self) -> bool:
        array = self.array
        if array.size > 1:
            try:
                raise ValueError(
                    f"The truth value of an array with more than one element is ambiguous: got a tensor of shape "
                    f"{self.shape}. Use tf.reduce_any(t) or tf.reduce_all(t)"
                )
            except ValueError as error:
                hide_frames(error)
                raise
        return array.size == 1 and bool(array)

    def __float__(self) -> float:
        value = self._scalar("float")
        return float(value.real if self.dtype.is_complex else value)

    def __int__(self) -> int:
        value = self._scalar("int")
        return int(value.real if self.dtype.is_complex else value)

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        if not self.dtype.is_integer or self.dims:
            raise TypeError(
                f"only integer scalar tensors can be converted to an index, got dtype {self.dtype.name} and shape "
                f"{self.shape}"
            )
        return int(self.array)

    def _scalar(self, kind: str) -> Any:
        if self.dims:
            raise TypeError(
                f"only scalar tensors can be converted to a Python {kind}, got a tensor of shape {self.shape}"
            )
        if self.tracer is not None:
            report_escape(self, f"{kind}()")
        return self.array.item() if isinstance(self.array, np.ndarray) else self.array

    def __format__(self, spec: str) -> str:
        return format(self._shown(), spec)

    def __nonzero__(self) -> bool:
        """Python 2's name for `__bool__`, which some libraries copy from here."""
        return bool(self)

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self._scalar("round"), ndigits) if ndigits is not None else round(self._scalar("round"))

    @at_boundary
    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return Tensor(self.array.copy(), self.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (np.asarray(self.array), self.dtype)

    @at_boundary
    def __setitem__(self, key: object, value: object) -> None:
        raise TypeError(
            f"'{type(self).__name__}' object does not support item assignment: tensors are immutable. Use "
            "tf.tensor_scatter_nd_update, or a tf.Variable and v[...].assign(value)"
        )

    def __str__(self) -> str:
        return f"tf.Tensor({text_of(self._shown(), str)}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={text_of(self._shown(), repr)}>"


Tensor.__module__ = "gradtape"


def text_of(value: object, show: Callable[[Any], str]) -> str:
    """Formats a NumPy value within a line of text: a scalar as Python prints it, a matrix on its own lines."""
    if show is repr and isinstance(value, np.generic):
        value = value.item()
    text = show(value)
    return f"\n{text}" if "\n" in text else text


class _Elsewhere:
    """A descriptor for an array method that tensors lack; its AttributeError names the function to use.

    `__getattr__` could do the same, but NumPy would call it twice in every `np.asarray(tensor)`.
    """

    def __init__(self, name: str, function: str) -> None:
        self._name, self._function = name, function

    @at_boundary
    def __get__(self, x: object, owner: type) -> Any:
        if x is None:
            return self
        raise AttributeError(
            f"'{owner.__name__}' object has no attribute '{self._name}'. If you are looking for numpy-related methods, "
            "run tf.experimental.numpy.experimental_enable_numpy_behavior(), or use the function of that name, such as "
            f"tf.{self._function}(t)."
        )


# Array methods that tensors lack, and the functions to use instead.
ARRAY_METHODS = {
    "T": "transpose", "reshape": "reshape", "sum": "reduce_sum", "mean": "reduce_mean", "max": "reduce_max",
    "min": "reduce_min", "astype": "cast", "transpose": "transpose", "ravel": "reshape", "clip": "clip_by_value",
    "size": "size", "data": "convert_to_tensor", "tolist": "nest.flatten", "prod": "reduce_prod", "dot": "tensordot",
}  # fmt: skip
for _name, _function in ARRAY_METHODS.items():
    setattr(Tensor, _name, _Elsewhere(_name, _function))


class Reference:
    """A hashable handle to a tensor or variable; two are equal only if they refer to the same object."""

    __slots__ = ("__weakref__", "_referent")

    def __init__(self, referent: object) -> None:
        self._referent = referent

    def deref(self) -> Any:
        """Returns the referenced tensor or variable."""
        return self._referent

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reference):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return self._referent is other._referent

    def __lt__(self, other: Reference) -> bool:
        return id(self._referent) < id(other._referent)

    def __hash__(self) -> int:
        return id(self._referent)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._referent!r}>"


def is_tensor_like(x: object) -> bool:
    """Whether `x` is a tensor or converts to one by `_as_tensor`, as a variable does."""
    return isinstance(x, Tensor) or hasattr(x, "_as_tensor")


def constant(array: Any, dtype: DType) -> Tensor:
    """Creates a tensor from a non-tensor value."""
    y = _new(Tensor)
    y.array = array
    y.dtype = dtype
    y.tracer = None
    if modes.active:
        modes.tensor_created(y)
    place = place_tensor.installed
    return y if place is None or not array.shape else place(y)


def _remade(array: Any, dtype: DType) -> Tensor:
    """Unpickles a tensor.

    Pickles do not name the class, since a TensorFlow replacement exposes it under another module name.
    """
    return Tensor(array, dtype)


def wrap(array: Any, dtype: DType) -> Tensor:
    """Same as `Tensor(array, dtype)`, without the constructor's cost and without notifying the active modes."""
    y = _new(Tensor)
    y.array = array
    y.dtype = dtype
    y.tracer = None
    return y


def number(dtype: DType, value: float) -> Tensor:
    """Returns a cached scalar tensor for an op's second argument, since expressions such as `x * 0.5` are frequent."""
    known = dtype.numbers.get(value)
    if known is not None:
        return known
    try:
        made = wrap(dtype.as_numpy_dtype(value), dtype)
    except (RuntimeWarning, FloatingPointError):  # see `backends/numpy/floating_point.py`
        with np.errstate(all="ignore"):
            made = wrap(dtype.as_numpy_dtype(value), dtype)
    if value and value == value and len(dtype.numbers) < _MOST_NUMBERS:  # 0.0 and -0.0 are the same key
        dtype.numbers[value] = made
    return made
