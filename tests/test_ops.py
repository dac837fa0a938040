"""Every op, every sample, every check: see `gradtape.inspect.checks.opcheck`."""

import pytest
from case_groups import check_cases

from gradtape import ops
from gradtape.engine.registry.op import registry
from gradtape.inspect import CHECKS

ops.load_all()
CASES = {f"{op.name}-{i}": (op, case) for op in registry.values() for i, case in enumerate(op.samples)}


@pytest.mark.parametrize(("op", "case"), CASES.values(), ids=CASES)
def test_op(op, case):
    check_cases(lambda check: check(op, case), {check.__name__: (check,) for check in CHECKS})
