"""From graph to graph: each pass gives the same values for less work. Uses ir and ops."""
