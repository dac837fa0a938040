"""Compiles a graph with `jax.jit`: kernels run on `jax.numpy`, or by a lowering where that fails or is slow.

Uses ir, ops and state. JAX is imported on first use.
"""
