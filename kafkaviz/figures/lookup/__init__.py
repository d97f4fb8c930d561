"""Figures of lookups: why a timestamp gives an offset, and which bytes a lookup reads."""
