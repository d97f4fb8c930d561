"""Whole logs: the simulation of a log, its files, and its folder on disk."""
