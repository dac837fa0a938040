"""Signatures and annotations of the user's functions and classes, whose annotations may name what is not defined.

From Python 3.14 on, annotations are evaluated when somebody asks for them, and `inspect.signature` asks. A name in one
of them may be defined later, or imported for type checkers only: such a name is a `ForwardRef` here.
"""

import inspect
import sys
from collections.abc import Callable
from typing import Any

if sys.version_info >= (3, 14):
    from annotationlib import Format

    def signature_of(f: Callable[..., Any]) -> inspect.Signature:
        """Returns the signature of a function."""
        return inspect.signature(f, annotation_format=Format.FORWARDREF)

    def annotations_of(x: Any) -> dict[str, Any]:
        """Returns the annotations of a function, or of a class without those of its bases."""
        return inspect.get_annotations(x, format=Format.FORWARDREF)

else:
    signature_of, annotations_of = inspect.signature, inspect.get_annotations
