"""Base classes of objects that hold what is not a tensor, such as a table."""

from __future__ import annotations

from typing import Any

from ..core.owners import Owner

NAMESPACES = ("saved_model.experimental",)
__all__ = ["TrackableResource"]


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
