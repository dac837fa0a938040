"""Saves tapes to files, loads them on other machines, and compares them."""
