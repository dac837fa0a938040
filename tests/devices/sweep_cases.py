"""The cases of the sweep: functions of `gradtape` with attributes, sizes and axes beyond each op's samples."""

from __future__ import annotations

import sweep_arrays as arrays
import sweep_networks as networks
from sweep_draws import Case

FAMILIES: dict[str, dict[str, Case]] = {
    family.__name__: dict(family())
    for family in (
        networks.pooling, networks.convolutions, networks.images, networks.norms, networks.losses, arrays.reductions,
        arrays.scans, arrays.linear_algebra, arrays.fourier, arrays.elementwise, arrays.movement,
    )
}  # fmt: skip
CASES: dict[str, Case] = {name: case for family in FAMILIES.values() for name, case in family.items()}
