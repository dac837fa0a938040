"""Modules that pickles of earlier versions of gradtape refer to, and the modules that have what was in them.

A package that is gone has a row, too: Python imports it before what is in it.
"""

MOVED: dict[str, str] = {}
