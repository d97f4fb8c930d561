"""What the next start of a broker does to a directory."""
