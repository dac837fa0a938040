"""How an op runs, is remembered and is differentiated."""
