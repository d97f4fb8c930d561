"""Compares two directories, partition by partition."""
