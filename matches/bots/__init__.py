"""Computer players: they see a seat's view and its legal actions, and nothing else."""
