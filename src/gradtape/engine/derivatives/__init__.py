"""Derivatives as functions of a tape: Jacobians, dense and sparse, Hessians, per-example and NaN-safe gradients.

Each runs the reverse sweep of `tape` with other cotangents (batched, per example, sparsity tracers). Uses `tape`,
`registry` and `run`.
"""
