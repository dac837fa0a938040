"""The program that XLA runs for a function, before and after its optimizations, as text or serialized."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ....core.protos.wire import field
from ...ir.graph import Graph
from .executor import compile_graph

# Of JAX's `Lowered`, and a function that compiles it.
_STAGES: dict[str, Callable[[Any, Callable[[], Any]], Any]] = {
    "stablehlo": lambda lowered, _: lowered.as_text(),
    "stablehlo_serialized": lambda lowered, _: _bytecode(lowered.compiler_ir("stablehlo")),
    "hlo": lambda lowered, _: lowered.as_text("hlo"),
    "hlo_serialized": lambda lowered, _: lowered.compiler_ir("hlo").as_serialized_hlo_module_proto(),
    "optimized_hlo": lambda _, compiled: compiled().as_text(),
    "optimized_hlo_serialized": lambda _, compiled: _module(compiled()),
    "optimized_hlo_proto_serialized": lambda _, compiled: field(1, _module(compiled())),  # an HloProto
    "optimized_hlo_dot": lambda lowered, compiled: (
        type(lowered.compiler_ir("hlo"))(_module(compiled())).as_hlo_dot_graph()
    ),
}


def check_stage(stage: str) -> None:
    """Raises a ValueError for a stage that does not exist."""
    if stage not in _STAGES:
        raise ValueError(f"Invalid stage selected: {stage!r}. Valid values are: {', '.join(map(repr, _STAGES))}")


def check_platform(platform: str) -> None:
    """Raises a ValueError unless XLA compiles for this kind of device here."""
    import jax

    names = {"gpu" if name in ("cuda", "rocm") else name for name in (jax.default_backend(), "cpu")}
    if platform.lower() not in names:
        raise ValueError(
            f"Failed getting HLO text: 'No JIT device registered for {platform}'. XLA has {', '.join(sorted(names))}"
        )


def platform_of(device: str) -> str:
    """Returns the kind of a device, such as `/device:CPU:0`; raises a ValueError if there is none of this name."""
    import jax

    kind, _, index = device.rpartition("/")[2].removeprefix("device:").partition(":")
    with suppress(RuntimeError, ValueError):
        if int(index or 0) < len(jax.devices(kind.lower())):
            return kind
    raise ValueError(f"No matching device found for {device!r}")


def compiler_ir(graph: Graph, stage: str, platform: str | None) -> Any:
    """Returns the program of a graph at a stage: text, or bytes if the stage is serialized.

    Nothing runs: variables keep their values, and random streams their positions.
    """
    import jax

    with jax.default_device(None if platform is None else jax.devices(platform.lower())[0]):
        return _STAGES[stage](*compile_graph(graph).lowered())


def _module(compiled: Any) -> bytes:
    (module,) = compiled.runtime_executable().hlo_modules()
    data: bytes = module.as_serialized_hlo_module_proto()
    return data


def _bytecode(module: Any) -> bytes:
    file = io.BytesIO()
    module.operation.write_bytecode(file)
    return file.getvalue()
