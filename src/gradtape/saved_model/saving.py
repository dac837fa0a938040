"""`tf.saved_model.save`: writes an object with its variables and functions to a folder that TensorFlow can load."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

from ..api.lookup.static_tables import StaticHashTable
from ..api.version import GIT_VERSION, VERSION
from ..checkpoint.bundle import write_bundle
from ..checkpoint.object_graph import describe_objects, owns_variables
from ..core import dtypes, errors
from ..core.protos.records import encoded
from ..engine.run.dispatch import thread
from ..engine.run.distribution_context import variables_as_one
from ..graph.function.concrete_function import ConcreteFunction
from ..graph.function.function import Function
from ..graph.function.open_sizes import represent_open_sizes
from ..graph.ir.graph import unique
from ..state.specs import TensorSpec
from .format import constants
from .format.options import Asset, SaveOptions
from .format.structures import structured
from .loading import Signatures
from .objects import ObjectGraph, concrete_functions_of, file_of, names_children, parts_of
from .probing import probed
from .serving import ServingGraph
from .signatures import DEFAULT_SIGNATURE, Served, chosen_signatures, inputs_of, outputs_of
from .tables import TableFunction, write_table
from .verification import verify
from .writing.library import FunctionLibrary

NAMESPACES = ("saved_model",)
__all__ = ["save"]

_PRODUCER = 1286  # the graph version that is written: that of TensorFlow 2.11, which later versions read


def save(obj: Any, export_dir: Any, signatures: Any = None, options: SaveOptions | None = None) -> None:
    """Writes an object with its variables and functions to a folder that TensorFlow and gradtape can load.

    Functions are saved for the signatures for which they were traced, and those with an `input_signature` for it. Open
    sizes stay open. Nothing is written unless everything can be.

    Args:
      obj: a `tf.Module`, a layer or another object with variables.
      signatures: functions to be served, by name: `tf.function`s with an input signature, or concrete functions.

    >>> import tempfile
    >>> module = tf.Module()
    >>> module.double = tf.function(lambda x: 2.0 * x, input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
    >>> folder = tempfile.mkdtemp() + "/model"
    >>> tf.saved_model.save(module, folder)
    >>> serve = tf.saved_model.load(folder).signatures["serving_default"]
    >>> serve(x=tf.constant([1.0, 2.0]))["output_0"].numpy().tolist()
    [2.0, 4.0]
    """
    save_objects(obj, export_dir, signatures, options)


def save_objects(obj: Any, export_dir: Any, signatures: Any = None, options: SaveOptions | None = None) -> ObjectGraph:
    """Does what `save` does, and returns the objects that it has written."""
    if thread.trace is not None:
        raise AssertionError("tf.saved_model.save is not supported inside a traced @tf.function. Move the call outside")
    if not owns_variables(obj):
        raise ValueError(
            "Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the `Trackable` class, for "
            f"export. Got {obj} with type {type(obj)}."
        )
    folder = os.fsdecode(os.fspath(export_dir))
    variables = describe_objects(obj)[1].values()
    distributed = any(getattr(v, "is_distributed", False) for v in variables)
    sizes = (n for v in variables for n in v.dims)
    with represent_open_sizes(sizes), variables_as_one() if distributed else nullcontext():
        cache: dict[Any, Any] = {}
        if signatures is None and names_children(obj):
            signatures = parts_of(obj, cache).get(DEFAULT_SIGNATURE)
        saving = _Saving(obj, chosen_signatures(obj, signatures), options or SaveOptions(), cache)
    with _replace_folder(folder) as place:
        saving.write(place)
    return saving.objects


@contextmanager
def _replace_folder(folder: str) -> Iterator[str]:
    """Context manager: a new folder that replaces another one when it is complete."""
    parent = os.path.dirname(os.path.abspath(folder))
    os.makedirs(parent, exist_ok=True)
    place = tempfile.mkdtemp(prefix=f".{os.path.basename(folder)}.", dir=parent)
    try:
        yield place
        os.chmod(place, 0o777 & ~_umask())
        try:
            os.rename(place, folder)
            return
        except OSError:
            if not os.path.isdir(folder):
                raise
        for name in sorted(os.listdir(place), key=lambda name: name == constants.SAVED_MODEL_FILENAME_PB):
            old, new = os.path.join(folder, name), os.path.join(place, name)
            if os.path.isdir(old):
                shutil.rmtree(old)
            os.replace(new, old)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


class _Saving:
    """Everything to be written, prepared before writing starts."""

    def __init__(
        self, root: Any, signatures: dict[str, ConcreteFunction], options: SaveOptions, cache: dict[Any, Any]
    ) -> None:
        self._options = options
        served = Signatures()
        served.functions.update({name: Served(name, function) for name, function in signatures.items()})
        self.objects = ObjectGraph(root, {"signatures": served}, cache)
        self._assets = self.objects.of_kind(Asset)
        paths = {id(asset.asset_path.array): asset for asset in self._assets}
        self._library = FunctionLibrary(paths, options.experimental_custom_gradients)
        self._written: dict[int, Written] = {}
        self._concretes: dict[str, dict[str, Any]] = {}
        self._names: dict[int, list[str]] = {}
        self._graph = ServingGraph(self.objects.variables(), self._assets)
        self._tables()
        functions = self.objects.of_kind(Function, ConcreteFunction)
        for function, traced in [(f, concrete_functions_of(f)) for f in functions]:  # before probing traces others
            self._names[self._number(function)] = [self._concrete(concrete).name for concrete in traced]
        for signature in served.functions.values():
            self._names[self._number(signature)] = [self._serve(signature)]

    def _tables(self) -> None:
        """Writes the functions of all tables."""
        written = {id(table): write_table(self._library, table) for table in self.objects.of_kind(StaticHashTable)}
        for function in self.objects.of_kind(TableFunction):
            name = written[id(function.table)][function.name]
            self._names[self._number(function)] = [name]
            captures = [function.table] if function.name == "_initialize" else []
            returned = TensorSpec([], dtypes.resource if function.name == "_create_resource" else dtypes.int32)
            self._concretes[name] = {
                "bound_inputs": [self._number(table) for table in captures],
                "canonicalized_input_signature": structured(((), {})),
                "output_signature": structured(returned),
            }
            if captures:
                self._graph.add_table(function.table, name)

    def _number(self, value: Any) -> int:
        number = self.objects.number(value)
        assert number is not None
        return number

    def _concrete(self, function: ConcreteFunction) -> Written:
        """Writes a function for one signature, if it has not been written."""
        if id(function) in self._written:
            return self._written[id(function)]
        title = function.name.decode()
        try:
            found = probed(function)
            name, captured = self._library.function(found.program, title, found.names, found.specs)
            verify(found, self._library, name, captured)
            bound = [self._bound(value, title) for value in captured]
            self._concretes[name] = {
                "bound_inputs": bound,
                "canonicalized_input_signature": structured(function.structured_input_signature),
                "output_signature": structured(found.outputs),
            }
        except (errors.UnimplementedError, TypeError) as error:
            raise type(error)(f"the function {title} cannot be saved in a SavedModel: {error}") from error
        written = self._written[id(function)] = Written(function, name, captured, bound, found.outputs)
        return written

    def _bound(self, value: Any, title: str) -> int:
        number = self.objects.number(value)
        if number is None:
            raise AssertionError(
                "Tried to export a function which references an 'untracked' resource. TensorFlow objects (e.g. "
                "tf.Variable) captured by functions must be 'tracked' by assigning them to an attribute of a tracked "
                "object or assigned to an attribute of the main object directly. See the information below:\n"
                f"\tFunction name = {title}\n\tCaptured Tensor = {value!r}"
            )
        return number

    def _serve(self, signature: Served) -> str:
        """Writes the function of a signature, which calls another one, and adds it to the serving graph."""
        inner = self._concrete(signature.function)
        inputs = inputs_of(signature.function, signature.name)
        outputs = outputs_of(signature.name, inner.outputs)
        order = [title for title, _ in inputs]
        inputs.sort()  # a signature is a dict, and its function takes the entries sorted by name
        writer = self._library.writer()
        named_refs = {title: writer.argument(title, spec.dtype) for title, spec in inputs}
        given = [named_refs[title] for title in order]
        given += [self._library.capture(writer, value) for value in inner.captured]
        kinds = [spec.dtype for spec in outputs.values()]
        stateful = self._library.is_stateful(inner.name)
        call = writer.StatefulPartitionedCall if stateful else writer.PartitionedCall
        name = self._library.finish(writer, f"__inference_signature_wrapper_{signature.name}",
                                    call(given, Tout=kinds, f=inner.name), list(outputs))  # fmt: skip
        named = {title: TensorSpec(spec.shape, spec.dtype, title) for title, spec in inputs}
        self._concretes[name] = {
            "bound_inputs": inner.bound,
            "canonicalized_input_signature": structured(((), named)),
            "output_signature": structured({key: TensorSpec.from_spec(spec, key) for key, spec in outputs.items()}),
        }
        self._graph.add_signature(signature.name, name, inputs, inner.captured, outputs)
        return name

    def write(self, folder: str) -> None:
        """Writes everything into an empty folder."""
        variables = os.path.join(folder, constants.VARIABLES_DIRECTORY)
        os.makedirs(variables)
        values = {key: variable._as_tensor() for key, variable in self.objects.variables().items()}
        write_bundle(
            os.path.join(variables, constants.VARIABLES_FILENAME), values, self.objects.for_checkpoint()
        )  # fmt: skip
        self._graph.finish()
        files = self._copy_assets(os.path.join(folder, constants.ASSETS_DIRECTORY))
        aliases = self._aliases()
        nodes = self.objects.nodes(self._names, self._assets)
        gradients = self._gradients(nodes)
        graph = {
            "meta_info_def": {
                "tags": [constants.SERVING, *(self._options.extra_tags or ())],
                "tensorflow_version": VERSION,
                "tensorflow_git_version": GIT_VERSION,
                "stripped_default_attrs": True,
                "function_aliases": aliases,
            },
            "graph_def": {
                "node": self._graph.nodes,
                "library": {"function": list(self._library.functions.values()), "registered_gradients": gradients},
                "versions": {"producer": _PRODUCER, "min_consumer": 12},
            },
            "saver_def": self._graph.saver,
            "signature_def": self._graph.signatures,
            "asset_file_def": [{"tensor_info": {"name": self._graph.asset_names[i]}, "filename": file}
                               for i, file in enumerate(files)],
            "object_graph_def": {
                "nodes": nodes,
                "concrete_functions": self._concretes,
            },
        }  # fmt: skip
        message = encoded("SavedModel", {"saved_model_schema_version": 1, "meta_graphs": [graph]})
        with open(os.path.join(folder, constants.SAVED_MODEL_FILENAME_PB), "wb") as file:
            file.write(message)

    def _gradients(self, nodes: list[dict[str, Any]]) -> list[dict[str, str]]:
        """Returns the custom gradients; adds their functions and captured tensors to the objects."""
        registered = []
        for gradient, function in self._library.gradients:
            numbers = range(len(nodes), len(nodes) + len(gradient.captured))
            nodes += [{"captured_tensor": {"name": name, "concrete_function": function}} for name in gradient.captured]
            self._concretes[gradient.function] = {
                "bound_inputs": list(numbers),
                "canonicalized_input_signature": structured(((None, *gradient.takes), {})),
                "output_signature": structured(gradient.gives),
            }
            registered.append({"gradient_func": gradient.function, "registered_op_type": gradient.op_type})
        return registered

    def _aliases(self) -> dict[str, str]:
        found = {}
        for alias, function in self._options.function_aliases.items():
            for concrete in concrete_functions_of(function):
                found[self._concrete(concrete).name] = alias
        return found

    def _copy_assets(self, folder: str) -> list[str]:
        """Copies the files of the assets; returns their new names."""
        os.makedirs(folder)
        names: dict[str, str] = {}
        for asset in self._assets:
            path = file_of(asset)
            if path not in names:
                names[path] = unique(os.path.basename(path), names.values())
                with errors.of_system(path):
                    shutil.copyfile(path, os.path.join(folder, names[path]))
        return [names[file_of(asset)] for asset in self._assets]


class Written(NamedTuple):
    """A written function: its name, and its captures with their indices."""

    function: ConcreteFunction
    name: str
    captured: list[Any]
    bound: list[int]
    outputs: Any
