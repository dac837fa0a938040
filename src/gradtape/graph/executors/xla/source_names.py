"""The names of source files in XLA's programs."""

from __future__ import annotations

from typing import Any

# A regular expression of what JAX leaves out of the names; these are the bytes that Python could not decode.
_OPTION, _UNDECODED = "jax_hlo_source_file_canonicalization_regex", "[\ud800-\udfff]"


def lower(traced: Any) -> Any:
    """Returns the XLA program of a function that JAX has traced.

    JAX writes the names of the source files on the stack into the program, in UTF-8. It fails for bytes of a name that
    Python could not decode, which with `LC_ALL=C` are all that are not ASCII. They are left out then.
    """
    import jax

    try:
        return traced.lower()
    except RuntimeError as error:
        if "bad_cast" not in str(error) or getattr(jax.config, _OPTION) is not None:
            raise
    jax.config.update(_OPTION, _UNDECODED)
    return traced.lower()
