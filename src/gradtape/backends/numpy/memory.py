"""How the C library treats large blocks of memory that are freed.

A tape makes and frees arrays of a few megabytes all the time. By default glibc gives such memory back to the system at
once and gets it again page by page, which costs more than the arithmetic done in it; here it keeps some for reuse.
"""

from __future__ import annotations

import ctypes
import os

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3  # from malloc.h
_KEPT = 256 << 20
_LARGEST = 32 << 20


def keep_freed_memory() -> None:
    """Lets malloc keep up to 256 MB of freed memory; `GRADTAPE_KEEP_MEMORY=0` leaves malloc as it is."""
    if os.environ.get("GRADTAPE_KEEP_MEMORY") == "0":
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return  # not glibc: its malloc is left alone
    mallopt(_M_MMAP_THRESHOLD, _LARGEST)
    mallopt(_M_TRIM_THRESHOLD, _KEPT)
    mallopt(_M_TOP_PAD, 16 << 20)
