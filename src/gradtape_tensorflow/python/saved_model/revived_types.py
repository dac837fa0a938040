"""`tensorflow.python.saved_model.revived_types`: classes that are recreated when a SavedModel is loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class VersionedTypeRegistration:
    """One version of a class: how an object of it is made from its metadata, and how its attributes are set."""

    def __init__(
        self, object_factory: Callable[[Any], Any], version: int, min_producer_version: int,
        min_consumer_version: int, bad_consumers: Sequence[int] | None = None,
        setter: Callable[[Any, str, Any], None] = setattr,
    ) -> None:  # fmt: skip
        self.identifier = ""
        self.version = version
        self.setter = setter
        self._object_factory = object_factory
        self._min_producer_version = min_producer_version
        self._min_consumer_version = min_consumer_version
        self._bad_consumers = list(bad_consumers or ())

    def should_load(self, proto: Any) -> bool:
        """Returns whether this version makes objects of the class with this metadata."""
        producer = proto.version.producer
        return (
            proto.identifier == self.identifier
            and self.version >= proto.version.min_consumer
            and producer >= self._min_producer_version
            and self.version not in proto.version.bad_consumers
        )

    def from_proto(self, proto: Any) -> Any:
        """Makes an object."""
        return self._object_factory(proto)


_registered: dict[str, tuple[Callable[[Any], bool], list[VersionedTypeRegistration]]] = {}


def register_revived_type(
    identifier: str, predicate: Callable[[Any], bool], versions: Sequence[VersionedTypeRegistration]
) -> None:
    """Registers the versions of a class; `predicate` says whether an object is of that class."""
    for version in versions:
        version.identifier = identifier
    if identifier in _registered:
        raise AssertionError(f"Duplicate registrations for type '{identifier}'")
    _registered[identifier] = predicate, sorted(versions, key=lambda version: version.version, reverse=True)


def get_setter(proto: Any) -> Callable[[Any, str, Any], None] | None:
    """Returns the function that sets attributes of an object with this metadata, or None."""
    _, versions = _registered.get(proto.identifier, (None, []))
    return next((version.setter for version in versions if version.should_load(proto)), None)


def registered_identifiers() -> list[str]:
    """Returns the identifiers of the registered classes."""
    return list(_registered)
