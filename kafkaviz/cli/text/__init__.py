"""What the commands print of a checkup, a lookup, a simulation and a tuning."""
