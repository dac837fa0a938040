"""Writes a recording as one HTML page."""
