"""One log as the broker writes it: appends, entries, rolls, truncations, and what it refuses."""
