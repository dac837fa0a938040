"""The graph itself: values, nodes, what they do beside computing. Uses engine and ops."""
