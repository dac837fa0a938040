"""The first cases of every feature's generator: `make fuzz` runs thousands."""

from contextlib import nullcontext

import numpy as np
import pytest
from fuzz import check, features
from fuzz._dataset_lists import Lists

from gradtape.core.extras import is_installed

CASES_PER_FEATURE = 8
OF_KERAS = {"damaged_arrays", "damaged_folders", "range_ends_keras"}


@pytest.mark.parametrize("feature", sorted(features()))
def test_the_first_cases_agree(feature):
    if feature in OF_KERAS and not is_installed("keras"):
        pytest.skip("Keras is not installed")
    for seed in range(CASES_PER_FEATURE):
        assert check(features()[feature], seed) == []


def test_lists_know_the_dtypes_of_no_elements():
    for dtype, is_right in (("int32", True), ("float16", False), ("uint8", False)):
        data = Lists.from_tensor_slices(np.zeros(0, dtype)).filter(lambda x: True)
        with nullcontext() if is_right else pytest.raises(TypeError, match="neither integers nor strings"):
            assert data.unique().elements == []
