"""`tensorflow.python.platform.flags`: the flags of absl, whose values are parsed from the command line at first use."""

from __future__ import annotations

import sys
from typing import Any

from absl import flags as _flags
from absl.flags import *  # noqa: F403

_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}


class _FlagValues:
    """absl's `FLAGS`, parsed when a value is read before `app.run`."""

    def __getattr__(self, name: str) -> Any:
        if not _flags.FLAGS.is_parsed():
            _flags.FLAGS(sys.argv, known_only=True)
        return getattr(_flags.FLAGS, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_flags.FLAGS, name, value)

    def __getitem__(self, name: str) -> Any:
        return _flags.FLAGS[name]

    def __contains__(self, name: str) -> bool:
        return name in _flags.FLAGS

    def __iter__(self) -> Any:
        return iter(_flags.FLAGS)

    def __call__(self, argv: Any, known_only: bool = False) -> Any:
        """Parses arguments; returns those that are no flags."""
        return _flags.FLAGS(argv, known_only)

    def __delattr__(self, name: str) -> None:
        delattr(_flags.FLAGS, name)

    def __dir__(self) -> list[str]:
        return dir(_flags.FLAGS)


FLAGS: Any = _FlagValues()  # type: ignore[no-redef]


def _accepting_old_names(define: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{_OLD_NAMES.get(name, name): value for name, value in kwargs.items()})

    return call


DEFINE_string = _accepting_old_names(_flags.DEFINE_string)
DEFINE_boolean = DEFINE_bool = _accepting_old_names(_flags.DEFINE_boolean)
DEFINE_float = _accepting_old_names(_flags.DEFINE_float)
DEFINE_integer = _accepting_old_names(_flags.DEFINE_integer)
