"""`tensorflow.python.framework.c_api_util`: definitions of ops."""

from __future__ import annotations

from typing import Any

from gradtape.api.catalogue.definitions import recorded_ops
from gradtape_tensorflow.graph_defs.op_defs import op_def


class ApiDefMap:
    """The ops and their definitions."""

    def op_names(self) -> list[str]:
        """Returns the names of all ops."""
        return recorded_ops()

    def get_op_def(self, op_name: str) -> Any:
        """Returns the `OpDef` of an op."""
        return op_def(op_name)
