"""`tensorflow.python.ops.math_grad`: programs import it so that gradients are registered; ops have them here."""
