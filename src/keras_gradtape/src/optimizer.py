"""What gradtape adds to Keras' optimizers."""


class OptimizerExtension:
    """Methods that Keras' base class of optimizers is given."""
