"""Damages copies of a log, starts a simulated broker on them, reads them, and draws the results."""
