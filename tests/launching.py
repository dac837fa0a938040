"""Multi-process programs for tests: started by `gradtape launch`, or by hand."""

import json
import os
import subprocess
import sys


def launched(*arguments, timeout=120, **environment):
    """Runs `gradtape launch` and returns its result."""
    command = [sys.executable, "-m", "gradtape", "launch", *map(str, arguments)]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GRADTAPE_", "TF_CONFIG"))}
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env={**clean, **environment})


def script(folder, text):
    path = folder / "train.py"
    path.write_text("import gradtape as tf, numpy as np, os, sys, time\nhvd = tf.distribute\nr = hvd.rank()\n" + text)
    return path


def worker(path, rank, port, timeout):
    """Starts one of two workers by hand, configured by `TF_CONFIG`."""
    config = {"cluster": {"worker": [f"127.0.0.1:{port}", "127.0.0.1:1"]}, "task": {"type": "worker", "index": rank}}
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GRADTAPE_", "TF_CONFIG"))}
    said = {"TF_CONFIG": json.dumps(config), "GRADTAPE_TIMEOUT": str(timeout), "GRADTAPE_SECRET": "of a test"}
    environment = {**clean, **said}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, str(path)], env=environment, **pipes)
