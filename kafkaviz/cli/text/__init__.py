"""What the commands print of a lookup and of a simulation."""
