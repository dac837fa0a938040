"""`tf.saved_model.experimental`: fingerprints, how variables are saved, and bases of objects such as tables."""

from __future__ import annotations

import enum
import os
from typing import Any

from ..core.owners import Owner
from ..core.protos import wire

NAMESPACES = ("saved_model.experimental",)
__all__ = ["Fingerprint", "TrackableResource", "VariablePolicy", "read_fingerprint"]

_FIELDS = (
    "saved_model_checksum", "graph_def_program_hash", "signature_def_hash", "saved_object_graph_hash",
    "checkpoint_hash", "version",
)  # fmt: skip


class VariablePolicy(enum.Enum):
    """How `SaveOptions.experimental_variable_policy` saves variables of strategies, and their devices."""

    __module__ = "gradtape.saved_model.experimental"

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"


class Fingerprint:
    """Hashes of the parts of a SavedModel, as TensorFlow writes them to `fingerprint.pb`.

    >>> tf.saved_model.experimental.Fingerprint(1, 2, 3, 4, 5).singleprint()
    '2/3/4/5'
    """

    __module__ = "gradtape.saved_model.experimental"

    def __init__(
        self, saved_model_checksum: int | None = None, graph_def_program_hash: int | None = None,
        signature_def_hash: int | None = None, saved_object_graph_hash: int | None = None,
        checkpoint_hash: int | None = None, version: Any = None,
    ) -> None:  # fmt: skip
        self.saved_model_checksum = saved_model_checksum
        self.graph_def_program_hash = graph_def_program_hash
        self.signature_def_hash = signature_def_hash
        self.saved_object_graph_hash = saved_object_graph_hash
        self.checkpoint_hash = checkpoint_hash
        self.version = version

    @classmethod
    def from_proto(cls, proto: Any) -> Fingerprint:
        """Creates a fingerprint from a `FingerprintDef`, a message or its bytes."""
        if isinstance(proto, bytes):
            try:
                found = {number: value for number, _, value in wire.fields(proto)}
            except ValueError as error:
                raise ValueError(f"Given proto could not be deserialized as fingerprint.{error}") from None
            hashes = [found.get(number, 0) for number in range(1, 6)]
            version = dict((n, v) for n, _, v in wire.fields(found.get(6, b""))).get(1, 0)
            return cls(**dict(zip(_FIELDS, [*hashes, version], strict=True)))
        try:
            return cls(*(getattr(proto, name) for name in _FIELDS))
        except AttributeError as error:
            raise ValueError(f"Given proto could not be deserialized as fingerprint.{error}") from None

    def _hashes(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in _FIELDS[:-1])

    def __eq__(self, other: object) -> bool:
        try:
            return self._hashes() == tuple(getattr(other, name) for name in _FIELDS[:-1])
        except AttributeError:
            return False

    def __hash__(self) -> int:
        return hash(self._hashes())

    def __str__(self) -> str:
        return "\n".join(["SavedModel Fingerprint", *(f"  {name}: {getattr(self, name)}" for name in _FIELDS[:-1])])

    def __repr__(self) -> str:
        return f"Fingerprint({', '.join(map(str, self._hashes()))})"

    def singleprint(self) -> str:
        """Returns the hashes that do not depend on the order of writing, as one string."""
        parts = self._hashes()[1:]
        if not all(isinstance(part, int) for part in parts):
            raise ValueError(f"Encounted invalid fingerprint values when constructing singleprint: {parts}")
        return "/".join(map(str, parts))


def read_fingerprint(export_dir: str | os.PathLike[str]) -> Fingerprint:
    """Reads the fingerprint of a SavedModel that TensorFlow wrote; gradtape writes none.

    >>> try:
    ...     tf.saved_model.experimental.read_fingerprint("nowhere")
    ... except FileNotFoundError as error:
    ...     print("SavedModel Fingerprint Error" in str(error))
    True
    """
    path = os.path.join(export_dir, "fingerprint.pb")
    try:
        with open(path, "rb") as file:
            return Fingerprint.from_proto(file.read())
    except FileNotFoundError:
        raise FileNotFoundError(
            f"SavedModel Fingerprint Error: Could not find fingerprint in directory: {export_dir}. TensorFlow writes "
            "fingerprint.pb when it saves a model; gradtape does not"
        ) from None


class CapturableResource(Owner):
    """An object with a handle that is made at first use by `_create_resource`, which a subclass defines."""

    def __init__(self, device: str = "") -> None:
        self._resource_handle_value: Any = None
        self._resource_device = device

    def _create_resource(self) -> Any:
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> None:
        """Fills the resource after it was made; a subclass may define it."""

    def _destroy_resource(self) -> None:
        """Releases the resource; a subclass may define it."""

    @property
    def resource_handle(self) -> Any:
        """The handle."""
        if self._resource_handle_value is None:
            self._resource_handle_value = self._create_resource()
        return self._resource_handle_value

    @property
    def _resource_handle(self) -> Any:
        return self.resource_handle

    @_resource_handle.setter
    def _resource_handle(self, handle: Any) -> None:
        self._resource_handle_value = handle

    def __del__(self) -> None:
        if self.__dict__.get("_resource_handle_value") is not None:
            self._destroy_resource()


class TrackableResource(CapturableResource):
    """A resource that a function may capture and that a module may own.

    >>> class Table(tf.saved_model.experimental.TrackableResource):
    ...     def _create_resource(self):
    ...         return tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    ...     def _initialize(self):
    ...         self.resource_handle.insert(["a"], [1])
    >>> table = Table()
    >>> table._initialize()
    >>> int(table.resource_handle.lookup(tf.constant("a")))
    1
    """

    __module__ = "gradtape.saved_model.experimental"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
