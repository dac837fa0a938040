"""Tapes in files: saved, loaded elsewhere, compared."""
