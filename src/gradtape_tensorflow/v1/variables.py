"""`tf.compat.v1`: named variables in scopes, as in eager programs.

As in TensorFlow, an eager `get_variable` creates a new variable every time; only a template keeps its variables and
reuses them by name.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from gradtape.api.namespace import resolve
from gradtape.core import dtypes, scopes
from gradtape.core.owners import Trackable
from gradtape.core.scopes import carried
from gradtape.core.tensor import Tensor, is_tensor_like
from gradtape.core.type_hints import DTypeLike, ShapeLike
from gradtape.state.variable import Variable as Variable2
from gradtape.state.variable import VariableAggregation, VariableSynchronization

from .initializers.classes import glorot_uniform_initializer, zeros_initializer

NAMESPACES = ("compat.v1",)
__all__ = [
    "AUTO_REUSE", "GraphKeys", "Variable", "VariableScope", "add_to_collection", "add_to_collections", "all_variables",
    "get_collection", "get_collection_ref", "get_local_variable", "get_variable", "get_variable_scope",
    "global_variables", "global_variables_initializer", "initialize_all_variables", "initialize_local_variables",
    "initialize_variables", "is_variable_initialized", "local_variables", "local_variables_initializer",
    "make_template", "model_variables", "moving_average_variables", "name_scope", "no_regularizer",
    "tables_initializer", "trainable_variables", "variable_scope", "variables_initializer",
]  # fmt: skip


class _AnyVariable(type):
    """Every variable is an instance of TensorFlow 1's class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Variable2)


class Variable(metaclass=_AnyVariable):
    """A variable created with TensorFlow 1's parameters: a `tf.Variable`.

    >>> type(tf.compat.v1.Variable(1.0, collections=[])) is tf.Variable
    True
    """

    __module__ = "gradtape.compat.v1"

    SaveSliceInfo = Variable2.SaveSliceInfo

    def __new__(  # type: ignore[misc]
        cls, initial_value: Any = None, trainable: Any = None, collections: Any = None, validate_shape: bool = True,
        caching_device: Any = None, name: str | None = None, variable_def: Any = None, dtype: Any = None,
        expected_shape: Any = None, import_scope: Any = None, constraint: Any = None, use_resource: Any = None,
        synchronization: Any = VariableSynchronization.AUTO, aggregation: Any = VariableAggregation.NONE,
        shape: Any = None, experimental_enable_variable_lifting: bool | None = None,
    ) -> Any:  # fmt: skip
        """`collections`, `use_resource` and other parameters for graphs are ignored."""
        if variable_def is not None:
            raise NotImplementedError("there are no VariableDefs here: pass initial_value instead of variable_def")
        return Variable2(
            initial_value, trainable, name=name, dtype=dtype, constraint=constraint,
            synchronization=synchronization, aggregation=aggregation, shape=shape,
            experimental_enable_variable_lifting=experimental_enable_variable_lifting is not False,
        )  # fmt: skip


class _Reuse(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _Reuse.AUTO_REUSE


class GraphKeys:
    """The names of TensorFlow 1's collections."""

    __module__ = "gradtape.compat.v1"

    GLOBAL_VARIABLES, LOCAL_VARIABLES, METRIC_VARIABLES = "variables", "local_variables", "metric_variables"
    MODEL_VARIABLES, TRAINABLE_VARIABLES, SUMMARIES = "model_variables", "trainable_variables", "summaries"
    QUEUE_RUNNERS, TABLE_INITIALIZERS, ASSET_FILEPATHS = "queue_runners", "table_initializer", "asset_filepaths"
    MOVING_AVERAGE_VARIABLES, REGULARIZATION_LOSSES = "moving_average_variables", "regularization_losses"
    CONCATENATED_VARIABLES, SAVERS, WEIGHTS = "concatenated_variables", "savers", "weights"
    BIASES, ACTIVATIONS, UPDATE_OPS, LOSSES = "biases", "activations", "update_ops", "losses"
    SAVEABLE_OBJECTS, RESOURCES, LOCAL_RESOURCES = "saveable_objects", "resources", "local_resources"
    TRAINABLE_RESOURCE_VARIABLES, INIT_OP, LOCAL_INIT_OP = "trainable_resource_variables", "init_op", "local_init_op"
    READY_OP, READY_FOR_LOCAL_INIT_OP, SUMMARY_OP = "ready_op", "ready_for_local_init_op", "summary_op"
    GLOBAL_STEP, EVAL_STEP, TRAIN_OP = "global_step", "eval_step", "train_op"
    COND_CONTEXT, WHILE_CONTEXT, VARIABLES = "cond_context", "while_context", "variables"


class VariableScope:
    """A variable scope: a name, and defaults for its variables."""

    __module__ = "gradtape.compat.v1"

    def __init__(
        self, reuse: Any, name: str = "", initializer: Any = None, regularizer: Any = None, caching_device: Any = None,
        partitioner: Any = None, custom_getter: Any = None, name_scope: str = "", dtype: Any = dtypes.float32,
        use_resource: Any = None, constraint: Any = None,
    ) -> None:  # fmt: skip
        self.name, self.reuse, self.initializer, self.regularizer = name, reuse, initializer, regularizer
        self.caching_device, self.partitioner, self.custom_getter = caching_device, partitioner, custom_getter
        self.original_name_scope, self.dtype = name_scope, dtypes.as_dtype(dtype)
        self.use_resource, self.constraint = use_resource, constraint

    def reuse_variables(self) -> None:
        """Declares that variables exist; an eager scope still creates new ones."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Sets the default initializer."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """Sets the default regularizer."""
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: object) -> None:
        """Stores a device, without effect: values of variables are not cached."""
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        """Stores a partitioner, without effect: variables are not partitioned."""
        self.partitioner = partitioner

    def set_dtype(self, dtype: DTypeLike) -> None:
        """Sets the default dtype."""
        self.dtype = dtypes.as_dtype(dtype)

    def get_variable(self, name: str, shape: ShapeLike | None = None, **kwargs: Any) -> Variable2:
        """Returns a variable of this scope."""
        with variable_scope(self):
            return get_variable(name, shape, **kwargs)

    def trainable_variables(self) -> list[Any]:
        """Returns none: variables of an eager program are in no collection."""
        return []

    global_variables = local_variables = trainable_variables


class _Scopes(threading.local):
    """The state of a thread: open scopes, and the variables of the running template."""

    def __init__(self) -> None:
        self.open = [VariableScope(False)]
        self.kept: dict[str, Variable2] | None = None
        self.taken: frozenset[str] = frozenset()  # names of scopes: another one of this default name gets a number
        self.collections: dict[Any, list[Any]] = {}


_thread = carried(_Scopes())


def get_variable_scope() -> VariableScope:
    """Returns the innermost scope.

    >>> with tf.compat.v1.variable_scope("layer"):
    ...     print(tf.compat.v1.get_variable_scope().name)
    layer
    """
    return _thread.open[-1]


class name_scope(scopes.name_scope):
    """A name scope with a default name, for functions that have a parameter `name`.

    >>> with tf.compat.v1.name_scope(None, "pool") as scope:
    ...     print(scope)
    pool/
    """

    __module__ = "gradtape.compat.v1"

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None) -> None:
        for given in (name, default_name):
            if not isinstance(given, str | None):
                raise TypeError(f"`name` and `default_name` must be strings or None, got {given!r}")
        chosen = default_name if name is None else name
        if chosen is None and values is not None:
            raise ValueError("At least one of name (None) and default_name (None) must be provided.")
        super().__init__(chosen or "")


class variable_scope:
    """Context manager: names of variables start with `name_or_scope`.

    >>> with tf.compat.v1.variable_scope("layer"):
    ...     print(tf.compat.v1.get_variable("w", [2]).name)
    layer/w:0
    """

    __module__ = "gradtape.compat.v1"

    def __init__(
        self, name_or_scope: Any, default_name: str | None = None, values: Any = None, initializer: Any = None,
        regularizer: Any = None, caching_device: Any = None, partitioner: Any = None, custom_getter: Any = None,
        reuse: Any = None, dtype: Any = None, use_resource: Any = None, constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:  # fmt: skip
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        self._name: Any = default_name if name_or_scope is None else name_or_scope
        self._is_default = name_or_scope is None
        self._given = {
            "initializer": initializer, "regularizer": regularizer, "custom_getter": custom_getter, "dtype": dtype,
            "constraint": constraint, "reuse": reuse,
        }  # fmt: skip
        self._names = contextlib.ExitStack()

    def __enter__(self) -> VariableScope:
        around = get_variable_scope()
        again = isinstance(self._name, VariableScope)
        base = self._name if again else around
        chosen = _unique_scope(around.name, self._name) if self._is_default else self._name
        name = base.name if again else f"{around.name}/{chosen}".lstrip("/")
        self._taken = _thread.taken if again else None
        _thread.taken |= {name}
        settled = {key: getattr(base, key) if value is None else value for key, value in self._given.items()}
        prefix = "" if again else self._names.enter_context(resolve("name_scope")(chosen))
        scope = VariableScope(settled.pop("reuse"), name, name_scope=prefix or base.original_name_scope, **settled)
        _thread.open = [*_thread.open, scope]  # a new list: a thread that takes over keeps the old one
        return scope

    def __exit__(self, *error: object) -> None:
        inside = f"{_thread.open[-1].name}/"
        taken = _thread.taken if self._taken is None else self._taken
        _thread.taken = frozenset(name for name in taken if not name.startswith(inside))
        _thread.open = _thread.open[:-1]
        self._names.close()


def _unique_scope(around: str, default_name: str) -> str:
    """Returns the default name of a scope, with a number if the enclosing scope has had one of that name."""
    numbered = (f"{default_name}_{i}" if i else default_name for i in itertools.count())
    return next(name for name in numbered if f"{around}/{name}".lstrip("/") not in _thread.taken)


def get_variable(
    name: str, shape: ShapeLike | None = None, dtype: DTypeLike | None = None, initializer: Any = None,
    regularizer: Any = None, trainable: Any = None, collections: Any = None, caching_device: object = None,
    partitioner: Any = None, validate_shape: bool = True, use_resource: Any = None, custom_getter: Any = None,
    constraint: Any = None, synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Variable2:  # fmt: skip
    """Creates a variable with a name below the enclosing scopes; in a template, returns its existing one.

    >>> tf.compat.v1.get_variable("w", [2], initializer=tf.compat.v1.zeros_initializer()).numpy().tolist()
    [0.0, 0.0]
    """
    scope = get_variable_scope()
    full = f"{scope.name}/{name}".lstrip("/")
    kept = _thread.kept
    if kept is not None and full in kept:
        return kept[full]

    given = {
        "shape": shape, "dtype": dtype, "initializer": initializer, "trainable": trainable,
        "constraint": constraint or scope.constraint, "synchronization": synchronization, "aggregation": aggregation,
    }  # fmt: skip

    def made(title: str = full, *_: Any, **changed: Any) -> Variable2:
        """Creates the variable with this name, and what a getter changes."""
        chosen = given | {key: value for key, value in changed.items() if key in given and value is not None}
        how, wanted = chosen.pop("initializer"), chosen.pop("dtype")
        kind = dtypes.as_dtype(wanted or (None if _is_value(how) else scope.dtype) or dtypes.float32)
        first = _first_value(title, chosen.pop("shape"), kind, wanted, scope.initializer if how is None else how)
        with resolve("init_scope")(), resolve("name_scope")(""):
            return Variable2(first, name=title, **chosen)

    getter = custom_getter or scope.custom_getter
    variable = made() if getter is None else getter(made, full, regularizer=regularizer, **given)
    if kept is not None:
        kept[full] = variable
    return variable


def _is_value(initializer: Any) -> bool:
    return initializer is not None and (is_tensor_like(initializer) or not callable(initializer))


def _first_value(name: str, shape: Any, kind: Any, dtype: Any, initializer: Any) -> Any:
    if _is_value(initializer):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return resolve("convert_to_tensor")(initializer, dtype)
    if shape is None:
        raise ValueError(
            f"Variable {name} did not get an initializer, so its `shape` argument must be specified."
            if initializer is None
            else f"Shape of a new variable ({name}) must be fully defined, but instead was None."
        )
    dims = resolve("TensorShape")(shape)
    if initializer is None:
        numbers = kind.is_floating or kind.is_complex
        return (glorot_uniform_initializer if numbers else zeros_initializer)(dtype=kind)(dims)
    made = initializer() if isinstance(initializer, type) else initializer
    try:
        return made(dims, dtype=kind)
    except TypeError:
        return made()


def get_local_variable(
    name: str, shape: ShapeLike | None = None, dtype: DTypeLike | None = None, initializer: Any = None, **kwargs: Any
) -> Variable2:
    """`get_variable` for a non-trainable variable.

    >>> tf.compat.v1.get_local_variable("count", [], tf.int32).trainable
    False
    """
    return get_variable(name, shape, dtype, initializer, **{**kwargs, "trainable": False})


def make_template(
    name_: str, func_: Callable[..., Any], create_scope_now_: bool = False, unique_name_: Any = None,
    custom_getter_: Any = None, **kwargs: Any,
) -> Template:  # fmt: skip
    """Wraps a function to create its variables in the first call and reuse them later.

    >>> weight = tf.compat.v1.make_template("layer", lambda: tf.compat.v1.get_variable("w", [2]))
    >>> weight() is weight()
    True
    """
    return Template(name_, functools.partial(func_, **kwargs), custom_getter_)


class Template(Trackable):
    """A function that keeps the variables it creates, which are its children in checkpoints."""

    def __init__(self, name: str, func: Callable[..., Any], custom_getter: Any = None) -> None:
        self.name, self.func = name, func
        self._custom_getter = custom_getter
        self._kept: dict[str, Variable2] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function in the scope of its variables."""
        with keeping(self._kept), variable_scope(self.name, custom_getter=self._custom_getter) as scope:
            result = self.func(*args, **kwargs)
        for name, variable in self._kept.items():
            self._track_trackable(variable, name.removeprefix(f"{scope.name}/"))
        return result

    @property
    def variables(self) -> list[Variable2]:
        """The variables that the function has created, sorted by name."""
        return sorted(self._kept.values(), key=lambda variable: variable.name)

    @property
    def trainable_variables(self) -> list[Variable2]:
        """The trainable variables."""
        return [variable for variable in self.variables if variable.trainable]

    @property
    def non_trainable_variables(self) -> list[Variable2]:
        """The variables that are not trainable."""
        return [variable for variable in self.variables if not variable.trainable]

    weights, global_variables = variables, variables
    trainable_weights, non_trainable_weights = trainable_variables, non_trainable_variables


@contextlib.contextmanager
def keeping(variables: dict[str, Variable2]) -> Iterator[None]:
    """Context manager: `get_variable` returns these variables, and adds those that it creates."""
    before = _thread.kept, _thread.taken
    _thread.kept, _thread.taken = variables, frozenset()
    try:
        yield
    finally:
        _thread.kept, _thread.taken = before


def add_to_collection(name: Any, value: Any) -> None:
    """Adds a value to the collection of that name.

    >>> tf.compat.v1.add_to_collection("numbers", 1)
    >>> tf.compat.v1.get_collection("numbers")
    [1]
    """
    get_collection_ref(name).append(value)


def add_to_collections(names: Any, value: Any) -> None:
    """Adds a value to several collections.

    >>> tf.compat.v1.add_to_collections(["even", "prime"], 2)
    >>> tf.compat.v1.get_collection("prime")
    [2]
    """
    for name in [names] if isinstance(names, str) else set(names):
        add_to_collection(name, value)


def get_collection_ref(key: Any) -> list[Any]:
    """Returns the collection of that name itself.

    >>> tf.compat.v1.get_collection_ref("empty")
    []
    """
    return _thread.collections.setdefault(key, [])


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """Returns the contents of the collection of that name.

    >>> tf.compat.v1.get_collection("nothing")
    []
    """
    values = list(get_collection_ref(key))
    return [x for x in values if getattr(x, "name", "").startswith(scope)] if scope else values


def _of_a_collection(name: str, key: str) -> Callable[..., list[Any]]:
    def function(scope: str | None = None) -> list[Any]:
        return get_collection(key, scope)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""What is in the collection `{key}`: an eager program's variables are not put there.

    >>> tf.compat.v1.{name}()
    []
    """
    return function


global_variables = _of_a_collection("global_variables", GraphKeys.GLOBAL_VARIABLES)
local_variables = _of_a_collection("local_variables", GraphKeys.LOCAL_VARIABLES)
model_variables = _of_a_collection("model_variables", GraphKeys.MODEL_VARIABLES)
moving_average_variables = _of_a_collection("moving_average_variables", GraphKeys.MOVING_AVERAGE_VARIABLES)
trainable_variables = _of_a_collection("trainable_variables", GraphKeys.TRAINABLE_VARIABLES)


def all_variables() -> list[Any]:
    """Alias of `global_variables`.

    >>> tf.compat.v1.all_variables()
    []
    """
    return global_variables()


def _nothing_to_do(name: str, parameters: str = "") -> Callable[..., None]:
    scope: dict[str, Any] = {}
    exec(f"def {name}({parameters}): pass", scope)
    function: Callable[..., None] = scope[name]
    argument = "[]" if parameters.startswith("var_list") else ""
    function.__module__ = __name__
    function.__doc__ = f"""Nothing to do: an eager variable has its value from the beginning.

    >>> tf.compat.v1.{name}({argument})
    """
    return function


global_variables_initializer = _nothing_to_do("global_variables_initializer")
local_variables_initializer = _nothing_to_do("local_variables_initializer")
initialize_all_variables = _nothing_to_do("initialize_all_variables")
initialize_local_variables = _nothing_to_do("initialize_local_variables")
variables_initializer = _nothing_to_do("variables_initializer", "var_list, name='init'")
initialize_variables = _nothing_to_do("initialize_variables", "var_list, name='init'")
tables_initializer = _nothing_to_do("tables_initializer", "name='init_all_tables'")


def is_variable_initialized(variable: Any) -> Tensor:
    """Returns True: an eager variable always has a value.

    >>> bool(tf.compat.v1.is_variable_initialized(tf.Variable(1.0)))
    True
    """
    return resolve("constant")(True)


def no_regularizer(_: Any) -> None:
    """A regularizer that adds no loss and overrides those of enclosing scopes.

    >>> tf.compat.v1.no_regularizer(tf.Variable(1.0))
    """
