"""`tensorflow.tools.docs.doc_controls`: decorators for generated documentation, which return their target."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def do_not_generate_docs(obj: T) -> T:
    """Returns its target."""
    return obj


do_not_doc_inheritable = for_subclass_implementers = doc_private = doc_in_current_and_subclasses = do_not_generate_docs
do_not_doc_in_subclasses = should_skip = inheritable_header = do_not_generate_docs
