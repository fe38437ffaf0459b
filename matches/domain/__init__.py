"""The match around the hands, pure: commands, events, clock, deal, decide, evolve, settle."""
