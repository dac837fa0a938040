"""The tests of Keras compile many training steps, of which few are about what XLA makes of them."""

import pytest

AS_FOR_USERS = {"test_fit_memory_budget.py"}  # compares the memory of programs


@pytest.fixture(autouse=True)
def compile_quickly(request):
    if request.path.name not in AS_FOR_USERS:
        request.getfixturevalue("quick_compilation")
