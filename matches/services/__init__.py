"""What the rest of the server asks of matches and players: commands, reads, sweeps, accounts."""
