"""`Trackable`: base class of what a checkpoint contains. `Owner`: one whose attributes are its children."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class TrackableReference(NamedTuple):
    """A child of an object under the name that a checkpoint uses."""

    name: str
    ref: Any


class NoDependency:
    """A value that does not become a child of the object to which it is assigned."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Trackable:
    """A variable, or an object with children by name: a module, a layer or an optimizer.

    The methods are the protocol of TensorFlow's class of that name, which libraries call and override: the children are
    those that `_track_trackable` has named.

    While a checkpoint has values for variables that do not exist yet (deferred restoration), `_restorations` holds it,
    with this object's node number in it. A new child then gets its value.
    """

    _owns_variables = True
    _object_identifier = "_generic_user_object"  # of its class in SavedModels

    @property
    def _unconditional_checkpoint_dependencies(self) -> list[TrackableReference]:
        return self.__dict__.get("_self_unconditional_checkpoint_dependencies", [])

    def _maybe_initialize_trackable(self) -> None:
        """Prepares the lists of named children."""
        self.__dict__.setdefault("_self_unconditional_checkpoint_dependencies", [])
        self.__dict__.setdefault("_self_unconditional_dependency_names", {})

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Makes an object a child under the given name and returns it."""
        self._maybe_initialize_trackable()
        known: dict[str, Any] = self.__dict__["_self_unconditional_dependency_names"]
        references = self._unconditional_checkpoint_dependencies
        if name in known and known[name] is not trackable:
            if not overwrite:
                raise ValueError(
                    f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this name is "
                    "already declared as a dependency. Names must be unique (or overwrite=True)."
                )
            references[:] = [reference for reference in references if reference.name != name]
        if known.get(name) is not trackable:
            references.append(TrackableReference(name, trackable))
            known[name] = trackable
        self._was_set(name, trackable)
        return trackable

    def _delete_tracking(self, name: str) -> None:
        """Removes the child of that name, which stays an attribute."""
        self._maybe_initialize_trackable()
        if self.__dict__["_self_unconditional_dependency_names"].pop(name, None) is not None:
            references = self._unconditional_checkpoint_dependencies
            references[:] = [reference for reference in references if reference.name != name]

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """Returns the children by name."""
        return dict(self._unconditional_checkpoint_dependencies)

    def _check_saveable(self) -> None:
        """Raises a ValueError if the object has changed so that a checkpoint of it could not be restored."""

    def _lookup_dependency(self, name: str, cached_dependencies: dict[str, Any] | None = None) -> Any:
        """Returns the child of that name, or None."""
        found = self._trackable_children() if cached_dependencies is None else cached_dependencies
        return found.get(name)

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Restores a child that was set without `_track_trackable`."""
        self._was_set(name, trackable)

    def _no_dependency(self, value: Any) -> Any:
        """Returns what to assign to an attribute for it to have this value without making it a child."""
        return value

    def _add_variable_with_custom_getter(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
        getter: Callable[..., Any] | None = None, overwrite: bool = False, **kwargs_for_getter: Any,
    ) -> Any:  # fmt: skip
        """Creates a variable by `getter` and makes it a child."""
        if getter is None:
            raise ValueError("_add_variable_with_custom_getter needs a function that creates the variable: `getter`")
        variable = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs_for_getter)
        return self._track_trackable(variable, name, overwrite)

    @property
    def _setattr_tracking(self) -> bool:
        """Whether attributes that are set become children."""
        return self.__dict__.get("_self_setattr_tracking", True)

    @_setattr_tracking.setter
    def _setattr_tracking(self, value: bool) -> None:
        self.__dict__["_self_setattr_tracking"] = value

    def _was_set(self, name: str, value: object) -> None:
        """Reports an attribute set under `name` to the pending restorations."""
        for restoration, number in tuple(self.__dict__.get("_restorations", ())):
            restoration.was_set(number, name, value)


class Owner(Trackable):
    """An object whose attributes are its children, and those that `_track_trackable` has named.

    If `_names_all_children` is set, as for layers of Keras 2, whose assignments name the children, only these are.
    """

    _names_all_children = False
    _exchanges_containers = True  # whether its lists and dicts may be replaced by wrappers that track additions

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, NoDependency):
            super().__setattr__(name, value.value)
            self._untrack_attributes([name])
            return
        super().__setattr__(name, value)
        if name in self.__dict__.get("_self_untracked", ()) and self._setattr_tracking:
            self.__dict__["_self_untracked"].discard(name)
        if "_restorations" in self.__dict__:
            self._was_set(name, self.__dict__.get(name))

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """Returns the children by name."""
        named = super()._trackable_children(save_type, **kwargs)
        if self._names_all_children:
            return named
        untracked = self.__dict__.get("_self_untracked", ())
        own = {name: value for name, value in self.__dict__.items() if name not in untracked}
        return {name: value for name, value in own.items() if not name.startswith("_self_")} | named

    def _no_dependency(self, value: Any) -> Any:
        """Returns what to assign to an attribute for it to have this value without making it a child."""
        return NoDependency(value)

    def _untrack_attributes(self, names: Iterable[str]) -> None:
        """Makes attributes that the object has no children."""
        self.__dict__.setdefault("_self_untracked", set()).update(names)
