"""Pure rules of one hand of each game: no framework, clock, chance or IO."""
