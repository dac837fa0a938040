"""`Owner`: base class of objects whose attributes are the variables and other owners that a checkpoint saves."""

from __future__ import annotations


class Owner:
    """An object that a checkpoint traverses: a module, a layer or an optimizer.

    While a checkpoint has values for variables that do not exist yet (deferred restoration), `_restorations` holds it,
    with this object's node number in it. Setting an attribute then restores the attribute's value.
    """

    _owns_variables = True
    _exchanges_containers = True  # whether its lists and dicts may be replaced by wrappers that track additions

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if "_restorations" in self.__dict__:
            self._was_set(name, self.__dict__.get(name))

    def _was_set(self, name: str, value: object) -> None:
        """Reports an attribute set under `name` to the pending restorations."""
        for restoration, number in tuple(self.__dict__.get("_restorations", ())):
            restoration.was_set(number, name, value)
