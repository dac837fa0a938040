"""Traces functions into graphs by running them, and differentiates graphs. Depends on ir, state and the tape."""
