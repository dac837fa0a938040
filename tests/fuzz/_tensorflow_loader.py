"""A process with TensorFlow that builds, saves and loads random modules; it communicates in pickles."""

import os
import pickle
import sys

import _saved_model_programs as programs
import tensorflow as tf


def answered(seed, ours, own):
    """Returns TensorFlow's results for its own SavedModel of a module, saved in `own`, and for that in `ours`."""
    module, inputs = programs.built(tf, seed)
    found = {}
    try:
        tf.saved_model.save(module, own)
    except Exception as error:
        found["save"] = f"{type(error).__name__}: {str(error)[-500:]}"
    else:
        found["own"] = programs.results(tf, tf.saved_model.load(own), inputs)
    if ours is not None:
        try:
            found["ours"] = programs.results(tf, tf.saved_model.load(ours), inputs)
        except Exception as error:
            found["ours"] = {"load": f"{type(error).__name__}: {str(error)[-500:]}"}
    return found


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that TensorFlow prints is not a result
    while True:
        try:
            question = pickle.load(sys.stdin.buffer)
        except EOFError:
            break
        pickle.dump(answered(*question), answers)
        answers.flush()
