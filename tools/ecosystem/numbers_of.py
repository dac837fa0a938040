"""Runs one program of this folder and writes the numbers it finds: `numbers_of.py program file`."""

import importlib
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np

if __name__ == "__main__":
    program, file = sys.argv[1:]
    found = importlib.import_module(program).numbers()
    rounded = {
        name: [float(f"{x:.9g}") for x in np.asarray(value, np.float64).ravel().tolist()]
        for name, value in found.items()
    }
    Path(file).write_text(json.dumps(rounded, indent=0).replace(",\n", ", ").replace("[\n", "[").replace("\n]", "]"))
