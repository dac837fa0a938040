"""`Owner`: an object whose attributes are the variables, and the other owners, that belong to it."""

from __future__ import annotations

from typing import Any


class Owner:
    """What a checkpoint looks into: modules, layers, optimizers.

    While a checkpoint waits for variables that are not there yet, `_restorations` has it, with the number of this
    object in it: an attribute that is set then gets its value.
    """

    _owns_variables = True
    _exchanges_containers = True  # whether its lists and dicts may be exchanged for such that say what comes into them

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if "_restorations" in self.__dict__:
            self._was_set(name, self.__dict__.get(name))

    def _was_set(self, name: str, value: Any) -> None:
        """Something belongs to this object from now on, under a name."""
        for restoration, number in tuple(self.__dict__.get("_restorations", ())):
            restoration.was_set(number, name, value)
