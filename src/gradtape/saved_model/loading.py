"""`tf.saved_model.load`: the objects of a SavedModel, with their variables and functions."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..api.lookup.static_tables import StaticHashTable
from ..checkpoint.bundle import BundleReader, is_bundle
from ..checkpoint.object_graph import ObjectNode
from ..checkpoint.restoration import restore_into
from ..checkpoint.tensorflow_graph import decode_graph as stored_nodes
from ..core import errors
from ..core.dtypes import DType
from ..core.owners import Owner
from ..core.protos import wire
from ..core.protos.records import Record, decoded
from ..core.tensor import Tensor
from ..core.tracebacks import at_boundary
from ..state.archive import is_inside
from ..state.variable import Variable
from .format import constants
from .format.options import Asset, LoadOptions
from .format.structures import UnknownSpecError, shape_of, signature_of, value_of
from .functions import LoadedConcreteFunction, LoadedFunction
from .interpretation import CapturedTensor, FileAccess, Library, UnknownResource
from .tables import LoadedTable

NAMESPACES = ("saved_model",)
__all__ = ["contains_saved_model", "load"]

# Exceptions of reading a malformed message. No user code runs meanwhile.
_DAMAGES = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def contains_saved_model(export_dir: Any) -> bool:
    """Returns whether a folder contains the file of a SavedModel.

    >>> tf.saved_model.contains_saved_model("no/such/folder")
    False
    """
    if isinstance(export_dir, os.PathLike):
        export_dir = os.fspath(export_dir)
    names = (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT)
    return any(os.path.isfile(os.path.join(export_dir, name)) for name in names)


def load_into(export_dir: Any, given: Mapping[str, Any], tags: Any = None, options: LoadOptions | None = None) -> Any:
    """Loads a SavedModel into objects that exist already; returns the objects by path.

    A path is `root` and the names of children, joined by dots. Its entry is None, if the object is to be created, or
    an existing object and a function `setter(object, name, child)` that gives it its children.
    """
    folder = os.fsdecode(os.fspath(export_dir))
    graph = _choose_graph(read(folder), tags, folder)
    loading = _Loading(graph, folder, options or LoadOptions())
    numbers = {path: loading.number_of(path) for path in given}
    loading.read_variables()
    setters = {}
    for path, entry in given.items():
        if entry is not None:
            existing, setters[numbers[path]] = entry if isinstance(entry, tuple) else (entry, setattr)
            loading.use(numbers[path], existing)
    for number, setter in setters.items():
        if not loading.is_table(number):  # it has functions of its own to create and to fill it
            loading.set_children(number, setter)
    loading.initialized()
    prefix = os.path.join(folder, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
    if is_bundle(prefix):
        restore_into(prefix, loading.object(0))  # also what is created later, such as the state of an optimizer
    existing = {path: entry[0] if isinstance(entry, tuple) else entry for path, entry in given.items()}
    return {
        path: loading.object(number) if existing[path] is None else existing[path] for path, number in numbers.items()
    }


def load(export_dir: Any, tags: Any = None, options: LoadOptions | None = None) -> Any:
    """Loads the object saved in a folder: its variables, functions and children are attributes.

    Functions are those traced when the object was saved, by TensorFlow or by gradtape. They can be differentiated, and
    their variables trained. `signatures` are functions that take tensors by name and return dicts of tensors.

    The file contains no Python code. A loaded function reads only files of its own folder, such as vocabularies, and
    writes none, unless `options` have `allow_file_access`.

    Args:
      tags: the tags of the graph to load, if the folder has several.

    >>> import tempfile
    >>> class Scale(tf.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = tf.Variable(2.0)
    ...     @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    ...     def __call__(self, x):
    ...         return x * self.factor
    >>> folder = tempfile.mkdtemp() + "/scale"
    >>> tf.saved_model.save(Scale(), folder)
    >>> tf.saved_model.load(folder)(tf.constant([1.0, 2.0, 3.0])).numpy().tolist()
    [2.0, 4.0, 6.0]
    """
    folder = os.fspath(export_dir)
    folder = folder.decode() if isinstance(folder, bytes) else folder
    graph = _choose_graph(read(folder), tags, folder)
    if "object_graph_def" not in graph:
        raise NotImplementedError(
            f"the SavedModel in {folder} is of TensorFlow 1: it has graphs and no objects. Load it in TensorFlow 2 and "
            "save it again with tf.saved_model.save"
        )
    options = options or LoadOptions()
    try:
        loading = _Loading(graph, folder, options)
        loading.read_variables()
        loading.make_objects()
    except UnknownSpecError:
        raise
    except _DAMAGES as error:
        raise errors.DataLossError(f"the SavedModel in {folder} is damaged: {error!r}") from error
    except MemoryError as error:
        raise errors.ResourceExhaustedError(f"the SavedModel in {folder} does not fit into memory") from error
    return loading.initialized()


def read(folder: str) -> Record:
    """Reads the message in the file of a SavedModel."""
    path = os.path.join(folder, constants.SAVED_MODEL_FILENAME_PB)
    if not os.path.isfile(path):
        if os.path.isfile(os.path.join(folder, constants.SAVED_MODEL_FILENAME_PBTXT)):
            raise NotImplementedError(
                f"the SavedModel in {folder} is written as text (.pbtxt), which is not read here: save it as .pb"
            )
        both = f"{{{constants.SAVED_MODEL_FILENAME_PBTXT}|{constants.SAVED_MODEL_FILENAME_PB}}}"
        raise OSError(f"SavedModel file does not exist at: {folder}{os.path.sep}{both}")
    with open(path, "rb") as file:
        data = file.read()
    try:
        found = decoded("SavedModel", data)
    except wire.DecodeError as error:
        raise OSError(f"Cannot parse file {path}: {error}.") from error
    if not found.meta_graphs:
        raise OSError(f"Cannot parse file {path}: there is no graph in it.")
    return found


def _choose_graph(saved: Record, tags: Any, folder: str) -> Record:
    """Returns the graph with these tags, or the only one."""
    graphs = saved.meta_graphs
    wanted = None if tags is None else {tags} if isinstance(tags, str) else set(tags)
    found = [frozenset(graph.meta_info_def.tags) if graph.meta_info_def else frozenset() for graph in graphs]
    if wanted is None and len(graphs) > 1:
        raise ValueError(
            "Importing a SavedModel with `tf.saved_model.load` requires a `tags=` argument if there is more than one "
            f"MetaGraph. Got `tags=None`, but there are {len(graphs)} MetaGraphs in the SavedModel with tag sets: "
            f"{[sorted(one) for one in found]}."
        )
    for graph, its in zip(graphs, found, strict=True):
        if wanted is None or wanted == its:
            return graph
    raise ValueError(
        f"The SavedModel at {folder} has MetaGraphs with tags {[sorted(one) for one in found]}, but got an "
        f"incompatible argument tags={tags} to tf.saved_model.load. You may omit it, pass 'None', or pass matching "
        "tags."
    )


class LoadedObject(Owner):
    """A loaded object, whose children are attributes. As in TensorFlow, a loaded module is no module."""


class CallableObject(LoadedObject):
    """A loaded object that can be called."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return vars(self)["__call__"](*args, **kwargs)


class Signatures(Mapping[str, Any]):
    """The signatures of a SavedModel by name."""

    def __init__(self) -> None:
        self.functions: dict[str, Any] = {}

    @at_boundary
    def __getitem__(self, key: str) -> Any:
        return self.functions[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    def __repr__(self) -> str:
        return f"_SignatureMap({self.functions})"


class _Loading:
    """The objects of a graph during loading, created on first access by their node index."""

    def __init__(self, graph: Record, folder: str, options: LoadOptions) -> None:
        self._graph, self._folder, self._options = graph, folder, options
        self._nodes = graph.object_graph_def.nodes
        self._library = Library(graph.graph_def, FileAccess(folder, options.allow_file_access))
        self._made: dict[int, Any] = {}
        self._values: dict[int, Tensor] = {}
        self._concretes: dict[str, LoadedConcreteFunction] = {}
        self._initializers: list[str] = []
        self._tables: list[tuple[LoadedTable, StaticHashTable]] = []  # those to fill are the second ones
        self._check_references()

    def _check_references(self) -> None:
        """Raises an error unless every object index in the message is valid."""
        references = [child.node_id for node in self._nodes for child in node.children]
        for function in self._graph.object_graph_def.concrete_functions.values():
            references += function.bound_inputs
        wrong = next((number for number in references if not 0 <= number < len(self._nodes)), None)
        if wrong is not None or not self._nodes:
            raise errors.DataLossError(
                f"the SavedModel in {self._folder} has {len(self._nodes)} objects, and refers to number {wrong or 0}"
            )

    def make_objects(self) -> None:
        """Creates all objects. No function of the file runs, except those that create empty tables."""
        root = self.object(0)
        if not isinstance(root, LoadedObject):
            raise errors.DataLossError(f"the root of the SavedModel in {self._folder} is a {type(root).__name__}")
        for name in self._initializers:
            self._concrete(name)
        for kind, name in self._library.registered_gradients.items():
            if name in self._graph.object_graph_def.concrete_functions:
                self._library.gradients[kind] = self._concrete(name)
        info = self._graph.meta_info_def
        root.tensorflow_version = info.tensorflow_version if info else ""
        root.tensorflow_git_version = info.tensorflow_git_version if info else ""
        root.graph_debug_info = None
        if not hasattr(root, "signatures"):
            root.signatures = Signatures()
        if self._options.experimental_load_function_aliases:
            root.function_aliases = self._aliases(info)

    def number_of(self, path: str) -> int:
        """Returns the index of the object at a path from the root."""
        number = 0
        names = path.split(".")[1:]
        while names:
            below = {child.local_name: child.node_id for child in self._nodes[number].children}
            # the name of a child may have dots
            count = next((n for n in range(1, len(names) + 1) if ".".join(names[:n]) in below), None)
            if count is None:
                raise ValueError(f"the SavedModel in {self._folder} has no object {path!r}")
            number, names = below[".".join(names[:count])], names[count:]
        return number

    def use(self, number: int, existing: Any) -> None:
        """Takes an existing object for a node; a variable gets its stored value, and an empty table its contents."""
        self._made[number] = existing
        if isinstance(existing, Variable) and number in self._values:
            existing.handle.assign(self._values[number])
        elif isinstance(existing, StaticHashTable) and "resource" in self._nodes[number]:
            self._resource(number, self._nodes[number])  # functions capture it, and it has the contents
            self._tables.append((self._made[number], existing))

    def is_table(self, number: int) -> bool:
        """Returns whether a node is a table."""
        return "resource" in self._nodes[number]

    def set_children(self, number: int, setter: Callable[[Any, str, Any], None]) -> None:
        """Gives an existing object the children that the file has."""
        owner = self._made[number]
        for name, child in self._children(self._nodes[number]).items():
            setter(owner, name, child)

    def initialized(self) -> Any:
        """Runs the functions that fill tables, and returns the root object."""
        for name in self._initializers:
            self._check_runs_at_load(name)
            self._concrete(name).run([])
        for loaded, table in self._tables:
            loaded.fill_table(table)
        return self.object(0)

    def _check_runs_at_load(self, name: str) -> None:
        """Raises an error if a function that runs during loading might not terminate."""
        if self._library[name].has_loops():
            raise errors.InvalidArgumentError(
                f"the function {name} of the SavedModel in {self._folder} makes or fills a table while the model is "
                "loaded, and has a loop in it: loading might never end"
            )

    def _aliases(self, info: Record | None) -> dict[str, Any]:
        """Returns the function aliases that were set when saving."""
        found: dict[str, list[LoadedConcreteFunction]] = {}
        for name, alias in (info.function_aliases if info else {}).items():
            found.setdefault(alias, []).append(self._concrete(name))
        open_ended = inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])
        return {alias: LoadedFunction(alias, open_ended, concretes, None) for alias, concretes in found.items()}

    def read_variables(self) -> None:
        """Reads the values of the variables by node index."""
        wanted = [i for i, node in enumerate(self._nodes) if "variable" in node]
        if not wanted or self._options.experimental_skip_checkpoint:
            return
        prefix = os.path.join(self._folder, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
        if not is_bundle(prefix):
            raise errors.NotFoundError(
                f"the SavedModel in {self._folder} has variables, and their files {prefix}.* are not there"
            )
        with BundleReader(prefix) as reader:
            graph = reader.object_graph
            if graph is None:
                raise errors.DataLossError(f"the variables in {prefix}.* have no graph of objects")
            keys = self._keys(stored_nodes(graph, reader.dtypes))
            found = {i: reader.read(keys[i]) for i in wanted if keys.get(i) in reader.dtypes}
        missing = [self._nodes[i].variable.name for i in wanted if i not in found]
        if missing and not self._options.allow_partial_checkpoint:
            raise errors.DataLossError(
                f"the files of the SavedModel in {self._folder} have no values for the variables {', '.join(missing)}. "
                "With LoadOptions(allow_partial_checkpoint=True) they begin as zeros"
            )
        self._values = found

    def _keys(self, stored: list[ObjectNode]) -> dict[int, str]:
        """Returns the checkpoint key of each variable, by walking both object graphs along the same names."""
        keys: dict[int, str] = {}
        pairs: dict[int, int] = {}
        waiting = [(0, 0)]
        while waiting:
            here, there = waiting.pop()
            if here in pairs:
                continue
            pairs[here] = there
            key, below = stored[there].key, stored[there].children
            if key is not None:
                keys[here] = key
            named = [(child.local_name, child.node_id) for child in self._nodes[here].children]
            waiting += [(number, below[name]) for name, number in named if name in below]
        for here, there in pairs.items():
            slots = {(slot.of, slot.name): stored[slot.node].key for slot in stored[there].slots}
            for slot in self._nodes[here].slot_variables:
                key = slots.get((pairs.get(slot.original_variable_node_id, -1), slot.slot_name))
                if key is not None:
                    keys[slot.slot_variable_node_id] = key
        return keys

    def object(self, number: int) -> Any:
        """Returns the object of a node."""
        if number not in self._made:
            node = self._nodes[number]
            kind = next((kind for kind in _KINDS if kind in node), "user_object")
            getattr(self, f"_{kind}")(number, node)
        return self._made[number]

    def _children(self, node: Record) -> dict[str, Any]:
        return {child.local_name: self.object(child.node_id) for child in node.children}

    def _user_object(self, number: int, node: Record) -> None:
        identifier = node.user_object.identifier if "user_object" in node else ""
        if identifier == "trackable_list_wrapper":
            self._made[number] = []
            found = self._children(node)
            self._made[number].extend(found[str(i)] for i in range(len(found)) if str(i) in found)
        elif identifier == "trackable_tuple_wrapper":
            found = self._children(node)
            self._made[number] = tuple(found[str(i)] for i in range(len(found)) if str(i) in found)
        elif identifier == "trackable_dict_wrapper":
            self._made[number] = {}
            self._made[number].update(self._children(node))
        elif identifier == "signature_map":
            self._made[number] = Signatures()
            for name, function in self._children(node).items():
                function.by_names = True
                self._made[number].functions[name] = function
        else:
            is_callable = any(child.local_name == "__call__" for child in node.children)
            made = self._made[number] = CallableObject() if is_callable else LoadedObject()
            for name, value in self._children(node).items():
                if name not in _ATTRIBUTES and hasattr(LoadedObject, name) and name.startswith("_"):
                    raise errors.DataLossError(f"an attribute of an object in the SavedModel is named {name!r}")
                if name in _ATTRIBUTES and not isinstance(value, LoadedFunction | LoadedConcreteFunction):
                    raise errors.DataLossError(f"{name} of an object in the SavedModel is no function")
                setattr(made, name, value)

    def _variable(self, number: int, node: Record) -> None:
        proto = node.variable
        dtype, shape = DType(proto.dtype), shape_of(proto.shape)
        value = self._values.get(number)
        if value is not None and not (value.dtype is dtype and shape.is_compatible_with(value.shape)):
            raise errors.DataLossError(
                f"the variable {proto.name!r} is {dtype.name} of shape {shape}, and its stored value "
                f"{value.dtype.name} of shape {value.shape}"
            )
        if value is None:
            value = _zeros([] if shape.rank is None else shape, dtype)
        self._made[number] = Variable(
            value, trainable=proto.trainable, name=proto.name or None, dtype=dtype,
            shape=None if shape.is_fully_defined() else shape,
        )  # fmt: skip

    def _constant(self, number: int, node: Record) -> None:
        self._made[number] = self._library.constant(node.constant.operation)

    def _resource(self, number: int, node: Record) -> None:
        """Creates a table, which one function creates and another fills at the end."""
        functions = {child.local_name: self._nodes[child.node_id].function for child in node.children}
        functions = {name: f.concrete_functions[0] for name, f in functions.items() if f and f.concrete_functions}
        if "_create_resource" not in functions:
            raise errors.DataLossError("a resource of the SavedModel has no function that makes it")
        self._check_runs_at_load(functions["_create_resource"])
        try:
            (self._made[number],) = self._library[functions["_create_resource"]]()
        except errors.UnimplementedError as error:
            self._made[number] = UnknownResource(error)
            return
        if "_initialize" in functions:
            self._initializers.append(functions["_initialize"])

    def _asset(self, number: int, node: Record) -> None:
        index, files = node.asset.asset_file_def_index, self._graph.asset_file_def
        if not 0 <= index < len(files):
            raise errors.DataLossError(f"the SavedModel has {len(files)} assets, and refers to number {index}")
        folder = os.path.join(self._folder, constants.ASSETS_DIRECTORY)
        path = os.path.join(folder, files[index].filename)
        if not is_inside(path, folder):
            raise errors.DataLossError(f"the asset {files[index].filename!r} of the SavedModel is not in its folder")
        self._made[number] = Asset(path)

    def _captured_tensor(self, number: int, node: Record) -> None:
        self._made[number] = CapturedTensor(node.captured_tensor.name, node.captured_tensor.concrete_function)

    def _bare_concrete_function(self, number: int, node: Record) -> None:
        proto = node.bare_concrete_function
        function = self._made[number] = self._concrete(proto.concrete_function_name)
        function.set_names(proto.argument_keywords, proto.allowed_positional_arguments)

    def _function(self, number: int, node: Record) -> None:
        proto = node.function
        concretes = [self._concrete(name) for name in proto.concrete_functions]
        spec = proto.function_spec
        if spec is None:
            self._made[number] = concretes[0] if concretes else None
            return
        arguments = value_of(spec.fullargspec)
        given = value_of(spec.input_signature) if "input_signature" in spec else None
        name = concretes[0].base_name if concretes else "function"
        self._made[number] = LoadedFunction(name, signature_of(arguments, spec.is_method), concretes, given)

    def _concrete(self, name: str) -> LoadedConcreteFunction:
        if name not in self._concretes:
            proto = self._graph.object_graph_def.concrete_functions[name]
            signature = value_of(proto.canonicalized_input_signature)
            made = self._concretes[name] = LoadedConcreteFunction(
                self._library[name], [], signature, value_of(proto.output_signature)
            )
            made.captured.extend(self._captured(number) for number in proto.bound_inputs)
            made.check()
        return self._concretes[name]

    def _captured(self, number: int) -> Any:
        found = self.object(number)
        return found.asset_path if isinstance(found, Asset) else found


_ATTRIBUTES = ("__call__",)  # names that the class also has, and that an attribute overrides
_KINDS = ("variable", "constant", "asset", "function", "bare_concrete_function", "resource",
          "captured_tensor", "user_object")  # fmt: skip


def _zeros(shape: Any, dtype: DType) -> Tensor:
    return Tensor(np.zeros([n or 0 for n in shape], dtype.numpy), dtype)
