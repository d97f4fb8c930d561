"""Findings, and the steps of the next start."""
