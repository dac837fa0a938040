"""Drawings of tapes and traced functions: their data, and the script that draws them in reports and notebook cells."""
