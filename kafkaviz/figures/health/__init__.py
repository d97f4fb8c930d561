"""Findings and the next start."""
