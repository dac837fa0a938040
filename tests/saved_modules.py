"""A module with one function, for tests of SavedModels."""

import gradtape as tf


def module_of(function, *specs):
    """Returns a module whose attribute `f` is the function with this input signature."""
    module = tf.Module()
    module.f = tf.function(function, input_signature=list(specs))
    return module
