# Written by tools/write_stubs.py.
from gradtape.api.random.arguments import (
    Algorithm as Algorithm,
)
from gradtape.api.random.generator import (
    Generator as Generator,
    create_rng_state as create_rng_state,
    get_global_generator as get_global_generator,
    set_global_generator as set_global_generator,
)
from gradtape.api.random.shuffling import (
    index_shuffle as index_shuffle,
    stateless_shuffle as stateless_shuffle,
)
from gradtape.api.random.stateless import (
    fold_in as _stateless_fold_in,
    split as _stateless_split,
)
stateless_fold_in = _stateless_fold_in
stateless_split = _stateless_split
