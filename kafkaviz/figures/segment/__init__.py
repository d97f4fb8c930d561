"""Figures of one segment: its ruler, bytes, tables and transactions, and a fetch from it."""
