"""The content of a broker directory."""
