"""The format of SavedModels: messages, structures, names and options."""
