# Written by tools/write_stubs.py.
from gradtape.api.nn.activations import (
    general_dropout as general_dropout,
    stateless_dropout as stateless_dropout,
)
