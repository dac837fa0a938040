"""`function`: a Python function traced into a graph, planned, and run as one piece.

`ir`, `passes`, `executors`, `trace`, `control_flow`, `function`, each using those before it.
"""
