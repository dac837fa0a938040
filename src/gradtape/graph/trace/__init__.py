"""Graphs made by running a function, and differentiated. Uses ir, state and the tape."""
