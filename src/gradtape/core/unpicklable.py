"""`Unpicklable`: the base of objects that belong to their process, such as iterators, open files and graphs."""

from __future__ import annotations

from typing import ClassVar, NoReturn


class Unpicklable:
    """An object of which pickling and copying raise a TypeError that says what to pickle instead."""

    __slots__ = ()
    _instead: ClassVar[str]  # what to do, as a sentence without a full stop

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"cannot pickle or copy '{type(self).__name__}' object: {self._instead}")
