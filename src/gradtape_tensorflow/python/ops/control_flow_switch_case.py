"""`tensorflow.python.ops.control_flow_switch_case`: functions chosen by the device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gradtape


def execute_fn_for_device(
    device_branch_fns: Mapping[str, Callable[[], Any]], default_fn: Callable[[], Any], name: str = "execute_fn"
) -> Any:
    """Calls the function for the kind of device that ops run on, or `default_fn`."""
    kind = "GPU" if gradtape.config.list_logical_devices("GPU") else "CPU"
    return {key.upper(): function for key, function in device_branch_fns.items()}.get(kind, default_fn)()
