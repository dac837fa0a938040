# Written by tools/write_stubs.py.
from gradtape.compat import v1 as v1
from gradtape.api.compat.text import (
    as_bytes as as_bytes,
    as_str as as_str,
    as_str_any as as_str_any,
    as_text as as_text,
    dimension_value as dimension_value,
)
