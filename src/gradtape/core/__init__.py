"""What everything stands on: errors, dtypes, shapes, nests, scopes and the tensor. Uses nothing above itself."""
