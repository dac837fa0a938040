"""A process that imports a library once and then runs each program in a fork of itself.

`import keras` takes longer than most programs that test it. The programs run as they would in a process of their own
that has already imported the library: a fork has its own variables, random state and standard streams.
"""

import json
import os
import runpy
import subprocess
import sys


class ForkingProcess:
    """Starts `command`, a Python program that calls `serve` once it has imported what its forks share."""

    def __init__(self, command, environment):
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, file):
        """Runs the program `file`; returns its exit code, its standard output and its standard error."""
        said = [f"{file}.stdout", f"{file}.stderr"]
        print(json.dumps([str(file), *said]), file=self._process.stdin, flush=True)
        code = self._process.stdout.readline()
        assert code, "the process that forks has ended"
        texts = []
        for path in said:
            with open(path) as text:
                texts.append(text.read())
        return int(code), *texts

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait(60) == 0


def serve():
    """Runs the programs that standard input names, each in a fork; a fork leaves this function by its exit."""
    for line in sys.stdin:
        file, *streams = json.loads(line)
        if child := os.fork():
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
            continue
        for descriptor, path in enumerate(streams, 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
        sys.argv[:] = [file]
        runpy.run_path(file, run_name="__main__")
        return
