"""How the C library treats large blocks of memory that are freed.

A tape makes and frees arrays of a few megabytes all the time. By default glibc gives such memory back to the system at
once and gets it again page by page. If it keeps some for reuse, an eager step of a transformer takes 1/1.3 of the time,
of a residual CNN 1/1.17, of an MLP 1/1.03 (one core). That changes malloc for the whole process, so importing gradtape
does not do it: the first tape that records does, or the first function that is traced, as other libraries bring an
allocator of their own. `GRADTAPE_MALLOC=default` in the environment leaves malloc as it is.
"""

from __future__ import annotations

import ctypes
import os

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3  # from malloc.h
_KEPT = 256 << 20
_LARGEST = 32 << 20


def keep_freed_memory() -> None:
    """Lets malloc keep up to 256 MB of freed memory, if `GRADTAPE_MALLOC` says nothing else than `keep`."""
    if os.environ.get("GRADTAPE_MALLOC", "keep") != "keep":
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return  # not glibc: its malloc is left alone
    mallopt(_M_MMAP_THRESHOLD, _LARGEST)
    mallopt(_M_TRIM_THRESHOLD, _KEPT)
    mallopt(_M_TOP_PAD, 16 << 20)
