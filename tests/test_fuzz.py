"""The first cases of every feature's generator: `make fuzz` runs thousands."""

import pytest
from fuzz import check, features

CASES_PER_FEATURE = 8


@pytest.mark.parametrize("feature", sorted(features()))
def test_the_first_cases_agree(feature):
    for seed in range(CASES_PER_FEATURE):
        assert check(features()[feature], seed) == []
