"""Runs the programs in tests/programs one after the other, and writes down or prints what each prints.

    python tools/record_programs.py tests/programs      under real TensorFlow: writes tests/programs/NAME.txt
    gradtape run tools/record_programs.py tests/programs --print

`tests/test_programs.py` does the second, in one process, and compares.
"""

import contextlib
import io
import json
import runpy
import sys
import time
import traceback
from pathlib import Path


def printed(program):
    """What the program prints, and its traceback if it fails."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(str(program), run_name="__main__")
    except Exception:
        return out.getvalue() + traceback.format_exc()
    return out.getvalue()


def main(folder, show=False):
    found, times = {}, {}
    for program in sorted(Path(folder).glob("*.py")):
        began = time.perf_counter()
        found[program.stem] = printed(program)
        times[program.stem] = round(time.perf_counter() - began, 2)
        if not show:
            program.with_suffix(".txt").write_text(found[program.stem])
    print(json.dumps({"printed": found, "seconds": times}) if show else json.dumps(times))


if __name__ == "__main__":
    main(sys.argv[1], "--print" in sys.argv[2:])
