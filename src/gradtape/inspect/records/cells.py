"""Names the cells of notebooks as Jupyter does: `In[3]` instead of the file that IPython compiles a cell as."""

from __future__ import annotations

import sys


def cell_name(file: str) -> str | None:
    """Returns the name of the notebook cell that was compiled as `file`; None for any other file."""
    ipython = sys.modules.get("IPython")  # a program without IPython has no cells, and does not import it for this
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    found = shell.compile.format_code_name(file) if shell is not None else None
    return None if found is None else str(found[1])
