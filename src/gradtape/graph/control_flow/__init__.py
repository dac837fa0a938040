"""Conditionals, loops and Python calls as graph nodes, with their derivatives. Depends on trace and below."""
