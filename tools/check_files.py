"""Checks that gradtape and TensorFlow read each other's files: python tools/check_files.py PYTHON [--only TEXT].

PYTHON is an interpreter that has TensorFlow and tf-keras. Each side writes models of Keras 2 and Keras 3, trained for a
while, in every format, compiled and not, with each optimizer. Each side then reads what both have written and trains
on. A cell is wrong if a number differs from what TensorFlow prints about its own file of that kind.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

_RTOL = 1e-5  # of float32 results after several steps
_OPTIMIZERS = "SGD Adam AdamW Adagrad RMSprop Adadelta Adamax Nadam Ftrl".split()
_OWN = {
    "2": [f"legacy.{name}" for name in "SGD Adam Adagrad RMSprop Adadelta Adamax Nadam Ftrl".split()],
    "3": "Lion Lamb Adafactor".split(),
}
_FORMATS = {
    "2": "checkpoint weights weights.h5 model.keras model.h5 saved_model export".split(),
    "3": "checkpoint model.weights.h5 model.keras model.h5 export".split(),
}
_INPUTS = np.linspace(-1, 1, 32, dtype=np.float32).reshape(8, 4)


class Side:
    """What runs in the interpreter of one side: writes or reads the files of all cells."""

    def __init__(self, version: str, folder: str) -> None:
        import tensorflow as tf

        self._tf, self._version, self._folder = tf, version, folder

    def _model(self, optimizer: str | None, seed: int) -> Any:
        keras = self._tf.keras
        keras.utils.set_random_seed(seed)
        dense, normalization = keras.layers.Dense, keras.layers.BatchNormalization
        model = keras.Sequential([keras.layers.Input((4,)), dense(3, activation="tanh"), normalization(), dense(1)])
        if optimizer is not None:
            kinds = keras.optimizers.legacy if optimizer.startswith("legacy.") else keras.optimizers
            options = {"momentum": 0.9} if optimizer.endswith("SGD") else {}
            model.compile(getattr(kinds, optimizer.removeprefix("legacy."))(0.01, **options), "mse")
        return model

    def _losses(self, model: Any) -> list[float]:
        sums = _INPUTS.sum(1, keepdims=True)
        return model.fit(_INPUTS, sums, epochs=2, batch_size=4, shuffle=False, verbose=0).history["loss"]

    def _checkpoint(self, model: Any, optimizer: str | None) -> Any:
        parts = {} if optimizer is None else {"optimizer": model.optimizer}
        return self._tf.train.Checkpoint(model=model, **parts)

    def write(self, kind: str, optimizer: str | None, path: str) -> list[float]:
        """Writes a model that has been trained; returns what it predicts."""
        model = self._model(optimizer, 1)
        if optimizer is not None:
            self._losses(model)
        if kind == "checkpoint":
            self._checkpoint(model, optimizer).write(path)
        elif "weights" in kind:
            model.save_weights(path)
        else:
            (model.export if kind == "export" else model.save)(path)
        return model.predict(_INPUTS, verbose=0).ravel().tolist()

    def read(self, kind: str, optimizer: str | None, path: str) -> list[float]:
        """Returns what a model that has been read predicts, and its losses when it is trained on."""
        if kind == "export":
            loaded = self._tf.saved_model.load(path)  # its function does not keep the variables
            return loaded.serve(_INPUTS).numpy().ravel().tolist()
        if kind == "checkpoint" or "weights" in kind:
            model = self._model(optimizer, 2)
            if kind == "checkpoint":
                status = self._checkpoint(model, optimizer).read(path)
            else:
                model.load_weights(path)
        else:
            model = self._tf.keras.models.load_model(path)
        predicted = model.predict(_INPUTS, verbose=0).ravel().tolist()
        losses = [] if optimizer is None else self._losses(model)
        if kind == "checkpoint":
            status.assert_consumed()
        if kind == "saved_model":
            plain = self._tf.saved_model.load(path)(self._tf.constant(_INPUTS)).numpy().ravel()
            losses.append(float(np.abs(plain - np.array(predicted)).max() < 1e-5))
        return predicted + losses

    def run(self, action: str, only: str) -> None:
        """Prints the numbers of each cell as a line of JSON."""
        for cell in cells(self._version):
            if only not in cell:
                continue
            _, kind, optimizer = cell.split("/")
            path = os.path.join(self._folder, cell, kind)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            try:
                result: Any = getattr(self, action)(kind, None if optimizer == "none" else optimizer, path)
            except Exception as error:
                result = f"{type(error).__name__}: {error}"[:200]
            print("CELL", json.dumps([cell, result]), flush=True)


def cells(version: str) -> list[str]:
    """Returns the names of the cells of a version of Keras: version, format and optimizer."""
    optimizers = ["none", *_OPTIMIZERS, *_OWN[version]]
    return [f"{version}/{kind}/{optimizer}" for kind in _FORMATS[version] for optimizer in optimizers]


def numbers(command: list[str], version: str, action: str, folder: str, only: str) -> dict[str, Any]:
    """Returns the numbers of all cells that one side writes or reads."""
    settings = {"TF_USE_LEGACY_KERAS": str(int(version == "2"))}
    settings |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    command = [*command, os.path.abspath(__file__), "--side", version, action, folder, only]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True)
    lines = [line.removeprefix("CELL ") for line in done.stdout.splitlines() if line.startswith("CELL ")]
    if not lines:
        raise SystemExit(f"{' '.join(command)} has failed:\n{done.stderr[-2000:]}")
    return dict(json.loads(line) for line in lines)


def agrees(result: Any, expected: Any) -> bool:
    """Returns whether the numbers of a cell are those of TensorFlow."""
    if isinstance(result, str) or isinstance(expected, str):
        return result == expected
    return len(result) == len(expected) and np.allclose(result, expected, rtol=_RTOL, atol=_RTOL)


def main() -> int:
    """Prints the wrong cells; returns how many there are."""
    if sys.argv[1:2] == ["--side"]:
        version, action, folder, only = sys.argv[2:6]
        Side(version, folder).run(action, only)
        return 0
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("python", help="an interpreter that has TensorFlow and tf-keras")
    parser.add_argument("--only", default="", help="a part of the names of cells: 2/saved_model/Adam")
    options = parser.parse_args()
    sides = {"gradtape": [sys.executable, "-m", "gradtape", "run"], "TensorFlow": [options.python]}
    wrong = count = 0
    for version in [version for version in "23" if any(options.only in cell for cell in cells(version))]:
        with tempfile.TemporaryDirectory() as top:
            folders = {side: os.path.join(top, side) for side in sides}
            for side, command in sides.items():
                numbers(command, version, "write", folders[side], options.only)
            table = {
                (writer, reader): numbers(command, version, "read", folders[writer], options.only)
                for writer in sides
                for reader, command in sides.items()
            }
            reference = table["TensorFlow", "TensorFlow"]
            for (writer, reader), results in table.items():
                for cell, expected in reference.items():
                    count += 1
                    result = results.get(cell, "nothing")
                    if not agrees(result, expected):
                        wrong += 1
                        print(f"{cell}, written by {writer}, read by {reader}: {result}, and TensorFlow: {expected}")
    print(f"{count - wrong} of {count} cells agree with TensorFlow")
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(), 1))
