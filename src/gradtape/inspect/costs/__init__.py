"""What a step costs in memory and time, and how its gradients flow."""
