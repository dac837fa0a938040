"""Several processes: who takes part, their connections, collectives between them, and how they are found."""
