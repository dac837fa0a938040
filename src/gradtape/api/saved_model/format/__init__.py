"""What a SavedModel is made of: its messages, structures, names and options."""
