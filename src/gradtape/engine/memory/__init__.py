"""Memory budgets: which values to evict when memory is short, and how to restore them.

Three components keep within a limit of bytes: the store of a tape (`store.Store`), which decides while the program
runs; the planner of functions (`graph.passes.recomputation`), which knows the whole run in advance; and the planner of
XLA programs, which partitions the plan into stages. They differ in what they know of the future, and have the rest in
common, which is defined here:

- The unit is a block (`costs.MemoryBlock`): one allocation, which a value shares with its views. Its bytes count once.
- Restoring a block costs the seconds of its producer and of the producers of all absent blocks that it is computed
  from, or those of reading it from disk if that is cheaper (`costs.CostModel`).
- The block to evict next is the one with the lowest cost / (bytes * staleness ** patience), the heuristic of dynamic
  tensor rematerialization (Kirisame et al., ICLR 2021). Staleness is the expected time until the next use: a tape's
  sweep reaches older values later, so it is the distance back on the tape; a planner knows the next use, as Checkmate
  does (Jain et al., MLSys 2020), which finds the optimal plan by integer programming in minutes instead of
  milliseconds.
- Candidates are the held blocks that can be restored and that the running op does not use. Small blocks are evicted
  last, and ties go to the block that is held longest (`policy.BlockStore`).
- Evicted values are recomputed by the original kernels in the original order (`rematerialization`), so they are bitwise
  identical.

`residuals` holds the references to stored values that a log keeps in place of tensors; `spilling` writes blocks to
disk.
"""
