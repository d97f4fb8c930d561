"""Simulates a broker that writes one log: appends, index entries, rolls, truncations, refusals."""
