"""A fake array library as strict as CuPy: it runs device tensors on machines without a GPU.

Its functions are NumPy's, but they accept only numbers and arrays of this library; NumPy arrays are rejected, and so is
every way of reading a value on the host other than `to_host`.
"""

import operator
import sys
import types

import numpy as np
import scipy.special

from gradtape.backends.arrays import ArrayModule
from gradtape.engine.registry.formula import FormulaSymbol

# Functions of NumPy or SciPy that kernels might use and CuPy lacks.
MISSING = {
    "apply_along_axis_nan", "frompyfunc", "vectorize", "memmap", "nditer", "char", "datetime64", "errstate",
    "block", "insert", "spacing", "unstack", "vecdot", "matvec", "vecmat", "dawsn", "fresnel", "spence", "multi_dot",
}  # fmt: skip
# Arguments that CuPy's functions and methods of the same name do not accept.
_REDUCING = {name: {"initial", "where"} for name in "max min amax amin sum prod mean std var all any".split()}
UNKNOWN = {
    **_REDUCING, "argsort": {"stable"}, "sort": {"stable"}, "as_strided": {"writeable", "subok"}, "cholesky": {"upper"},
    "count_nonzero": {"keepdims"}, "lexsort": {"axis"}, "svd": {"hermitian"}, "take": {"mode"},
}  # fmt: skip
# CuPy's sort is always stable; no test may depend on NumPy's unstable sort.
STABLE = {"argsort", "sort"}
# Dtypes of `ufunc.at`: CuPy's `maximum.at` rounds float64 to float32 and loses NaN.
_INTEGERS = {"int32", "int64", "uint32", "uint64"}
SCATTERED = {
    "add": {*_INTEGERS, "float16", "float32", "float64"}, "maximum": _INTEGERS, "minimum": _INTEGERS,
}  # fmt: skip
UFUNC_METHODS = {
    "at": set(SCATTERED), "reduce": {"add", "multiply"}, "accumulate": {"add", "multiply"}, "reduceat": {"add"}
}  # fmt: skip


class StrictArray:
    """An array that only its own library can read."""

    __array_ufunc__ = None
    __slots__ = ("__weakref__", "_inside")

    def __init__(self, inside):
        self._inside = np.asarray(inside)

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def _refuse(self, *args):
        raise TypeError("the value of a device's array was read on the host")

    __bool__ = __int__ = __float__ = __complex__ = __index__ = item = tolist = tobytes = _refuse
    __hash__ = None

    def __len__(self):
        return len(self._inside)

    def __iter__(self):
        return map(StrictArray, self._inside)

    shape = property(lambda self: self._inside.shape)
    dtype = property(lambda self: self._inside.dtype)
    ndim = property(lambda self: self._inside.ndim)
    size = property(lambda self: self._inside.size)
    nbytes = property(lambda self: self._inside.nbytes)
    itemsize = property(lambda self: self._inside.itemsize)
    strides = property(lambda self: self._inside.strides)
    flags = property(lambda self: self._inside.flags)
    T = property(lambda self: StrictArray(self._inside.T))
    real = property(lambda self: StrictArray(self._inside.real))
    imag = property(lambda self: StrictArray(self._inside.imag))

    def __getitem__(self, key):
        return StrictArray(self._inside[inside(key)])

    def __setitem__(self, key, value):
        self._inside[inside(key)] = inside(value)

    def __repr__(self):
        return f"StrictArray({self._inside!r})"


_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
_COMPARISONS = "eq ne lt le gt ge".split()
_METHODS = (
    "reshape transpose swapaxes astype copy sum prod max min mean any all argmax argmin cumsum cumprod ravel squeeze "
    "conj conjugate take repeat view clip round dot nonzero argsort sort diagonal trace std var ptp fill"
).split()


def _operator(name):
    function = np.errstate(all="ignore")(getattr(operator, {"and": "and_", "or": "or_"}.get(name, name)))
    setattr(StrictArray, f"__{name}__", lambda a, b: outside(function(a._inside, inside(b))))
    setattr(StrictArray, f"__r{name}__", lambda a, b: outside(function(inside(b), a._inside)))

    def in_place(a, b):
        a._inside[...] = function(a._inside, inside(b))
        return a

    setattr(StrictArray, f"__i{name}__", in_place)


for _name in _OPERATORS:
    _operator(_name)
for _name in _COMPARISONS:
    _compare = getattr(operator, _name)
    setattr(StrictArray, f"__{_name}__", lambda a, b, f=_compare: outside(f(a._inside, inside(b))))
for _name in ("neg", "abs", "invert", "pos"):
    _unary = getattr(operator, _name)
    setattr(StrictArray, f"__{_name}__", lambda a, f=_unary: outside(f(a._inside)))


def _method(name):
    def method(a, *args, **named):
        return outside(getattr(a._inside, name)(*map(inside, args), **inside(known(name, named))))

    setattr(StrictArray, name, method)


def known(name, named):
    """Returns the arguments of a function, if CuPy has them."""
    refused = named.keys() & UNKNOWN.get(name, ())
    if refused:
        raise TypeError(f"{name}() got an unexpected keyword argument {sorted(refused)[0]!r}")
    return {**named, "kind": "stable"} if name in STABLE else named


for _name in _METHODS:
    _method(_name)


def inside(x):
    """Returns an argument in the form that NumPy's function takes."""
    if isinstance(x, StrictArray):
        return x._inside
    if isinstance(x, np.ndarray) and x.ndim and x.size:
        raise TypeError(f"Unsupported type {type(x)}: an array of the host of shape {x.shape}")
    if isinstance(x, list | tuple) and not hasattr(x, "_fields"):
        return type(x)(map(inside, x))
    if isinstance(x, slice):
        return slice(inside(x.start), inside(x.stop), inside(x.step))
    if isinstance(x, dict):
        return {key: inside(value) for key, value in x.items()}
    return x


def copied(x):
    """Returns an argument of `asarray`, which may be an array of the host."""
    return x if isinstance(x, np.ndarray) else inside(x)


def outside(x):
    """Returns the result of a function as an array of this library."""
    if isinstance(x, np.ndarray | np.generic):
        return StrictArray(x)
    if isinstance(x, list):
        return list(map(outside, x))
    if isinstance(x, tuple):
        return tuple(map(outside, x))
    return x


class _Function:
    """A NumPy function for strict arrays, including ufunc methods."""

    def __init__(self, function):
        self._function = function
        self.__name__ = getattr(function, "__name__", "function")

    def __call__(self, *args, **named):
        out = named.get("out")
        named = known(self.__name__, named)
        CHECKS.get(self.__name__, lambda *args, **named: None)(*args, **named)
        with np.errstate(all="ignore"):
            result = outside(self._function(*map(inside, args), **inside(named)))
        return result if out is None else out

    def __getattr__(self, name):
        if self.__name__ not in UFUNC_METHODS.get(name, ()):
            raise NotImplementedError(f"`{self.__name__}.{name}` is not supported yet")
        return _Scatter(self._function) if name == "at" else _Function(getattr(self._function, name))


class _Scatter:
    """`ufunc.at` for the dtypes that CuPy supports."""

    def __init__(self, ufunc):
        self._ufunc = ufunc

    def __call__(self, a, indices, b):
        if a.dtype.name not in SCATTERED[self._ufunc.__name__]:
            raise TypeError(f"{self._ufunc.__name__}.at is not right for {a.dtype}")
        self._ufunc.at(a._inside, inside(indices), inside(b))


def _only_arrays(arrays, *args, **named):
    if not all(isinstance(a, StrictArray) for a in arrays):
        raise TypeError("Only cupy arrays can be concatenated")


def _same_stacks(a, b):
    if a.shape[:-1] != b.shape[:-1]:
        raise ValueError("a must have (..., M, M) shape and b must have (..., M, K) for multidimensional b")


def _steps_of_dtype(start, stop=None, step=1, dtype=None):
    if dtype is not None:
        np.dtype(dtype).type(step)  # -1 is not unsigned


def _no_numbers(*args):
    if not all(isinstance(a, StrictArray) for a in args):
        raise TypeError("Only arrays are broadcast")


CHECKS = {
    "concatenate": _only_arrays, "stack": _only_arrays, "solve": _same_stacks, "arange": _steps_of_dtype,
    "polygamma": _no_numbers, "broadcast_arrays": _no_numbers,
}  # fmt: skip


class _Module:
    """A NumPy or SciPy module for strict arrays."""

    def __init__(self, module, name):
        self._module = module
        self.__name__ = name

    def __getattr__(self, name):
        if name in MISSING or name == "at":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = getattr(self._module, name)
        if isinstance(found, types.ModuleType):
            found = _Module(found, f"{self.__name__}.{name}")
        elif callable(found) and not isinstance(found, type):
            found = _Function(found)
        setattr(self, name, found)
        return found


xp = _Module(np, "strict")
xp.special = _Module(scipy.special, "strict.special")
xp.ndarray = StrictArray
# From the host, if requested.
xp.asarray = xp.array = lambda x, dtype=None, **_: StrictArray(np.array(copied(x), dtype))


def fused(formula):
    """Runs the steps of a formula in sequence."""

    def kernel(*arrays, out=None):
        known = dict(zip(formula.inputs, map(inside, arrays), strict=True))
        with np.errstate(all="ignore"):
            for step in formula.steps:
                given = [known[x] if isinstance(x, FormulaSymbol) else x for x in step.inputs]
                known[step.output] = np.asarray(step.function(*given, **step.attrs))
        if formula.others:
            shape = np.broadcast_shapes(*[np.shape(inside(x)) for x in arrays])
            return tuple(outside(np.broadcast_to(known[x], shape).copy()) for x in (formula.result, *formula.others))
        if out is None:
            return outside(known[formula.result])
        out._inside[...] = known[formula.result]
        return out

    return kernel


def fused_rows(traced):
    """Runs the steps of a row-wise formula, with the shapes of a matrix of rows."""
    formula, shape, length = traced

    def as_rows(x, array):
        forms = {"each": (-1, length), "row": (-1, 1), "place": (1, length)}
        return np.asarray(array).reshape(forms[x.kind])

    def step_of(step, known):
        given = [known[x] if isinstance(x, FormulaSymbol) else x for x in step.inputs]
        if step.function == "view":
            return given[0]
        if step.function == "arange":
            return np.arange(length)[None]
        if step.function == "take":
            return np.take_along_axis(given[0], np.clip(given[1], 0, length - 1), axis=1)
        if isinstance(step.function, str):
            return getattr(given[0], step.function)(axis=1, keepdims=True)
        return np.asarray(step.function(*given, **step.attrs))

    def kernel(*arrays):
        known = {x: as_rows(x, inside(a)) for x, a in zip(formula.inputs, arrays, strict=True)}
        with np.errstate(all="ignore"):
            for step in formula.steps:
                known[step.output] = step_of(step, known)
                assert known[step.output].dtype == step.output.dtype
        return outside(known[formula.result].reshape(shape))

    return kernel


def has_own_memory(array):
    """Returns whether the array owns its memory: a view of CuPy's holds its base, ours the inner array."""
    return array._inside.base is None and sys.getrefcount(array._inside) <= 2


MODULE = ArrayModule(
    "strict", xp, StrictArray, "/job:localhost/replica:0/task:0/device:GPU:0",
    to_host=lambda a: a._inside.copy(), from_host=lambda a: StrictArray(np.array(a)),
    to_xla=lambda a, own=False: a._inside.copy(), from_xla=lambda a: StrictArray(np.array(a)),
    has_own_memory=has_own_memory, fuse=fused, fuse_rows=fused_rows,
    synchronize=lambda: None, memory=lambda: "there is enough",
)  # fmt: skip
