# Written by tools/write_stubs.py.
from gradtape.api.lookup.mutable_tables import (
    DenseHashTable as DenseHashTable,
    MutableHashTable as MutableHashTable,
)
