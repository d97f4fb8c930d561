"""The map of a broker directory."""
