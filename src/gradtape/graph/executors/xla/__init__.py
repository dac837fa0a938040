"""Ops in XLA's words: the kernels' own text with `jax.numpy`, or a lowering where that does not run or runs slowly."""
