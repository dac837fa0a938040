# Written by tools/write_stubs.py.
from gradtape.api.linalg.operators.basis.conjugate_gradient import (
    conjugate_gradient as conjugate_gradient,
)
