"""Graph-to-graph optimization passes: each preserves the results and reduces work. Depends on ir and ops."""
