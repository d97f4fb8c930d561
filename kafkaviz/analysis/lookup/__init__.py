"""Lookups in a partition directory, and why a timestamp gave an offset."""
