"""A graph under `jax.jit`: the kernels' own text with `jax.numpy`, or a lowering where that fails or is slow.

Uses ir, ops and state. JAX is imported when it is first needed.
"""
