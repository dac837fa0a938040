"""`function`: a Python function traced into a graph, planned, and run as one piece."""
