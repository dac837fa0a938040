"""`tensorflow.python.trackable.base_delegate`: objects that are saved as another one."""

from __future__ import annotations

from typing import Any


class DelegatingTrackableMixin:
    """A mixin whose children are those of the object that it wraps."""

    def __init__(self, trackable_obj: Any) -> None:
        self._trackable = trackable_obj

    @property
    def _root(self) -> Any:
        """The object, to which a restoration gives what it has for children that do not exist yet."""
        return self._trackable

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        children: dict[str, Any] = self._trackable._trackable_children(save_type, **kwargs)
        return children

    def _owned(self) -> dict[str, Any]:
        return self._trackable_children()

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        return self._trackable._track_trackable(trackable, name, overwrite)

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> Any:
        return self._trackable._handle_deferred_dependencies(name, trackable)

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        return self._trackable._lookup_dependency(name, cached_dependencies)

    def _maybe_initialize_trackable(self) -> Any:
        return self._trackable._maybe_initialize_trackable()
